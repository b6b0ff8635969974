package reports

import (
	"fmt"
	"slices"
	"strings"
)

// arms compares what each arm saves of the recorded bill, net of its debits, over the
// sessions of LongSession messages and more, or all when there is none.
func (r Report) arms(b *strings.Builder, s style) {
	long := slices.DeleteFunc(slices.Clone(r.Sessions), func(x Session) bool { return x.Messages < LongSession })
	if len(long) == 0 {
		long = slices.Clone(r.Sessions)
	}
	t := table{head: []string{"arm, net saving of the bill", "n", "q1", "median", "q3", "volume", "no largest", "worst", "dearer"}}
	for _, a := range []struct {
		name string
		cost func(Cost) *float64
	}{
		{"ours", func(c Cost) *float64 { net := c.Net(); return &net }},
		{"birth (no epochs)", func(c Cost) *float64 { return c.Birth }},
		{"always rewrite", func(c Cost) *float64 { return c.AlwaysRewrite }},
		{"masking", func(c Cost) *float64 { return c.Masking }},
		{"optimum (future known)", func(c Cost) *float64 { return c.Optimum }},
	} {
		if x, ok := SpreadOf(asArm(long, a.cost), 0); ok {
			t.rows = append(t.rows, []string{
				a.name, count(x.Sessions), pct(x.Q1), pct(x.Median), pct(x.Q3), pct(x.Volume), share(x.WithoutLargest), pct(x.Worst), count(x.Dearer),
			})
		}
	}
	if len(t.rows) < 2 {
		return
	}
	s.heading(b, "Arms")
	s.table(b, t)
	s.caption(b, "always rewrite: whatever is admissible is put away at every turn, without a memory. masking: results older than 10 calls are put away every 10 calls, "+
		"nothing else. optimum: the best turns for epochs, found with the future known. All with the same proposals and prices, net of recoveries.")
}

// asArm gives the sessions as if an arm's cost were the final one; those that did not
// run it are left out.
func asArm(sessions []Session, cost func(Cost) *float64) []Session {
	var out []Session
	for _, x := range sessions {
		if c := cost(x.Cost); c != nil {
			x.Cost.Final, x.Cost.RecoveryDebit = *c, 0
			x.Finish()
			out = append(out, x)
		}
	}
	return out
}

// epochs lists the turns at which old messages changed.
func (r Report) epochs(b *strings.Builder, s style) {
	var lines []string
	for _, x := range r.Sessions {
		var turns []string
		for _, e := range x.Epochs {
			turns = append(turns, fmt.Sprintf("turn %d (%s, %s)", e.Turn, e.Kind, e.Reason))
		}
		if len(turns) > 0 {
			lines = append(lines, x.ID+": "+strings.Join(turns, ", "))
		}
	}
	list(b, s, "Epochs (turns at which old results were put away)", lines)
}
