package reports

import (
	"slices"

	"token-terminator/turn"
)

// Names of the arms a page draws.
const (
	ArmRaw           = "raw"
	ArmOurs          = "ours"
	ArmBirth         = "birth"
	ArmAlwaysRewrite = "always rewrite"
	ArmMasking       = "masking"
	ArmOptimum       = "optimum"
)

// Series is what one arm sent and paid in each turn, in order. Costs are without
// recovery debits.
type Series struct {
	Arm    string
	Tokens []int
	Cost   []float64
}

// AddArmTurn books the next turn of an arm for the page of WriteHTML: the input
// tokens it sends and what that call costs. Arms are drawn in the order of their
// first turn. JSON, text and Markdown do not show series.
func (s *Session) AddArmTurn(arm string, tokens int, cost float64) {
	at := slices.IndexFunc(s.series, func(x Series) bool { return x.Arm == arm })
	if at < 0 {
		at = len(s.series)
		s.series = append(s.series, Series{Arm: arm})
	}
	x := &s.series[at]
	x.Tokens, x.Cost = append(x.Tokens, tokens), append(x.Cost, cost)
}

// tally counts hidden blocks that a later recorded call needed.
type tally struct{ needed int }

// loss is what stands beside the savings of each form and of each tool.
type loss struct{ byForm, byTool map[string]tally }

func (l *loss) add(form, tool string, t tally) {
	if l.byForm == nil {
		l.byForm, l.byTool = map[string]tally{}, map[string]tally{}
	}
	f, u := l.byForm[form], l.byTool[tool]
	l.byForm[form] = tally{f.needed + t.needed}
	l.byTool[tool] = tally{u.needed + t.needed}
}

func (l *loss) plus(m loss) {
	for _, pair := range []struct {
		into *map[string]tally
		from map[string]tally
	}{{&l.byForm, m.byForm}, {&l.byTool, m.byTool}} {
		if *pair.into == nil {
			*pair.into = map[string]tally{}
		}
		for name, t := range pair.from {
			have := (*pair.into)[name]
			(*pair.into)[name] = tally{have.needed + t.needed}
		}
	}
}

// AddNeeded notes that a later recorded call needed a hidden block of this form and
// tool; each block once. NeededLater stays the caller's.
func (s *Session) AddNeeded(form turn.Form, tool string) {
	s.loss.add(string(form), tool, tally{needed: 1})
}
