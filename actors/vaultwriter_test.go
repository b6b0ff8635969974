package actors

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func TestPinsThatWaitAreCommittedTogether(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		set  func(*Config)
		want []int // sizes of the batches after the first
	}{
		"all of them":       {func(*Config) {}, []int{6}},
		"bounded in number": {func(c *Config) { c.BatchItems = 4 }, []int{4, 2}},
		"bounded in bytes":  {func(c *Config) { c.BatchBytes = 40 }, []int{2, 2, 2}},
		"one too large":     {func(c *Config) { c.BatchBytes = 1 }, []int{1, 1, 1, 1, 1, 1}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.set, func(c *Config) { c.TurnTimeout = NoDeadline })
			warm := command("s", 9)
			requireSmall(t, warm, r.reduce(warm))
			r.store.put.wedge.Shut()
			first := r.begin(context.Background(), command("s", 0))
			r.store.put.wedge.AwaitStuck(t)
			var outs []<-chan TurnReduced
			for n := range 6 {
				outs = append(outs, r.begin(context.Background(), command("s", n+1)))
			}
			// 1 warm + 1 stuck were counted when they left; the six wait in the mailbox.
			testkitAwait(t, func() bool { return r.sys.Stats().PinBytes == 7*int64(len("MARKER request s 0")) })
			r.store.put.wedge.Release()
			require.Equal(t, turn.Reduced, r.await(first).Reason)
			for _, out := range outs {
				require.Equal(t, turn.Reduced, r.await(out).Reason)
			}
			var sizes []int
			for _, b := range r.store.batches[2:] {
				sizes = append(sizes, len(b))
			}
			require.Equal(t, c.want, sizes)
		})
	}
}

func TestWriterRestartsThreeTimesThenTheSystemPassesThrough(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.letters = 1 // a pin may be on its way when the writer stops
	warm := command("s", 0)
	requireSmall(t, warm, r.reduce(warm))
	r.store.put.set(panicking)
	for n := range writerRestarts + 1 {
		cmd := command("s", n+1)
		requireOriginal(t, cmd, r.reduce(cmd), turn.StorageUnavailable)
	}
	testkitAwait(t, func() bool { return r.sys.Stats().Storage == turn.StorageUnavailable })
	r.release()
	for n := range 3 {
		cmd := command("other", n)
		requireOriginal(t, cmd, r.reduce(cmd), turn.StorageUnavailable)
	}
	s := r.sys.Stats()
	require.Equal(t, int64(writerRestarts), s.Restarts)
	require.Equal(t, int64(writerRestarts+1), s.Panics)
	require.Equal(t, int64(1), s.Sessions, "bypass starts no session")
	require.Contains(t, r.logs.String(), "vault writer stopped for good")
}

func TestTurnsInEveryStageEndWhenTheWriterStopsForGood(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.TurnTimeout, c.Compilers = NoDeadline, 2 })
	r.letters = 2
	warm := command("s", 0)
	requireSmall(t, warm, r.reduce(warm))
	r.logic.begin.wedge.Shut()
	computing := r.begin(context.Background(), command("s", 1))
	r.logic.begin.wedge.AwaitStuck(t)
	r.store.get.wedge.Shut()
	loading := r.begin(context.Background(), command("t", 1))
	r.store.get.wedge.AwaitStuck(t)
	alsoLoading := r.begin(context.Background(), command("u", 1)) // its command waits in the mailbox
	testkitAwait(t, func() bool { return r.sys.Stats().Sessions == 3 })
	verifying := r.begin(context.Background(), warm)
	testkitAwait(t, func() bool { return r.sys.Stats().PinBytes > 0 })
	r.sys.system.Root.Stop(r.pid("vaultwriter"))
	r.store.get.wedge.Release()
	got := r.await(loading) // was in the writer's hand: its forms still came, its pin did not
	require.Equal(t, turn.StorageUnavailable, got.Reason)
	require.Equal(t, turn.StorageUnavailable, r.await(alsoLoading).Reason)
	require.Equal(t, turn.StorageUnavailable, r.await(verifying).Reason)
	require.Equal(t, turn.StorageUnavailable, r.await(computing).Reason)
	r.logic.begin.wedge.Release()
}

func TestPanicAnswersTheWholeBatchAndKeepsTheMailbox(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.BatchItems = 2; c.TurnTimeout = NoDeadline })
	warm := command("s", 0)
	requireSmall(t, warm, r.reduce(warm))
	r.store.put.wedge.Shut()
	stuck := r.begin(context.Background(), command("s", 1))
	r.store.put.wedge.AwaitStuck(t)
	var outs []<-chan TurnReduced
	for n := range 4 {
		outs = append(outs, r.begin(context.Background(), command("s", n+2)))
	}
	testkitAwait(t, func() bool { return r.sys.Stats().PinBytes == 5*int64(len("MARKER request s 0")) })
	left := 2 // the stuck batch and the next one fail, with the pin that found that one full
	r.store.put.set(func() {
		if left--; left >= 0 {
			panic("disk")
		}
	})
	r.store.put.wedge.Release()
	require.Equal(t, turn.StorageUnavailable, r.await(stuck).Reason)
	reasons := map[turn.Reason]int{}
	for _, out := range outs {
		reasons[r.await(out).Reason]++
	}
	require.Equal(t, map[turn.Reason]int{turn.StorageUnavailable: 3, turn.Reduced: 1}, reasons)
	require.Zero(t, r.sys.Stats().PinBytes)
}

func TestRestartedWriterGoesOnWithTheReopenedStore(t *testing.T) {
	t.Parallel()
	var other *store
	r := newRig(t, func(c *Config) {
		c.Reopen = func(old Store) (Store, error) {
			other = &store{t: t, put: newSpot(), accept: newSpot(), get: newSpot(), nodes: map[string][]turn.Node{}}
			return other, nil
		}
	})
	r.store.put.set(panicking)
	bad := command("s", 1)
	requireOriginal(t, bad, r.reduce(bad), turn.StorageUnavailable)
	good := command("s", 2)
	requireSmall(t, good, r.reduce(good))
	require.Len(t, other.batches, 1)
}

func TestStoreThatDoesNotReopenIsBypassed(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) {
		c.Reopen = func(Store) (Store, error) { return nil, errors.New("MARKER") }
	})
	r.letters = 1
	r.store.put.set(panicking)
	bad := command("s", 1)
	requireOriginal(t, bad, r.reduce(bad), turn.StorageUnavailable)
	testkitAwait(t, func() bool { return r.sys.Stats().Storage == turn.StorageUnavailable })
	next := command("s", 2)
	requireOriginal(t, next, r.reduce(next), turn.StorageUnavailable)
	require.NotContains(t, r.logs.String(), "MARKER")
}

func TestStopCommitsWhatIsQueuedAndGivesUpOnAStuckStore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.letters = 1
	r.store.put.wedge.Shut()
	cmd := command("s", 1)
	out := r.begin(context.Background(), cmd)
	r.store.put.wedge.AwaitStuck(t)
	r.clock.Advance(DefaultTurnTimeout)
	requireOriginal(t, cmd, r.await(out), turn.Deadline)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- r.sys.Stop(ctx) }()
	<-r.sys.doorGone // the sessions are gone, the store is still stuck
	require.NoError(t, r.sys.env.life.Err())
	cancel()
	require.ErrorIs(t, <-stopped, context.Canceled)
	require.Error(t, r.sys.env.life.Err(), "the store is told to give up")
}
