package structured

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/tokens"
)

const sampleMarker = "Token Terminator: 41 of 1,204 records shown. Whole text: token_terminator action=artifact_get artifact_id=a_0123456789ab tag=01234567"

func TestProbe(t *testing.T) {
	dir := os.Getenv("TOKEN_TERMINATOR_CORPUS")
	if dir == "" {
		return
	}
	c, err := tokens.Named("o200k_base")
	require.NoError(t, err)
	files, _ := filepath.Glob(filepath.Join(dir, "outputs/json/*"))
	var raw []int
	var saved []float64
	for _, f := range files {
		b, _ := os.ReadFile(f)
		v, reason := Compress(string(b), kind.JSON, form.Settings{})
		before := c.Count(b)
		after := before
		out := string(b)
		if reason == "" {
			out = v.Head + sampleMarker + v.Tail
			after = c.Count([]byte(out))
		}
		raw = append(raw, before)
		saved = append(saved, 1-float64(after)/float64(before))
		fmt.Printf("%7d %7d %5.1f%% %s %s %d/%d %s\n", before, after, 100*saved[len(saved)-1], reason, v.Unit, v.Shown, v.Total, filepath.Base(f))
		os.MkdirAll("/tmp/tt/json", 0o755)
		os.WriteFile("/tmp/tt/json/"+filepath.Base(f), []byte(out), 0o644)
	}
	fmt.Printf("weighted %.2f%%\n", 100*weighted(raw, saved))
}

// weighted caps each file's share at 5 % or twice its equal share.
func weighted(raw []int, saved []float64) float64 {
	cap := max(0.05, 2/float64(len(raw)))
	w := make([]float64, len(raw))
	for i := range raw {
		w[i] = float64(raw[i])
	}
	for range 200 {
		sum := 0.0
		for _, x := range w {
			sum += x
		}
		for i := range w {
			w[i] = min(w[i], cap*sum)
		}
	}
	sum, s := 0.0, 0.0
	for i := range w {
		sum += w[i]
		s += w[i] * saved[i]
	}
	return s / sum
}
