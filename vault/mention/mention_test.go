package mention

import (
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func tokens(t require.TestingT, r io.Reader) []string {
	var all []string
	_, err := Scan(r, func(hex string) { all = append(all, hex) })
	require.NoError(t, err)
	return all
}

func TestScanFindsEveryToken(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 4)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain":                        {"see a_12345678.", []string{"12345678"}},
		"too short":                    {"a_1234567 a_", nil},
		"at the end":                   {"a_deadbeef", []string{"deadbeef"}},
		"after a JSON escape":          {`"x\na_deadbeef\n"`, []string{"deadbeef"}},
		"inside a word":                {"data_deadbeef", []string{"deadbeef"}},
		"upper case":                   {"A_DEADBEEF", []string{"deadbeef"}},
		"whole hash":                   {"a_" + long, []string{long}},
		"longer than a hash":           {"a_" + long + "ff ", []string{long}},
		"one after the other":          {"a_11111111a_22222222", []string{"11111111a", "22222222"}},
		"digits that run into a name":  {"a_11111111aa_22222222", []string{"11111111aa", "22222222"}},
		"two letters":                  {"aa_12345678", []string{"12345678"}},
		"underscores":                  {"a__12345678", nil},
		"an id that ends with a":       {"a_1111111a", []string{"1111111a"}},
		"a token cut short by another": {"a_11a_22222222", []string{"22222222"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, tokens(t, strings.NewReader(c.text)))
			require.Equal(t, c.want, tokens(t, iotest.OneByteReader(strings.NewReader(c.text))), "wherever it is cut")
		})
	}
}

func TestScanReportsReadErrors(t *testing.T) {
	t.Parallel()
	n, err := Scan(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("a_12345678"))), func(string) {})
	require.ErrorIs(t, err, iotest.ErrTimeout)
	require.EqualValues(t, 1, n)
}

func TestTokensNameWhatTheyMayStandFor(t *testing.T) {
	t.Parallel()
	shas := []string{strings.Repeat("1", 64), strings.Repeat("1", 10) + strings.Repeat("2", 54), strings.Repeat("f", 64), strings.Repeat("0", 64)}
	ix := &Index{}
	for i, sha := range shas {
		ix.Add(sha, []int{8, 12, 0, 8}[i])
	}
	ix.Build()
	for token, want := range map[string][]int{
		"11111111":                           {0, 1}, // in doubt both
		"111111111":                          {0, 1},
		"11111111112":                        {0, 1}, // digits after the shown eight of the first
		"111111111122":                       {0, 1},
		"1111111":                            nil,
		"22222222":                           nil,
		"ffffffff":                           {2},
		"ffffffff0":                          nil, // never shown: only its own digits name it
		strings.Repeat("f", 32):              {2},
		strings.Repeat("f", 32) + "0000":     {2},
		strings.Repeat("f", 31) + "0":        nil,
		strings.Repeat("0", 64):              {3},
		"00000000" + strings.Repeat("5", 30): {3},
	} {
		var got []int
		ix.Names(token, func(at int) { got = append(got, at) })
		slices.Sort(got)
		require.Equal(t, want, got, token)
	}
}

// Every id and every shown prefix is found, whatever stands around it.
func TestNoShownIDIsEverMissed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 5))
		ix, shas, shown := &Index{}, []string{}, []int{}
		for range 1 + rng.IntN(20) {
			sha := fmt.Sprintf("%016x%016x%016x%016x", rng.Uint64()>>rng.IntN(8), rng.Uint64(), rng.Uint64(), rng.Uint64())
			shas, shown = append(shas, sha), append(shown, 8+rng.IntN(8))
			ix.Add(sha, shown[len(shown)-1])
		}
		ix.Build()
		target := rng.IntN(len(shas))
		n := []int{shown[target], 32, 64}[rng.IntN(3)]
		around := []string{" ", "\\n", "\"", "a", "_", "a_", "ff", "é", "\x00", "A"}
		text := around[rng.IntN(len(around))] + "a_" + shas[target][:n] + around[rng.IntN(len(around))] + "tail"
		hit := false
		for _, token := range tokens(t, strings.NewReader(text)) {
			ix.Names(token, func(at int) { hit = hit || at == target })
		}
		require.True(t, hit, "seed %d: %q", seed, text)
	}
}

var oracle = regexp.MustCompile(`(?i)a_[0-9a-f]{8,}`)

// What a regular expression finds is found, and the cuts do not matter.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"", "a_12345678", "x a_DEADBEEFaa_00000000 ", `{"id":"a_0123456789abcdef0123456789abcdef"}`, "a_a_a_aaaaaaaaa_bbbbbbbbb", strings.Repeat("a_", 100) + "12345678"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut uint8) {
		whole := tokens(t, strings.NewReader(string(data)))
		var parts []string
		s := NewScanner(func(hex string) { parts = append(parts, hex) })
		for chunk := range slices.Chunk(data, int(cut)+1) {
			_, _ = s.Write(chunk)
		}
		s.End()
		require.Equal(t, whole, parts)
		for _, found := range oracle.FindAll(data, -1) {
			hex := strings.ToLower(string(found[2:]))
			require.Contains(t, whole, hex[:min(len(hex), MaxHex)])
		}
		for _, token := range whole {
			require.True(t, len(token) >= MinHex && len(token) <= MaxHex)
		}
	})
}
