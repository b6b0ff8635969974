package main

import (
	"context"
	"encoding/json"
	"time"

	"token-terminator/actors"
	"token-terminator/host"
	"token-terminator/host/wire"
	"token-terminator/ledger/book"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/reduce/kind"
	"token-terminator/reports"
	"token-terminator/turn"
	"token-terminator/vault"
)

// desk serves one connection with the settings of its hello.
type desk struct {
	engine   *engine
	settings *sessionSettings
	operator bool
}

// Turn implements host.Desk. Scope is decided before anything else is looked at.
func (d *desk) Turn(ctx context.Context, t *wire.Turn, limit time.Duration) wire.TurnAnswer {
	pass := wire.TurnAnswer{Decision: wire.Pass}
	if reason, allowed := t.Scope.Decide(t.RequestJSON); !allowed {
		pass.Reason = reason
		return pass
	}
	if !d.settings.Active() {
		pass.Reason = turn.TurnedOff
		return pass
	}
	facts := d.engine.sessions.facts(t.Binding.Session, d.settings, t.RequestJSON, d.engine.now())
	if !d.settings.ActsOnRequests() {
		pass.Reason = turn.TurnedOff
		return pass
	}
	if t.DeadlineMS == 0 { // the client named no limit: the setting, if it is the stricter one
		limit = min(limit, d.settings.TurnTimeout)
	}
	out := d.engine.pipeline.system.Reduce(ctx, actors.ReduceTurn{
		Binding: t.Binding, Body: t.RequestJSON, Settings: d.settings, Timeout: limit, Facts: facts,
	})
	d.engine.sessions.with(t.Binding.Session, func(n *sessionNote) { n.binding = out.Binding })
	return d.answer(t, out)
}

// answer puts a turn's end into the words of the protocol.
func (d *desk) answer(t *wire.Turn, out actors.TurnReduced) wire.TurnAnswer {
	a := wire.TurnAnswer{Decision: wire.Pass, Reason: out.Reason, Replayed: out.Replayed}
	booked, known := out.Detail.(book.Detail)
	detail := booked.Outcome
	if known && detail.Tokens.Label != "" {
		a.Tokens = &wire.Tokens{Raw: detail.Tokens.Raw.Tokens, Final: detail.Tokens.Final.Tokens, Measure: measureWord(detail.Tokens.Exact)}
	}
	if known && t.Detail {
		if data, err := wire.Encode(detail); err == nil {
			a.Detail = data
		}
	}
	switch {
	case !out.Edited:
	case d.settings.Observe():
		a.Reason = turn.TurnedOff
	case len(out.Edits) == 0:
		a.Reason = turn.InternalError
	default:
		a.Decision, a.Edits = wire.Edit, out.Edits
	}
	return a
}

func measureWord(exact bool) string {
	if exact {
		return reports.Exact
	}
	return reports.Panel
}

// Result implements host.Desk: a result on its own, for hosts whose transcript is what
// they send. Only forms that lean on nothing else, and only for a session whose
// requests have offered the recovery tool.
func (d *desk) Result(ctx context.Context, r *wire.Result) wire.ResultAnswer {
	pass := func(why turn.Reason) wire.ResultAnswer { return wire.ResultAnswer{Decision: wire.Pass, Reason: why} }
	if !d.settings.ActsOnResults() {
		return pass(turn.TurnedOff)
	}
	chain := r.Binding.Session
	if chain == "" {
		return pass(turn.UnscopedRequest)
	}
	var model string
	var declared bool
	d.engine.sessions.with(chain, func(n *sessionNote) { model, declared = n.model, n.declared })
	if !declared {
		return pass(turn.RecoveryToolGone)
	}
	v, err := d.engine.vault.ready()
	if err != nil {
		return pass(turn.StorageUnavailable)
	}
	c, err := d.engine.compiles.of(d.settings, model, v.MarkerKey())
	if err != nil {
		return pass(turn.InternalError)
	}
	if d.holdsMarker(ctx, v, chain, r.Text) {
		return pass(turn.OwnMarker)
	}
	single := c.Single(chain, model, blockOf(r))
	if single.Decision.Form == turn.Original {
		return pass(single.Decision.Reason)
	}
	if ctx.Err() != nil {
		return pass(turn.Deadline)
	}
	return d.keep(ctx, v, r, single)
}

// keep makes a result's original durable before its smaller text leaves.
func (d *desk) keep(ctx context.Context, v *vault.Vault, r *wire.Result, single compile.Single) wire.ResultAnswer {
	single.Evidence.Binding = r.Binding
	for i := range single.Evidence.Artifacts {
		single.Evidence.Artifacts[i].CallID = r.CallID
	}
	pinned, err := v.Put(ctx, single.Evidence)
	if again, ok := d.engine.vault.after(v, err); ok {
		pinned, err = again.Put(ctx, single.Evidence)
	}
	if err != nil {
		why := pinned.Reason
		if !why.Known() {
			why = turn.StorageUnavailable
		}
		return wire.ResultAnswer{Decision: wire.Pass, Reason: why}
	}
	proof, ok := pinned.Proofs[single.Decision.Before]
	if !ok || proof.Artifact != single.Decision.Artifact {
		return wire.ResultAnswer{Decision: wire.Pass, Reason: turn.ProofMissing}
	}
	text := single.Decision.WithShownID(proof.Shown).Text
	return wire.ResultAnswer{Decision: wire.Edit, Reason: single.Decision.Reason, Text: &text, ArtifactID: string(proof.Artifact)}
}

func blockOf(r *wire.Result) reduce.Block {
	call := kind.Call{Tool: r.Tool}
	if r.Command != "" {
		if args, err := json.Marshal(map[string]string{"command": r.Command}); err == nil {
			call.Args = string(args)
		}
	}
	return reduce.Block{Text: r.Text, Call: call, Failed: r.ExitCode != nil && *r.ExitCode != 0}
}

// holdsMarker says whether text holds a marker of this chain whose tag verifies.
func (d *desk) holdsMarker(ctx context.Context, v *vault.Vault, chain, text string) bool {
	return reduce.HoldsMarker(text, v.MarkerKey(), chain, func(prefix string) (turn.ArtifactID, bool) {
		id, err := v.Resolve(ctx, chain, prefix)
		return id, err == nil
	})
}

// Command implements host.Desk: a shortened text must not be written anywhere as if it
// were the whole. Only a marker whose tag verifies counts, however it was wrapped.
func (d *desk) Command(ctx context.Context, c *wire.Command) wire.CommandAnswer {
	chain := c.Binding.Session
	if chain == "" || len(c.Args) == 0 {
		return wire.CommandAnswer{Decision: wire.Pass}
	}
	v, err := d.engine.vault.ready()
	if err != nil {
		return wire.CommandAnswer{Decision: wire.Pass} // no tag can be verified
	}
	guard := reduce.Guard{Key: v.MarkerKey(), Session: chain, Resolve: func(prefix string) []turn.ArtifactID {
		id, err := v.Resolve(ctx, chain, prefix)
		if err != nil {
			return nil
		}
		return []turn.ArtifactID{id}
	}}
	found := guard.Check(c.Tool, argsText(c.Args))
	if !found.Refuse {
		return wire.CommandAnswer{Decision: wire.Pass}
	}
	return wire.CommandAnswer{Decision: wire.Refuse, Reason: turn.OwnMarker, Refuse: string(turn.OwnMarker), Message: found.Message}
}

// argsText is a call's arguments as kind wants them: the object, also when a host sent
// it as a string.
func argsText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// Event implements host.Desk.
func (d *desk) Event(ctx context.Context, e *wire.Event) error {
	chain := e.Binding.Session
	if chain == "" {
		return &host.Refusal{Code: wire.ErrorBadArgument, Detail: "an event names its session"}
	}
	notes := d.engine.sessions
	switch e.Name {
	case wire.EventSessionStart:
	case wire.EventSessionEnd:
		notes.forget(chain)
		return d.engine.pipeline.system.CloseSession(ctx, e.Binding)
	case wire.EventCompaction:
		notes.with(chain, func(n *sessionNote) { n.warmth.Compacted() })
	case wire.EventCacheCold:
		notes.with(chain, func(n *sessionNote) {
			n.cold, n.why, n.uncached = true, plan.ColdReason(e.Reason), e.Uncached
		})
	case wire.EventUsage:
		var last turn.Binding
		notes.with(chain, func(n *sessionNote) {
			last = n.binding
			n.reported(e.Usage, d.engine.now())
		})
		d.engine.numbers.usage(e, last)
	case wire.EventFailOpen:
		d.engine.numbers.failedOpen(e)
	case wire.EventAccount:
		if e.Account == nil {
			return &host.Refusal{Code: wire.ErrorBadArgument, Detail: "account is missing"}
		}
		notes.with(chain, func(n *sessionNote) { n.saved, n.spent, n.counted = e.Account.Saved, e.Account.Spent, true })
	default:
		return &host.Refusal{Code: wire.Unsupported, Detail: "no such event"}
	}
	if e.Window > 0 {
		notes.with(chain, func(n *sessionNote) { n.window = e.Window })
	}
	return nil
}
