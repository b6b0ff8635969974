package plan

import "token-terminator/turn"

// Proposal is one way to show a block smaller.
type Proposal struct {
	Form        turn.Form
	Reason      turn.Reason // why the block would get this form
	TokensAfter int         // marker included
	Hides       bool        // takes text out of sight; Form.Hides() is taken as true as well
}

func (p Proposal) hides() bool { return p.Hides || p.Form.Hides() }

// BlockFacts is what a birth decision may know of a block and its request.
type BlockFacts struct {
	TokensBefore int
	// RequestTokens is the whole input of the request as it stands now, this block
	// still unchanged: what a fetch would read, and what the smallest prefix is
	// compared with. 0 means unknown: neither rule is applied.
	RequestTokens int
	CallsSoFar    int // calls of this session before this one
	// CanRecover says that the request declares the recovery tool and does not
	// forbid it; without it no hiding form is taken.
	CanRecover bool
	// Read says that the block is text meant for editing; it takes no hiding form.
	Read bool
	// DeclarationTokens is charged to the first hiding form of a request that must
	// declare the recovery tool for its sake; 0 when it is declared anyway.
	DeclarationTokens int
}

// NoProposal is the index Birth gives when the block keeps its original form.
const NoProposal = -1

// Birth decides the form of a block that was never sent before; nothing of it is
// cached, so any smaller form only gains. It gives the index of the proposal to
// take and its reason, or NoProposal and why nothing is taken.
//
//  1. Visible forms (layout, reference, delta): the fewest tokens, strictly fewer
//     than the block's; on a tie layout, then reference, then delta, since a text
//     that stands alone is easier to read.
//  2. Hiding forms: the fewest tokens. Such a form is only taken over the best
//     visible one (or the original) when it takes away at least
//     max(LeastGain, LeastGainPct of the block) tokens more, and when these tokens
//     over the horizon are worth more than the expected fetch:
//     removed·(w + r·h) > RecoveryPct·fetch(h) + declaration·(w + r·h).
//     So where both are close nothing is hidden.
//  3. A form that takes the request below the smallest cacheable prefix is only
//     taken when that pays (ShrinkPays).
func (s Settings) Birth(r Row, f BlockFacts, proposals []Proposal) (int, turn.Reason) {
	s = s.WithDefaults()
	if f.TokensBefore < s.FloorVisible {
		return NoProposal, turn.BelowFloor
	}
	c := choice{settings: s, row: r.At(f.RequestTokens), facts: f, proposals: proposals, horizon: s.Horizon(f.CallsSoFar)}
	visible, refused := c.bestVisible()
	hidden, hiddenRefused := c.bestHidden(visible)
	switch {
	case hidden != NoProposal:
		return hidden, proposals[hidden].Reason
	case visible != NoProposal:
		return visible, proposals[visible].Reason
	case hiddenRefused != "":
		return NoProposal, hiddenRefused
	case refused != "":
		return NoProposal, refused
	}
	return NoProposal, turn.NoFormSmaller
}

// ShrinkPays says whether sending after tokens instead of before pays although a
// request under the smallest prefix is fresh on every call: always when the prefix
// bound is not crossed, else when (h+1)·after·i < before·(w + r·h).
func (s Settings) ShrinkPays(r Row, before, after, callsSoFar int) bool {
	if after >= before {
		return after == before
	}
	if before < r.MinPrefix || after >= r.MinPrefix {
		return true
	}
	h := float64(s.Horizon(callsSoFar))
	return (h+1)*float64(after)*r.Input < float64(before)*(r.Write+r.Read*h)
}

// choice is one decision in the making.
type choice struct {
	settings  Settings
	row       Row
	facts     BlockFacts
	proposals []Proposal
	horizon   int
}

func (c choice) bestVisible() (best int, refused turn.Reason) {
	best = NoProposal
	for i, p := range c.proposals {
		if p.hides() || p.TokensAfter >= c.facts.TokensBefore || p.TokensAfter < 0 {
			continue
		}
		if !c.keepsPrefix(p) {
			refused = turn.MinPrefix
			continue
		}
		if best == NoProposal || betterVisible(p, c.proposals[best]) {
			best = i
		}
	}
	return best, refused
}

func betterVisible(p, q Proposal) bool {
	if p.TokensAfter != q.TokensAfter {
		return p.TokensAfter < q.TokensAfter
	}
	return rank(p.Form) < rank(q.Form)
}

func rank(f turn.Form) int {
	switch f {
	case turn.Layout:
		return 0
	case turn.Reference:
		return 1
	case turn.Delta:
		return 2
	}
	return 3
}

func (c choice) bestHidden(visible int) (int, turn.Reason) {
	best := NoProposal
	for i, p := range c.proposals {
		if !p.hides() || p.TokensAfter >= c.facts.TokensBefore || p.TokensAfter < 0 {
			continue
		}
		if best == NoProposal || p.TokensAfter < c.proposals[best].TokensAfter {
			best = i
		}
	}
	if best == NoProposal {
		return best, ""
	}
	if why := c.refuseHiding(c.proposals[best], visible); why != "" {
		return NoProposal, why
	}
	return best, ""
}

func (c choice) refuseHiding(p Proposal, visible int) turn.Reason {
	f, s := c.facts, c.settings
	shown := f.TokensBefore
	if visible != NoProposal {
		shown = c.proposals[visible].TokensAfter
	}
	gain := shown - p.TokensAfter
	switch {
	case f.Read:
		return turn.ReadExempt
	case !f.CanRecover:
		return turn.RecoveryToolGone
	case f.TokensBefore < s.FloorHiding:
		return turn.BelowFloor
	case gain < s.LeastGain || 100*gain < s.LeastGainPct*f.TokensBefore:
		return turn.LeastGain
	case c.worth(gain) <= c.risk():
		return turn.RecoveryCost
	case !c.keepsPrefix(p):
		return turn.MinPrefix
	}
	return ""
}

// worth is what tokens that are not sent save over the horizon.
func (c choice) worth(tokens int) float64 {
	return float64(tokens) * (c.row.Write + c.row.Read*float64(c.horizon))
}

// risk is the expected cost of fetching the block back, and of declaring the tool.
func (c choice) risk() float64 {
	risk := c.worth(c.facts.DeclarationTokens)
	if c.facts.RequestTokens > 0 {
		fetch := Fetch{PrefixTokens: c.facts.RequestTokens, BlockTokens: c.facts.TokensBefore, LaterCalls: c.horizon}
		risk += c.settings.FetchCost(c.row, fetch) * c.settings.RecoveryPct / 100
	}
	return risk
}

func (c choice) keepsPrefix(p Proposal) bool {
	before := c.facts.RequestTokens
	if before <= 0 {
		return true
	}
	return c.settings.ShrinkPays(c.row, before, before-c.facts.TokensBefore+p.TokensAfter, c.facts.CallsSoFar)
}
