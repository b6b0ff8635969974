package actors

import (
	"context"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

// work is one turn in progress: one request, asked for by one or more attempts.
type work struct {
	binding  turn.Binding // of the first attempt; what Compiler and VaultWriter know
	body     bodyKey
	attempts []*attempt
	stage    stage
	compiler *actor.PID
	cancel   context.CancelFunc
	past     *past // when verifying
}

type stage int

const (
	waiting   stage = iota // for the form memory
	compiling              // on its Compiler
	verifying              // a remembered answer whose evidence is being pinned again
)

// attempt is one command and the way back to its caller.
type attempt struct {
	binding turn.Binding
	cmd     *ReduceTurn
	ticket  *ticket // nil: held by the Compiler that runs for it
	timer   func() bool
}

// after sends note to the actor itself when d has passed.
func (w *wiring) after(ctx actor.Context, d time.Duration, note Message) func() bool {
	root, self := ctx.ActorSystem().Root, ctx.Self()
	return w.clock.AfterFunc(d, func() { root.Send(self, note) })
}

func (s *session) reduce(ctx actor.Context, m *ReduceTurn) {
	if s.stopping {
		refuse(m, s.env.endReason())
		return
	}
	if m.reply.answered() {
		m.ticket.release()
		return
	}
	b, ok := s.issue(ctx, m)
	if !ok {
		refuse(m, turn.StaleBinding)
		return
	}
	a := &attempt{binding: b, cmd: m, ticket: m.ticket}
	if !m.deadline.IsZero() {
		left := m.deadline.Sub(s.env.clock.Now())
		if left <= 0 {
			s.answer(a, pass(b, turn.Deadline))
			return
		}
		a.timer = s.env.after(ctx, left, &ExpireTurn{Binding: b})
	}
	if w := s.join(ctx, a, m.body); w != nil {
		return
	}
	w := &work{binding: b, body: m.body, attempts: []*attempt{a}}
	s.open = append(s.open, w)
	switch p := s.recall(b.Turn, m.body); {
	case p != nil:
		s.verify(ctx, w, p)
	case s.memory == nil:
		s.load(ctx)
	default:
		s.compile(ctx, w)
	}
}

// join lets a retry of a turn in progress wait for it, and ends an older attempt of
// the same turn that asked for other bytes.
func (s *session) join(ctx actor.Context, a *attempt, body bodyKey) *work {
	for _, w := range slices.Clone(s.open) {
		if w.binding.Turn != a.binding.Turn {
			continue
		}
		if w.body == body {
			w.attempts = append(w.attempts, a)
			return w
		}
		s.drop(ctx, w, turn.StaleBinding)
	}
	return nil
}

func (s *session) load(ctx actor.Context) {
	if s.loading {
		return
	}
	s.loading = true
	ctx.Request(s.env.writer, &LoadForms{Binding: s.bound()})
}

func (s *session) loaded(ctx actor.Context, m *FormsLoaded) {
	if !s.loading {
		return
	}
	s.loading = false
	if m.Failure == "" {
		s.memory = s.env.cfg.NewMemory(m.Nodes)
	}
	for _, w := range slices.Clone(s.open) {
		switch {
		case w.stage != waiting:
		case m.Failure != "":
			s.drop(ctx, w, m.Failure)
		default:
			s.compile(ctx, w)
		}
	}
}

func (s *session) compile(ctx actor.Context, w *work) {
	first := w.attempts[0]
	w.stage = compiling
	live, cancel := context.WithCancel(s.env.life)
	w.cancel = cancel
	w.compiler = ctx.Spawn(compilerProps(s.env))
	s.env.tally.compiles.Add(1)
	s.running[w.compiler.Id] = first.ticket
	first.ticket = nil
	s.env.tell("compiler", w.compiler)
	settings := first.cmd.Settings
	if settings == nil {
		settings = s.env.cfg.Settings
	}
	ctx.Request(w.compiler, &CompileTurn{
		Binding: w.binding, cmd: first.cmd, ctx: live,
		snap: Snapshot{
			Binding: w.binding, Memory: s.memory, Settings: settings,
			Deadline: first.cmd.deadline, Done: live.Done(),
		},
	})
}

// compiled ends a turn. An answer whose binding is no longer open is dropped.
func (s *session) compiled(ctx actor.Context, m *TurnCompiled) {
	w := s.find(m.Binding, compiling)
	if w == nil {
		return
	}
	if m.Failure != "" {
		s.drop(ctx, w, m.Failure)
		return
	}
	s.remember(w, m)
	s.finish(ctx, w, m.Outcome, false)
}
