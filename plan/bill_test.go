package plan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func parts(tokens ...int) []Part {
	var out []Part
	for i, n := range tokens {
		out = append(out, Part{Tokens: n, Digest: turn.Sum(string(rune('a' + i))), System: i == 0})
	}
	return out
}

func changed(p []Part, i, tokens int) []Part {
	out := append([]Part(nil), p...)
	out[i] = Part{Tokens: tokens, Digest: turn.Sum("changed"), System: out[i].System}
	return out
}

// Worked examples, by hand. Study: input 1, read 0.1, write 1.25, output 5.
func TestBillOfWorkedExamples(t *testing.T) {
	t.Parallel()
	long := parts(1000, 2000, 500, 700, 300) // with 500 fixed: 5,000
	steps := Study()
	steps.Granularity = 128
	cases := map[string]struct {
		row   Row
		cache Cache
		calls []Call
		want  []Charge // per call
	}{
		"a first call is written": {Study(), Prefix, []Call{{Fixed: 500, Messages: parts(1500), Output: 10}},
			[]Charge{{Write: 2000, Output: 10, Cost: 2000*1.25 + 50}}},
		"an extension reads the call before and writes the rest": {Study(), Prefix,
			[]Call{{Fixed: 500, Messages: parts(1500), Output: 10}, {Fixed: 500, Messages: parts(1500, 10, 90), Output: 20}},
			[]Charge{{Write: 2000, Output: 10, Cost: 2550}, {Read: 2000, Write: 100, Output: 20, Cost: 200 + 125 + 100}}},
		"a changed message ends the common prefix": {Study(), Prefix,
			[]Call{{Fixed: 500, Messages: long}, {Fixed: 500, Messages: changed(long, 2, 50)}},
			[]Charge{{Write: 5000, Cost: 6250}, {Read: 3500, Write: 1050, Cost: 350 + 1312.5}}},
		"a cold call is written whole": {Study(), Prefix,
			[]Call{{Fixed: 500, Messages: long}, {Fixed: 500, Messages: long, Cold: true}},
			[]Charge{{Write: 5000, Cost: 6250}, {Write: 5000, Cost: 6250}}},
		"under the smallest prefix all is fresh": {Study(), Prefix,
			[]Call{{Fixed: 500, Messages: parts(523)}, {Fixed: 500, Messages: parts(523, 1)}, {Fixed: 500, Messages: parts(523, 1, 1)}},
			[]Charge{{Fresh: 1023, Cost: 1023}, {Write: 1024, Cost: 1280}, {Read: 1024, Write: 1, Cost: 102.4 + 1.25}}},
		"a common prefix under the smallest is not reused": {Study(), Prefix,
			[]Call{{Fixed: 500, Messages: parts(500, 900)}, {Fixed: 500, Messages: changed(parts(500, 900), 1, 800)}},
			[]Charge{{Write: 1900, Cost: 2375}, {Write: 1800, Cost: 2250}}},
		"other tools leave nothing to reuse": {Study(), Prefix,
			[]Call{{Fixed: 500, Messages: long}, {Fixed: 500, FixedDigest: turn.Sum("other tools"), Messages: long}},
			[]Charge{{Write: 5000, Cost: 6250}, {Write: 5000, Cost: 6250}}},
		"reuse in whole steps of 128": {steps, Prefix,
			[]Call{{Fixed: 500, Messages: parts(1500)}, {Fixed: 500, Messages: parts(1500, 100)}},
			[]Charge{{Write: 2000, Cost: 2500}, {Read: 1920, Write: 180, Cost: 192 + 225}}},
		"marks: an extension reads up to the last mark": {Study(), Marks,
			[]Call{{Fixed: 500, Messages: long}, {Fixed: 500, Messages: append(long[:5:5], Part{Tokens: 40})}},
			[]Charge{{Write: 5000, Cost: 6250}, {Read: 5000, Write: 40, Cost: 550}}},
		"marks: a change in the middle falls back to the system mark": {Study(), Marks,
			[]Call{{Fixed: 500, Messages: long}, {Fixed: 500, Messages: changed(long, 2, 50)}},
			[]Charge{{Write: 5000, Cost: 6250}, {Read: 1500, Write: 3050, Cost: 150 + 3812.5}}},
		"marks: a change at the end falls back to the mark before it": {Study(), Marks,
			[]Call{{Fixed: 500, Messages: long}, {Fixed: 500, Messages: changed(long, 4, 50)}},
			[]Charge{{Write: 5000, Cost: 6250}, {Read: 4700, Write: 50, Cost: 470 + 62.5}}},
		"marks: without a system message the fixed part is marked": {Study(), Marks,
			[]Call{{Fixed: 2000, Messages: plainParts(10, 10, 10, 10, 10)}, {Fixed: 2000, Messages: changed(plainParts(10, 10, 10, 10, 10), 0, 5)}},
			[]Charge{{Write: 2050, Cost: 2562.5}, {Read: 2000, Write: 45, Cost: 200 + 56.25}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := NewBill(c.row, c.cache)
			require.NoError(t, err)
			var sum Charge
			for i, call := range c.calls {
				got := b.Add(call)
				require.InDelta(t, c.want[i].Cost, got.Cost, 1e-9, "call %d", i)
				want := c.want[i]
				want.Cost = got.Cost
				require.Equal(t, want, got, "call %d", i)
				sum = sum.Plus(got)
			}
			require.Equal(t, sum, b.Total())
			require.Equal(t, len(c.calls), b.Calls())
		})
	}
}

func plainParts(tokens ...int) []Part {
	out := parts(tokens...)
	for i := range out {
		out[i].System = false
	}
	return out
}

// Whatever is sent: every token of input is billed once, marks never reuse more
// than prefix matching, a cold call is never cheaper, and smaller messages at birth
// never cost more (above the smallest prefix).
func TestBillLawsHoldForRandomSessions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		row := Study()
		row.MinPrefix = []int{0, 1024}[rng.IntN(2)]
		exact, marks, cold := mustBill(t, row, Prefix), mustBill(t, row, Marks), mustBill(t, row, Prefix)
		small := mustBill(t, row, Prefix)
		fixed := 1024 + rng.IntN(3000)
		var messages, smaller []Part
		for range 1 + rng.IntN(15) {
			for range 1 + rng.IntN(4) {
				n, d := rng.IntN(5000), turn.Digest{byte(rng.Uint32()), byte(rng.Uint32())}
				messages = append(messages, Part{Tokens: n, Digest: d, System: len(messages) == 0})
				smaller = append(smaller, Part{Tokens: rng.IntN(n + 1), Digest: d, System: len(smaller) == 0})
			}
			if rng.IntN(4) == 0 {
				i := rng.IntN(len(messages))
				messages, smaller = changed(messages, i, messages[i].Tokens), changed(smaller, i, smaller[i].Tokens)
			}
			call := Call{Fixed: fixed, Messages: messages, Output: rng.IntN(500)}
			got := exact.Add(call)
			require.Equal(t, call.Input(), got.Input(), "seed %d", seed)
			require.LessOrEqual(t, marks.Add(call).Read, got.Read, "seed %d", seed)
			frozen := call
			frozen.Cold = true
			require.LessOrEqual(t, got.Cost, cold.Add(frozen).Cost+1e-9, "seed %d", seed)
			call.Messages = smaller
			require.LessOrEqual(t, small.Add(call).Cost, got.Cost+1e-9, "seed %d", seed)
		}
	}
}

func mustBill(t *testing.T, row Row, cache Cache) *Bill {
	t.Helper()
	b, err := NewBill(row, cache)
	require.NoError(t, err)
	return b
}

func TestBadRowsAndCachesAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Row){
		"negative":     func(r *Row) { r.Read = -1 },
		"not a number": func(r *Row) { r.Output = math.NaN() },
		"infinite":     func(r *Row) { r.Write = math.Inf(1) },
		"free input":   func(r *Row) { r.Input = 0 },
		"granularity":  func(r *Row) { r.Granularity = -1 },
	} {
		row := Study()
		change(&row)
		_, err := NewBill(row, Prefix)
		require.ErrorIs(t, err, ErrBadRow, name)
	}
	_, err := NewBill(Study(), "nothing")
	require.ErrorIs(t, err, ErrBadCache)
	_, err = ParseCache("marks")
	require.NoError(t, err)
	require.Equal(t, "study, read 0.05", StudyWithRead(0.05).Name)
	require.Equal(t, 0.05, StudyWithRead(0.05).Read)
}
