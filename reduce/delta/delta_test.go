package delta_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/delta"
)

// roundTrip proposes text over bases and checks that it expands to itself.
func roundTrip(t *testing.T, text string, o delta.Options, bases ...delta.Base) (delta.Result, bool) {
	t.Helper()
	ix := delta.NewIndex()
	for _, b := range bases {
		ix.Add(b)
	}
	r, ok := ix.Propose(text, o)
	if !ok {
		return r, false
	}
	var used []delta.Base
	for _, i := range r.Bases {
		used = append(used, ix.Base(i))
	}
	back, err := delta.Expand(r.Text, used)
	require.NoError(t, err, r.Text)
	require.Equal(t, text, back, r.Text)
	require.Less(t, len(r.Text), len(text))
	return r, true
}

func TestProposeRoundTripsRandomTexts(t *testing.T) {
	t.Parallel()
	smaller := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var bases []delta.Base
		for i := range 1 + r.IntN(6) {
			bases = append(bases, delta.Base{Label: fmt.Sprintf("result %d (Tool f%d)", i, i), Text: randomText(r, bases)})
		}
		text := randomText(r, bases)
		if _, ok := roundTrip(t, text, delta.Options{MinBaseTokens: 1, MinRunTokens: 1, MinRunLines: 1 + r.IntN(3), ShiftIDs: r.IntN(2) == 0}, bases...); ok {
			smaller++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	require.Greater(t, smaller, 250)
}

// randomText mixes pieces of earlier texts under new numbers, ends and edits.
func randomText(r *rand.Rand, bases []delta.Base) string {
	var lines []string
	for range 1 + r.IntN(5) {
		if len(bases) > 0 && r.IntN(3) > 0 {
			from := strings.Split(bases[r.IntN(len(bases))].Text, "\n")
			a := r.IntN(len(from))
			lines = append(lines, from[a:a+r.IntN(len(from)-a+1)]...)
			continue
		}
		for range r.IntN(8) {
			words := []string{"", "}", "a longer line of text that is rather common", "12:x", "[same lines 1-2]", "[7] link 'x'",
				fmt.Sprint("value ", r.IntN(9)), "\ttabbed and wide text here", "caf\u00e9 \xff broken"}
			lines = append(lines, words[r.IntN(len(words))])
		}
	}
	lines = disturb(r, lines)
	end := []string{"\n", "\n", "\r\n"}[r.IntN(3)]
	text := strings.Join(lines, end)
	if r.IntN(2) == 0 {
		text += end
	}
	return text
}

func disturb(r *rand.Rand, lines []string) []string {
	formats := []string{"%6d→", "%6d\t", "%d|", "%d:", "[%d] "}
	switch r.IntN(4) {
	case 0:
		f, n := formats[r.IntN(len(formats))], r.IntN(2000)
		out := make([]string, len(lines))
		for i, l := range lines {
			out[i] = fmt.Sprintf(f, n+i) + l
		}
		return out
	case 1:
		out := append([]string(nil), lines...)
		for i := range out {
			if r.IntN(8) == 0 {
				out[i] += " changed"
			}
		}
		return out
	}
	return lines
}

// block is n distinct lines, each under format with a number from first on.
func block(first, n int, format, end string) string {
	var b strings.Builder
	for i := range n {
		if format != "" {
			fmt.Fprintf(&b, format, first+i)
		}
		fmt.Fprintf(&b, "func step%d(ctx Context, value int) error { return run(ctx, %d) }%s", i, i*i, end)
	}
	return b.String()
}

type wording struct {
	base, text, want string
	o                delta.Options
}

func requireWordings(t *testing.T, cases map[string]wording) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ok := roundTrip(t, c.text, c.o, delta.Base{Label: "result 1 (Read main.go)", Text: c.base})
			require.True(t, ok)
			require.Equal(t, c.want, r.Text)
			require.Equal(t, []int{0}, r.Bases)
			require.Equal(t, c.text == c.base, r.Whole)
		})
	}
}

func TestProposeWordsPlaces(t *testing.T) {
	t.Parallel()
	plain := block(0, 40, "", "\n")
	read := block(1, 40, "%6d→", "\n")
	view := "[File: /a/main.go (900 lines total)]\n(10 more lines above)\n" + block(11, 40, "%d:", "\n") + "(850 more lines below)\nbash-$ and a prompt of several words in it\n"
	requireWordings(t, map[string]wording{
		"a byte-identical text is a reference": {base: plain, text: plain, want: "[same as result 1 (Read main.go)]"},
		"a changed line stays literal": {
			base: plain, text: strings.Replace(plain, "step20(", "step99(", 1),
			want: "[same as lines 1-20 of result 1 (Read main.go)]\nfunc step99(ctx Context, value int) error { return run(ctx, 400) }\n[same lines 22-40]\n",
		},
		"equal line numbers need no words": {
			base: read, text: read + "and one more line\n",
			want: "[same as lines 1-40 of result 1 (Read main.go)]\nand one more line\n",
		},
		"a run far down an unnumbered base says how it starts": {
			base: plain, text: "new\n" + plain[len(plain)/2:],
			want: "new\n" + plain[len(plain)/2:len(plain)/2+strings.Index(plain[len(plain)/2:], "\n")+1] +
				"[same as lines 22-40 of result 1 (Read main.go), from \"func step21(ctx Context,\"]\n",
		},
		"a base that shows other numbers than positions is named by them": {
			base: view, text: "now\n" + block(11, 40, "%d:", "\n"),
			want: "now\n[same as numbered lines 11-50 of result 1 (Read main.go)]\n",
		},
		"the end of a numbered listing is its last lines": {
			base: view, text: "other text\n(850 more lines below)\nbash-$ and a prompt of several words in it\n",
			want: "other text\n[same as last 2 lines of result 1 (Read main.go)]\n",
			o:    delta.Options{MinRunLines: 1, MinRunTokens: 1, MinBaseTokens: 1},
		},
	})
}

func TestProposeWordsChanges(t *testing.T) {
	t.Parallel()
	plain := block(0, 40, "", "\n")
	read := block(1, 40, "%6d→", "\n")
	requireWordings(t, map[string]wording{
		"moved line numbers are stated": {
			base: read, text: block(13, 40, "%6d→", "\n"),
			want: "[same as lines 1-40 of result 1 (Read main.go), numbers +12]\n",
		},
		"line numbers over a text without them are quoted": {
			base: plain, text: block(98, 40, "%6d→", "\n"),
			want: "[same as lines 1-40 of result 1 (Read main.go), numbered from \"    98→\"]\n",
		},
		"another style of line numbers is quoted": {
			base: read, text: block(1, 40, "%d|", "\n"),
			want: "[same as lines 1-40 of result 1 (Read main.go), numbered from \"1|\"]\n",
		},
		"line numbers left out are stated": {
			base: block(1, 40, "%6d\t", "\n"), text: plain,
			want: "[same as lines 1-40 of result 1 (Read main.go), without numbers]\n",
		},
		"CRLF instead of LF is stated (B21)": {
			base: plain, text: block(0, 40, "", "\r\n"),
			want: "[same as lines 1-40 of result 1 (Read main.go), CRLF]\n",
		},
		"LF instead of CRLF is stated (B21)": {
			base: block(0, 40, "", "\r\n"), text: plain,
			want: "[same as lines 1-40 of result 1 (Read main.go), LF]\n",
		},
		"a missing last line feed stays missing": {
			base: plain, text: strings.TrimSuffix(plain, "\n"),
			want: "[same as lines 1-40 of result 1 (Read main.go)]",
		},
		"an added last line feed is literal": {
			base: strings.TrimSuffix(plain, "\n"), text: plain,
			want: "[same as lines 1-40 of result 1 (Read main.go)]\n",
		},
		"ids moved by one number are stated when allowed": {
			base: block(100, 40, "\t[%d] ", "\n"), text: block(288, 40, "\t[%d] ", "\n"),
			want: "[same as lines 1-40 of result 1 (Read main.go), ids +188]\n", o: delta.Options{ShiftIDs: true},
		},
		"equal ids need no words": {
			base: block(100, 40, "\t[%d] ", "\n"), text: "page\n" + block(100, 40, "\t[%d] ", "\n"),
			want: "page\n[same as lines 1-40 of result 1 (Read main.go)]\n",
		},
	})
}

func TestProposeRefuses(t *testing.T) {
	t.Parallel()
	plain := block(0, 40, "", "\n")
	cases := map[string]struct {
		base, text string
		o          delta.Options
	}{
		"a text that shares nothing":             {base: plain, text: strings.Repeat("other words here\n", 50)},
		"an empty text":                          {base: plain, text: ""},
		"a text too small for a note":            {base: "one line of a few words and more\n", text: "one line of a few words and more\n"},
		"a literal line that looks like a note":  {base: plain, text: "[same lines 1-3]\n" + plain},
		"white space changed everywhere":         {base: plain, text: strings.ReplaceAll(plain, "\n", " \n")},
		"ids moved when that is not allowed":     {base: block(100, 40, "[%d] ", "\n"), text: block(200, 40, "[%d] ", "\n")},
		"a read over a base of another path":     {base: plain, text: plain + "x", o: delta.Options{SamePathOnly: "b.go"}},
		"runs that do not pay":                   {base: plain, text: plain, o: delta.Options{MinRunTokens: 1 << 20}},
		"a single huge line with another ending": {base: strings.Repeat("x", 1<<20), text: strings.Repeat("x", 1<<20) + "y"},
		"lines equal but for a byte-order mark":  {base: "\ufefffirst line of a text\n", text: "first line of a text\nand more of it here\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ok := roundTrip(t, c.text, c.o, delta.Base{Label: "result 1", Path: "a.go", Text: c.base})
			require.False(t, ok, r.Text)
		})
	}
}

func TestProposeLeansOnAtMostThreeBasesMostValuableFirst(t *testing.T) {
	t.Parallel()
	var bases []delta.Base
	var text string
	for i := range 5 {
		part := sourceText(uint64(100+i), 30+20*i)
		bases = append(bases, delta.Base{Label: fmt.Sprintf("result %d (Bash)", i+1), Text: part})
		text += part + fmt.Sprintf("between %d\n", i)
	}
	r, ok := roundTrip(t, text, delta.Options{}, bases...)
	require.True(t, ok)
	require.ElementsMatch(t, []int{2, 3, 4}, r.Bases)
	r, ok = roundTrip(t, text, delta.Options{MaxBases: 1}, bases...)
	require.True(t, ok)
	require.Equal(t, []int{4}, r.Bases)
	_, ok = roundTrip(t, text, delta.Options{MaxBases: 99}, bases...)
	require.True(t, ok)
}

func TestProposeShortensALabelAfterItsFirstMention(t *testing.T) {
	t.Parallel()
	a, b := sourceText(1, 60), sourceText(2, 60)
	half := strings.Index(a[len(a)/2:], "\n") + len(a)/2 + 1
	r, ok := roundTrip(t, a[:half]+b+a[half:], delta.Options{},
		delta.Base{Label: "call 3 (Write a.go) content", Text: a}, delta.Base{Label: "result 4 (Bash: make)", Text: b})
	require.True(t, ok)
	notes := strings.Split(r.Text, "\n")
	require.Len(t, notes, 4)
	require.Contains(t, notes[0], " of call 3 (Write a.go) content]")
	require.Contains(t, notes[1], " of result 4 (Bash: make)]")
	require.Contains(t, notes[2], " of call 3 content, from \"")
}

func TestProposePrefersTheNewestOfEqualBases(t *testing.T) {
	t.Parallel()
	text := sourceText(3, 50)
	same := func(label, path string) delta.Base { return delta.Base{Label: label, Path: path, Text: text} }
	r, ok := roundTrip(t, text, delta.Options{}, same("result 1", "a"), same("result 2", "b"), same("result 3", "a"))
	require.True(t, ok)
	require.Equal(t, []int{2}, r.Bases)
	r, ok = roundTrip(t, text+"more\n", delta.Options{}, same("result 1", "a"), same("result 2", "b"), same("result 3", "a"))
	require.True(t, ok)
	require.Equal(t, []int{2}, r.Bases)
	r, ok = roundTrip(t, text+"more\n", delta.Options{SamePathOnly: "b"}, same("result 1", "a"), same("result 2", "b"), same("result 3", "a"))
	require.True(t, ok)
	require.Equal(t, []int{1}, r.Bases)
	r, ok = roundTrip(t, text, delta.Options{SamePathOnly: "b"}, same("result 1", "a"), same("result 2", "b"), same("result 3", "a"))
	require.True(t, ok, "a reference prefers the path")
	require.Equal(t, []int{1}, r.Bases)
}

func TestLabelsThatCollideStayUnambiguous(t *testing.T) {
	t.Parallel()
	a, b, c := sourceText(1, 60), sourceText(2, 60), sourceText(3, 60)
	for name, labels := range map[string][3]string{
		"equal short labels":          {"result 1 (a)", "result 1 (b)", "result 1"},
		"one is the start of another": {"result 1", "result 12", "result 1, CRLF"},
		"equal labels":                {"result", "result", "result"},
		"no labels":                   {"", "", ""},
		"brackets and line feeds":     {"a]\nb", "[x] (y) [z]", "lines 1-2 of x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roundTrip(t, a+b+a[:len(a)/2]+c+b+c, delta.Options{},
				delta.Base{Label: labels[0], Text: a}, delta.Base{Label: labels[1], Text: b}, delta.Base{Label: labels[2], Text: c})
		})
	}
}

func TestIndexGrowsFromAClone(t *testing.T) {
	t.Parallel()
	ix := delta.NewIndex()
	ix.Add(delta.Base{Label: "result 1", Text: sourceText(1, 80)})
	left, right := ix.Clone(), ix.Clone()
	left.Add(delta.Base{Label: "result 2", Text: sourceText(2, 80)})
	right.Add(delta.Base{Label: "result 2", Text: sourceText(3, 80)})
	require.Equal(t, 1, ix.Len())
	require.Equal(t, 2, left.Len())
	_, ok := ix.Propose(sourceText(2, 80), delta.Options{})
	require.False(t, ok)
	r, ok := left.Propose(sourceText(2, 80), delta.Options{})
	require.True(t, ok)
	require.Equal(t, "[same as result 2]", r.Text)
	_, ok = right.Propose(sourceText(2, 80), delta.Options{})
	require.False(t, ok)
	r, ok = right.Propose(sourceText(1, 80)+sourceText(3, 80), delta.Options{})
	require.True(t, ok)
	require.ElementsMatch(t, []int{0, 1}, r.Bases)
}

func TestProposeIsTheSameInEveryIndexAndGoroutine(t *testing.T) {
	t.Parallel()
	build := func() *delta.Index {
		ix := delta.NewIndex()
		for i := range 30 {
			ix.Add(delta.Base{Label: fmt.Sprint("result ", i), Text: sourceText(uint64(i%11), 40+i)})
		}
		return ix
	}
	text := sourceText(4, 40) + sourceText(7, 60) + sourceText(900, 30) + sourceText(2, 50)
	want, ok := build().Propose(text, delta.Options{})
	require.True(t, ok)
	shared := build()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, ix := range []*delta.Index{shared, build()} {
				if got, _ := ix.Propose(text, delta.Options{}); got.Text != want.Text {
					t.Error("another text")
				}
			}
		})
	}
	group.Wait()
}
