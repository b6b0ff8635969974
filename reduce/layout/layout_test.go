package layout

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/kind"
)

func many(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
		b.WriteByte('\n')
	}
	return b.String()
}

var samples = map[string]struct {
	text  string
	kind  kind.Kind
	rules string // "" none fits
	want  string // a piece of the layout
}{
	"a read with arrows": {many(40, func(i int) string { return fmt.Sprintf("%6d→\tline %d", i+1, i*i) }), kind.Read, "numbers",
		"[Token Terminator layout 1: line numbers were right-aligned in 6 columns before \"→\"]\n1→\tline 0\n2→"},
	"a read whose first line was trimmed": {strings.TrimLeft(many(40, func(i int) string { return fmt.Sprintf("%6d\tx%d", i+1, i*i) }), " "), kind.Read, "numbers",
		"before a tab, the first line's not]\n1\tx0\n2\tx1\n"},
	"a read with bars and a note": {many(40, func(i int) string { return fmt.Sprintf("%6d|x%d", i+97, i*i) }) + "\n<note>keep me</note>", kind.Read, "numbers",
		"\n99|x4\n100|x9\n"},
	"a read with an unpadded number in its text": {many(40, func(i int) string { return fmt.Sprintf("%6d→x", i+1) }) + "7→y\n", kind.Read, "", ""},
	"a source text":   {many(60, func(i int) string { return "/usr/lib/very/long/directory/" + fmt.Sprint(i*7) }), kind.Code, "", ""},
	"a list of paths": {many(60, func(i int) string { return "/usr/lib/very/long/directory/" + fmt.Sprint(i*7) }), kind.Listing, "prefix", "below starts with \"/usr/lib/very/long/directory/\"]\n0\n7\n"},
	"paths and other lines": {many(60, func(i int) string {
		if i%6 == 0 {
			return "total 60"
		}
		return "-rw-r--r-- 1 root root " + fmt.Sprint(i*7)
	}), kind.Listing, "prefix", "those after a backslash aside]\n\\total 60\n7\n14\n"},
	"search hits": {many(60, func(i int) string { return fmt.Sprintf("net/http/transport_%d.go:%d:\tfunc f%d()", i/10, i*3, i) }), kind.Search, "prefix",
		"starts with \"net/http/\"]\n= transport_0.go:\n0:\tfunc f0()\n3:\tfunc f1()"},
	"hits of a revision": {many(60, func(i int) string {
		return fmt.Sprintf("HEAD:%s/transport_%d.go:%d:\tfunc f%d()", []string{"net", "os"}[i/30], i/10, i*3, i)
	}), kind.Search, "grep", "= HEAD:net/transport_0.go:\n"},
	"a tree of files": {many(60, func(i int) string { return fmt.Sprintf("%s/some/dir%d/f%d", []string{"alpha", "beta"}[i/30], i/10, i) }), kind.Listing, "directories", "= alpha/some/dir0/\nf0\nf1\n"},
	"lines in a row":  {many(9, func(i int) string { return fmt.Sprintf("step %d\n%s", i, strings.Repeat("waiting for the lock\n", 30)) }), kind.Log, "repeats", "waiting for the lock\n[1 line above 29 more times]\n"},
	"blocks in a row": {many(30, func(i int) string { return "ping the server\npong from the server" }), kind.Log, "repeats", "\n[2 lines above 29 more times]\n"},
	"addresses anywhere": {many(40, func(i int) string {
		return fmt.Sprintf("%d got http://server.example.com:7780/admin/page/%d ok", i*i, i)
	}), kind.Plain, "alias", "\"]\n0 got ~1"},
	"JSON":             {"[" + strings.Repeat(`"/usr/lib/very/long/directory/",`, 40) + "1]", kind.JSON, "", ""},
	"a layout already": {opening + "x]\n" + many(60, func(i int) string { return "/usr/lib/very/long/directory/" + fmt.Sprint(i*7) }), kind.Plain, "", ""},
	"short":            {"/usr/lib/a\n/usr/lib/b\n", kind.Listing, "", ""},
}

func TestLossless(t *testing.T) {
	t.Parallel()
	for name, c := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, names, ok := Choose(c.text, c.kind, nil)
			if c.rules == "" {
				require.False(t, ok, out)
				return
			}
			require.True(t, ok)
			require.Equal(t, c.rules, names[0])
			require.Contains(t, out, c.want)
			require.Less(t, len(out), len(c.text))
			back, err := Restore(out)
			require.NoError(t, err)
			require.Equal(t, c.text, back)
		})
	}
}

func TestRestoreRefusesWhatIsNoLayout(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain": "a\nb\n", "empty": "", "unclosed": opening + "x", "unknown rule": opening + "x]\nbody",
		"endless": strings.Repeat(opening+groupSay+closing, 10), "bomb": opening + repeatSay + closing + strings.Repeat(strings.Repeat("x", 400)+"\n[1 line above 16384 more times]\n", 1<<12),
		"prefix bomb": opening + prefixSay + quote(strings.Repeat("p", 1<<16)) + closing + strings.Repeat("\n", 1<<12),
		"alias bomb":  opening + "~1" + aliasSay + quote(strings.Repeat("p", 1<<16)) + closing + strings.Repeat("~1", 1<<12),
		"bad width":   opening + numbersSay + "99" + numbersBar + "a tab" + closing, "bad note": opening + repeatSay + closing + "[3 lines above 2 more times]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Restore(text)
			require.Error(t, err)
		})
	}
}

// pieces are the parts random texts are made of: ordinary ones and ones that look
// like the signs of our own layouts.
var pieces = []string{"/usr/lib/node/", "src/main/java/com/example/", "a.go:12:", "a.go-13-", "b.go:", "= ", "=", `\`, "[1 line above 3 more times]",
	"~1", "@1", "§1", "^1", "     1→", "    12→", "7→", "     3\t", "9|", " ", "\t", "word", "\r", opening, "]", "\"", "→", "é", "http://host.example.com/x/"}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	var kept []string
	for range 1 + r.IntN(40) {
		line := ""
		if len(kept) > 0 && r.IntN(3) == 0 {
			line = kept[r.IntN(len(kept))]
		} else {
			for range r.IntN(5) {
				line += pieces[r.IntN(len(pieces))]
			}
			kept = append(kept, line)
		}
		for range 1 + r.IntN(4)*r.IntN(8) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return strings.TrimSuffix(b.String(), strings.Repeat("\n", r.IntN(2)))
}

func TestEveryLayoutOfRandomTextComesBack(t *testing.T) {
	t.Parallel()
	seed := uint64(42)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	found := map[string]int{}
	for range 1500 {
		text := randomText(r)
		out, names, ok := Choose(text, kind.Plain, nil)
		if !ok {
			continue
		}
		for _, n := range names {
			found[n]++
		}
		back, err := Restore(out)
		require.NoError(t, err)
		require.Equal(t, text, back)
	}
	for _, r := range rules() {
		require.Positive(t, found[r.name], r.name)
	}
}

func FuzzLossless(f *testing.F) {
	for _, c := range samples {
		f.Add(c.text)
	}
	f.Add(strings.Repeat("= a/\n=\n\\\n", 40))
	f.Fuzz(func(t *testing.T, text string) {
		out, ok := Lossless(text, kind.Plain, nil)
		if !ok {
			return
		}
		back, err := Restore(out)
		if err != nil || back != text {
			t.Fatalf("restored %q from %q, want %q (%v)", back, out, text, err)
		}
		if len(out) >= len(text) {
			t.Fatalf("grew from %d to %d bytes", len(text), len(out))
		}
	})
}

func FuzzRestore(f *testing.F) {
	for name := range samples {
		if out, ok := Lossless(samples[name].text, samples[name].kind, nil); ok {
			f.Add(out)
		}
	}
	f.Fuzz(func(t *testing.T, out string) {
		if text, err := Restore(out); err == nil && len(text) > 2*maxText+len(out) {
			t.Fatalf("%d bytes from %d", len(text), len(out))
		}
	})
}

func BenchmarkLossless(b *testing.B) {
	for _, size := range []int{1, 8} {
		text := many(size*14000, func(i int) string {
			return fmt.Sprintf("src/main/java/com/example/service/impl/File%d.java:%d: call of method", i/50, i)
		})
		if len(text) > maxText {
			text = text[:maxText]
		}
		b.Run(fmt.Sprintf("search_%dMB", size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, ok := Lossless(text, kind.Search, nil); !ok {
					b.Fatal("no layout")
				}
			}
		})
	}
}
