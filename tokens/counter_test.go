package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"
)

func sample(t testing.TB, name string) string {
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(b)
}

var sampleNames = []string{"prose.txt", "code.txt", "logs.txt", "json.txt", "cjk.txt", "naughty.json"}

func TestCounterEqualsOracleOnRandomText(t *testing.T) {
	t.Parallel()
	for i, c := range encodings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRand(uint64(i))
			n := 4000
			if c.name == O200kBase || c.name == CL100kBase {
				n = 20000
			}
			for range rounds(n) {
				agree(t, c.name, wild(r, 1+r.IntN(12)))
			}
		})
	}
}

func TestCounterEqualsOracleOnRealText(t *testing.T) {
	t.Parallel()
	for _, file := range sampleNames {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			text := sample(t, file)
			text = strings.ToValidUTF8(text[:rounds(len(text))], "")
			for _, c := range encodings {
				if c.name != O200kBase && c.name != CL100kBase {
					agree(t, c.name, strings.ToValidUTF8(text[:len(text)/4], ""))
					continue
				}
				agree(t, c.name, text)
				agree(t, c.name, strings.ReplaceAll(text, "\n", "\r\n"))
			}
		})
	}
}

func TestCounterEqualsOracleOnNaughtyStrings(t *testing.T) {
	t.Parallel()
	var all []string
	require.NoError(t, json.Unmarshal([]byte(sample(t, "naughty.json")), &all))
	for _, s := range all {
		if utf8.ValidString(s) {
			agree(t, O200kBase, s)
			agree(t, CL100kBase, s)
		}
	}
}

// TestCounterEqualsOracleOnCorpus runs over the outputs and sessions of
// TOKEN_TERMINATOR_CORPUS, or over the bundled ones: the beginning of each file and
// its end, where it has both.
func TestCounterEqualsOracleOnCorpus(t *testing.T) {
	t.Parallel()
	dir, limit := filepath.Join("..", "datasets"), rounds(1<<13)
	if d := os.Getenv("TOKEN_TERMINATOR_CORPUS"); d != "" {
		dir, limit = d, 1<<13
	}
	var files []string
	for _, pattern := range []string{"outputs/*", "outputs/*/*", "sessions/*", "sessions/*/*"} {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.NotEmpty(t, files)
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			continue
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		parts := [][]byte{b[:min(len(b), limit)]}
		if len(b) > limit {
			parts = append(parts, b[max(limit, len(b)-limit):])
		}
		for _, part := range parts {
			text := strings.ToValidUTF8(string(part), "\ufffd")
			agree(t, O200kBase, text)
			agree(t, CL100kBase, text)
		}
	}
}

// TestLibrarySplitsBlankLinesWrongly pins the true count where the library's
// generated matcher is wrong: its `\s*[\r\n]+` does not give back line breaks.
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

func TestPublishedIdsOfCL100k(t *testing.T) {
	t.Parallel()
	cases := map[string][]int{
		"tiktoken is great!":           {83, 1609, 5963, 374, 2294, 0},
		"antidisestablishmentarianism": {519, 85342, 34500, 479, 8997, 2191},
		"2 + 2 = 4":                    {17, 489, 220, 17, 284, 220, 19},
		"お誕生日おめでとう":                    {33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699},
	}
	for text, ids := range cases {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, ids, oracles[CL100kBase]().ids(t, text))
			require.Equal(t, len(ids), counterOf(t, CL100kBase).Count([]byte(text)))
		})
	}
}

func TestSpecialTokenTextIsPlainText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "a<|endoftext|>b"} {
		for _, c := range encodings {
			require.Greater(t, c.Count([]byte(text)), 1, "%s %q", c.name, text)
			agree(t, c.name, text)
		}
	}
	require.Equal(t, 7, counterOf(t, O200kBase).Count([]byte("<|endoftext|>")))
}

func TestCounterEqualsOracleOnLongPieces(t *testing.T) {
	t.Parallel()
	alphabets := map[string]string{"one letter": "a", "two letters": "ab", "letters": "etaoinshrdlu", "equals": "=", "symbols": "=-_.", "spaces": " ", "cjk": "中文字日本語", "marks": "\u0301a"}
	for name, alphabet := range alphabets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRand(uint64(len(name)))
			letters := []rune(alphabet)
			for range rounds(60) {
				var b strings.Builder
				for range 1 + r.IntN(100) {
					b.WriteRune(letters[r.IntN(len(letters))])
				}
				agree(t, O200kBase, b.String())
				agree(t, CL100kBase, b.String())
			}
		})
	}
}

func TestBothMergesAgree(t *testing.T) {
	t.Parallel()
	r := newRand(7)
	ranks := counterOf(t, O200kBase).tables().ranks
	s := new(scratch)
	for range rounds(20000) {
		piece := make([]byte, 2+r.IntN(scanMerge-1))
		letters := 1 + r.IntN(255)
		for i := range piece {
			piece[i] = byte(r.IntN(letters)) + byte(r.IntN(2))*'a'
		}
		s.text = append(append(s.text[:0], piece...), make([]byte, 16)...)
		require.Equal(t, ranks.mergeByScan(s.text, len(piece)), ranks.mergeByHeap(s, len(piece)), "%q", piece)
	}
}

func TestRunsOfOneByteMergeAsByTheHeap(t *testing.T) {
	t.Parallel()
	for _, enc := range encodings {
		ranks := enc.tables().ranks
		s := new(scratch)
		for b := range 256 {
			lengths := []int{33, 34, 63, 64, 65, 100, 127, 129, 191 + b}
			if b%32 == 0 || b == '=' || b == 'a' || b == '\n' {
				lengths = append(lengths, 1000, 1023, 5001+b)
			}
			for _, n := range lengths {
				s.text = append(bytes.Repeat([]byte{byte(b)}, n), make([]byte, 16)...)
				got, ok := ranks.mergeRun(s, n)
				if ok {
					require.Equal(t, ranks.mergeByHeap(s, n), got, "%s: %d times byte %d", enc.name, n, b)
				}
				require.True(t, ok, "%s: %d times byte %d", enc.name, n, b)
			}
		}
	}
}

func TestBytesThatAreNoUTF8AreCountedWithoutPanic(t *testing.T) {
	t.Parallel()
	r := newRand(8)
	for range rounds(5000) {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		for _, c := range encodings {
			n := c.Count(b)
			require.LessOrEqual(t, n, len(b))
			require.Equal(t, len(b) > 0, n > 0)
		}
	}
}

func TestCountIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	c, err := Named(O200kBase)
	require.NoError(t, err)
	text := []byte(sample(t, "cjk.txt"))
	want := c.Count(text)
	var all sync.WaitGroup
	got := make([]int, 8)
	for i := range got {
		all.Go(func() {
			for range 3 {
				got[i] = c.Count(text)
			}
		})
	}
	all.Wait()
	for _, n := range got {
		require.Equal(t, want, n)
	}
}

func TestUnknownEncodingIsAnError(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "gpt2", "O200K_BASE", "claude"} {
		_, err := Named(name)
		require.ErrorIs(t, err, ErrUnknownEncoding, name)
	}
}

// TestVocabularyIsPinned holds what is read from the library: a changed
// vocabulary would change every count in silence.
func TestVocabularyIsPinned(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		size, words, longest int
		digest               string
	}{
		O200kBase:  {200_000, 199_998, 128, "6d12c35070eec1461435eb1dd5917d3017695992188898477959ce17077f69c6"},
		CL100kBase: {100_257, 100_256, 128, "74248f4aec6cbe440b5d7cf75d4e6cf57a788f2297a9e62f73347da83795871b"},
		P50kBase:   {50_281, 50_280, 128, "6acf7ccc2416889843eabe4bac6f462be38e87763b637044a367c150fecfeae5"},
		R50kBase:   {50_257, 50_256, 128, "22f185846c3da6972451b865f7a74e12f84c19a13b961e0eeae8468a17aa78fa"},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words, err := vocabularyOf(name, want.size)
			require.NoError(t, err)
			h := sha256.New()
			n, longest := 0, 0
			seen := map[string]bool{}
			for rank, w := range words {
				if w == "" {
					continue
				}
				n++
				longest = max(longest, len(w))
				seen[w] = true
				_, _ = fmt.Fprintf(h, "%d %x\n", rank, w)
			}
			require.Equal(t, want.words, n)
			require.Len(t, seen, n)
			require.Equal(t, want.longest, longest)
			require.Equal(t, want.digest, hex.EncodeToString(h.Sum(nil)))
			for b := range 256 {
				require.True(t, seen[string([]byte{byte(b)})], "byte %d is no token", b)
			}
		})
	}
}
