package actors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"token-terminator/internal/testkit"
	"token-terminator/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDisk = errors.New("disk on fire")

// spot is one place where a turn can be held or hurt. Faults are armed before the
// turn that meets them.
type spot struct {
	wedge *testkit.Wedge
	mu    sync.Mutex
	fault func()
	calls atomic.Int64
}

func newSpot() *spot { return &spot{wedge: testkit.NewWedge()} }

func (s *spot) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *spot) pass() {
	s.calls.Add(1)
	s.wedge.Pass()
	s.mu.Lock()
	f := s.fault
	s.mu.Unlock()
	if f != nil {
		f()
	}
}

func panicking() { panic("MARKER in a panic value") }

// memory is a form memory that counts how it came about.
type memory struct {
	nodes []turn.Node
	spot  *spot
}

func (m memory) With(nodes []turn.Node) Memory {
	m.spot.pass()
	return memory{append(slices.Clone(m.nodes), nodes...), m.spot}
}

// logic is a Compile that stores the whole body and shows "small:<id>" instead.
type logic struct {
	begin, evidence, finish *spot
	early                   turn.Reason // Begin passes with it
	nilDraft, hollow        bool
	lowered                 bool
	plain                   bool        // passes, with a node that has no decisions
	nothing                 atomic.Bool // no evidence
	held                    []turn.Digest
	snaps                   *testkit.Probe[Snapshot]
}

func (l *logic) Begin(snap Snapshot, cmd ReduceTurn) (Draft, turn.Reason) {
	l.begin.pass()
	l.snaps.Record(snap)
	if l.early != "" {
		return nil, l.early
	}
	if l.nilDraft {
		return nil, ""
	}
	return &draft{logic: l, text: string(cmd.Body), digest: turn.SumBytes(cmd.Body)}, ""
}

type draft struct {
	*logic
	text   string
	digest turn.Digest
}

func (d *draft) nodes() []turn.Node {
	n := turn.Node{Hash: d.digest}
	if !d.plain {
		n.Decisions = []turn.Decision{{Block: "/content", Form: turn.Compressed, Before: d.digest, ShownAt: -1}}
	}
	return []turn.Node{n}
}

func (d *draft) Evidence() turn.Evidence {
	d.evidence.pass()
	if d.nothing.Load() {
		return turn.Evidence{}
	}
	ev := turn.Evidence{Nodes: d.nodes(), Held: d.held}
	if d.held != nil {
		ev.Source = d
	}
	if !d.plain {
		ev.Artifacts = []turn.Artifact{{Digest: d.digest, Text: d.text}}
	}
	return ev
}

// Held implements turn.Source.
func (d *draft) Held(digest turn.Digest) (turn.Artifact, bool) {
	return turn.Artifact{Digest: digest}, true
}

func (d *draft) Finish(p turn.Pinned) Outcome {
	d.finish.pass()
	proof, ok := p.Proofs[d.digest]
	switch {
	case d.hollow:
		return Outcome{Edited: true}
	case d.plain || d.nothing.Load():
		return Outcome{Reason: turn.NothingToReduce, Nodes: d.nodes()}
	case !ok:
		return Outcome{Reason: turn.ProofMissing}
	}
	return Outcome{Edited: true, Body: []byte("small:" + proof.Shown), Nodes: d.nodes(), Lowered: d.lowered, Detail: len(d.text)}
}

// store is a vault in memory with a spot at every door.
type store struct {
	t                testing.TB
	put, accept, get *spot
	inside           atomic.Int32
	mu               sync.Mutex
	putErr           error
	putReason        turn.Reason
	acceptErr        error
	nodesErr         error
	noProof, short   bool
	missing          []turn.Digest
	shown            string
	nodes            map[string][]turn.Node
	batches          [][]turn.Evidence
}

// enter fails the test when two goroutines use the store at once.
func (s *store) enter() func() {
	if s.inside.Add(1) != 1 {
		s.t.Error("two callers in the store")
	}
	return func() { s.inside.Add(-1) }
}

func (s *store) change(f func(*store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

func (s *store) PutAll(_ context.Context, all []turn.Evidence) []PutResult {
	defer s.enter()()
	s.put.pass()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, all)
	if s.short {
		return nil
	}
	out := make([]PutResult, len(all))
	for i, ev := range all {
		if s.putErr != nil {
			out[i] = PutResult{Err: s.putErr, Pinned: turn.Pinned{Reason: s.putReason}}
			continue
		}
		s.nodes[ev.Binding.Session] = append(s.nodes[ev.Binding.Session], ev.Nodes...)
		out[i].Pinned.Proofs = map[turn.Digest]turn.Proof{}
		if len(ev.Held) > 0 && ev.Source == nil {
			out[i].Pinned.Missing = s.missing
		}
		for _, a := range ev.Artifacts {
			if !s.noProof {
				out[i].Pinned.Proofs[a.Digest] = turn.Proof{Artifact: a.Digest.ID(), Shown: s.shown + string(a.Digest.ID())}
			}
		}
	}
	return out
}

func (s *store) Accept(context.Context, string, []turn.Node) error {
	defer s.enter()()
	s.accept.pass()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acceptErr
}

func (s *store) Nodes(_ context.Context, session string) ([]turn.Node, error) {
	defer s.enter()()
	s.get.pass()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[session], s.nodesErr
}

type spawn struct {
	role string
	pid  *actor.PID
}

// rig is a System with every outside thing in the test's hand.
type rig struct {
	t       testing.TB
	sys     *System
	clock   *testkit.Clock
	logic   *logic
	store   *store
	with    *spot // Memory.With
	born    *testkit.Probe[spawn]
	ledger  *testkit.Probe[RecordTurn]
	logs    *safeBuffer
	letters int64 // dead letters the test declares at most
}

type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newRig(t testing.TB, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{
		t: t, clock: testkit.NewClock(time.Unix(1_700_000_000, 0)), with: newSpot(),
		logic: &logic{begin: newSpot(), evidence: newSpot(), finish: newSpot(), snaps: testkit.NewProbe[Snapshot]()},
		store: &store{t: t, put: newSpot(), accept: newSpot(), get: newSpot(), nodes: map[string][]turn.Node{}},
		born:  testkit.NewProbe[spawn](), ledger: testkit.NewProbe[RecordTurn](), logs: &safeBuffer{},
	}
	cfg := Config{
		Compile: r.logic, Store: r.store, Clock: r.clock, Logger: jsonLogger(r.logs),
		NewMemory: func(nodes []turn.Node) Memory { return memory{nodes, r.with} },
		Record:    func(m RecordTurn) { r.ledger.Record(m) },
	}
	for _, f := range change {
		f(&cfg)
	}
	sys, err := start(cfg, func(role string, pid *actor.PID) { r.born.Record(spawn{role, pid}) })
	require.NoError(t, err)
	r.sys = sys
	t.Cleanup(r.finish)
	return r
}

func (r *rig) spots() []*spot {
	return []*spot{
		r.logic.begin, r.logic.evidence, r.logic.finish,
		r.store.put, r.store.accept, r.store.get, r.with,
	}
}

func (r *rig) release() {
	for _, s := range r.spots() {
		s.set(nil)
		s.wedge.Release()
	}
}

// finish stops the system and checks what must hold after every test.
func (r *rig) finish() {
	r.release()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	err := r.sys.Stop(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		r.t.Errorf("stop: %v", err)
	}
	s := r.sys.Stats()
	if s.DeadLetters > r.letters {
		r.t.Errorf("dead letters: %d, declared %d", s.DeadLetters, r.letters)
	}
	if err == nil && (s.TurnsInFlight != 0 || s.BytesInFlight != 0 || s.Sessions != 0) {
		r.t.Errorf("left after stop: %+v", s)
	}
	if n := int64(len(r.ledger.All())); err == nil && n > s.Turns {
		r.t.Errorf("%d rows for %d answers", n, s.Turns)
	}
}

func claim(session string) turn.Binding { return turn.Binding{Home: "home", Session: session} }

// command is a request of one session; n makes its bytes unique.
func command(session string, n int) ReduceTurn {
	return ReduceTurn{Binding: claim(session), Body: fmt.Appendf(nil, "MARKER request %s %d", session, n)}
}

func (r *rig) reduce(cmd ReduceTurn) TurnReduced {
	r.t.Helper()
	return r.await(r.begin(context.Background(), cmd))
}

// begin runs a turn in the background.
func (r *rig) begin(ctx context.Context, cmd ReduceTurn) <-chan TurnReduced {
	out := make(chan TurnReduced, 2)
	go func() { out <- r.sys.Reduce(ctx, cmd) }()
	return out
}

func (r *rig) await(out <-chan TurnReduced) TurnReduced {
	r.t.Helper()
	select {
	case got := <-out:
		return got
	case <-time.After(testkit.Patience):
		r.t.Fatal("no answer")
		return TurnReduced{}
	}
}

// pid is the newest actor of a role.
func (r *rig) pid(role string) *actor.PID {
	r.t.Helper()
	r.born.Find(r.t, func(s spawn) bool { return s.role == role })
	for _, s := range slices.Backward(r.born.All()) {
		if s.role == role {
			return s.pid
		}
	}
	return nil
}

func requireOriginal(t testing.TB, cmd ReduceTurn, got TurnReduced, why turn.Reason) {
	t.Helper()
	require.False(t, got.Edited)
	require.Equal(t, why, got.Reason)
	require.Empty(t, got.Edits)
	require.Equal(t, string(cmd.Body), string(got.Body))
}

func requireSmall(t testing.TB, cmd ReduceTurn, got TurnReduced) {
	t.Helper()
	require.Equal(t, turn.Reduced, got.Reason)
	require.True(t, got.Edited)
	require.Equal(t, "small:"+string(turn.SumBytes(cmd.Body).ID()), string(got.Body))
}
