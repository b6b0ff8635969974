package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/kind"
)

func TestTerminalShowsWhatStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		refused    bool
	}{
		"plain":                      {"a\nb\n", "a\nb\n", false},
		"colours":                    {"\x1b[1;31merror\x1b[0m: x\n\x1b[38;5;12mblue\x1b[m\n", "error: x\nblue\n", false},
		"colours with colons":        {"\x1b[4:3mwavy\x1b[0m\n", "wavy\n", false},
		"line ends of two bytes":     {"a\r\nb\r\n", "a\r\nb\r\n", false},
		"progress":                   {"10%\r20%\r100%\ndone\n", "100%\ndone\n", false},
		"shorter text leaves a rest": {"downloading\rdone\n", "doneloading\n", false},
		"erased first":               {"downloading\r\x1b[Kdone\n", "done\n", false},
		"erased whole":               {"downloading\x1b[2K\rdone\n", "done\n", false},
		"column one":                 {"downloading\x1b[1G\x1b[0Kdone\n", "done\n", false},
		"backspaces":                 {"abc\b\bX\n", "aXc\n", false},
		"overstruck bold":            {"N\bNA\bAM\bME\bE\n", "NAME\n", false},
		"cursor hidden":              {"\x1b[?25lwork\x1b[?25h\n", "work\n", false},
		"bracketed paste":            {"\x1b[?2004h$ ls\n", "$ ls\n", false},
		"title":                      {"\x1b]0;title\x07x\n", "x\n", false},
		"link":                       {"\x1b]8;;http://a/\x1b\\text\x1b]8;;\x1b\\\n", "text\n", false},
		"bars of several lines":      {"a: 1%\nb: 1%\n\x1b[2Aa: 9%\nb: 9%\nend\n", "a: 9%\nb: 9%\nend\n", false},
		"erase below":                {"a\nb\nc\n\x1b[3A\x1b[Jdone\n", "done\n", false},
		"move right":                 {"a\x1b[3Cb\n", "a   b\n", false},
		"last line without newline":  {"10%\r20%", "20%", false},
		"spinner":                    {"⠋ work\r⠙ work\r✓ done\n", "✓ done\n", false},
		"above the screen":           {"a\x1b[5Ab\n", "", true},
		"other screen":               {"\x1b[?1049hx\n", "", true},
		"cursor to a place":          {"\x1b[2;3Hx\n", "", true},
		"unknown":                    {"\x1b[5Zx\n", "", true},
		"cut sequence":               {"x\x1b[31", "", true},
		"wide runes overwritten":     {"漢字\rab\n", "", true},
		"an emoji overwritten":       {"ok ✅ a\rno\n", "", true},
		"a line that may wrap":       {strings.Repeat("x", 300) + "\r\x1b[Kdone\n", "", true},
		"tab overwritten":            {"a\tb\rxyz\n", "", true},
		"far away":                   {strings.Repeat("\x1b[4096Cx\n", 3000), "", true},
		"bell in an edited line":     {"a\a\rb\n", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := terminal(c.text, false)
			require.Equal(t, !c.refused, ok)
			require.Equal(t, c.want, got)
		})
	}
}

func TestEquivalentByKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		kind kind.Kind
		want string // "" refused
	}{
		"JSON":                      {"{ \"a\" : [ 1.0 , 2 ],\n \"a\": \"x  y\" }\n", kind.JSON, `{"a":[1.0,2],"a":"x  y"}`},
		"documents in a row":        {"{ \"a\": 1 }\n{ \"a\": 2 }\n", kind.NDJSON, "{\"a\":1}\n{\"a\":2}"},
		"documents without newline": {"{ \"a\": 1 }[ 2 ]", kind.Plain, "{\"a\":1}\n[2]"},
		"minified already":          {`{"a":1}`, kind.JSON, ""},
		"broken JSON":               {`{ "a" : 1 `, kind.JSON, `{ "a" : 1`},
		"spaces at line ends":       {"a  \nb\t\n\n  c", kind.Plain, "a\nb\n\n  c"},
		"a read":                    {"a  \nb\t\n\n  c", kind.Read, ""},
		"a JSON file read":          {"{ \"a\" : 1 }        \n", kind.Read, ""},
		"source text":               {"\x1b[31mred\x1b[0m", kind.Code, ""},
		"a coloured diff":           {"\x1b[31m-a  \x1b[m\n\x1b[32m+b \x1b[m\n", kind.Diff, "-a  \n+b \n"},
		"a diff with returns":       {"-a\rb\n+c                \n", kind.Diff, ""},
		"no UTF-8":                  {"a \xff   \n", kind.Plain, ""},
		"NUL":                       {"a\x00   \nb", kind.Plain, "a\x00\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := Equivalent(c.text, c.kind, func(s string) int { return len(s) })
			require.Equal(t, c.want != "", ok)
			require.Equal(t, c.want, got)
		})
	}
}

// tokensOf is the stream of JSON tokens of text, numbers as lexemes.
func tokensOf(t *testing.T, text string) (all []string) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%T %v", token, token))
	}
}

func TestMinifiedValuesAreEqual(t *testing.T) {
	t.Parallel()
	seed := uint64(99)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 4))
	for range 500 {
		text := ""
		for range 1 + r.IntN(3) {
			text += randomDocument(r, 3) + "\n"
		}
		out, ok := minify(text)
		require.True(t, ok, text)
		require.Equal(t, tokensOf(t, text), tokensOf(t, out))
		again, ok := minify(out)
		require.True(t, ok)
		require.Equal(t, out, again)
	}
}

func randomDocument(r *rand.Rand, depth int) string {
	pad := strings.Repeat(" ", r.IntN(3))
	var parts []string
	for range r.IntN(4) {
		part := []string{"1", "-0.50E+2", `"a \" [ b"`, "null", "true", "12345678901234567890"}[r.IntN(6)]
		if depth > 0 && r.IntN(2) == 0 {
			part = randomDocument(r, depth-1)
		}
		parts = append(parts, pad+`"k" : `+part+pad)
	}
	return "{" + pad + strings.Join(parts, ","+pad) + "}"
}

func FuzzEquivalent(f *testing.F) {
	for _, s := range []string{"{ \"a\" : 1 } [ 2 ]", "a\r\x1b[Kb\x1b[1A\x1b[31mc\x1b[0m  \n", "x\b\b\by\r\n", "\x1b]0;t\x07", "\x1b[3Cx\x1b[9Dy", "é\r漢", "100\r "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, ok := Equivalent(text, kind.Plain, nil)
		if !ok {
			return
		}
		if len(out) >= len(text) {
			t.Fatalf("grew from %d to %d bytes", len(text), len(out))
		}
		if again, ok := Equivalent(out, kind.Plain, func(s string) int { return len(s) }); ok {
			t.Fatalf("%q is no fixed point: %q", out, again)
		}
		if json.Valid([]byte(text)) && strings.ContainsAny(strings.TrimLeft(text, " \t\r\n")[:1], "{[") { // a bare "100\r " is terminal output
			var a, b any
			if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal([]byte(out), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
				t.Fatalf("values changed: %q", out)
			}
		}
	})
}
