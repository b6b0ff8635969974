package structured

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/tokens"
)

const sampleMarker = "[Token Terminator: 41 of 1,204 records shown. Whole text: token_terminator action=artifact_get artifact_id=a_01234567 tag=01234567]"

// TestTokensRemoved holds the figure for JSON: at least 55 % of the tokens over the
// corpus outputs of that kind, no output larger, no file weighing more than 5 % or
// twice its equal share.
func TestTokensRemoved(t *testing.T) {
	t.Parallel()
	counter, err := tokens.Named("o200k_base")
	require.NoError(t, err)
	var raw []int
	var saved []float64
	for name, text := range documents(t) {
		before := counter.Count([]byte(text))
		out := text
		v, reason := Compress(text, kind.JSON, form.Settings{})
		if reason == "" {
			out = v.Head + sampleMarker + v.Tail
			requireValid(t, text, v)
		}
		after := counter.Count([]byte(out))
		require.LessOrEqual(t, after, before, name)
		raw = append(raw, before)
		saved = append(saved, 1-float64(after)/float64(before))
		t.Logf("%7d to %7d tokens, %5.1f %% removed, %d of %d %s shown %s %s", before, after, 100*saved[len(saved)-1], v.Shown, v.Total, v.Unit, reason, name)
	}
	figure := weighted(raw, saved)
	t.Logf("JSON: %.1f %% of the tokens removed, weighted over %d files", 100*figure, len(raw))
	require.GreaterOrEqual(t, figure, 0.55)
}

// documents are the JSON outputs of the corpus named by TOKEN_TERMINATOR_CORPUS, or
// made-up ones of the same kinds.
func documents(t *testing.T) map[string]string {
	all := map[string]string{}
	dir := os.Getenv("TOKEN_TERMINATOR_CORPUS")
	if dir == "" {
		r := rand.New(rand.NewPCG(needleSeed, 9))
		for name, record := range shapes {
			for i, frame := range []string{"indented", "nested", "lines"} {
				var recs []string
				for n := range 100 + 60*i {
					recs = append(recs, marshal(t, record(r, n)))
				}
				all[name+" "+frame] = frames[frame](recs)
			}
		}
		all["one record"] = marshal(t, shapes["jobs"](r, 1))
		return all
	}
	files, err := filepath.Glob(filepath.Join(dir, "outputs/json/*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		all[filepath.Base(f)] = string(b)
	}
	return all
}

// weighted is the mean of saved by raw size, where no file weighs more than 5 % of
// all or twice its equal share, whichever is larger.
func weighted(raw []int, saved []float64) float64 {
	most := max(0.05, 2/float64(len(raw)))
	weights := make([]float64, len(raw))
	for i := range raw {
		weights[i] = float64(raw[i])
	}
	for range 500 {
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		for i := range weights {
			weights[i] = min(weights[i], most*sum)
		}
	}
	sum, mean := 0.0, 0.0
	for i, w := range weights {
		sum += w
		mean += w * saved[i]
	}
	return mean / sum
}

// TestOddPublicFilesAreHandled runs small parser cases, whole and inside an array.
func TestOddPublicFilesAreHandled(t *testing.T) {
	t.Parallel()
	cases := []string{`[1,]`, `{"a":"\ud800"}`, `[1e9999]`, "[\"\x00\"]", `{"a":1}{"a":2}`, "\ufeff[1]", `[`, `{"":{}}`, "null", "\xff"}
	if dir := os.Getenv("TOKEN_TERMINATOR_CORPUS"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "outputs/json-edge/*"))
		require.NoError(t, err)
		for _, f := range files {
			b, err := os.ReadFile(f)
			require.NoError(t, err)
			cases = append(cases, string(b))
		}
	}
	for i, text := range cases {
		for _, whole := range []string{text, "[" + strings.Repeat(text+",", 40) + text + "]", strings.Repeat(text+"\n", 40)} {
			v, reason := Compress(whole, kind.JSON, form.Settings{})
			require.True(t, reason == "" || reason.Known())
			if reason == "" {
				require.True(t, utf8.ValidString(whole), fmt.Sprint(i))
				requireValid(t, whole, v)
			}
		}
	}
}
