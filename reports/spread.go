package reports

import (
	"cmp"
	"slices"
)

// Spread is how the net saving of the bill is spread over sessions, in percent.
// A volume figure alone is one large session's; these stand beside it.
type Spread struct {
	Sessions            int
	Q1, Median, Q3      float64
	Volume              float64  // of all bills together
	WithoutLargest      *float64 // the same without the session with the largest bill; nil for one session
	Worst               float64
	WorstID             string
	Dearer              int // sessions with a negative saving
	DearerThanTolerable int // those more than Tolerable percent dearer
}

// Tolerable is how much dearer, in percent, a session may become.
const Tolerable = 1.5

// LongSession is how many messages a session of the published figures has.
const LongSession = 30

// SpreadOf measures the sessions that have at least minMessages messages and a
// bill; ok is false when there is none.
func SpreadOf(sessions []Session, minMessages int) (spread Spread, ok bool) {
	var with []Session
	for _, s := range sessions {
		if s.Messages >= minMessages && s.Cost.SavedPct != nil {
			with = append(with, s)
		}
	}
	if len(with) == 0 {
		return Spread{}, false
	}
	pcts := make([]float64, len(with))
	spread = Spread{Sessions: len(with), Worst: *with[0].Cost.SavedPct, WorstID: with[0].ID}
	largest := 0
	for i, s := range with {
		pcts[i] = *s.Cost.SavedPct
		if pcts[i] < spread.Worst {
			spread.Worst, spread.WorstID = pcts[i], s.ID
		}
		if pcts[i] < 0 {
			spread.Dearer++
		}
		if pcts[i] < -Tolerable {
			spread.DearerThanTolerable++
		}
		if s.Cost.Raw > with[largest].Cost.Raw {
			largest = i
		}
	}
	slices.SortFunc(pcts, cmp.Compare[float64])
	spread.Q1, spread.Median, spread.Q3 = quantile(pcts, 0.25), quantile(pcts, 0.5), quantile(pcts, 0.75)
	spread.Volume = *Total(with).Cost.SavedPct
	if len(with) > 1 {
		spread.WithoutLargest = Total(slices.Delete(slices.Clone(with), largest, largest+1)).Cost.SavedPct
	}
	return spread, true
}

// quantile interpolates between the two nearest of sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
