package reduce

import (
	"token-terminator/reduce/envelope"
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

// envelope proposes forms of a result that is JSON around the text that matters:
// every stage works on the fields, all other bytes stay.
func (p *proposer) envelope(env envelope.Envelope) {
	var laid, leaning, hidden []envelope.Change
	var bases []int
	var shown, total, marked int
	var k kind.Kind
	unit := "lines"
	for i, field := range env.Fields() {
		if p.count(field.Value) < p.Floor {
			continue
		}
		k = kind.Detect(field.Value, p.block.Call)
		l := p.layout(field.Value, k)
		if l.Text != "" {
			laid = append(laid, envelope.Change{Field: i, Text: l.Text})
		}
		if d, ok := p.delta(field.Value, k); ok && len(bases)+len(d.Bases) <= turn.MaxBases {
			leaning = append(leaning, envelope.Change{Field: i, Text: d.Text})
			bases = append(bases, d.Bases...)
		} else if l.Text != "" {
			leaning = append(leaning, envelope.Change{Field: i, Text: l.Text})
		}
		if !p.hide || p.count(field.Value) < p.Hiding {
			continue
		}
		view, reason := p.compress(field.Value, k)
		if reason != "" {
			p.why = reason
			continue
		}
		hidden = append(hidden, envelope.Change{Field: i, Text: fieldText(view)})
		shown, total, unit, marked = shown+view.Shown, total+view.Total, view.Unit, i
	}
	p.envelopeVisible(env, k, laid, leaning, bases)
	if p.read {
		p.why = turn.ReadExempt
	}
	if len(hidden) == 0 {
		return
	}
	if view, err := env.Hide(hidden, marked); err == nil {
		view.Shown, view.Total, view.Unit = shown, total, unit
		p.out = append(p.out, Proposal{Form: turn.Compressed, Reason: compressedReason(k), Kind: k, View: view})
	}
}

func (p *proposer) envelopeVisible(env envelope.Envelope, k kind.Kind, laid, leaning []envelope.Change, bases []int) {
	if len(laid) > 0 {
		if text, err := env.Replace(laid); err == nil {
			p.out = append(p.out, Proposal{Form: turn.Layout, Reason: turn.LayoutEquivalent, Kind: k, Text: text})
		}
	}
	if len(bases) == 0 {
		return
	}
	if text, err := env.Replace(leaning); err == nil {
		p.out = append(p.out, Proposal{Form: turn.Delta, Reason: turn.DeltaRuns, Kind: k, Text: text, Bases: bases})
	}
}

// fieldText is a view without its marker: inside an envelope the marker is a
// sibling key of the field.
func fieldText(v form.View) string {
	if !v.InJSON {
		return v.Head + v.Tail
	}
	return v.Head + "see [omitted]" + v.Tail
}
