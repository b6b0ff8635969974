package delta_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
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

func numbered(from, to int, format string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, format+"the body of line number %d is here\n", i, i*7919%1000)
	}
	return b.String()
}

func TestProposeRoundTripsRandomTexts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var bases []delta.Base
		for i := range 1 + r.IntN(6) {
			bases = append(bases, delta.Base{Label: fmt.Sprintf("result %d (Tool f%d)", i, i), Text: randomText(r, bases)})
		}
		text := randomText(r, bases)
		roundTrip(t, text, delta.Options{MinRunTokens: 1, MinRunLines: 1 + r.IntN(3), ShiftIDs: r.IntN(2) == 0}, bases...)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
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
