package tokens

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"
)

func TestCounterEqualsOracleOnRandomText(t *testing.T) {
	t.Parallel()
	for i, c := range encodings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRand(uint64(i))
			rounds := 4000
			if c.name == O200kBase || c.name == CL100kBase {
				rounds = 20000
			}
			for range rounds {
				agree(t, c.name, wild(r, 1+r.IntN(12)))
			}
		})
	}
}

func TestLibrarySplitsBlankLinesWrongly(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text          string
		truth, theirs int
	}{
		"a blank line of one space":              {"\n \n", 1, 2},
		"a blank line of one space between text": {"x\n \nb", 3, 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, enc := range []string{O200kBase, CL100kBase} {
				require.Equal(t, c.truth, counterOf(t, enc).Count([]byte(c.text)), enc)
				codec, err := tokenizer.Get(tokenizer.Encoding(enc))
				require.NoError(t, err)
				n, err := codec.Count(c.text)
				require.NoError(t, err)
				require.Equal(t, c.theirs, n, "the library's count changed: %s", enc)
			}
		})
	}
}
