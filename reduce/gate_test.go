package reduce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/tokens"
	"token-terminator/turn"
)

// A10: characters may not shrink while tokens grow, nor the reverse; what cannot be
// measured goes out as it came (B33: without a tokenizer every measure must fall).
func TestGateWantsEveryMeasure(t *testing.T) {
	t.Parallel()
	size := func(runes, bytes, o200k, cl100k int) tokens.Measure {
		return tokens.Measure{Runes: runes, Bytes: bytes, Tokens: o200k, O200k: o200k, CL100k: cl100k}
	}
	none := tokens.Measure{Bytes: 9 << 20, Unmeasured: turn.NoMeasure}
	before := size(1000, 1000, 300, 300)
	for name, c := range map[string]struct {
		model         string
		before, after tokens.Measure
		want          turn.Reason
	}{
		"both smaller":                 {"gpt-4o", before, size(999, 999, 299, 0), ""},
		"equal":                        {"gpt-4o", before, before, turn.NotSmallerChars},
		"more tokens":                  {"gpt-4o", before, size(900, 900, 301, 0), turn.NotSmallerTokens},
		"as many tokens":               {"gpt-4o", before, size(900, 900, 300, 0), turn.NotSmallerTokens},
		"more characters":              {"gpt-4o", before, size(1001, 900, 200, 0), turn.NotSmallerChars},
		"panel agrees":                 {"claude-opus-5", before, size(900, 900, 290, 290), ""},
		"panel disagrees":              {"claude-opus-5", before, size(900, 900, 290, 300), turn.PanelDisagrees},
		"the old one is not measured":  {"gpt-4o", none, size(1, 1, 1, 1), turn.NoMeasure},
		"the new one is not measured":  {"gpt-4o", before, none, turn.NoMeasure},
		"neither, and no tokenizer":    {"claude-opus-5", none, none, turn.NoMeasure},
		"the new one is broken text":   {"gpt-4o", before, tokens.Measure{Bytes: 2, Unmeasured: turn.NotUTF8}, turn.NotUTF8},
		"nothing is smaller than this": {"gpt-4o", size(0, 0, 0, 0), size(0, 0, 0, 0), turn.NotSmallerChars},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := tokens.NewMeter(c.model, "", nil)
			require.NoError(t, err)
			reason, ok := Gate(m, c.before, c.after)
			require.Equal(t, c.want, reason)
			require.Equal(t, c.want == "", ok)
		})
	}
}
