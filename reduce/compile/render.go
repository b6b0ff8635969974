package compile

import (
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// rendering turns proposals for one block into decisions.
type rendering struct {
	meter   *tokens.Meter
	key     []byte
	session string
	block   reduce.Block
	pointer string // inside the message
	limit   int    // tokens of a form that hides text, marker included; 0 none
}

// candidates keeps the proposals that are smaller in the request (escaped) and as
// text (decoded), by every measure the meter demands. why is no_forced_fit when a form
// that hides was over the limit, and "" otherwise.
func (r rendering) candidates(proposals []reduce.Proposal, bases func(reduce.Proposal) []turn.Base) (out []plan.Proposal, decisions []turn.Decision, why turn.Reason) {
	digest := turn.Sum(r.block.Text)
	id := digest.ID()
	tag := reduce.Tag(r.key, id, r.session)
	size := r.meter.JSONString(r.block.Text)
	for _, p := range proposals {
		shown, at, length := p.Render(id, tag)
		after := r.meter.JSONString(shown)
		if after.Tokens >= size.Tokens || !r.meter.TextSmaller(r.block.Text, shown) {
			continue
		}
		if r.limit > 0 && p.Form.Hides() && after.Tokens > r.limit {
			why = turn.NoForcedFit
			continue
		}
		out = append(out, plan.Proposal{Form: p.Form, Reason: p.Reason, TokensAfter: after.Tokens, Hides: p.Form.Hides()})
		decisions = append(decisions, turn.Decision{
			Block: r.pointer, Form: p.Form, Reason: p.Reason, Tool: r.block.Call.Tool, Kind: string(p.Kind),
			Before: digest, Artifact: id, Text: shown, ShownAt: at, ShownLen: length,
			Bases: bases(p), Renderer: Renderer, TokensBefore: size.Tokens, TokensAfter: after.Tokens,
		})
	}
	return out, decisions, why
}

// Single is one result on its own, outside of any request.
type Single struct {
	Decision turn.Decision // Form is turn.Original when nothing smaller was found
	Kind     string
	Evidence turn.Evidence // what must be durable before Decision.Text may be shown
	In, Out  tokens.Measure
	Label    string
}

// Single decides how one result is shown when nothing else is known: no earlier
// texts, no request, the recovery tool at hand.
func (c *Compiler) Single(session, model string, block reduce.Block) Single {
	meter := c.Meter(model)
	settings := c.settings.Reduce
	settings.Form.Count = func(text string) int { return meter.JSONString(text).Tokens }
	out := Single{In: meter.JSONString(block.Text), Label: meter.Label(), Kind: string(reduce.KindOf(block))}
	out.Out = out.In
	out.Decision = turn.Decision{Form: turn.Original, Before: turn.Sum(block.Text), Text: block.Text, ShownAt: -1, Kind: out.Kind}
	if reason := settings.Eligible(block); reason != "" {
		out.Decision.Reason = reason
		return out
	}
	if out.In.Unmeasured != "" {
		out.Decision.Reason = out.In.Unmeasured
		return out
	}
	proposals, why := settings.Propose(block, nil)
	r := rendering{meter: meter, key: c.key, session: session, block: block, limit: settings.Form.MaxTokens}
	candidates, decisions, over := r.candidates(proposals, func(reduce.Proposal) []turn.Base { return nil })
	if len(candidates) == 0 {
		if over != "" {
			why = over
		}
		if why == "" {
			why = turn.NoFormSmaller
		}
		out.Decision.Reason = why
		return out
	}
	_, read := block.Call.ReadPath()
	facts := plan.BlockFacts{TokensBefore: out.In.Tokens, CanRecover: true, Read: read}
	chosen, reason := c.settings.Plan.Birth(c.settings.Row, facts, candidates)
	if chosen == plan.NoProposal {
		out.Decision.Reason = reason
		return out
	}
	out.Decision = decisions[chosen]
	out.Out = meter.JSONString(out.Decision.Text)
	out.Evidence = turn.Evidence{
		Binding: turn.Binding{Engine: "tt", Session: session},
		Artifacts: []turn.Artifact{{
			Digest: out.Decision.Before, Text: block.Text, Tool: block.Call.Tool, Args: block.Call.Args, Kind: out.Decision.Kind,
		}},
	}
	return out
}
