package view

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestFoldMakesCaseVariantsEqual(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"sharp s":        {"straße", "STRASSE", "Strasse", "STRAẞE"},
		"final sigma":    {"ὀδυσσεύς", "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύσ"},
		"ligature":       {"ﬁle", "FILE", "file"},
		"kelvin":         {"K", "k", "K"},
		"long s":         {"ſ", "S", "s"},
		"cherokee":       {"ꭰ", "Ꭰ"},
		"dotted I":       {"İ", "i̇"},
		"cyrillic":       {"ПРИВЕТ", "привет"},
		"greek iota sub": {"ᾳ", "αι", "ΑΙ"},
		"digraph":        {"Ǆ", "ǅ", "ǆ"},
	}
	for name, same := range cases {
		for _, s := range same[1:] {
			require.Equal(t, Fold(same[0]), Fold(s), "%s: %q and %q", name, same[0], s)
		}
	}
	require.NotEqual(t, Fold("ı"), Fold("i"), "the dotless i is another letter")
	require.True(t, Contains("Weiße Maus", Fold("WEISSE")))
}

func TestFoldIsStableAndCaseBlindForEveryCharacter(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		if f := Fold(string(r)); f != Fold(f) {
			t.Fatalf("%U folds to %q and that to %q", r, f, Fold(f))
		}
	}
}

func TestPagesPutTogetherAreTheText(t *testing.T) {
	t.Parallel()
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, seed))
	for range 200 {
		text := randomText(rng, 300)
		var b strings.Builder
		limit := 1 + rng.IntN(50)
		for offset := 0; ; {
			p, err := PageOf(text, offset, limit)
			require.NoError(t, err, "seed %d", seed)
			require.LessOrEqual(t, utf8.RuneCountInString(p.Content), limit)
			b.WriteString(p.Content)
			if p.NextOffset == nil {
				require.Equal(t, p.TotalChars, utf8.RuneCountInString(text))
				break
			}
			require.Greater(t, *p.NextOffset, offset)
			offset = *p.NextOffset
		}
		require.Equal(t, text, b.String())
	}
}

func TestPageEdges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text          string
		offset, limit int
		content       string
		next          int // -1 none
	}{
		"empty text":       {"", 0, 0, "", -1},
		"past the end":     {"abc", 9, 5, "", -1},
		"exactly the end":  {"abc", 0, 3, "abc", -1},
		"one before":       {"abc", 0, 2, "ab", 2},
		"over the maximum": {strings.Repeat("ü", MaxPage+1), 0, MaxPage + 5, strings.Repeat("ü", MaxPage), MaxPage},
		"default":          {strings.Repeat("x", DefaultPage+1), 0, 0, strings.Repeat("x", DefaultPage), DefaultPage},
	} {
		p, err := PageOf(c.text, c.offset, c.limit)
		require.NoError(t, err, name)
		require.Equal(t, c.content, p.Content, name)
		if c.next < 0 {
			require.Nil(t, p.NextOffset, name)
		} else {
			require.Equal(t, c.next, *p.NextOffset, name)
		}
	}
	for _, bad := range [][2]int{{-1, 5}, {0, -1}} {
		_, err := PageOf("abc", bad[0], bad[1])
		require.ErrorIs(t, err, ErrRange)
	}
}

func TestLinesGiveWholeLinesWithTheirEnds(t *testing.T) {
	t.Parallel()
	text := "a\r\nü\n\nlast"
	l, err := LinesOf(text, 2, 3)
	require.NoError(t, err)
	require.Equal(t, Lines{Content: "ü\n\n", From: 2, To: 3, NextLine: l.NextLine, TotalLines: 4, Offset: 3}, l)
	require.Equal(t, 4, *l.NextLine)
	l, err = LinesOf(text, 4, 900)
	require.NoError(t, err)
	require.Equal(t, "last", l.Content)
	require.Nil(t, l.NextLine)
	l, err = LinesOf(text, 9, 10)
	require.NoError(t, err)
	require.Empty(t, l.Content)
	require.Nil(t, l.NextLine)
	for _, bad := range [][2]int{{0, 1}, {3, 2}, {-5, -1}} {
		_, err = LinesOf(text, bad[0], bad[1])
		require.ErrorIs(t, err, ErrRange)
	}
	long := "short\n" + strings.Repeat("ü", MaxPage+10) + "\nend\n"
	l, err = LinesOf(long, 1, 3)
	require.NoError(t, err)
	require.Equal(t, "short\n", l.Content, "a line that does not fit is left for the next call")
	require.Equal(t, 2, *l.NextLine)
	l, err = LinesOf(long, 2, 3)
	require.NoError(t, err)
	require.True(t, l.Clipped)
	require.Equal(t, MaxPage, utf8.RuneCountInString(l.Content))
	require.Equal(t, 6, l.Offset)
}

func TestFindShowsTheHitInsideALongLine(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("ß", 5_000) + "NEEDLE" + strings.Repeat("İ", 5_000)
	f, err := FindIn("x\n"+line+"\r\ny needle\n", "needle", 0)
	require.NoError(t, err)
	require.Equal(t, 2, f.TotalMatches)
	require.Equal(t, 2, f.Matches[0].Line)
	require.True(t, f.Matches[0].Clipped)
	require.Contains(t, f.Matches[0].Text, "NEEDLE")
	require.Equal(t, MaxMatchText, utf8.RuneCountInString(f.Matches[0].Text))
	require.Equal(t, "y needle", f.Matches[1].Text)
}

func TestFindIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(strings.Repeat("x", 900)+"\n", 300)
	f, err := FindIn(text, "X", 0)
	require.NoError(t, err)
	require.Equal(t, 300, f.TotalMatches)
	require.True(t, f.Truncated)
	total := 0
	for _, m := range f.Matches {
		total += utf8.RuneCountInString(m.Text)
	}
	require.LessOrEqual(t, total, MaxFindText)
	for _, limit := range []int{-1, MaxMatches + 1} {
		_, err = FindIn(text, "x", limit)
		require.ErrorIs(t, err, ErrRange)
	}
	_, err = FindIn(text, "", 1)
	require.ErrorIs(t, err, ErrQuery)
}

func TestB26_PeekNeverExceedsItsLimit(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"empty":        "",
		"one line":     strings.Repeat("<&>\u2028\"\\", 100_000),
		"error lines":  strings.Repeat("an ERROR happened here: <tag>\n", 10_000),
		"json object":  "{" + strings.Repeat(`"a key with a long name `+strings.Repeat("k", 200)+`":1,`, 500) + `"z":[1]}`,
		"json array":   "[" + strings.Repeat(`{"a":1},"s",null,`, 300) + "1]",
		"controls":     strings.Repeat("\x01\x02\x03\n", 500),
		"deep":         strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"not json":     "{broken",
		"json scalar":  "42",
		"crlf no end":  "a\r\nb\r\nc",
		"seven lines":  "1\n2\n3\n4\n5\n6\n7\n",
		"only newline": "\n\n\n",
	}
	meta := Peek{ArtifactID: "a_" + strings.Repeat("f", 64), SHA256: strings.Repeat("f", 64), Tool: strings.Repeat("<", 256), Kind: strings.Repeat("é", 120), Created: "2026-01-02T03:04:05Z", Observations: 12}
	for name, text := range texts {
		for _, limit := range []int{MinPeek, 201, 300, 600, 1_500, 8_000, MaxPage} {
			p, err := PeekOf(meta, text, limit)
			require.NoError(t, err)
			data, err := json.Marshal(p)
			require.NoError(t, err)
			require.LessOrEqual(t, utf8.RuneCount(data), limit, "%s at %d", name, limit)
			require.Equal(t, utf8.RuneCountInString(text), p.TotalChars)
			require.Equal(t, meta.ArtifactID, p.ArtifactID)
		}
	}
	for _, limit := range []int{1, MinPeek - 1, MaxPage + 1, -1} {
		_, err := PeekOf(meta, "x", limit)
		require.ErrorIs(t, err, ErrRange)
	}
}

func TestPeekShowsEndsSignalsAndStructure(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "line %d\n", i+1)
		if i == 50 {
			b.WriteString("Fatal: it broke\n")
		}
	}
	p, err := PeekOf(Peek{}, b.String(), 0)
	require.NoError(t, err)
	require.Equal(t, []string{"line 1", "line 2", "line 3", "line 4", "line 5", "line 6"}, p.Head)
	require.Equal(t, []string{"line 95", "line 96", "line 97", "line 98", "line 99", "line 100"}, p.Tail)
	require.Equal(t, []Match{{Line: 52, Text: "Fatal: it broke"}}, p.Signals)
	require.Nil(t, p.Structure)
	p, err = PeekOf(Peek{}, "a\nb\nc\n", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, p.Head)
	require.Empty(t, p.Tail, "no line is shown twice")
	for text, want := range map[string]Structure{
		`{"b":{"x":[1]},"a":null}`: {Type: "object", Count: 2, Keys: []string{"b", "a"}},
		` [1,"x",{},2] `:           {Type: "array", Count: 4, ItemTypes: []string{"number", "string", "object"}},
		`"text"`:                   {Type: "string"}, `-1e99`: {Type: "number"}, `true`: {Type: "boolean"}, `null`: {Type: "null"},
	} {
		p, err = PeekOf(Peek{}, text, 0)
		require.NoError(t, err)
		require.Equal(t, &want, p.Structure, text)
	}
}

func randomText(rng *rand.Rand, n int) string {
	letters := []rune("ab\nü\r\u2028ß😀 ")
	var b strings.Builder
	for range rng.IntN(n) {
		b.WriteRune(letters[rng.IntN(len(letters))])
	}
	return b.String()
}
