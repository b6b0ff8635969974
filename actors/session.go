package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

// session serves one session chain of one home. It is the only issuer of bindings
// and the only owner of the chain's form memory and remembered answers. It never
// waits: what takes time is done by a Compiler or the VaultWriter, which answer with
// a message, and what is late is ended by a timer message.
type session struct {
	env        *wiring
	key        sessionKey
	generation uint64
	lastTurn   uint64
	memory     Memory // nil: not loaded
	loading    bool
	open       []*work // in order of arrival
	past       []*past // remembered answers, oldest first
	pastBytes  int64
	running    map[string]*ticket // admission of turns whose Compiler is alive, by its pid
	seen       uint64             // commands received from the door
	idle       func() bool        // stops the idle timer; nil: not armed
	draining   bool
	stopping   bool
}

func sessionProps(env *wiring, key sessionKey) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor {
		return &session{env: env, key: key, generation: 1, running: map[string]*ticket{}}
	}, actor.WithSupervisor(neverRestart()))
}

// Receive implements actor.Actor.
func (s *session) Receive(ctx actor.Context) {
	defer s.answerIfPanicked(ctx)
	switch m := ctx.Message().(type) {
	case *ReduceTurn:
		s.seen++
		s.reduce(ctx, m)
	case *FormsLoaded:
		s.loaded(ctx, m)
	case *TurnCompiled:
		s.compiled(ctx, m)
	case *EvidencePinned:
		s.verified(ctx, m)
	case *ExpireTurn:
		s.leave(ctx, turn.Deadline, func(a *attempt) bool { return a.binding == m.Binding })
	case *AbandonTurn:
		s.leave(ctx, turn.Cancelled, func(a *attempt) bool { return a.cmd.reply == m.reply })
	case *CloseSession:
		s.seen++
		s.close(ctx, m)
	case *StorageClosed:
		s.loading = false
		s.dropAll(ctx, turn.StorageUnavailable)
	case *actor.DeadLetterResponse:
		s.writerUnreachable(ctx)
	case *DrainSessions:
		s.draining = true
	case *IdleSession:
		s.retire(ctx, m)
	case *actor.Terminated:
		s.compilerGone(ctx, m.Who)
	case *actor.Stopping:
		s.stopping = true
		s.tellDoor(ctx, &RetireSession{Binding: s.bound(), stopping: true})
		s.dropAll(ctx, s.env.endReason())
	case *actor.Stopped:
		s.forget()
		return
	}
	s.rest(ctx)
}

// forget lets go of what the session knows: the library's list of children keeps the
// address of an actor that ended, and so the actor, until another takes its place.
func (s *session) forget() {
	if s.idle != nil {
		s.idle()
	}
	s.memory, s.open, s.past, s.running, s.idle = nil, nil, nil, nil, nil
}

// issue gives a command its binding, or says that its generation is over.
func (s *session) issue(ctx actor.Context, m *ReduceTurn) (turn.Binding, bool) {
	claim := m.Binding
	if claim.Generation > s.generation {
		s.advance(ctx, claim.Generation)
	}
	if claim.Generation != 0 && claim.Generation < s.generation {
		return claim, false
	}
	b := turn.Binding{
		Engine: claim.Engine, Home: s.key.home, Session: s.key.session,
		Generation: s.generation, Turn: claim.Turn,
	}
	fill(&b.Engine, s.env.cfg.Engine)
	if b.Turn == 0 {
		b.Turn = s.turnOf(m.body)
	}
	s.lastTurn = max(s.lastTurn, b.Turn)
	b.Attempt = max(claim.Attempt, s.lastAttempt(b.Turn)+1)
	return b, true
}

// turnOf is the turn that equal bytes were sent in before, else the next one.
func (s *session) turnOf(body bodyKey) uint64 {
	for _, w := range slices.Backward(s.open) {
		if w.body == body {
			return w.binding.Turn
		}
	}
	for _, p := range slices.Backward(s.past) {
		if p.body == body {
			return p.turn
		}
	}
	return s.lastTurn + 1
}

func (s *session) lastAttempt(number uint64) uint64 {
	last := uint64(0)
	for _, w := range s.open {
		for _, a := range w.attempts {
			if a.binding.Turn == number {
				last = max(last, a.binding.Attempt)
			}
		}
	}
	for _, p := range s.past {
		if p.turn == number {
			last = max(last, p.attempt)
		}
	}
	return last
}

// advance begins a new generation: what is open belongs to the old one.
func (s *session) advance(ctx actor.Context, generation uint64) {
	s.dropAll(ctx, turn.StaleBinding)
	s.generation = generation
	s.past, s.pastBytes = nil, 0
}

func (s *session) close(ctx actor.Context, m *CloseSession) {
	s.advance(ctx, s.generation+1)
	s.memory = nil
	m.done <- &SessionClosed{Binding: m.Binding}
}

// rest arms the idle timer when nothing is left to do, and stops it otherwise. A
// draining session asks to be let go at once.
func (s *session) rest(ctx actor.Context) {
	busy := len(s.open) > 0 || len(s.running) > 0 || s.loading || s.stopping
	switch {
	case busy && s.idle != nil:
		s.idle()
		s.idle = nil
	case busy:
	case s.draining:
		s.askToRetire(ctx)
	case s.idle == nil:
		note := &IdleSession{Binding: s.bound(), seen: s.seen}
		s.idle = s.env.after(ctx, s.env.cfg.IdleAfter, note)
	}
}

// retire ends a quiet session. Commands that came since the timer was armed arm it
// anew (see rest).
func (s *session) retire(ctx actor.Context, m *IdleSession) {
	switch {
	case len(s.open) > 0 || len(s.running) > 0 || s.loading:
	case m.seen == s.seen:
		s.askToRetire(ctx)
	case s.idle != nil:
		s.idle()
		s.idle = nil
	}
}

func (s *session) askToRetire(ctx actor.Context) {
	s.tellDoor(ctx, &RetireSession{Binding: s.bound(), seen: s.seen})
}

func (s *session) tellDoor(ctx actor.Context, m *RetireSession) {
	if parent := ctx.Parent(); parent != nil {
		ctx.Request(parent, m)
	}
}

func (s *session) bound() turn.Binding {
	return turn.Binding{
		Engine: s.env.cfg.Engine, Home: s.key.home, Session: s.key.session,
		Generation: s.generation, Turn: s.lastTurn,
	}
}

// answerIfPanicked keeps the promise of one answer each and begins anew: everything
// open gets the original, and what is remembered is dropped. The vault has it all.
func (s *session) answerIfPanicked(ctx actor.Context) {
	v := recover()
	if v == nil {
		return
	}
	b := s.bound()
	if m, ok := ctx.Message().(Message); ok {
		b = m.Bound()
	}
	s.env.caught("session", b, v)
	s.dropAll(ctx, turn.InternalError)
	s.memory, s.loading = nil, false
	s.past, s.pastBytes = nil, 0
	switch m := ctx.Message().(type) {
	case *ReduceTurn:
		refuse(m, turn.InternalError)
	case *CloseSession:
		select {
		case m.done <- &SessionClosed{Binding: m.Binding}:
		default:
		}
	}
	s.rest(ctx)
}
