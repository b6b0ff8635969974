package delta

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorkStaysLinearOnHostileTexts bounds the lines compared, not the time.
func TestWorkStaysLinearOnHostileTexts(t *testing.T) {
	t.Parallel()
	makers := map[string]func(n int) string{
		"equal lines":       func(n int) string { return strings.Repeat("\t\treturn nil, err\n", n) },
		"blank lines":       func(n int) string { return strings.Repeat("\n", n) },
		"two lines in turn": func(n int) string { return strings.Repeat("\t\treturn nil, err\n\t}\n", n/2) },
		"ids that never fit": func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, "[%d] link to the same page\n", i*7%1000+n%10)
			}
			return b.String()
		},
		"line ends in turn":   func(n int) string { return strings.Repeat("a line of words\r\na line of words\n", n/2) },
		"numbers that repeat": func(n int) string { return strings.Repeat("1:text of a line\n2:text of a line\n", n/2) },
		"equal JSON members":  func(n int) string { return "[" + strings.Repeat(`{"a": 1}, `, n) + "0]" },
		"few lines at random": func(n int) string {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			var b strings.Builder
			for range n {
				fmt.Fprintf(&b, "one of %d lines\n", r.IntN(3))
			}
			return b.String()
		},
	}
	for name, text := range makers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ix := NewIndex()
			for i := range 6 {
				ix.Add(Base{Label: fmt.Sprint("result ", i), Text: text(3000 + i)})
				ix.Add(Base{Label: fmt.Sprint("call ", i), Text: text(37+i) + "something else\n" + text(5)})
			}
			for _, n := range []int{4000, 32000} {
				s := newSearch(ix, text(n)+"an end", Options{}.withDefaults())
				s.nominate()
				s.cover(s.choose(3))
				require.LessOrEqual(t, s.steps, 256*(n+4096), "%d lines", n)
				t.Logf("%d lines, %d candidates, %d steps", n, len(s.cands), s.steps)
			}
		})
	}
}
