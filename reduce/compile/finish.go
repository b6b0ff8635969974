package compile

import (
	"slices"

	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// Finish renders the turn with the vault's proofs: the best rung of the ladder that
// passes the gate, or the original.
func (d *Draft) Finish(pinned turn.Pinned) Outcome {
	out := d.finish(pinned)
	d.keep()
	return out
}

func (d *Draft) finish(pinned turn.Pinned) Outcome {
	if d.passes != "" {
		return d.settle(nil, nil, d.passes)
	}
	lost := d.lost(pinned)
	before := d.standing(d.remembered(), lost)
	if pinned.Reason != "" && len(pinned.Proofs) == 0 && len(d.artifacts) > 0 {
		// Nothing became durable: the remembered forms may still go out.
		return d.settle([][]Block{before}, pinned.Proofs, pinned.Reason)
	}
	proven, ok := d.proven(pinned.Proofs)
	if !ok || len(lost) > 0 && d.opened.Kind != "" {
		// The new forms were chosen for what the epoch would have left in sight.
		return d.settle([][]Block{before}, pinned.Proofs, turn.ProofMissing)
	}
	why := turn.Reason("")
	if len(lost) > 0 {
		proven, why = d.standing(proven, lost), turn.ProofMissing
	}
	rungs := [][]Block{proven, d.withoutDependents(proven, func(b Block) bool { return d.born(b) && b.Decision.Form.Hides() })}
	rungs = append(rungs, before)
	return d.settle(rungs, pinned.Proofs, why)
}

// settle takes the first rung that passes.
func (d *Draft) settle(rungs [][]Block, proofs map[turn.Digest]turn.Proof, why turn.Reason) Outcome {
	original := Outcome{
		Reason: why, Kept: d.keptBut(nil, proofs), Nodes: d.nodes(nil), Lowered: d.fresh(d.blocks),
		Tokens: Tokens{Raw: d.raw, Final: d.raw, Label: d.meter.Label(), Exact: d.meter.Exact()},
	}
	if original.Reason == "" {
		original.Reason = turn.NothingToReduce
		if d.c.settings.Plan.TooSmall(d.raw.Tokens) {
			original.Reason = turn.SmallRequest
		}
	}
	for n, blocks := range rungs {
		if len(blocks) == 0 || (n > 0 && len(blocks) == len(rungs[n-1])) {
			continue
		}
		out, reason := d.try(blocks)
		if reason == "" {
			out.Kept, out.Nodes = d.keptBut(blocks, proofs), d.nodes(blocks)
			out.Lowered = !d.asPinned(blocks)
			if d.opened.Kind != "" && slices.ContainsFunc(blocks, d.changes) {
				epoch := d.opened
				out.Epoch = &epoch
			}
			return out
		}
		original.Reason = reason
	}
	return original
}

// try renders one rung and puts it through the gate.
func (d *Draft) try(blocks []Block) (Outcome, turn.Reason) {
	edits, at := make([]turn.Edit, 0, len(blocks)), make([]int, 0, len(blocks))
	shown := make([]Block, 0, len(blocks))
	for _, b := range blocks {
		if b.Decision.Form == turn.Original {
			continue
		}
		shown, at = append(shown, b), append(at, b.Message)
		edits = append(edits, turn.Edit{
			Pointer: d.doc.Pointer(b.Message, b.Decision.Block), Before: b.Decision.Before, Value: b.Decision.Text,
		})
	}
	r, why := d.write(edits, at)
	if why != "" {
		return Outcome{}, why
	}
	if reason := d.gate(r.final, d.fresh(blocks)); reason != "" {
		return Outcome{}, reason
	}
	d.written = r
	return Outcome{
		Reason: turn.Reduced, Body: r.body, Edits: edits, Blocks: shown,
		Tokens: Tokens{Raw: d.raw, Final: r.final, Label: d.meter.Label(), Exact: d.meter.Exact()},
	}, ""
}

// write writes a rung, reads it again as a provider would, and measures it.
func (d *Draft) write(edits []turn.Edit, at []int) (*rendered, turn.Reason) {
	body, err := d.doc.ApplyAfter(edits, at, d.last.edited)
	if err != nil {
		return nil, turn.MemoryMismatch
	}
	after, err := request.ParseAfter(body, d.last.edited.Body())
	if err != nil {
		return nil, turn.InternalError
	}
	if err := after.Check(); err != nil || len(after.Messages) != len(d.doc.Messages) {
		return nil, turn.PairingBroken
	}
	segments, err := after.Segments()
	if err != nil {
		return nil, turn.InternalError
	}
	segments = segments.Owned()
	final, counted := d.measure(d.last.after, segments)
	return &rendered{body: body, final: final, doc: after, seg: segments, counted: counted, edits: edits, at: at}, ""
}

// gate says why a rung may not go out. Whether it pays is asked of new forms only: one
// that was sent stays, or the cached prefix would change with the number of calls.
func (d *Draft) gate(final tokens.Measure, fresh bool) turn.Reason {
	if reason, ok := reduce.Gate(d.meter, d.raw, final); !ok {
		return reason
	}
	if fresh && !d.c.settings.Plan.ShrinkPays(d.row(), d.raw.Tokens, final.Tokens, d.calls) {
		return turn.MinPrefix
	}
	return ""
}

// remembered are the decisions that were sent before.
func (d *Draft) remembered() []Block {
	if d.opened.Kind != "" {
		return d.before
	}
	return slices.DeleteFunc(slices.Clone(d.blocks), func(b Block) bool { return b.New })
}

// born says that b decides a message that is sent for the first time.
func (d *Draft) born(b Block) bool { return b.New && b.Message >= d.known }

// changes says that b decides a message anew that was sent before, or puts it away.
func (d *Draft) changes(b Block) bool {
	return b.New && (b.Message < d.known || b.Decision.Form == turn.Receipt)
}

// proven puts the vault's ids into the texts and drops every new decision that has
// no proof, with what leans on it. ok is false when one of an epoch has none: an epoch
// is taken whole or not at all.
func (d *Draft) proven(proofs map[turn.Digest]turn.Proof) (blocks []Block, ok bool) {
	blocks = slices.Clone(d.blocks)
	lacks := func(b Block) bool {
		proof, ok := proofs[b.Decision.Before]
		return b.New && b.Decision.Form != turn.Original && (!ok || proof.Artifact != b.Decision.Artifact)
	}
	lost := false
	for n := range blocks {
		b := &blocks[n]
		switch {
		case !b.New || b.Decision.Form == turn.Original:
		case lacks(*b) && d.changes(*b):
			return nil, false
		case lacks(*b):
			lost = true
		default:
			if shown := proofs[b.Decision.Before].Shown; shown != "" && shown != b.Decision.ShownID() {
				b.Decision = b.Decision.WithShownID(shown)
			}
		}
	}
	if !lost {
		return blocks, true
	}
	return d.withoutDependents(blocks, lacks), true
}

// withoutDependents drops the blocks drop names and, since their texts change
// again, every block that leans on a dropped one.
func (d *Draft) withoutDependents(blocks []Block, drop func(Block) bool) []Block {
	gone := map[turn.Base]bool{}
	var kept []Block
	for _, b := range blocks {
		leans := false
		for _, base := range b.Decision.Bases {
			leans = leans || gone[base]
		}
		// A repeat of a hidden text names a message, not a base: drop it with the rest.
		if drop(b) || leans || (d.born(b) && b.Decision.Reason == turn.RepeatOfHidden && len(gone) > 0) {
			gone[turn.Base{Message: b.Message, Block: b.Decision.Block}] = true
			continue
		}
		kept = append(kept, b)
	}
	return kept
}

// fresh says whether any of blocks was decided in this turn.
func (d *Draft) fresh(blocks []Block) bool {
	return slices.ContainsFunc(blocks, func(b Block) bool { return b.New })
}

// keptBut lists the new strings that stay as they are when only blocks are shown
// smaller: those without a form, and those whose form was dropped.
func (d *Draft) keptBut(blocks []Block, proofs map[turn.Digest]turn.Proof) []Kept {
	kept := slices.Clone(d.kept)
	for _, b := range d.blocks {
		if !b.New || slices.ContainsFunc(blocks, b.same) {
			continue
		}
		reason := turn.LowerRung
		if proof, ok := proofs[b.Decision.Before]; !ok || proof.Artifact != b.Decision.Artifact {
			reason = turn.ProofMissing
		}
		kept = append(kept, Kept{
			Message: b.Message, Block: b.Decision.Block, Tool: b.Decision.Tool, Tokens: b.Decision.TokensBefore, Reason: reason,
		})
	}
	return kept
}

// same says whether two blocks are decisions for one string.
func (b Block) same(o Block) bool {
	return b.Message == o.Message && b.Decision.Block == o.Decision.Block
}

// asPinned says whether blocks are exactly the decisions that were pinned, the
// vault's longer ids aside.
func (d *Draft) asPinned(blocks []Block) bool {
	return slices.EqualFunc(blocks, d.blocks, func(b, pinned Block) bool { return b.same(pinned) && b.New == pinned.New })
}
