package book

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/actors"
	"token-terminator/ledger"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/tokens"
	"token-terminator/turn"
)

func block(fresh bool, form turn.Form, before, after int) compile.Block {
	return compile.Block{New: fresh, Decision: turn.Decision{
		Form: form, Reason: turn.DeltaRuns, TokensBefore: before, TokensAfter: after, Text: "secret words", ShownAt: -1,
	}}
}

func outcome(exact bool, blocks ...compile.Block) compile.Outcome {
	out := compile.Outcome{
		Body: []byte("secret body"), Blocks: blocks,
		Kept:   []compile.Kept{{Reason: turn.BelowFloor, Tool: "secret"}, {Reason: turn.BelowFloor}, {Reason: turn.ReadExempt}},
		Tokens: compile.Tokens{Raw: tokens.Measure{Tokens: 5000}, Final: tokens.Measure{Tokens: 4000}, Label: "panel", Exact: exact},
	}
	return out
}

func TestEntryCountsWhatWasShown(t *testing.T) {
	t.Parallel()
	rec := actors.RecordTurn{
		Binding: turn.Binding{Session: "s", Turn: 3}, Edited: true, Reason: turn.Reduced, Bytes: 900, Elapsed: time.Second,
		Detail: outcome(false, block(true, turn.Delta, 500, 100), block(false, turn.Delta, 300, 100), block(false, turn.Delta, 100, 50), block(true, turn.Layout, 80, 60)),
	}
	c := Context{Mode: "balanced", Model: "claude", Row: plan.Study(), Declared: 100, Epoch: "warm"}
	got := Entry(rec, c)
	// new: (400+20)·1.25 written, old: (200+50)·0.1 read, the declaration 100·0.1 read
	require.InDelta(t, 420*1.25+250*0.1-10, *got.ITE, 1e-9)
	got.ITE = nil
	require.Equal(t, ledger.Turn{
		Binding: rec.Binding, Mode: "balanced", Model: "claude", Edited: true, Reason: turn.Reduced, Elapsed: time.Second, Bytes: 900,
		SentBytes: len("secret body"), Measure: ledger.Panel, Label: "panel", Raw: 5000, Final: 4000, Row: "study", Assumed: true, Epoch: "warm",
		Forms:   []ledger.FormCount{{Form: turn.Delta, Fresh: true, N: 1, Before: 500, After: 100}, {Form: turn.Delta, N: 2, Before: 400, After: 150}, {Form: turn.Layout, Fresh: true, N: 1, Before: 80, After: 60}},
		Reasons: map[turn.Reason]int{turn.BelowFloor: 2, turn.ReadExempt: 1, turn.DeltaRuns: 2},
	}, got)

	// A receipt stands for what would have been read; opening the epoch is charged.
	out := outcome(false, block(true, turn.Receipt, 500, 50))
	out.Epoch = &compile.Epoch{Epoch: plan.Epoch{Kind: plan.WarmEpoch, Reason: turn.Reduced, Price: 20}}
	rec.Detail = out
	row := Entry(rec, Context{Row: plan.Study()})
	require.InDelta(t, 450*0.1-20, *row.ITE, 1e-9)
	require.Equal(t, []string{"warm", "reduced"}, []string{row.Epoch, row.EpochReason})
	rec.Detail = outcome(false, block(true, turn.Delta, 500, 100), block(false, turn.Delta, 300, 100), block(false, turn.Delta, 100, 50), block(true, turn.Layout, 80, 60))

	c.Cold = true
	require.InDelta(t, 670*1.25-125, *Entry(rec, c).ITE, 1e-9)
	rec.Detail = Detail{Outcome: outcome(true), Context: Context{Model: "gpt-4o", Row: plan.Study()}}
	got = Entry(rec, c)
	require.Equal(t, ledger.Exact, got.Measure)
	require.Equal(t, "gpt-4o", got.Model, "the turn's own context wins")
}

func TestEntryOfWhatPassed(t *testing.T) {
	t.Parallel()
	rec := actors.RecordTurn{Binding: turn.Binding{Session: "s"}, Reason: turn.Deadline, Bytes: 900}
	c := Context{Row: plan.Study(), Declared: 100}
	got := Entry(rec, c)
	require.Equal(t, ledger.Turn{Binding: rec.Binding, Reason: turn.Deadline, Bytes: 900}, got, "nothing was measured: nothing is known")
	rec.Detail = outcome(true, block(true, turn.Delta, 500, 100))
	got = Entry(rec, c)
	require.Equal(t, 900, got.SentBytes)
	require.Equal(t, 5000, got.Final, "the original went out")
	require.Empty(t, got.Forms)
	require.InDelta(t, -10, *got.ITE, 1e-9, "the declaration is paid all the same")
	require.Nil(t, Entry(rec, Context{}).ITE, "no prices, no estimate")
	out := outcome(true)
	out.Tokens.Raw.Unmeasured = turn.NoMeasure
	rec.Detail = out
	require.Empty(t, Entry(rec, c).Measure)
}
