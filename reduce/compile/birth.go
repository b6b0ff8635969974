package compile

import (
	"slices"

	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/turn"
)

// birth decides how one string of a new tool result is shown. The reason is ""
// when it got a form; size is its tokens, 0 when it was not measured.
func (d *Draft) birth(r result, text request.Text, offers bool) (size int, why turn.Reason) {
	if locked := d.doc.Messages[r.message].Locked; locked != "" {
		return 0, locked
	}
	if r.CallID == "" {
		return 0, turn.NestedCall
	}
	if r.Mixed { // a picture and its words belong together
		return 0, turn.MixedContent
	}
	// A token has a byte or more: what is shorter than the floor is not read.
	if text.Span.End-text.Span.Start < d.c.settings.Plan.FloorVisible {
		return 0, turn.BelowFloor
	}
	value, err := d.doc.Value(text)
	if err != nil {
		return 0, turn.LoneSurrogate
	}
	block := reduce.Block{Text: value, Call: d.callOf(r)}
	if f, ok := d.c.olds.get(d.oldKey(r.message, text)); ok {
		block.Kind = f.kind
	}
	settings := d.c.settings.Reduce
	settings.Form.Count = d.count
	if reason := settings.Eligible(block); reason != "" {
		return 0, reason
	}
	if size = d.count(value); size < d.c.settings.Plan.FloorVisible {
		return size, turn.BelowFloor
	}
	if reduce.HoldsMarker(value, d.c.key, d.snap.Binding.Session, d.resolve) {
		return size, turn.OwnMarker
	}
	return size, d.choose(r, text, block, settings, offers)
}

// choose takes plan's choice among the proposals and adds the decision.
func (d *Draft) choose(r result, text request.Text, block reduce.Block, settings reduce.Settings, offers bool) turn.Reason {
	v := d.visible(r)
	settings.NoHiding = !offers || d.c.settings.NoHiding
	proposals, why := settings.Propose(block, v.index())
	if again, ok := d.repeated(block); ok {
		proposals = append(proposals, again)
	}
	candidates, decisions, over := d.candidates(text, block, proposals)
	if len(candidates) == 0 {
		if over != "" {
			why = over
		}
		if why == "" || why == turn.NoFormSmaller {
			why = turn.NoFormSmaller
			if !offers {
				why = turn.RecoveryToolGone
			}
		}
		return why
	}
	before := d.meter.JSONString(block.Text).Tokens
	_, read := block.Call.ReadPath()
	chosen, reason := d.c.settings.Plan.Birth(d.row(), d.facts(before, offers, read), candidates)
	if chosen == plan.NoProposal {
		return reason
	}
	d.add(r.message, block, decisions[chosen])
	return ""
}

// candidates renders each allowed proposal and keeps those that are smaller by
// every measure that counts.
func (d *Draft) candidates(text request.Text, block reduce.Block, proposals []reduce.Proposal) ([]plan.Proposal, []turn.Decision, turn.Reason) {
	allowed := slices.DeleteFunc(proposals, func(p reduce.Proposal) bool { return !d.allowed(p.Form) })
	r := rendering{
		meter: d.meter, key: d.c.key, session: d.snap.Binding.Session, block: block, pointer: text.Block,
		limit: d.c.settings.Reduce.Form.MaxTokens,
	}
	return r.candidates(allowed, func(p reduce.Proposal) []turn.Base { return d.bases(p) })
}

func (d *Draft) allowed(f turn.Form) bool {
	s := d.c.settings
	switch f {
	case turn.Layout:
		return !s.NoLayout
	case turn.Reference, turn.Delta:
		return !s.NoDelta
	}
	return !s.NoHiding
}

// bases names the earlier strings a proposal leans on, each once.
func (d *Draft) bases(p reduce.Proposal) []turn.Base {
	if p.Reason == turn.RepeatOfHidden {
		return nil
	}
	var out []turn.Base
	ix := d.view.index()
next:
	for _, n := range p.Bases {
		b := ix.Base(n)
		base := turn.Base{Message: b.Message, Block: d.place(b.Message, b.Block)}
		for _, have := range out {
			if have == base {
				continue next
			}
		}
		out = append(out, base)
	}
	return out
}

// add puts a new decision in force within this turn.
func (d *Draft) add(i int, block reduce.Block, decision turn.Decision) {
	d.set(i, decision)
	d.store(i, block, decision)
}

// store names the whole old string as evidence of a decision.
func (d *Draft) store(i int, block reduce.Block, decision turn.Decision) {
	d.artifacts = append(d.artifacts, d.artifact(i, block, decision))
}

// artifact is the original of a decision of message i as the vault stores it.
func (d *Draft) artifact(i int, block reduce.Block, decision turn.Decision) turn.Artifact {
	id := ""
	if n := d.at(i, decision.Block); n >= 0 {
		id = d.results.all[n].CallID
	}
	return turn.Artifact{
		Digest: decision.Before, Text: block.Text, Tool: block.Call.Tool, Args: block.Call.Args,
		CallID: id, Kind: decision.Kind,
	}
}

func (d *Draft) count(text string) int { return d.meter.JSONString(text).Tokens }

// resolve finds the artifact whose shown id begins with prefix among those this
// request shows.
func (d *Draft) resolve(prefix string) (turn.ArtifactID, bool) {
	for _, b := range d.blocks {
		if id := b.Decision.ShownID(); id != "" && (id == prefix || string(b.Decision.Artifact) == prefix) {
			return b.Decision.Artifact, true
		}
	}
	return "", false
}
