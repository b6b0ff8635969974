package actors

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/testkit"
	"token-terminator/turn"
)

// oneFault hurts a turn at one place.
type oneFault struct {
	set    func(*rig)
	unset  func(*rig) // nil: releasing the spots is enough
	want   turn.Reason
	panics int64
}

func logicFaults() map[string]oneFault {
	return map[string]oneFault{
		"begin panics":    {set: func(r *rig) { r.logic.begin.set(panicking) }, want: turn.InternalError, panics: 1},
		"evidence panics": {set: func(r *rig) { r.logic.evidence.set(panicking) }, want: turn.InternalError, panics: 1},
		"finish panics":   {set: func(r *rig) { r.logic.finish.set(panicking) }, want: turn.InternalError, panics: 1},
		"memory panics":   {set: func(r *rig) { r.with.set(panicking) }, want: turn.InternalError, panics: 1},
		"begin gives no draft": {
			set: func(r *rig) { r.logic.nilDraft = true }, unset: func(r *rig) { r.logic.nilDraft = false },
			want: turn.InternalError,
		},
		"finish says edited and gives nothing": {
			set: func(r *rig) { r.logic.hollow = true }, unset: func(r *rig) { r.logic.hollow = false },
			want: turn.InternalError,
		},
		"begin passes": {
			set: func(r *rig) { r.logic.early = turn.SmallRequest }, unset: func(r *rig) { r.logic.early = "" },
			want: turn.SmallRequest,
		},
	}
}

func storeFaults() map[string]oneFault {
	return map[string]oneFault{
		"put fails": {
			set:   func(r *rig) { r.store.change(func(s *store) { s.putErr = errDisk }) },
			unset: func(r *rig) { r.store.change(func(s *store) { s.putErr = nil }) },
			want:  turn.StorageUnavailable,
		},
		"vault is full": {
			set: func(r *rig) {
				r.store.change(func(s *store) { s.putErr, s.putReason = errDisk, turn.VaultFull })
			},
			unset: func(r *rig) { r.store.change(func(s *store) { s.putErr = nil }) },
			want:  turn.VaultFull,
		},
		"put answers nothing": {
			set:   func(r *rig) { r.store.change(func(s *store) { s.short = true }) },
			unset: func(r *rig) { r.store.change(func(s *store) { s.short = false }) },
			want:  turn.StorageUnavailable,
		},
		"proof is missing": {
			set:   func(r *rig) { r.store.change(func(s *store) { s.noProof = true }) },
			unset: func(r *rig) { r.store.change(func(s *store) { s.noProof = false }) },
			want:  turn.ProofMissing,
		},
		"put panics": {set: func(r *rig) { r.store.put.set(panicking) }, want: turn.StorageUnavailable, panics: 1},
		"load fails": {
			set:   func(r *rig) { r.store.change(func(s *store) { s.nodesErr = errDisk }) },
			unset: func(r *rig) { r.store.change(func(s *store) { s.nodesErr = nil }) },
			want:  turn.StorageUnavailable,
		},
		"load panics": {set: func(r *rig) { r.store.get.set(panicking) }, want: turn.StorageUnavailable, panics: 1},
		"accept fails": {
			set: func(r *rig) {
				r.logic.lowered = true
				r.store.change(func(s *store) { s.acceptErr = errDisk })
			},
			unset: func(r *rig) { r.store.change(func(s *store) { s.acceptErr = nil }) },
			want:  turn.StorageUnavailable,
		},
		"accept panics": {
			set:  func(r *rig) { r.logic.lowered = true; r.store.accept.set(panicking) },
			want: turn.StorageUnavailable, panics: 1,
		},
	}
}

// A single fault at a single place: the original, at once, with its reason, and the
// next turn of the same session works.
func TestOneFaultGivesTheOriginalAndTheNextTurnWorks(t *testing.T) {
	t.Parallel()
	cases := logicFaults()
	maps.Copy(cases, storeFaults())
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c.set(r)
			bad := command("s", 1)
			requireOriginal(t, bad, r.reduce(bad), c.want)
			if c.unset != nil {
				c.unset(r)
			}
			r.release()
			good := command("s", 2)
			requireSmall(t, good, r.reduce(good))
			s := r.sys.Stats()
			require.Equal(t, c.panics, s.Panics)
			require.Equal(t, int64(2), s.Turns)
			require.Zero(t, s.LateAnswers)
		})
	}
}

// hold is a place where the turn of a session gets stuck.
type hold struct {
	spot    func(*rig) *spot
	prepare func(*rig) // brings the session to where the place is met
	// toCompiler: the store's late answer goes to a Compiler that is stopped by then.
	toCompiler, toSession bool
}

func holds() map[string]hold {
	retry := func(r *rig) { cmd := command("s", 1); requireSmall(r.t, cmd, r.reduce(cmd)) }
	return map[string]hold{
		"load":   {spot: func(r *rig) *spot { return r.store.get }, toSession: true},
		"begin":  {spot: func(r *rig) *spot { return r.logic.begin }},
		"pin":    {spot: func(r *rig) *spot { return r.store.put }, toCompiler: true},
		"finish": {spot: func(r *rig) *spot { return r.logic.finish }},
		"accept": {
			spot: func(r *rig) *spot { return r.store.accept }, toCompiler: true,
			prepare: func(r *rig) { r.logic.lowered = true },
		},
		"verify": {spot: func(r *rig) *spot { return r.store.put }, prepare: retry, toSession: true},
	}
}

// interrupts end a turn that is stuck.
func interrupts() map[string]struct {
	do   func(r *rig, cancel func(), out <-chan TurnReduced)
	want turn.Reason
	dies string // "session": that actor is gone; "system": everything is
} {
	type interrupt = struct {
		do   func(r *rig, cancel func(), out <-chan TurnReduced)
		want turn.Reason
		dies string
	}
	return map[string]interrupt{
		"deadline": {want: turn.Deadline, do: func(r *rig, _ func(), out <-chan TurnReduced) {
			r.clock.Advance(DefaultTurnTimeout - time.Millisecond)
			select {
			case got := <-out:
				r.t.Errorf("answered before the deadline: %v", got.Reason)
			default:
			}
			r.clock.Advance(time.Millisecond)
		}},
		"caller goes away": {want: turn.Cancelled, do: func(r *rig, cancel func(), _ <-chan TurnReduced) {
			r.letters++ // the answer may overtake the news for the Session
			cancel()
		}},
		"new generation": {want: turn.StaleBinding, do: func(r *rig, _ func(), _ <-chan TurnReduced) {
			r.letters++ // its own pin comes late too
			next := command("s", 99)
			next.Binding.Generation = 7
			next.Timeout = time.Millisecond
			done := r.begin(context.Background(), next)
			r.clock.AwaitTimer(r.t, time.Millisecond)
			r.clock.Advance(time.Millisecond)
			r.await(done)
		}},
		"session closed": {want: turn.StaleBinding, do: func(r *rig, _ func(), _ <-chan TurnReduced) {
			require.NoError(r.t, r.sys.CloseSession(context.Background(), claim("s")))
		}},
		"session killed": {want: turn.InternalError, dies: "session", do: func(r *rig, _ func(), _ <-chan TurnReduced) {
			r.sys.system.Root.Stop(r.pid("session"))
		}},
		"shutdown": {want: turn.Stopped, dies: "system", do: func(r *rig, _ func(), _ <-chan TurnReduced) {
			r.letters++ // a pin may be asked of the writer after it was stopped
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			require.ErrorIs(r.t, r.sys.Stop(ctx), context.Canceled)
		}},
	}
}

// Every interrupt at every place: one answer, the original, before anything is
// released; then, unless the system ended, the session serves again.
func TestStuckTurnIsEndedByEveryInterrupt(t *testing.T) {
	t.Parallel()
	for place, h := range holds() {
		for name, i := range interrupts() {
			t.Run(place+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				if h.toCompiler || (h.toSession && i.dies != "") {
					r.letters = 1 // the late answer of the store
				}
				if h.prepare != nil {
					h.prepare(r)
				}
				h.spot(r).wedge.Shut()
				cmd := command("s", 1)
				cmd.Binding.Turn = 1
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				out := r.begin(ctx, cmd)
				h.spot(r).wedge.AwaitStuck(t)
				i.do(r, cancel, out)
				requireOriginal(t, cmd, r.await(out), i.want)
				r.release()
				if i.dies == "system" {
					after := command("s", 3)
					requireOriginal(t, after, r.reduce(after), turn.Stopped)
					return
				}
				next := command("s", 4)
				requireSmall(t, next, r.reduce(next))
				require.Empty(t, out, "a second answer")
			})
		}
	}
}

func TestShutdownLetsTheTurnInFlightEnd(t *testing.T) {
	t.Parallel()
	for place, h := range holds() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if h.prepare != nil {
				h.prepare(r)
			}
			h.spot(r).wedge.Shut()
			cmd := command("s", 1)
			out := r.begin(context.Background(), cmd)
			h.spot(r).wedge.AwaitStuck(t)
			stopped := make(chan error, 1)
			go func() { stopped <- r.sys.Stop(context.Background()) }()
			testkitAwait(t, r.sys.env.closing.Load)
			late := command("s", 2)
			requireOriginal(t, late, r.reduce(late), turn.Stopped)
			r.release()
			requireSmall(t, cmd, r.await(out))
			require.NoError(t, <-stopped)
			require.Equal(t, string(turn.SumBytes(cmd.Body).ID()), string(r.store.batches[0][0].Artifacts[0].Digest.ID()))
		})
	}
}

func TestWedgedStoreDoesNotHoldOtherAnswersBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.letters = 8
	first := command("s", 0)
	requireSmall(t, first, r.reduce(first))
	r.store.put.wedge.Shut()
	stuck := r.begin(context.Background(), command("s", 1))
	r.store.put.wedge.AwaitStuck(t)
	var outs []<-chan TurnReduced
	for i := range 6 {
		outs = append(outs, r.begin(context.Background(), command("s", 10+i)))
	}
	testkitAwait(t, func() bool { return r.logic.begin.calls.Load() == 8 })
	r.logic.nothing.Store(true) // these need nothing of the store
	free := command("s", 20)
	requireOriginal(t, free, r.reduce(free), turn.NothingToReduce)
	r.clock.Advance(DefaultTurnTimeout)
	require.Equal(t, turn.Deadline, r.await(stuck).Reason)
	for _, out := range outs {
		require.Equal(t, turn.Deadline, r.await(out).Reason)
	}
}

// testkitAwait waits for a condition that has no event of its own.
func testkitAwait(t testing.TB, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, testkit.Patience, time.Millisecond)
}
