package main

import (
	"time"

	"token-terminator/plan"
	"token-terminator/reduce/compile"
)

// moment is what is known of the provider's cache at one turn.
type moment struct {
	cold  bool          // it held nothing: the call was billed so
	facts compile.Facts // what could be known before the call
}

// moments follows the session's times and usage as the daemon does. Where usage was
// recorded it says what was billed; what our arm is told beforehand is only what a
// clock and the calls before could tell. With --gaps every such call is cold, and known
// to be, and the recording is not asked.
func (run *sessionRun) moments() []moment {
	out := make([]moment, len(run.turns))
	gaps, window := run.r.flags.gaps, run.r.flags.window
	var warmth plan.Warmth
	for i, rec := range run.session.RecordedTurns(run.turns) {
		if gaps > 0 {
			out[i].cold = i > 0 && i%gaps == 0
			out[i].facts = compile.Facts{Cold: out[i].cold, Window: window}
			continue
		}
		var start time.Time
		if rec != nil {
			start = rec.Start
		}
		out[i].facts = compile.FactsOf(&warmth, start, run.session.Model, run.row, window)
		out[i].cold = out[i].facts.Cold
		switch {
		case rec == nil:
		case rec.HasUsage:
			out[i].cold = warmth.Usage(rec.End, plan.CallUsage{
				Input: rec.Input(), Read: rec.Read, Written: rec.WriteShort + rec.WriteOne,
			})
		default:
			warmth.Answered(rec.End)
		}
	}
	return out
}
