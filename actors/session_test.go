package actors

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/testkit"
	"token-terminator/turn"
)

func TestRetryGetsTheSameBytesAndCompilesNothing(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*ReduceTurn){
		"the host names the turn":  func(c *ReduceTurn) { c.Binding.Turn = 5 },
		"the bytes name the turn":  func(*ReduceTurn) {},
		"the host counts attempts": func(c *ReduceTurn) { c.Binding.Turn, c.Binding.Attempt = 5, 1 },
	}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			cmd := command("s", 1)
			set(&cmd)
			first := r.reduce(cmd)
			requireSmall(t, cmd, first)
			second := r.reduce(cmd)
			requireSmall(t, cmd, second)
			require.Equal(t, first.Body, second.Body)
			require.Equal(t, first.Detail, second.Detail)
			require.True(t, second.Replayed)
			require.True(t, first.Binding.SameTurn(second.Binding))
			require.Equal(t, first.Binding.Attempt+1, second.Binding.Attempt)
			require.Equal(t, int64(1), r.sys.Stats().Compiles)
			require.Equal(t, int64(2), r.store.put.calls.Load(), "evidence verified again")
			third := r.reduce(cmd)
			require.Equal(t, first.Binding.Attempt+2, third.Binding.Attempt)
		})
	}
}

func TestRetryWhoseEvidenceIsGoneGetsTheOriginal(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		hurt func(*store)
		want turn.Reason
	}{
		"no proof":             {func(s *store) { s.noProof = true }, turn.ProofMissing},
		"another prefix shown": {func(s *store) { s.shown = "x" }, turn.ProofMissing},
		"store fails":          {func(s *store) { s.putErr = errDisk }, turn.StorageUnavailable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			cmd := command("s", 1)
			requireSmall(t, cmd, r.reduce(cmd))
			r.store.change(c.hurt)
			requireOriginal(t, cmd, r.reduce(cmd), c.want)
		})
	}
}

func TestRetryOfAPassedTurnPassesWithoutWork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.logic.plain = true
	cmd := command("s", 1)
	requireOriginal(t, cmd, r.reduce(cmd), turn.NothingToReduce)
	again := r.reduce(cmd)
	requireOriginal(t, cmd, again, turn.NothingToReduce)
	require.True(t, again.Replayed)
	require.Equal(t, int64(1), r.sys.Stats().Compiles)
}

func TestRetryWhileTheFirstRunsWaitsForIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.logic.begin.wedge.Shut()
	cmd := command("s", 1)
	cmd.Binding.Turn = 3
	one := r.begin(context.Background(), cmd)
	r.logic.begin.wedge.AwaitStuck(t)
	two := r.begin(context.Background(), cmd)
	r.clock.AwaitArmed(t, 4) // two attempts, each with its timer and its backstop
	r.release()
	a, b := r.await(one), r.await(two)
	requireSmall(t, cmd, a)
	requireSmall(t, cmd, b)
	require.NotEqual(t, a.Binding.Attempt, b.Binding.Attempt)
	require.Equal(t, int64(1), r.sys.Stats().Compiles)
}

func TestJoinedRetryOutlivesTheFirstDeadline(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.logic.begin.wedge.Shut()
	cmd := command("s", 1)
	one := r.begin(context.Background(), cmd)
	r.logic.begin.wedge.AwaitStuck(t)
	slow := cmd
	slow.Timeout = time.Hour
	two := r.begin(context.Background(), slow)
	r.clock.AwaitArmed(t, 4)
	r.clock.Advance(DefaultTurnTimeout)
	requireOriginal(t, cmd, r.await(one), turn.Deadline)
	r.release()
	requireSmall(t, cmd, r.await(two))
}

func TestOtherBytesForTheSameTurnEndTheOlderAttempt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.logic.begin.wedge.Shut()
	old, fresh := command("s", 1), command("s", 2)
	old.Binding.Turn, fresh.Binding.Turn = 4, 4
	one := r.begin(context.Background(), old)
	r.logic.begin.wedge.AwaitStuck(t)
	two := r.begin(context.Background(), fresh)
	requireOriginal(t, old, r.await(one), turn.StaleBinding)
	r.release()
	got := r.await(two)
	requireSmall(t, fresh, got)
	require.Equal(t, uint64(2), got.Binding.Attempt)
}

func TestForksOfOneSessionRunAtOnceOnTheirOwnSnapshots(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	root := command("s", 0)
	requireSmall(t, root, r.reduce(root))
	r.logic.begin.wedge.Shut()
	a, b := command("s", 1), command("s", 2)
	one := r.begin(context.Background(), a)
	r.logic.begin.wedge.AwaitStuck(t)
	two := r.begin(context.Background(), b)
	r.logic.begin.wedge.AwaitStuck(t)
	r.release()
	requireSmall(t, a, r.await(one))
	requireSmall(t, b, r.await(two))
	last := command("s", 3)
	requireSmall(t, last, r.reduce(last))
	snaps := r.logic.snaps.Await(t, 4)
	require.Empty(t, snaps[0].Memory.(memory).nodes)
	require.Len(t, snaps[1].Memory.(memory).nodes, 1)
	require.Len(t, snaps[2].Memory.(memory).nodes, 1)
	require.Len(t, snaps[3].Memory.(memory).nodes, 3)
}

func TestMemoryKnowsOnlyWhatWasSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.letters = 1
	r.logic.plain = true
	passed := command("s", 1)
	requireOriginal(t, passed, r.reduce(passed), turn.NothingToReduce)
	r.logic.plain = false

	r.store.put.wedge.Shut()
	lost := command("s", 2)
	out := r.begin(context.Background(), lost)
	r.store.put.wedge.AwaitStuck(t)
	r.clock.Advance(DefaultTurnTimeout)
	requireOriginal(t, lost, r.await(out), turn.Deadline)
	r.release()

	next := command("s", 3)
	requireSmall(t, next, r.reduce(next))
	nodes := r.logic.snaps.Await(t, 3)[2].Memory.(memory).nodes
	require.Len(t, nodes, 1, "the passed turn's node, not the lost one's")
	require.Empty(t, nodes[0].Decisions)
}

func TestGenerations(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	at := func(n int, generation uint64) (ReduceTurn, TurnReduced) {
		cmd := command("s", n)
		cmd.Binding.Generation = generation
		return cmd, r.reduce(cmd)
	}
	cmd, got := at(1, 0)
	requireSmall(t, cmd, got)
	require.Equal(t, uint64(1), got.Binding.Generation)
	cmd, got = at(2, 5)
	requireSmall(t, cmd, got)
	require.Equal(t, uint64(5), got.Binding.Generation)
	cmd, got = at(3, 4)
	requireOriginal(t, cmd, got, turn.StaleBinding)
	cmd, got = at(2, 6)
	requireSmall(t, cmd, got)
	require.False(t, got.Replayed, "a new generation remembers no answers")
}

func TestBindingIsTheSessionsOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	seen := map[turn.Binding]bool{}
	for n := range 3 {
		got := r.reduce(command("s", n))
		require.Equal(t, turn.Binding{
			Engine: "tt", Home: "home", Session: "s", Generation: 1, Turn: uint64(n + 1), Attempt: 1,
		}, got.Binding)
		require.False(t, seen[got.Binding])
		seen[got.Binding] = true
	}
	for i, batch := range r.store.batches {
		require.Equal(t, uint64(i+1), batch[0].Binding.Turn)
	}
	snap := r.logic.snaps.All()[0]
	require.Equal(t, r.clock.Now().Add(DefaultTurnTimeout), snap.Deadline)
	<-snap.Done // closed when the turn was over
}

func TestIdleSessionIsLetGoAndComesBackWithItsMemory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one := command("s", 1)
	requireSmall(t, one, r.reduce(one))
	r.clock.AwaitArmed(t, 1)
	r.clock.Advance(DefaultIdleAfter / 2)
	two := command("s", 2)
	requireSmall(t, two, r.reduce(two)) // arms the timer anew
	r.clock.AwaitArmed(t, 1)
	r.clock.Advance(DefaultIdleAfter - 1)
	require.Equal(t, int64(1), r.sys.Stats().Sessions)
	r.clock.Advance(1)
	testkitAwait(t, func() bool { return r.sys.Stats().Sessions == 0 })
	r.clock.AwaitArmed(t, 0)
	three := command("s", 3)
	requireSmall(t, three, r.reduce(three))
	require.Len(t, r.logic.snaps.Await(t, 3)[2].Memory.(memory).nodes, 2)
	require.Equal(t, int64(2), r.store.get.calls.Load())
}

func TestRefusedCommandsDoNotKeepASessionAlive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one := command("s", 1)
	one.Binding.Generation = 3
	requireSmall(t, one, r.reduce(one))
	r.clock.AwaitArmed(t, 1)
	r.clock.Advance(DefaultIdleAfter / 2)
	stale := command("s", 2)
	stale.Binding.Generation = 1
	requireOriginal(t, stale, r.reduce(stale), turn.StaleBinding)
	r.clock.Advance(DefaultIdleAfter / 2)
	r.clock.AwaitTimer(t, DefaultIdleAfter) // armed anew
	for range 3 {
		r.clock.Advance(DefaultIdleAfter)
	}
	testkitAwait(t, func() bool { r.clock.Advance(DefaultIdleAfter); return r.sys.Stats().Sessions == 0 })
}

func TestCloseSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	require.NoError(t, r.sys.CloseSession(ctx, claim("never seen")))
	cmd := command("s", 1)
	requireSmall(t, cmd, r.reduce(cmd))
	require.NoError(t, r.sys.CloseSession(ctx, claim("s")))
	got := r.reduce(cmd)
	requireSmall(t, cmd, got)
	require.False(t, got.Replayed)
	require.Len(t, r.logic.snaps.Await(t, 2)[1].Memory.(memory).nodes, 1, "loaded from the store again")
}

func TestRememberedAnswersAreBounded(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*Config){
		"in number": func(c *Config) { c.RememberTurns = 2 },
		"in bytes":  func(c *Config) { c.RememberBytes = 2 * 70 },
	}
	for name, set := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, set)
			for n := range 4 {
				r.reduce(command("s", n))
			}
			require.True(t, r.reduce(command("s", 3)).Replayed)
			require.False(t, r.reduce(command("s", 0)).Replayed)
		})
	}
}

func TestLoweredTurnIsCommittedTwiceBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.logic.lowered = true
	r.store.accept.wedge.Shut()
	cmd := command("s", 1)
	out := r.begin(context.Background(), cmd)
	r.store.accept.wedge.AwaitStuck(t)
	require.Empty(t, out)
	r.release()
	requireSmall(t, cmd, r.await(out))
}

func TestNoDeadlineWaitsAsLongAsItTakes(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.TurnTimeout = NoDeadline })
	r.store.put.wedge.Shut()
	cmd := command("s", 1)
	out := r.begin(context.Background(), cmd)
	r.store.put.wedge.AwaitStuck(t)
	r.clock.Advance(1000 * time.Hour)
	require.Empty(t, out)
	r.release()
	requireSmall(t, cmd, r.await(out))
	require.True(t, r.logic.snaps.All()[0].Deadline.IsZero())
}

func TestSettingsComeFromTheCommandElseTheConfig(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *Config) { c.Settings = "config" })
	own := command("s", 1)
	own.Settings = "command"
	r.reduce(own)
	r.reduce(command("s", 2))
	snaps := r.logic.snaps.Await(t, 2)
	require.Equal(t, "command", snaps[0].Settings)
	require.Equal(t, "config", snaps[1].Settings)
}

func TestEveryAnswerIsRecordedOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cmd := command("s", 1)
	got := r.reduce(cmd)
	row := r.ledger.Await(t, 1)[0]
	require.Equal(t, got.Binding, row.Binding)
	require.Equal(t, turn.Reduced, row.Reason)
	require.Equal(t, len(cmd.Body), row.Bytes)
	require.Equal(t, len(cmd.Body), row.Detail)
}

func TestPanicOfTheLedgerChangesNoDecision(t *testing.T) {
	t.Parallel()
	done := testkit.NewProbe[int]()
	r := newRig(t, func(c *Config) {
		c.Record = func(RecordTurn) { done.Record(1); panic("ledger") }
	})
	for n := range 2 {
		cmd := command("s", n)
		requireSmall(t, cmd, r.reduce(cmd))
	}
	done.Await(t, 2)
}
