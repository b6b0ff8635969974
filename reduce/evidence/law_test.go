package evidence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

var allKinds = []kind.Kind{kind.Log, kind.Search, kind.Test, kind.Build, kind.Stack, kind.Plain}

// broken walks a view beside its source and says what breaks the law: every line of
// the view is the next source line or a note, and the notes count exactly the lines
// between.
func broken(text string, v form.View) string {
	source := strings.SplitAfter(text, "\n")
	if source[len(source)-1] == "" {
		source = source[:len(source)-1]
	}
	at, shown := 0, 0
	visible := make([]bool, len(source))
	var pointed [][2]int
	for _, line := range strings.SplitAfter(v.Head, "\n") {
		if line == "" {
			continue
		}
		if at < len(source) && strings.TrimSuffix(source[at], "\n") == strings.TrimSuffix(line, "\n") {
			visible[at] = true
			at, shown = at+1, shown+1
			continue
		}
		n := noteCount(line)
		if n == 0 {
			return fmt.Sprintf("line %q is neither source line %d nor a note", line, at+1)
		}
		if from, to, ok := samePlace(line); ok {
			for k := at; k < at+n; k++ {
				if !slices.Contains(source[from-1:to], source[k]) {
					return fmt.Sprintf("%q does not hold for line %d", line, k+1)
				}
			}
			pointed = append(pointed, [2]int{from, to})
		}
		at += n
	}
	for _, p := range pointed {
		for k := p[0] - 1; k < p[1]; k++ {
			if !visible[k] {
				return fmt.Sprintf("a note points at line %d, which is out of sight", k+1)
			}
		}
	}
	switch {
	case at != len(source):
		return fmt.Sprintf("the view accounts for %d of %d lines", at, len(source))
	case v.Total != len(source) || v.Shown != shown:
		return fmt.Sprintf("says %d of %d, shows %d of %d", v.Shown, v.Total, shown, len(source))
	}
	return ""
}

// samePlace reads the lines that a note about repeats points at.
func samePlace(line string) (from, to int, ok bool) {
	if i := strings.Index(line, ", same as line "); i > 0 {
		n, _ := fmt.Sscanf(line[i:], ", same as line %d]", &from)
		return from, from, n == 1
	}
	if i := strings.Index(line, ", same as lines "); i > 0 {
		n, _ := fmt.Sscanf(line[i:], ", same as lines %d-%d]", &from, &to)
		return from, to, n == 2
	}
	return 0, 0, false
}

// noteCount adds up the lines a note stands for, 0 when the line is no note.
func noteCount(line string) int {
	if !strings.HasPrefix(line, "[") || !strings.HasSuffix(line, "]\n") {
		return 0
	}
	var n, more int
	if _, err := fmt.Sscanf(line, "[%d ", &n); err != nil {
		return 0
	}
	if i := strings.Index(line, " left out and "); i > 0 {
		if _, err := fmt.Sscanf(line[i:], " left out and %d other", &more); err != nil {
			return 0
		}
	}
	return n + more
}

// obeys checks the whole law on one text and gives the view.
func obeys(t require.TestingT, text string, k kind.Kind, set form.Settings) (form.View, turn.Reason) {
	v, reason := Compress(text, k, set)
	again, reasonAgain := Compress(text, k, set)
	require.Equal(t, v, again, "not deterministic")
	require.Equal(t, reason, reasonAgain)
	if reason != "" {
		require.Equal(t, form.View{}, v)
		require.True(t, reason.Known(), reason)
		return v, reason
	}
	require.Less(t, len(v.Head), len(text))
	require.True(t, strings.HasSuffix(v.Head, "\n"))
	require.Empty(t, broken(text, v))
	return v, ""
}

// noise gives random lines of a few templates, so that every rule has work.
func noise(r *rand.Rand, lines int) string {
	var b strings.Builder
	words := strings.Fields("alpha beta gamma delta error warning failed cache request user pod ok PASS null")
	for i := range lines {
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "2026-01-02T03:%02d:%02d.%03dZ INFO served id=%x in %d ms\n", i/60%60, i%60, r.IntN(1000), r.Uint64(), r.IntN(90))
		case 1, 2, 3:
			fmt.Fprintf(&b, "worker-%d took job %d from queue %s\n", r.IntN(5), i, words[r.IntN(3)])
		case 4:
			fmt.Fprintf(&b, "%s %s %s\n", words[r.IntN(len(words))], words[r.IntN(len(words))], words[r.IntN(len(words))])
		case 5:
			fmt.Fprintf(&b, "src/a/file%d.go:%d: call(%s)\n", r.IntN(4), i, words[r.IntN(4)])
		case 6:
			b.WriteString("WARN disk nearly full\n")
		case 7:
			fmt.Fprintf(&b, "=== RUN   Test%d\n--- PASS: Test%d (0.%02ds)\n", i, i, r.IntN(99))
		case 8:
			b.WriteString("\n")
		case 9:
			fmt.Fprintf(&b, "\tat com.x.Y.call(Y.java:%d)\r\n", r.IntN(9))
		default:
			fmt.Fprintf(&b, "step %d of 900 done\n", i)
		}
	}
	return b.String()
}

func TestViewsObeyTheLawOnRandomText(t *testing.T) {
	t.Parallel()
	seed := uint64(20261130)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	smaller := 0
	for range 150 {
		text := noise(r, r.IntN(400))
		set := form.Settings{Head: r.IntN(12), Tail: r.IntN(12), Context: r.IntN(4), Tight: r.IntN(2) == 0}
		for _, k := range allKinds {
			if _, reason := obeys(t, text, k, set); reason == "" {
				smaller++
			}
		}
	}
	require.Greater(t, smaller, 200)
}

// severityLines lists lines a reader would call errors, by a rule of its own.
func severityLines(text string) []string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		for _, w := range [...]string{"ERROR", "FATAL", "Traceback (most recent", "panic: ", "Caused by: "} {
			if strings.Contains(l, w) {
				out = append(out, l)
				break
			}
		}
	}
	return out
}

func TestSeverityLinesStayUnlessTheirLikeIsShown(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "2026-01-02 10:%02d:%02d INFO tick %d\n", i/60%60, i%60, i)
		if i%100 == 50 {
			fmt.Fprintf(&b, "2026-01-02 10:%02d:%02d ERROR part %s is gone\n", i/60%60, i%60, strings.Repeat("z", i/100+1))
		}
	}
	v, reason := obeys(t, b.String(), kind.Log, form.Settings{})
	require.Empty(t, reason)
	for _, l := range severityLines(b.String()) {
		require.Contains(t, v.Head, l)
	}
}

func TestEvidenceKeepsItsNeighboursAndItsPlace(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 600 {
		lines = append(lines, fmt.Sprintf("2026-01-02 10:%02d:%02d INFO copied block %d of volume b", i/60, i%60, i))
	}
	lines[300] = "the tape robot dropped a cartridge"
	v, reason := obeys(t, strings.Join(lines, "\n"), kind.Log, form.Settings{Context: 3})
	require.Empty(t, reason)
	require.Contains(t, v.Head, strings.Join(lines[297:304], "\n")+"\n")
}

func FuzzCompress(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 12 {
		f.Add(noise(r, 20+i*10), byte(i))
	}
	f.Add("\x1b[32mok\x1b[0m\n\x1b[", byte(0))
	f.Add("<testsuite failures=\"0\"><testcase name=\"a\"/>\n<testcase>\n", byte(2))
	f.Add("{\"Action\":\"run\",\"Test\":\"\\\n", byte(2))
	f.Add(strings.Repeat("0.1.2.3-4e5:06:07 %41%\n", 9), byte(1))
	f.Fuzz(func(t *testing.T, text string, k byte) {
		set := form.Settings{Head: int(k>>3) & 3, Tail: int(k>>5) & 3, Context: 1, Tight: k>>7 == 1}
		obeys(t, text, allKinds[int(k)%len(allKinds)], set)
	})
}
