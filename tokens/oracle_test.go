package tokens

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"
)

// oracle is the reference: the library's own pattern, run by the interpreter of
// its regexp package (the wrapping `(?:…)` keeps the generated matcher out), and
// a merge by whole-string lookups in the library's vocabulary.
type oracle struct {
	split *regexp2.Regexp
	rank  map[string]int
}

const (
	o200kPattern  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	r50kPattern   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
)

var oracles = map[string]func() *oracle{
	O200kBase:  sync.OnceValue(func() *oracle { return newOracle(O200kBase, o200kPattern) }),
	CL100kBase: sync.OnceValue(func() *oracle { return newOracle(CL100kBase, cl100kPattern) }),
	P50kBase:   sync.OnceValue(func() *oracle { return newOracle(P50kBase, r50kPattern) }),
	P50kEdit:   sync.OnceValue(func() *oracle { return newOracle(P50kEdit, r50kPattern) }),
	R50kBase:   sync.OnceValue(func() *oracle { return newOracle(R50kBase, r50kPattern) }),
}

func newOracle(name, pattern string) *oracle {
	codec, err := tokenizer.Get(tokenizer.Encoding(name))
	if err != nil {
		panic(err)
	}
	o := &oracle{split: regexp2.MustCompile("(?:"+pattern+")", regexp2.None), rank: map[string]int{}}
	for id := range uint(200_100) {
		if word, err := codec.Decode([]uint{id}); err == nil {
			o.rank[word] = int(id)
		}
	}
	return o
}

// ends are the ends of the pre-tokens, in bytes.
func (o *oracle) ends(t testing.TB, text string) []int {
	var ends []int
	at := 0
	m, err := o.split.FindStringMatch(text)
	for ; m != nil && err == nil; m, err = o.split.FindNextMatch(m) {
		at += len(m.String())
		ends = append(ends, at)
	}
	require.NoError(t, err)
	require.Equal(t, len(text), at, "the pattern left something out of %q", text)
	return ends
}

func (o *oracle) ids(t testing.TB, text string) []int {
	ids := []int{}
	at := 0
	for _, end := range o.ends(t, text) {
		ids = append(ids, o.merge(text[at:end])...)
		at = end
	}
	return ids
}

func (o *oracle) count(t testing.TB, text string) int { return len(o.ids(t, text)) }

// merge joins the pair of lowest rank, the leftmost of equals, until none has one.
func (o *oracle) merge(piece string) []int {
	if id, ok := o.rank[piece]; ok {
		return []int{id}
	}
	parts := make([]string, len(piece))
	for i := range parts {
		parts[i] = piece[i : i+1]
	}
	for {
		best, at := -1, -1
		for i := 0; i+1 < len(parts); i++ {
			if r, ok := o.rank[parts[i]+parts[i+1]]; ok && (best < 0 || r < best) {
				best, at = r, i
			}
		}
		if at < 0 {
			break
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	ids := make([]int, len(parts))
	for i, p := range parts {
		ids[i] = o.rank[p]
	}
	return ids
}

// ends are the ends of the pre-tokens by our scanner.
func (c *counter) ends(text string) []int {
	var ends []int
	b := []byte(text)
	for i := 0; i < len(b); {
		i = c.end(sharedClasses(), b, i)
		ends = append(ends, i)
	}
	return ends
}

func counterOf(t testing.TB, name string) *counter {
	c, err := Named(name)
	require.NoError(t, err)
	own, ok := c.(*counter)
	require.True(t, ok)
	return own
}

// agree compares splits and counts with the oracle.
func agree(t testing.TB, name, text string) {
	o, c := oracles[name](), counterOf(t, name)
	ends := o.ends(t, text)
	if !slices.Equal(ends, c.ends(text)) {
		require.Equal(t, ends, c.ends(text), "%s splits %q", name, text)
	}
	n, at := 0, 0
	for _, end := range ends {
		n += len(o.merge(text[at:end]))
		at = end
	}
	if got := c.Count([]byte(text)); got != n {
		require.Equal(t, n, got, "%s counts %q", name, text)
	}
}

// testSeed makes property tests repeat; it is printed with every failure.
const testSeed = 20261130

// rounds is n, or fewer under the race detector, which makes all ten times slower
// and looks for something else.
func rounds(n int) int {
	if raceDetector {
		return n / 10
	}
	return n
}

func newRand(salt uint64) *rand.Rand { return rand.New(rand.NewPCG(testSeed, salt)) }

// hostile are pieces that sit on the edges of the patterns' rules.
var hostile = []string{
	"'s", "'S", "'ſ", "'t", "'re", "'RE", "'Ve", "'ll", "'lL", "'d", "'m", "'", "''", "'x", "’s", "'r", "'l", "'v",
	" ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n", "\n \n", " \n", "\n ", "\u00a0", "\u2028", "\u2029", "\u0085", "\u3000", "\u200b", "\ufeff", "\v", "\f", "\x1c", "\x00", "\x7f",
	"/", "//", "\n/", "/\n", "\n//-", ".", "...", "-", "_", "{\"", "\"}", "},{\"", "\\n", "\\u00e9", "<|endoftext|>", "=", "====", "(", "();",
	"a", "B", "Ab", "aB", "ABc", "word", "Word", "WORD", "camelCase", "HTTPServer", "ŉ", "ß", "É", "é", "e\u0301", "\u0301", "\u0301\u0302", "\u0301AB", "\u0301Ab",
	"ǅ", "ʰ", "ˇ", "ª", "א", "ب", "中", "中文", "日本語", "カタカナ", "ー", "한국어", "ไทย", "नि", "\u093f", "ä", "Ж", "жЖ", "𝒜", "𝓪", "𐐀", "𐐨", "ⅷ", "Ⓐ", "ⓐ", "ſ", "K",
	"0", "12", "123", "1234", "٣", "৪", "²", "½", "Ⅷ", "一", "〇", "𝟘",
	"🙂", "👨‍👩‍👧", "\u200d", "🇩🇪", "🏽", "€", "→", "─", "│", "█", "�", "\U000e0041", "\U0010ffff", "\ue000", "\u0378",
}

// wild is a random text of n pieces: hostile ones, letters, digits, any code points.
func wild(r *rand.Rand, n int) string {
	var b []byte
	for range n {
		switch r.IntN(8) {
		case 0:
			b = append(b, string(anyRune(r))...)
		case 1:
			for range r.IntN(12) {
				b = append(b, byte('a'+r.IntN(26)))
			}
		case 2:
			for range r.IntN(6) {
				b = append(b, byte(r.IntN(0x80)))
			}
		default:
			b = append(b, hostile[r.IntN(len(hostile))]...)
		}
	}
	return string(b)
}

func anyRune(r *rand.Rand) rune {
	limits := []int{0x250, 0x3000, 0x10000, 0x20000, 0x110000}
	for {
		c := rune(r.IntN(limits[r.IntN(len(limits))]))
		if c < 0xd800 || c > 0xdfff {
			return c
		}
	}
}
