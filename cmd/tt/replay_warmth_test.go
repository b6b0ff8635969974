package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/plan"
)

// recording is a session of four turns with the minutes at which they began.
func recording(flags replayFlags, minutes [4]int) *sessionRun {
	run := &sessionRun{r: &replay{flags: &flags}, row: plan.Study()}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, minute := range minutes {
		run.session.Messages = append(run.session.Messages,
			json.RawMessage(`{"role":"user","content":"go"}`), json.RawMessage(`{"role":"assistant","content":"done"}`))
		at := start.Add(time.Duration(minute) * time.Minute)
		run.session.Recorded = append(run.session.Recorded, datasets.Recorded{Message: 2*i + 1, Start: at, End: at.Add(time.Second)})
	}
	run.turns = run.session.Turns()
	return run
}

func coldOf(moments []moment) (billed, known []int) {
	for i, m := range moments {
		if m.cold {
			billed = append(billed, i)
		}
		if m.facts.Cold {
			known = append(known, i)
		}
	}
	return billed, known
}

func TestReplayMoments_ByTimeUsageAndGaps(t *testing.T) {
	t.Parallel()
	run := recording(replayFlags{window: 9000}, [4]int{0, 1, 10, 11})
	billed, known := coldOf(run.moments())
	require.Equal(t, []int{2}, billed, "by time")
	require.Equal(t, billed, known)
	require.Equal(t, 9000, run.moments()[1].facts.Window)

	for i, u := range [][3]int{{5, 0, 100}, {5, 100, 50}, {5, 150, 20}, {200, 10, 0}} {
		r := &run.session.Recorded[i]
		r.HasUsage, r.Fresh, r.Read, r.WriteShort = true, u[0], u[1], u[2]
	}
	billed, known = coldOf(run.moments())
	require.Equal(t, []int{3}, billed, "what was read says more than the clock")
	require.Equal(t, []int{2}, known, "but nobody knew before the call")

	run.r.flags.gaps = 3
	billed, known = coldOf(run.moments())
	require.Equal(t, []int{3}, billed)
	require.Equal(t, billed, known)

	run.r.flags.gaps, run.session.Recorded = 0, nil
	billed, known = coldOf(run.moments())
	require.Empty(t, append(billed, known...), "a file without times and usage says nothing")
}
