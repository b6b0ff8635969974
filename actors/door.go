package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

// door is the Sessions actor: it knows which Session actor serves which session
// chain, starts one on demand and lets it go when it has nothing to do. It is the
// only sender of commands to Session actors, which is what makes letting one go safe:
// it compares what it has sent with what the Session says it has seen.
type door struct {
	env      *wiring
	gone     chan struct{}
	seats    map[sessionKey]*seat
	byPID    map[string]*seat // also those that are stopping
	down     bool             // the VaultWriter has stopped for good
	draining bool
	leaving  bool // told to stop
}

type sessionKey struct{ home, session string }

func keyOf(b turn.Binding) sessionKey { return sessionKey{b.Home, b.Session} }

// seat is one Session actor as the door sees it.
type seat struct {
	key     sessionKey
	pid     *actor.PID
	routed  uint64   // commands sent to it
	pending []*reply // of those, some perhaps still unanswered
	clean   int      // length of pending after the last sweep
}

func doorProps(env *wiring, gone chan struct{}) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor {
		return &door{env: env, gone: gone, seats: map[sessionKey]*seat{}, byPID: map[string]*seat{}}
	}, actor.WithSupervisor(neverRestart()), actor.WithGuardian(neverRestart()))
}

// Receive implements actor.Actor.
func (d *door) Receive(ctx actor.Context) {
	defer d.answerIfPanicked(ctx)
	switch m := ctx.Message().(type) {
	case *actor.Started:
		ctx.Watch(d.env.writer)
	case *ReduceTurn:
		d.reduce(ctx, m)
	case *AbandonTurn:
		if s := d.seats[keyOf(m.Binding)]; s != nil {
			ctx.Send(s.pid, m)
		}
	case *CloseSession:
		d.close(ctx, m)
	case *RetireSession:
		d.retire(ctx, m)
	case *DrainSessions:
		d.draining = true
		for _, s := range d.seats {
			ctx.Send(s.pid, m)
		}
	case *actor.Terminated:
		d.terminated(ctx, m)
	case *actor.Stopping:
		d.draining, d.leaving = true, true
	case *actor.Stopped:
		close(d.gone)
	}
	if d.draining && !d.leaving && len(d.byPID) == 0 {
		d.leaving = true
		ctx.Stop(ctx.Self())
	}
}

func (d *door) reduce(ctx actor.Context, m *ReduceTurn) {
	switch {
	case d.draining:
		refuse(m, turn.Stopped)
	case d.down:
		refuse(m, turn.StorageUnavailable)
	case m.reply.answered():
		m.ticket.release()
	default:
		s := d.seat(ctx, keyOf(m.Binding))
		s.routed++
		s.expect(m.reply)
		ctx.Send(s.pid, m)
	}
}

// refuse answers a turn that goes no further.
func refuse(m *ReduceTurn, why turn.Reason) {
	m.reply.answer(pass(m.Binding, why))
	m.ticket.release()
}

func (d *door) seat(ctx actor.Context, key sessionKey) *seat {
	if s := d.seats[key]; s != nil {
		return s
	}
	s := &seat{key: key, pid: ctx.Spawn(sessionProps(d.env, key))}
	d.seats[key], d.byPID[s.pid.Id] = s, s
	d.env.tally.sessions.Add(1)
	d.env.tell("session", s.pid)
	return s
}

// expect remembers the reply, so that it can be given if the Session actor dies with
// the command still in its mailbox.
func (s *seat) expect(r *reply) {
	if len(s.pending) >= 2*s.clean+16 {
		kept := s.pending[:0]
		for _, old := range s.pending {
			if !old.answered() {
				kept = append(kept, old)
			}
		}
		clear(s.pending[len(kept):])
		s.pending, s.clean = kept, len(kept)
	}
	s.pending = append(s.pending, r)
}

func (d *door) close(ctx actor.Context, m *CloseSession) {
	s := d.seats[keyOf(m.Binding)]
	if s == nil {
		m.done <- &SessionClosed{Binding: m.Binding}
		return
	}
	s.routed++
	ctx.Send(s.pid, m)
}

// retire stops a Session that has nothing to do and nothing on its way to it. The next
// command of its chain gets a new one, even while the old one waits for its Compilers.
func (d *door) retire(ctx actor.Context, m *RetireSession) {
	s := d.seats[keyOf(m.Binding)]
	switch {
	case s == nil || !s.pid.Equal(ctx.Sender()):
	case m.stopping:
		delete(d.seats, s.key)
	case s.routed == m.seen:
		delete(d.seats, s.key)
		ctx.Stop(s.pid)
	}
}

func (d *door) terminated(ctx actor.Context, m *actor.Terminated) {
	if m.Who.Equal(d.env.writer) {
		d.storageClosed(ctx)
		return
	}
	s := d.byPID[m.Who.Id]
	if s == nil {
		return
	}
	delete(d.byPID, m.Who.Id)
	if d.seats[s.key] == s {
		delete(d.seats, s.key)
	}
	d.env.tally.sessions.Add(-1)
	for _, r := range s.pending {
		r.answer(TurnReduced{Binding: turn.Binding{Home: s.key.home, Session: s.key.session}, Reason: d.env.endReason()})
	}
}

// storageClosed switches to bypass: every turn, open or to come, gets its original.
func (d *door) storageClosed(ctx actor.Context) {
	d.down = true
	d.env.tally.storageDown.Store(true)
	d.env.log.Error("vault writer stopped for good, all requests pass through",
		"stage", "vaultwriter", "reason", string(turn.StorageUnavailable))
	for _, s := range d.seats {
		ctx.Send(s.pid, &StorageClosed{Binding: turn.Binding{Home: s.key.home, Session: s.key.session}})
	}
}

func (d *door) answerIfPanicked(ctx actor.Context) {
	v := recover()
	if v == nil {
		return
	}
	var b turn.Binding
	if m, ok := ctx.Message().(Message); ok {
		b = m.Bound()
	}
	d.env.caught("sessions", b, v)
	switch m := ctx.Message().(type) {
	case *ReduceTurn:
		refuse(m, turn.InternalError)
	case *CloseSession:
		select {
		case m.done <- &SessionClosed{Binding: m.Binding}:
		default:
		}
	}
}
