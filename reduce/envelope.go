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
	visible := visibleFields{exact: true}
	var hidden []envelope.Change
	var shown, total, marked int
	var k kind.Kind // of the last field that is hidden
	unit := "lines"
	for i, field := range env.Fields() {
		size := p.count(field.Value)
		if size < p.Floor {
			continue
		}
		own := kind.Detect(field.Value, p.block.Call)
		if p.Preset != Lossless || env.Exact(i) {
			p.envelopeField(env, i, own, &visible)
		}
		if !p.hide || size < p.Hiding {
			continue
		}
		view, reason := p.compress(field.Value, own)
		if reason != "" {
			p.why = reason
			continue
		}
		hidden = append(hidden, envelope.Change{Field: i, Text: fieldText(view)})
		shown, total, unit, marked, k = shown+view.Shown, total+view.Total, view.Unit, i, own
	}
	p.envelopeVisible(env, visible)
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

// visibleFields are the changes of an envelope's fields that hide nothing.
type visibleFields struct {
	laid    []envelope.Change // laid out
	leaning []envelope.Change // the same, with deltas where there are some
	bases   []int             // of these
	exact   bool              // the laid out text alone gives the old bytes back
	kind    kind.Kind         // of the last of them
}

// envelopeField adds what field i can be shown as with nothing hidden.
func (p *proposer) envelopeField(env envelope.Envelope, i int, k kind.Kind, v *visibleFields) {
	text := env.Fields()[i].Value
	l := p.layout(text, k)
	laid := envelope.Change{Field: i, Text: l.Text}
	if l.Text != "" {
		v.laid, v.kind = append(v.laid, laid), k
		v.exact = v.exact && l.Reason == turn.LayoutLossless && env.Exact(i)
	}
	if d, ok := p.delta(text, k); ok && len(v.bases)+len(d.Bases) <= turn.MaxBases {
		v.leaning, v.kind = append(v.leaning, envelope.Change{Field: i, Text: d.Text}), k
		v.bases = append(v.bases, d.Bases...)
	} else if l.Text != "" {
		v.leaning = append(v.leaning, laid)
	}
}

func (p *proposer) envelopeVisible(env envelope.Envelope, v visibleFields) {
	if len(v.laid) > 0 {
		reason := turn.LayoutEquivalent
		if v.exact {
			reason = turn.LayoutLossless
		}
		if text, err := env.Replace(v.laid); err == nil {
			p.out = append(p.out, Proposal{Form: turn.Layout, Reason: reason, Kind: v.kind, Text: text})
		}
	}
	if len(v.bases) == 0 {
		return
	}
	if text, err := env.Replace(v.leaning); err == nil {
		p.out = append(p.out, Proposal{Form: turn.Delta, Reason: turn.DeltaRuns, Kind: v.kind, Text: text, Bases: v.bases})
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
