package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

// compiler runs one turn: propose, have the evidence pinned, decide. It has one asker
// and gives it one answer; a panic is an answer too. Its Session stops it.
type compiler struct {
	env    *wiring
	asker  *actor.PID
	job    *CompileTurn
	draft  Draft
	result TurnCompiled
	state  compileState
}

type compileState int

const (
	fresh compileState = iota
	pinning
	accepting
	answered
)

func compilerProps(env *wiring) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return &compiler{env: env} },
		actor.WithDispatcher(env.cpu))
}

// Receive implements actor.Actor.
func (c *compiler) Receive(ctx actor.Context) {
	defer c.answerIfPanicked(ctx)
	switch m := ctx.Message().(type) {
	case *CompileTurn:
		c.begin(ctx, m)
	case *EvidencePinned:
		c.pinned(ctx, m)
	case *FormsAccepted:
		c.accepted(ctx, m)
	case *actor.DeadLetterResponse:
		c.fail(ctx, turn.StorageUnavailable)
	case *actor.Stopped:
		// The library's list of children keeps the address of one that ended, and so this
		// actor, until another takes its place. The request must not stay that long.
		*c = compiler{env: c.env, state: answered}
	}
}

func (c *compiler) begin(ctx actor.Context, m *CompileTurn) {
	if c.state != fresh {
		ctx.Respond(&TurnCompiled{Binding: m.Binding, Failure: turn.InternalError})
		return
	}
	c.job, c.asker = m, ctx.Sender()
	c.result.Binding = m.Binding
	if c.abandoned(ctx) {
		return
	}
	draft, why := c.env.cfg.Compile.Begin(m.snap, *m.cmd)
	if why != "" {
		c.result.Outcome = Outcome{Reason: why}
		c.answer(ctx)
		return
	}
	if draft == nil {
		c.fail(ctx, turn.InternalError)
		return
	}
	c.draft = draft
	c.pin(ctx, draft.Evidence())
}

func (c *compiler) pin(ctx actor.Context, ev turn.Evidence) {
	if len(ev.Artifacts)+len(ev.Nodes)+len(ev.Held) == 0 {
		c.finish(ctx, turn.Pinned{Binding: c.job.Binding})
		return
	}
	if c.abandoned(ctx) {
		return
	}
	ev.Binding = c.job.Binding
	if store, ok := c.env.cfg.Store.(Preparer); ok {
		ev = store.Prepare(ev)
	}
	pin, why := c.env.pin(c.job.Binding, ev)
	if why != "" {
		c.fail(ctx, why)
		return
	}
	c.state, c.result.evidence = pinning, pin.Evidence
	ctx.Request(c.env.writer, pin)
}

func (c *compiler) pinned(ctx actor.Context, m *EvidencePinned) {
	switch {
	case c.state != pinning || m.Binding != c.job.Binding:
	case m.Failure != "":
		c.fail(ctx, m.Failure)
	case c.abandoned(ctx):
	default:
		c.result.proofs = m.Pinned.Proofs
		c.finish(ctx, m.Pinned)
	}
}

func (c *compiler) finish(ctx actor.Context, p turn.Pinned) {
	o := c.draft.Finish(p)
	switch {
	case o.Edited && o.Body == nil && len(o.Edits) == 0:
		c.fail(ctx, turn.InternalError)
		return
	case o.Edited:
		fill(&o.Reason, turn.Reduced)
	default:
		fill(&o.Reason, turn.NothingToReduce)
	}
	c.result.Outcome = o
	if !o.Lowered || len(o.Nodes) == 0 {
		c.answer(ctx)
		return
	}
	c.state = accepting
	ctx.Request(c.env.writer, &AcceptForms{Binding: c.job.Binding, Nodes: o.Nodes})
}

func (c *compiler) accepted(ctx actor.Context, m *FormsAccepted) {
	switch {
	case c.state != accepting || m.Binding != c.job.Binding:
	case m.Failure != "":
		c.fail(ctx, m.Failure)
	default:
		c.answer(ctx)
	}
}

// abandoned gives up a turn nobody waits for any more.
func (c *compiler) abandoned(ctx actor.Context) bool {
	if c.job.ctx.Err() == nil {
		return false
	}
	c.fail(ctx, turn.Deadline)
	return true
}

func (c *compiler) fail(ctx actor.Context, why turn.Reason) {
	c.result = TurnCompiled{Binding: c.result.Binding, Failure: why}
	c.answer(ctx)
}

func (c *compiler) answer(ctx actor.Context) {
	if c.state == answered || c.asker == nil {
		return
	}
	c.state = answered
	result := c.result
	ctx.Send(c.asker, &result)
}

func (c *compiler) answerIfPanicked(ctx actor.Context) {
	v := recover()
	if v == nil {
		return
	}
	c.env.caught("compiler", c.result.Binding, v)
	c.fail(ctx, turn.InternalError)
}
