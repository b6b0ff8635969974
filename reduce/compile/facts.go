package compile

import (
	"time"

	"token-terminator/plan"
)

// FactsOf asks a session's warmth about the call that is about to be made at now
// (zero: unknown), and says how many tokens of input the model takes: its context
// limit less what is reserved for the answer, 0 unknown. It counts as the warmth's
// Turn, so it is called once for each call.
func FactsOf(w *plan.Warmth, now time.Time, model string, row plan.Row, window int) Facts {
	cold, why := w.Turn(now, model, row)
	return Facts{Cold: cold, Why: why, Uncached: w.Uncached(), Window: max(window, 0)}
}

// row is the price row of this turn.
func (d *Draft) row() plan.Row {
	if d.snap.Facts.Uncached {
		return d.c.settings.Row.WithoutCache()
	}
	return d.c.settings.Row
}
