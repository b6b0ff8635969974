package tokens

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

const mebibyte = 1 << 20

// worstTexts make pre-tokens as long as the text, or merges as many as possible.
func worstTexts() map[string]string {
	r := newRand(40)
	random := make([]byte, mebibyte)
	for i := range random {
		random[i] = byte('a' + r.IntN(26))
	}
	return map[string]string{
		"a":              strings.Repeat("a", mebibyte),
		"spaces":         strings.Repeat(" ", mebibyte),
		"line breaks":    strings.Repeat("\n", mebibyte),
		"equals":         strings.Repeat("=", mebibyte),
		"random letters": string(random),
		"ababab":         strings.Repeat("ab", mebibyte/2),
		"-_-_":           strings.Repeat("-_", mebibyte/2),
		"cjk":            strings.Repeat("中", mebibyte/3),
		"marks":          strings.Repeat("\u0301", mebibyte/2),
		"digits":         strings.Repeat("7", mebibyte),
		"capitals":       strings.Repeat("A", mebibyte),
		"mark, capitals": strings.Repeat("\u0301A", mebibyte/3),
	}
}

// TestWorstCasesCountLikeTheLibrary counts long texts of one kind, where a merge that
// is not linear would not come to an end in a test's time. BenchmarkWorstCases has the
// times.
func TestWorstCasesCountLikeTheLibrary(t *testing.T) {
	t.Parallel()
	codec, own := libraryCodec(t), counterOf(t, O200kBase)
	for name, text := range worstTexts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.ToValidUTF8(text[:len(text)/32], "")
			require.Equal(t, libraryCount(t, codec, text), own.Count([]byte(text)))
		})
	}
}

func BenchmarkWorstCases(b *testing.B) {
	for name, text := range worstTexts() {
		for _, size := range []int{len(text) / 10, len(text)} {
			b.Run(fmt.Sprintf("%s_%d", name, size), func(b *testing.B) {
				c, err := Named(O200kBase)
				require.NoError(b, err)
				part := []byte(text[:size])
				b.SetBytes(int64(size))
				for b.Loop() {
					c.Count(part)
				}
			})
		}
	}
}

func TestAWarmCountAllocatesNothing(t *testing.T) {
	if raceDetector {
		return // the detector empties pools at random
	}
	for _, enc := range encodings {
		for _, name := range sampleNames {
			text := []byte(sample(t, name))
			enc.Count(text)
			require.Zero(t, testing.AllocsPerRun(20, func() { enc.Count(text) }), "%s %s", enc.name, name)
		}
	}
	memo := NewMemo(4 << 20)
	m := meterFor(t, "claude", "", memo)
	head, messages, tail := benchRequest(t)
	m.Whole(head, messages, tail)
	require.Zero(t, testing.AllocsPerRun(20, func() { m.Whole(head, messages, tail) }), "an unchanged request")
	cold := meterFor(t, "claude", "", nil)
	cold.Whole(head, messages, tail)
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() { cold.Whole(head, messages, tail) }), 2.0*maxWorkers+2,
		"a first count: what it takes to ask the other cores")
	part := sample(t, "code.txt")
	m.Part(part)
	require.Zero(t, testing.AllocsPerRun(20, func() { m.Part(part) }), "a part seen before")
}

// TestCodePointSweep pins what every code point is to the scanners. A new Go
// release with new Unicode tables changes these figures: look at the newly
// assigned code points, then pin the new ones.
func TestCodePointSweep(t *testing.T) {
	t.Parallel()
	classes := sharedClasses()
	got := map[string]int{}
	counts := map[string]int{}
	var text []byte
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if c >= 0xd800 && c <= 0xdfff {
			continue
		}
		text = append(text[:0], "a"...)
		text = append(text, string(c)...)
		class, _ := classes.at(text, 1)
		for name, bit := range map[string]uint8{"U": inU, "L": inL, "letter": letter, "number": number, "space": space, "newline": newline} {
			if class&bit != 0 {
				got[name]++
			}
		}
		text = append(text, "B'ſ1"...)
		if c >= 0x20000 && c%64 != 0 {
			continue // planes of one class
		}
		for _, enc := range []string{O200kBase, CL100kBase} {
			counts[enc] += counterOf(t, enc).Count(text)
		}
	}
	require.Equal(t, "15.0.0", unicode.Version)
	require.Equal(t, map[string]int{"U": 136321, "L": 136692, "letter": 136104, "number": 1831, "space": 25, "newline": 2}, got)
	require.Equal(t, map[string]int{O200kBase: 1180381, CL100kBase: 1344118}, counts)
}

// TestCodePointsSplitAsInTheOracle puts code points of all blocks next to each
// class of neighbour.
func TestCodePointsSplitAsInTheOracle(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	step := 1
	for c := rune(0); c <= unicode.MaxRune; c += rune(step) {
		step = 1
		if c >= 0x3400 && c < 0xa000 || c >= 0xac00 && c < 0xd700 || c >= 0x20000 {
			step = 251 // long ranges of one class
		} else if c >= 0x10000 {
			step = 3
		}
		if raceDetector {
			step *= 10
		}
		if c >= 0xd800 && c <= 0xdfff {
			continue
		}
		s := string(c)
		b.WriteString("a" + s + "B" + s + "'s" + s + s + " " + s + "1" + s + "!" + s + "\n")
		if b.Len() > 1<<14 {
			for _, enc := range []string{O200kBase, CL100kBase} {
				require.Equal(t, oracles[enc]().ends(t, b.String()), counterOf(t, enc).ends(b.String()), "%s near U+%04X", enc, c)
			}
			b.Reset()
		}
	}
}
