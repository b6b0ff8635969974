package actors

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

// wiring is what every actor of one System shares: settings, clock, gates, counters
// and the addresses of the actors that live as long as the System.
type wiring struct {
	cfg     Config
	clock   Clock
	log     *slog.Logger
	tally   *tally
	turns   *gate // admission of turns
	pins    *gate // evidence on its way into the vault
	writer  *actor.PID
	record  func(*RecordTurn) // nil: nothing is recorded
	cpu     *workers
	closing atomic.Bool
	life    context.Context                   // ends when Stop gives up waiting for the store
	spawned func(role string, pid *actor.PID) // tests; may be nil
}

// System is the running actors of one home. All methods may be called at any time
// from any goroutine.
type System struct {
	env    *wiring
	system *actor.ActorSystem
	door   *actor.PID
	ledger *actor.PID // the Recorder, nil without Config.Record
	end    context.CancelFunc

	doorGone, writerGone, recorderGone chan struct{}
	gone                               chan struct{} // closed when no actor will answer any more

	mu      sync.RWMutex // orders the start of a call before the start of Stop
	calls   sync.WaitGroup
	stop    sync.Once
	stopErr error
}

// Start checks cfg (ErrConfig) and starts the actors. Stop ends them.
func Start(cfg Config) (*System, error) { return start(cfg, nil) }

func start(cfg Config, spawned func(string, *actor.PID)) (*System, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	s := &System{
		env: &wiring{
			cfg: cfg, clock: cfg.Clock, log: cfg.Logger, tally: newTally(),
			turns: &gate{maxItems: cfg.MaxTurns, maxBytes: cfg.MaxBytes},
			pins:  &gate{maxBytes: cfg.MaxPinBytes},
			cpu:   newWorkers(cfg.Compilers), life: life, spawned: spawned,
		},
		end:      end,
		doorGone: make(chan struct{}), writerGone: make(chan struct{}), recorderGone: make(chan struct{}),
		gone: make(chan struct{}),
	}
	s.system = newActorSystem(cfg.Logger)
	s.system.EventStream.Subscribe(s.env.undelivered)
	root := s.system.Root
	s.env.writer = root.Spawn(writerProps(s.env, s.writerGone))
	if cfg.Record != nil {
		s.ledger = root.Spawn(recorderProps(s.env, s.recorderGone))
		s.env.record = func(m *RecordTurn) { root.Send(s.ledger, m) }
	} else {
		close(s.recorderGone)
	}
	s.env.tell("vaultwriter", s.env.writer)
	s.door = root.Spawn(doorProps(s.env, s.doorGone))
	s.env.tell("sessions", s.door)
	return s, nil
}

// newActorSystem gives the library a logger that cannot print content, and keeps its
// dead-letter throttle (a goroutine for each period) short.
func newActorSystem(logger *slog.Logger) *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
			return slog.New(redactor{logger.Handler()})
		}),
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
}

// Reduce runs one turn. It never fails: whatever goes wrong is a reason, and the
// answer is then the original request. It returns at the turn's deadline at the
// latest (a tenth of a second later if the actors themselves are stuck), or when ctx
// is done.
func (s *System) Reduce(ctx context.Context, cmd ReduceTurn) TurnReduced {
	started := s.env.clock.Now()
	if !s.enter() {
		return s.env.finished(pass(cmd.Binding, turn.Stopped), &cmd, started)
	}
	defer s.calls.Done()
	return s.env.finished(s.reduce(ctx, &cmd, started), &cmd, started)
}

// enter counts a call, unless the system is closing.
func (s *System) enter() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.env.closing.Load() {
		return false
	}
	s.calls.Add(1)
	return true
}

func (s *System) reduce(ctx context.Context, cmd *ReduceTurn, started time.Time) TurnReduced {
	if cmd.Binding.Session == "" {
		return pass(cmd.Binding, turn.UnscopedRequest)
	}
	if ctx.Err() != nil {
		return pass(cmd.Binding, turn.Cancelled)
	}
	ticket, why := s.env.turns.admit(int64(len(cmd.Body)))
	if why != "" {
		return pass(cmd.Binding, why)
	}
	cmd.body = bodyKeyOf(cmd.Body)
	cmd.reply, cmd.ticket = newReply(), ticket
	if limit := s.env.timeout(cmd.Timeout); limit > 0 {
		cmd.deadline = started.Add(limit)
		stop := s.env.clock.AfterFunc(limit+backstop, func() {
			cmd.reply.answer(pass(cmd.Binding, turn.Deadline))
		})
		defer stop()
	}
	s.system.Root.Send(s.door, cmd)
	return s.await(ctx, cmd)
}

// await returns the one answer. Whoever loses the race for the reply takes what the
// winner gave.
func (s *System) await(ctx context.Context, cmd *ReduceTurn) TurnReduced {
	select {
	case out := <-cmd.reply.ch:
		return out
	case <-ctx.Done():
		if cmd.reply.answer(pass(cmd.Binding, turn.Cancelled)) {
			s.system.Root.Send(s.door, &AbandonTurn{Binding: cmd.Binding, reply: cmd.reply})
		}
	case <-s.gone:
		cmd.reply.answer(pass(cmd.Binding, turn.Stopped))
	}
	return <-cmd.reply.ch
}

// finished completes an answer: the original's bytes, the counters, the ledger.
func (w *wiring) finished(out TurnReduced, cmd *ReduceTurn, started time.Time) TurnReduced {
	if !out.Edited {
		out.Body, out.Edits = cmd.Body, nil
	}
	w.tally.answered(out)
	if w.record != nil {
		w.record(&RecordTurn{
			Binding: out.Binding, Edited: out.Edited, Reason: out.Reason, Bytes: len(cmd.Body),
			Elapsed: w.clock.Now().Sub(started), Detail: out.Detail,
		})
	}
	return out
}

func (w *wiring) timeout(asked time.Duration) time.Duration {
	if asked == 0 {
		asked = w.cfg.TurnTimeout
	}
	return max(asked, 0)
}

// CloseSession ends the session that b names by Home and Session: open turns are
// answered with the original. It returns when that is done, or with ctx's error.
func (s *System) CloseSession(ctx context.Context, b turn.Binding) error {
	if !s.enter() {
		return nil
	}
	defer s.calls.Done()
	done := make(chan *SessionClosed, 1)
	s.system.Root.Send(s.door, &CloseSession{Binding: b, done: done})
	select {
	case <-done:
	case <-s.gone:
	case <-ctx.Done():
		return fmt.Errorf("close session: %w", ctx.Err())
	}
	return nil
}

// Stats is what the system did so far.
func (s *System) Stats() Stats { return s.env.stats() }
