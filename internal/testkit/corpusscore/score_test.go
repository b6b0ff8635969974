package corpusscore

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestNoFileOutweighsItsShare(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"outputs/logs/giant.log": {Data: []byte(strings.Repeat("x", 100_000))}}
	for i := range 50 {
		files[fmt.Sprintf("outputs/logs/small%02d.log", i)] = &fstest.MapFile{Data: []byte(strings.Repeat("y", 100))}
	}
	half := func(_, text string) string { return text[:len(text)/2] }
	scores, err := Run(files, Families()[:1], func(s string) int { return len(s) }, half)
	require.NoError(t, err)
	require.Len(t, scores[0].Files, 51)
	sum := 0.0
	for _, f := range scores[0].Files {
		require.LessOrEqual(t, f.Weight, 0.05+1e-9, f.Path)
		sum += f.Weight
	}
	require.InDelta(t, 1, sum, 1e-9)
	require.InDelta(t, 50, scores[0].Removed, 0.01)
}

func TestFewFilesMayWeighTwiceTheirEqualShare(t *testing.T) {
	t.Parallel()
	sizes := []float64{1000, 10, 10, 10}
	c := capOf(sizes, 0.5)
	total := 0.0
	for _, v := range sizes {
		total += min(v, c)
	}
	require.InDelta(t, 0.5, c/total, 1e-9)
}

func TestTheLargestFilesAreSkippedAndGrowthIsCounted(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"outputs/logs/a": {Data: []byte(strings.Repeat("a", 500))}, "outputs/logs/b": {Data: []byte(strings.Repeat("b", 40))},
		"outputs/logs/c": {Data: []byte("\xff\xfe")}, "outputs/logs/d": {Data: []byte(strings.Repeat("d", 30))},
	}
	grow := func(name, text string) string {
		if strings.HasSuffix(name, "/d") {
			return text + "!"
		}
		return text
	}
	scores, err := Run(files, []Family{{Name: "logs", Dirs: []string{"logs", "none"}, Skip: 1}}, func(s string) int { return len(s) }, grow)
	require.NoError(t, err)
	require.Len(t, scores[0].Files, 2)
	require.Equal(t, 1, scores[0].Larger)
}
