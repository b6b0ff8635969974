package needles

import "strings"

// Outcome counts the cases of one class.
type Outcome struct {
	Class     string
	Total     int
	Visible   int
	Unchanged int      // of the visible ones: the text stayed as it was
	SizeLeft  float64  // bytes shown / bytes of the sources
	Lost      []string // names of the cases whose needle is out of sight
}

// Check runs every case through reduce, which gives the text as it would be shown.
func Check(cases []Case, reduce func(Case) string) []Outcome {
	by := map[string]*Outcome{}
	before, after := map[string]int{}, map[string]int{}
	out := make([]Outcome, len(Classes()))
	for i, c := range Classes() {
		out[i].Class = c
		by[c] = &out[i]
	}
	for _, c := range cases {
		o := by[c.Class]
		shown := reduce(c)
		o.Total++
		before[c.Class] += len(c.Text)
		after[c.Class] += len(shown)
		switch {
		case shown == c.Text:
			o.Unchanged++
			o.Visible++
		case strings.Contains(shown, c.Needle):
			o.Visible++
		default:
			o.Lost = append(o.Lost, c.Name)
		}
	}
	for i := range out {
		if b := before[out[i].Class]; b > 0 {
			out[i].SizeLeft = float64(after[out[i].Class]) / float64(b)
		}
	}
	return out
}
