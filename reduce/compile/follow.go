package compile

import (
	"cmp"
	"slices"

	"token-terminator/plan"
	"token-terminator/turn"
)

// Followers are old blocks that lean on what an epoch puts away. Shown small as they
// are, a receipt takes little away of them; but if their base goes, the first of them
// would stand there whole, and the base would have gained nothing. Where no cache is
// lost they may go with it.

// followers lists what leans on all and is itself old enough, with a receipt that takes
// enough away of the whole text.
func (d *Draft) followers(all []old) []old {
	var out []old
	last, age := d.steps[len(d.steps)-1], d.c.settings.Plan.ReceiptAge
	for _, dep := range d.dependents(all) {
		b := d.blocks[dep.block]
		n := d.at(b.Message, b.Decision.Block)
		calls := last - d.steps[b.Message] - age
		if n < 0 || calls < 0 || b.Message >= d.known || d.doc.Messages[b.Message].Locked != "" {
			continue
		}
		r := d.results.all[n]
		if r.CallID == "" || r.Mixed {
			continue
		}
		for _, text := range r.Texts {
			if text.Block != b.Decision.Block {
				continue
			}
			facts := d.oldFacts(b.Message, text)
			if facts.receipt.Form == "" || facts.before-facts.receipt.TokensAfter < d.c.settings.Plan.ReceiptGain {
				continue
			}
			out = append(out, old{
				message: b.Message, result: n, text: text, facts: facts, shown: b.Decision.TokensAfter, calls: calls, follows: true,
			})
		}
	}
	return out
}

// together puts two lists in the order of the request.
func together(a, b []old) []old {
	out := append(slices.Clone(a), b...)
	slices.SortStableFunc(out, func(x, y old) int { return cmp.Compare(x.result, y.result) })
	return out
}

// leaningOn gives those of followers that lean on all.
func (d *Draft) leaningOn(all, followers []old) []old {
	leans := map[turn.Base]bool{}
	for _, dep := range d.dependents(all) {
		b := d.blocks[dep.block]
		leans[turn.Base{Message: b.Message, Block: b.Decision.Block}] = true
	}
	return slices.DeleteFunc(slices.Clone(followers), func(o old) bool { return !leans[o.base()] })
}

// withFollowers says what goes when followers go with their bases: worth and its
// verdict as they were unless that takes away a receipt's least gain more.
func (d *Draft) withFollowers(m plan.Moment, places []int, free, followers, worth []old, loss lossOf, verdict plan.Epoch) ([]old, plan.Epoch) {
	bases, _ := d.pick(m, places, free, atNoCost)
	followers = d.leaningOn(bases, followers)
	if len(followers) == 0 {
		return worth, verdict
	}
	whole := d.losses(together(bases, followers))
	risks := map[turn.Base]int{}
	for _, o := range followers {
		risks[o.base()] = -d.c.settings.Plan.Value(d.row(), m, d.away(places, o))
	}
	picked, _ := d.pick(m, places, free, func(b Block) int {
		if risk, follows := risks[turn.Base{Message: b.Message, Block: b.Decision.Block}]; follows {
			return risk
		}
		return whole(b)
	})
	all := together(picked, d.leaningOn(picked, followers))
	better := d.c.settings.Plan.Epoch(d.row(), m, d.aways(places, all, whole))
	if better.Kind == "" || d.worthOf(m, places, all, whole)-d.worthOf(m, places, worth, loss) < d.c.settings.Plan.ReceiptGain {
		return worth, verdict
	}
	return all, better
}

// worthOf is what putting all away is worth, in tokens, less what leans on it costs.
func (d *Draft) worthOf(m plan.Moment, places []int, all []old, loss lossOf) int {
	sum := 0
	for _, o := range all {
		sum += d.c.settings.Plan.Value(d.row(), m, d.away(places, o))
	}
	for _, dep := range d.dependents(all) {
		sum -= loss(d.blocks[dep.block])
	}
	return sum
}
