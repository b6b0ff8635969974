package datasets

import "time"

// Recorded is what a transcript says of one answer.
type Recorded struct {
	Message int // index of the assistant message in the session
	// Usage in tokens as the provider billed it; HasUsage says that it was there.
	HasUsage             bool
	Fresh, Read          int
	WriteShort, WriteOne int // cache writes for five minutes (or unsaid) and for one hour
	Output               int
	// Start and End are the times of the answer's first and last line, zero when the
	// file has none.
	Start, End time.Time
}

// Input is fresh + read + written.
func (r Recorded) Input() int { return r.Fresh + r.Read + r.WriteShort + r.WriteOne }

// RecordedTurns gives the record of each turn, nil where there is none: the first
// answer's usage and start, the last answer's end.
func (s Session) RecordedTurns(turns []Turn) []*Recorded {
	out := make([]*Recorded, len(turns))
	at := 0
	for i, t := range turns {
		for at < len(s.Recorded) && s.Recorded[at].Message < t.Messages {
			at++
		}
		for ; at < len(s.Recorded) && s.Recorded[at].Message < t.Messages+len(t.Answers); at++ {
			if out[i] == nil {
				first := s.Recorded[at]
				out[i] = &first
			}
			out[i].End = s.Recorded[at].End
		}
	}
	return out
}

// Calibration compares billed with counted growth: the factor that turns counted
// tokens of this session into billed ones. counted is the counted input of each
// turn. Growth is compared, not totals, so that a prompt the file does not hold
// falls out. ok is false without usage of at least two turns that grow.
func (s Session) Calibration(turns []Turn, counted []int) (factor float64, ok bool) {
	recorded := s.RecordedTurns(turns)
	billed, own := 0, 0
	last := -1
	for i, r := range recorded {
		if r == nil || !r.HasUsage || i >= len(counted) {
			continue
		}
		if last >= 0 && counted[i] > counted[last] && r.Input() > recorded[last].Input() {
			billed += r.Input() - recorded[last].Input()
			own += counted[i] - counted[last]
		}
		last = i
	}
	if own == 0 {
		return 0, false
	}
	return float64(billed) / float64(own), true
}
