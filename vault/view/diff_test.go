package view

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestDiffStatesEveryKindOfChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b string
		want Diff
	}{
		"same":           {"a\nb\n", "a\nb\n", Diff{Same: true}},
		"changed":        {"a\nb\nc\n", "a\nB\nc\n", Diff{Added: 1, Removed: 1, Text: "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"}},
		"added":          {"", "x\n", Diff{Added: 1, Text: "@@ -1,0 +1,1 @@\n+x\n"}},
		"removed":        {"x\ny\n", "y\n", Diff{Removed: 1, Text: "@@ -1,2 +1,1 @@\n-x\n y\n"}},
		"line ends only": {"a\nb\n", "a\r\nb\r\n", Diff{EOLChanged: 2, Notes: []string{"line end changes from LF to CRLF on 2 lines"}}},
		"last line end": {"a\nb\n", "a\nb", Diff{EOLChanged: 1, Notes: []string{
			"line end changes from LF to none on 1 lines", "no line end after the last line of the second text",
		}}},
		"two hunks": {"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n", Diff{
			Added: 2, Removed: 2, Text: "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+ten\n",
		}},
	} {
		got, err := DiffOf(c.a, c.b, 0)
		require.NoError(t, err)
		c.want.Lossy = true
		require.Equal(t, c.want, got, name)
	}
}

// The edit script turns the first text into the second, and is as short as the
// textbook table says.
func TestDiffScriptsAreRightAndShortest(t *testing.T) {
	t.Parallel()
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 2_000 {
		a, b := randomLines(rng), randomLines(rng)
		ops, coarse := edits(a, b)
		require.False(t, coarse)
		var out []line
		changed, i, j := 0, 0, 0
		for _, o := range ops {
			require.Equal(t, []int{i, j}, []int{o.a, o.b}, "seed %d: runs follow each other", seed)
			switch o.kind {
			case ' ':
				require.Equal(t, a[i:i+o.n], b[j:j+o.n])
				out = append(out, a[i:i+o.n]...)
				i, j = i+o.n, j+o.n
			case '-':
				i, changed = i+o.n, changed+o.n
			case '+':
				out = append(out, b[j:j+o.n]...)
				j, changed = j+o.n, changed+o.n
			}
		}
		require.Equal(t, len(a), i)
		require.Equal(t, append([]line(nil), b...), out, "seed %d", seed)
		require.Equal(t, distance(a, b), changed, "seed %d: %v %v", seed, a, b)
	}
}

func randomLines(rng *rand.Rand) []line {
	var lines []line
	for range rng.IntN(12) {
		lines = append(lines, line{string(rune('a' + rng.IntN(3))), eolLF})
	}
	return lines
}

func distance(a, b []line) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j], d[i][j-1])
			}
		}
	}
	return d[len(a)][len(b)]
}

func TestDiffIsBounded(t *testing.T) {
	t.Parallel()
	var a, b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&a, "old %d\n", i)
		fmt.Fprintf(&b, "new %d\n", i)
	}
	d, err := DiffOf(a.String(), b.String(), 500)
	require.NoError(t, err)
	require.True(t, d.Coarse)
	require.True(t, d.Truncated)
	require.Equal(t, 200_000, d.Added)
	require.LessOrEqual(t, utf8.RuneCountInString(d.Text), 500)
	d, err = DiffOf(strings.Repeat("x", 10_000)+"\n", "y\n", 0)
	require.NoError(t, err)
	require.Contains(t, d.Text, cutMark)
	for _, limit := range []int{-1, MaxPage + 1} {
		_, err = DiffOf("a", "b", limit)
		require.ErrorIs(t, err, ErrRange)
	}
}
