package compile

import (
	"slices"
	"strconv"

	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/delta"
	"token-terminator/request"
	"token-terminator/turn"
)

// putAway puts the receipts in force and shows anew what leaned on their blocks.
func (d *Draft) putAway(all []old) {
	d.before = slices.Clone(d.blocks)
	dependents := map[turn.Base]bool{}
	for _, dep := range d.dependents(all) {
		b := d.blocks[dep.block]
		dependents[turn.Base{Message: b.Message, Block: b.Decision.Block}] = true
	}
	for _, o := range all {
		d.set(o.message, o.facts.receipt)
		if value, err := d.doc.Value(o.text); err == nil {
			d.store(o.message, reduce.Block{Text: value, Call: d.call(o.message, o.text.Block)}, o.facts.receipt)
		}
	}
	if len(dependents) > 0 {
		d.rebase(dependents)
	}
}

// losses says what showing the dependents of all anew would cost, by doing it on a
// copy: the first of several that lean on one text stands in for it, so the sum of
// their originals would be far too much. A block that is no dependent of all is taken
// to be shown whole.
func (d *Draft) losses(all []old) lossOf {
	key := d.lossKey(all)
	costs, known := d.c.olds.lossesOf(d.snap.Binding.Session, key)
	if !known {
		trial := *d
		trial.blocks, trial.artifacts = slices.Clone(d.blocks), nil
		trial.putAway(all)
		costs = map[turn.Base]int{}
		for _, dep := range d.dependents(all) {
			b := d.blocks[dep.block]
			at := turn.Base{Message: b.Message, Block: b.Decision.Block}
			costs[at] = b.Decision.TokensBefore - b.Decision.TokensAfter
			for _, now := range trial.blocksOf(b.Message) {
				if now.Decision.Block == at.Block {
					costs[at] = now.Decision.TokensAfter - b.Decision.TokensAfter
				}
			}
		}
		d.c.olds.putLosses(d.snap.Binding.Session, key, costs)
	}
	return func(b Block) int {
		if cost, ok := costs[turn.Base{Message: b.Message, Block: b.Decision.Block}]; ok {
			return cost
		}
		return b.Decision.TokensBefore - b.Decision.TokensAfter
	}
}

// lossKey names everything losses depends on: the conversation up to the last message
// that changes, the decisions in force there, and what would go.
func (d *Draft) lossKey(all []old) turn.Digest {
	last := all[len(all)-1].message
	for _, dep := range d.dependents(all) {
		last = max(last, d.blocks[dep.block].Message)
	}
	key := d.chain[last]
	for _, b := range d.blocks {
		if b.Message <= last {
			key = turn.Chain(key, turn.Sum(strconv.Itoa(b.Message)+b.Decision.Block+b.Decision.Text))
		}
	}
	for _, o := range all {
		key = turn.Chain(key, turn.Sum(strconv.Itoa(o.message)+o.text.Block))
	}
	return key
}

// rebase builds what the model sees after the epoch, message by message, and chooses
// a form anew for each dependent: a delta against what is still in sight, a layout,
// or the original.
func (d *Draft) rebase(dependents map[turn.Base]bool) {
	v := &view{ix: delta.NewIndex()}
	for ; v.next < d.known; v.next++ {
		for _, r := range d.results.of(v.next) {
			for _, text := range r.Texts {
				if dependents[turn.Base{Message: v.next, Block: text.Block}] {
					d.set(v.next, d.anew(v, text))
					d.opened.Rebased++
				}
			}
			d.showResult(v.ix, r)
		}
		d.showCalls(v.ix, v.next)
	}
	d.view = v
}

// anew is the form of one string without what was put away.
func (d *Draft) anew(v *view, text request.Text) turn.Decision {
	i := v.next
	value, err := d.doc.Value(text)
	if err != nil { // it had a form, so it was read before
		return turn.Decision{Block: text.Block, Form: turn.Original, Reason: turn.EpochRebased, ShownAt: -1, Renderer: Renderer}
	}
	block := reduce.Block{Text: value, Call: d.call(i, text.Block)}
	size := d.count(value)
	original := turn.Decision{
		Block: text.Block, Form: turn.Original, Reason: turn.EpochRebased, Tool: block.Call.Tool, Before: turn.Sum(value),
		ShownAt: -1, Renderer: Renderer, TokensBefore: size, TokensAfter: size,
	}
	settings := d.c.settings.Reduce
	settings.Form.Count, settings.NoHiding = d.count, true
	proposals, _ := settings.Propose(block, v.index())
	d.view = v
	candidates, decisions, _ := d.candidates(text, block, proposals)
	facts := d.facts(size, false, true)
	facts.RequestTokens = 0
	chosen, _ := d.c.settings.Plan.Birth(d.row(), facts, candidates)
	if chosen == plan.NoProposal {
		return original
	}
	d.store(i, block, decisions[chosen])
	return decisions[chosen]
}

// set puts a decision in force instead of the one its string has.
func (d *Draft) set(i int, decision turn.Decision) {
	b := Block{Message: i, Decision: decision, New: true}
	at, found := slices.BinarySearchFunc(d.blocks, b, func(x, y Block) int {
		if x.Message != y.Message {
			return x.Message - y.Message
		}
		return request.CompareBlocks(x.Decision.Block, y.Decision.Block)
	})
	if found {
		old := d.blocks[at].Decision
		d.shrunk -= old.TokensBefore - old.TokensAfter
		d.blocks[at] = b
	} else {
		d.blocks = slices.Insert(d.blocks, at, b)
	}
	d.shrunk += decision.TokensBefore - decision.TokensAfter
}
