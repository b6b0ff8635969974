package tokens

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/strictjson"
)

func TestSafeCut(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		before, after string
		want          bool
	}{
		"nothing before":                        {"", "a", true},
		"nothing after":                         {"a", "", true},
		"a letter before a space":               {"word", " x", true},
		"a letter before a line break":          {"word", "\n", true},
		"a letter before a digit":               {"word", "1", true},
		"a letter before an apostrophe":         {"it", "'s", false},
		"a letter before a letter":              {"wo", "rd", false},
		"a letter before a mark":                {"e", "\u0301", false},
		"a digit before a letter":               {"12", "ab", true},
		"a digit before a line break":           {"12", "\n", true},
		"a digit before a digit":                {"1", "2", false},
		"a digit before a digit beyond ASCII":   {"1", "٣", false},
		"a message's start":                     {"},{\"", "role", true},
		"one symbol before a letter":            {"a\"", "role", false},
		"a lone symbol before a letter":         {"\"", "role", false},
		"a slash and a symbol before a letter":  {"\n/-", "a", false},
		"two slashes before a letter":           {"\n//", "a", true},
		"a space and a symbol before a letter":  {" \"", "a", false},
		"a symbol and a space before a letter":  {"\" ", "a", false},
		"a letter beyond ASCII before a symbol": {"é", "\"", false},
		"two symbols before a symbol":           {"{\"", "\"", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, SafeCut([]byte(c.before), []byte(c.after)))
		})
	}
}

// cutsHold checks every cut that SafeCut proves: the splits of the two sides are
// the splits of the whole, for every encoding.
func cutsHold(t testing.TB, text string) int {
	cuts := 0
	for p := 1; p < len(text); p++ {
		if !SafeCut([]byte(text[:p]), []byte(text[p:])) {
			continue
		}
		cuts++
		for _, c := range encodings {
			joined := c.ends(text[:p])
			for _, end := range c.ends(text[p:]) {
				joined = append(joined, p+end)
			}
			require.Equal(t, c.ends(text), joined, "%s cut %q at %d", c.name, text, p)
			require.Equal(t, c.Count([]byte(text)), c.Count([]byte(text[:p]))+c.Count([]byte(text[p:])))
		}
	}
	return cuts
}

func TestCutsOfAnyTextAreAdditive(t *testing.T) {
	t.Parallel()
	r := newRand(20)
	cuts := 0
	for range rounds(15000) {
		cuts += cutsHold(t, wild(r, 1+r.IntN(10)))
	}
	require.Greater(t, cuts, rounds(10000))
}

func TestCutsBetweenMessagesAreAdditive(t *testing.T) {
	t.Parallel()
	r := newRand(21)
	c := counterOf(t, O200kBase)
	for range rounds(3000) {
		left := string(strictjson.AppendQuoted(nil, wild(r, r.IntN(8))))
		right := string(strictjson.AppendQuoted(nil, wild(r, r.IntN(8))))
		before := `{"content":` + left + `},{"`
		after := `content":` + right + `,"role":"tool"}`
		require.True(t, SafeCut([]byte(before), []byte(after)))
		require.Equal(t, oracles[O200kBase]().count(t, before+after), c.Count([]byte(before))+c.Count([]byte(after)), "%q|%q", before, after)
	}
}

func TestChunksAreCutAtTheSamePlacesWhenTheTextGrows(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat(sample(t, "logs.txt")+sample(t, "cjk.txt"), 4))
	ends := func(text []byte) (all []int) {
		for at := 0; at < len(text); {
			at += chunkEnd(text[at:])
			all = append(all, at)
		}
		return all
	}
	whole := ends(text)
	require.Greater(t, len(whole), 5)
	for cut := len(text) / 2; cut < len(text); cut += 4099 {
		part := ends(text[:cut])
		require.Equal(t, whole[:len(part)-1], part[:len(part)-1])
	}
	require.Equal(t, 3*chunkSize, chunkEnd([]byte(strings.Repeat("a", 3*chunkSize))), "no cut inside one word")
}
