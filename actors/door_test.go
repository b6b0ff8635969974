package actors

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"token-terminator/internal/testkit"
	"token-terminator/turn"
)

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	good := Config{Compile: &logic{}, Store: &store{}, NewMemory: func([]turn.Node) Memory { return nil }}
	cases := map[string]func(*Config){
		"no compile":    func(c *Config) { c.Compile = nil },
		"no store":      func(c *Config) { c.Store = nil },
		"no memory":     func(c *Config) { c.NewMemory = nil },
		"negative":      func(c *Config) { c.MaxTurns = -1 },
		"negative idle": func(c *Config) { c.IdleAfter = -1 },
	}
	for name, hurt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := good
			hurt(&c)
			_, err := Start(c)
			require.ErrorIs(t, err, ErrConfig)
		})
	}
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		set  func(*Config)
		n    int // turns that get in
		cmd  func(n int) ReduceTurn
		want turn.Reason
	}{
		"too many turns": {func(c *Config) { c.MaxTurns = 3 }, 3, func(n int) ReduceTurn { return command("s", n) }, turn.Busy},
		"too many bytes": {func(c *Config) { c.MaxBytes = 60 }, 3, func(n int) ReduceTurn { return command("s", n) }, turn.Busy},
		"one too large": {func(c *Config) { c.MaxBytes = 60 }, 0, func(int) ReduceTurn {
			return ReduceTurn{Binding: claim("s"), Body: make([]byte, 61)}
		}, turn.TooLarge},
		"evidence has no room": {func(c *Config) { c.MaxPinBytes = 10 }, 0, func(n int) ReduceTurn { return command("s", n) }, turn.Busy},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.set)
			r.logic.begin.wedge.Shut()
			var outs []<-chan TurnReduced
			for n := range c.n {
				outs = append(outs, r.begin(context.Background(), c.cmd(n)))
				r.logic.begin.wedge.AwaitStuck(t)
			}
			if c.n == 0 {
				r.release()
			}
			last := c.cmd(100)
			requireOriginal(t, last, r.reduce(last), c.want)
			r.release()
			for _, out := range outs {
				require.Equal(t, turn.Reduced, r.await(out).Reason)
			}
			testkitAwait(t, func() bool {
				s := r.sys.Stats()
				return s.TurnsInFlight == 0 && s.BytesInFlight == 0 && s.PinBytes == 0
			})
		})
	}
}

func TestCallerThatIsGoneOrNamelessCostsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	cmd := command("s", 1)
	requireOriginal(t, cmd, r.sys.Reduce(ctx, cmd), turn.Cancelled)
	cmd.Binding.Session = ""
	requireOriginal(t, cmd, r.reduce(cmd), turn.UnscopedRequest)
	require.Zero(t, r.sys.Stats().Compiles)
}

func TestStopTwiceAndCallsAfterwards(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, r.sys.Stop(context.Background()))
	require.NoError(t, r.sys.Stop(context.Background()))
	require.NoError(t, r.sys.CloseSession(context.Background(), claim("s")))
	cmd := command("s", 1)
	requireOriginal(t, cmd, r.reduce(cmd), turn.Stopped)
}

func TestCloseSessionGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	deaf := r.sys.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	real := r.sys.door
	r.sys.door = deaf
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, r.sys.CloseSession(ctx, claim("s")), context.Canceled)
	r.sys.door = real
	r.sys.system.Root.Stop(deaf)
}

func TestCallsToADeadDoorAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sys.system.Root.Stop(r.pid("sessions"))
	testkitAwait(t, func() bool {
		select {
		case <-r.sys.doorGone:
			return true
		default:
			return false
		}
	})
	r.letters = 2
	require.NoError(t, r.sys.CloseSession(context.Background(), claim("s")))
	cmd := command("s", 1)
	requireOriginal(t, cmd, r.reduce(cmd), turn.InternalError)
}

// A door that never answers: the caller answers itself, a tenth of a second late.
func TestBackstop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	deaf := r.sys.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	real := r.sys.door
	r.sys.door = deaf
	cmd := command("s", 1)
	out := r.begin(context.Background(), cmd)
	r.clock.AwaitArmed(t, 1)
	r.clock.Advance(DefaultTurnTimeout)
	require.Empty(t, out)
	r.clock.Advance(backstop)
	requireOriginal(t, cmd, r.await(out), turn.Deadline)
	r.sys.door = real
	r.sys.env.turns.items, r.sys.env.turns.bytes = 0, 0 // the deaf one never gave it back
	r.sys.system.Root.Stop(deaf)
}

func TestThousandTurnsOverFiftySessions(t *testing.T) {
	testkit.NoLeaks(t, "token-terminator/", "protoactor")
	r := newRig(t, func(c *Config) {
		c.Clock, c.TurnTimeout = nil, NoDeadline
		c.MaxTurns = 1000
		c.RememberTurns = 20
	})
	const sessions, turns = 50, 20
	var wg sync.WaitGroup
	answers := testkit.NewProbe[TurnReduced]()
	for s := range sessions {
		for n := range turns {
			wg.Go(func() {
				cmd := command(fmt.Sprint("s", s), n)
				got := r.reduce(cmd)
				requireSmall(t, cmd, got)
				answers.Record(got)
			})
		}
	}
	wg.Wait()
	seen := map[turn.Binding]bool{}
	for _, a := range answers.All() {
		require.False(t, seen[a.Binding], "binding issued twice")
		seen[a.Binding] = true
	}
	require.Len(t, seen, sessions*turns)
	s := r.sys.Stats()
	require.Equal(t, int64(sessions*turns), s.Edited)
	require.Equal(t, int64(sessions*turns), s.Compiles)
	require.Equal(t, int64(sessions), s.Sessions)
	require.Equal(t, s.BatchedTurns, int64(sessions*turns))
	require.LessOrEqual(t, s.Batches, s.BatchedTurns)
	r.finish()
	require.Len(t, r.ledger.All(), sessions*turns)
}

func TestCompilersTakeTurnsOnTheProcessors(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Compilers = 2 })
	r.logic.begin.wedge.Shut()
	var outs []<-chan TurnReduced
	for n := range 5 {
		outs = append(outs, r.begin(context.Background(), command(fmt.Sprint("s", n), n)))
	}
	r.logic.begin.wedge.AwaitStuck(t)
	r.logic.begin.wedge.AwaitStuck(t)
	testkitAwait(t, func() bool { return r.sys.Stats().Compiles == 5 })
	require.Equal(t, int64(2), r.logic.begin.calls.Load())
	r.release()
	for _, out := range outs {
		require.Equal(t, turn.Reduced, r.await(out).Reason)
	}
}

func TestSeatForgetsAnsweredReplies(t *testing.T) {
	t.Parallel()
	s := &seat{}
	open := newReply()
	s.expect(open)
	for range 10_000 {
		r := newReply()
		r.answer(TurnReduced{})
		s.expect(r)
	}
	require.Less(t, len(s.pending), 64)
	require.Contains(t, s.pending, open)
}

func TestWorkersRunInOrderOfArrival(t *testing.T) {
	t.Parallel()
	w := newWorkers(1)
	wedge := testkit.NewWedge()
	wedge.Shut()
	w.Schedule(wedge.Pass)
	wedge.AwaitStuck(t)
	got := testkit.NewProbe[int]()
	for n := range 100 {
		w.Schedule(func() { got.Record(n) })
	}
	wedge.Release()
	for i, n := range got.Await(t, 100) {
		require.Equal(t, i, n)
	}
}

func TestTicketComesBackOnce(t *testing.T) {
	t.Parallel()
	g := &gate{maxItems: 2, maxBytes: 10}
	a, why := g.admit(10)
	require.Empty(t, why)
	a.release()
	a.release()
	items, bytes := g.load()
	require.Zero(t, items)
	require.Zero(t, bytes)
	var none *ticket
	none.release()
}
