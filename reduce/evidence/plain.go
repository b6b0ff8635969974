package evidence

// Plain text is treated with care: only lines that repeat a worded line shape may
// go, and only when much is won. Prose has hardly any repeated shape and stays.

const (
	plainGain  = 25 // percent of bytes a view of plain text must save
	plainWords = 2  // words a line needs before its like may go
)

// judgePlain keeps lines that are mostly figures or marks: in plain text these are
// data, not messages.
func (s *source) judgePlain() {
	w := wordScan{index: newTable(64)}
	worded := make([]int8, len(s.lead))
	for i, sh := range s.shape {
		if worded[sh] == 0 {
			w.read(s.line(int(s.lead[sh])))
			worded[sh] = 1
			if len(w.words) < plainWords {
				worded[sh] = -1
			}
		}
		if worded[sh] < 0 && !s.blank(i) {
			s.mark(i, sampled)
		}
	}
}
