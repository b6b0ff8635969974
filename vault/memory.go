package vault

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"token-terminator/turn"
	"token-terminator/vault/codec"
	"token-terminator/vault/view"
)

// Memory keeps a vault's contract in the process's memory: for tests of what is built
// on a vault, and as the second implementation that keeps the conformance suite
// honest. A write copies the state, so it is no store for large amounts.
type Memory struct {
	views

	o   Options
	key []byte

	mu     sync.RWMutex
	state  memState
	closed bool
}

// memState is one immutable version of everything; values are never changed in place.
type memState struct {
	seq       int64
	used      int64
	pruned    int64
	prunedB   int64
	artifacts map[turn.Digest]memArtifact
	seen      map[memSeen]memObservation
	pins      map[memPin]bool
	shown     map[string]turn.Digest
	proofs    map[turn.Digest]turn.Proof // what was shown, row or not
	nodes     map[string]map[turn.Digest]memNode
	sessions  map[string]int64 // last use
	gone      map[turn.ArtifactID]string
}

type memArtifact struct {
	seq           int64
	id            turn.ArtifactID
	text          string
	runes         int
	tool, kind    string
	created, last int64
	cost          int64
}

type memSeen struct {
	session      string
	digest       turn.Digest
	callID, tool string
}

type memObservation struct {
	args      string
	argsBytes int
	argsOf    turn.Digest
	first     int64
	cost      int64
}

type memPin struct {
	session string
	digest  turn.Digest
}

type memNode struct {
	node turn.Node
	seq  int64
	cost int64
}

// NewMemory opens an empty vault in memory. Its marker key is FixedMarkerKey. Options
// about files have no meaning here; Hook is called as "before put" and "before reply".
func NewMemory(o Options) (*Memory, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	m := &Memory{o: o, key: []byte(FixedMarkerKey), state: memState{
		artifacts: map[turn.Digest]memArtifact{}, seen: map[memSeen]memObservation{}, pins: map[memPin]bool{},
		shown: map[string]turn.Digest{}, proofs: map[turn.Digest]turn.Proof{}, nodes: map[string]map[turn.Digest]memNode{},
		sessions: map[string]int64{}, gone: map[turn.ArtifactID]string{},
	}}
	m.views = views{m}
	return m, nil
}

func (s memState) clone() memState {
	s.artifacts, s.seen, s.pins = maps.Clone(s.artifacts), maps.Clone(s.seen), maps.Clone(s.pins)
	s.shown, s.proofs, s.sessions, s.gone = maps.Clone(s.shown), maps.Clone(s.proofs), maps.Clone(s.sessions), maps.Clone(s.gone)
	s.nodes = maps.Clone(s.nodes)
	for session, nodes := range s.nodes {
		s.nodes[session] = maps.Clone(nodes)
	}
	return s
}

// MarkerKey is FixedMarkerKey.
func (m *Memory) MarkerKey() []byte { return m.key }

// Close makes every later call fail with ErrClosed.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// Put keeps the contract of Vault.Put.
func (m *Memory) Put(ctx context.Context, ev turn.Evidence) (turn.Pinned, error) {
	r := m.PutAll(ctx, []turn.Evidence{ev})[0]
	return r.Pinned, r.Err
}

// PutAll keeps the contract of Vault.PutAll.
func (m *Memory) PutAll(ctx context.Context, evs []turn.Evidence) []PutResult {
	m.mu.Lock()
	defer m.mu.Unlock()
	results := make([]PutResult, len(evs))
	for i, ev := range evs {
		j := newJob(ev, m.o.MaxArtifactRunes)
		if j.err == nil {
			j.err = m.usable(ctx)
		}
		if j.err == nil && m.o.Hook != nil {
			j.err = m.o.Hook("before put")
		}
		if j.err == nil {
			next := m.state.clone()
			if j.err = next.turn(j, m.o); j.err == nil {
				m.state = next
			}
		}
		if m.o.Hook != nil && j.err == nil {
			j.err = m.o.Hook("before reply")
		}
		results[i] = j.result()
	}
	return results
}

func (m *Memory) usable(ctx context.Context) error {
	switch {
	case m.closed:
		return ErrClosed
	case m.o.ReadOnly:
		return ErrReadOnly
	}
	return ctx.Err()
}

func (s *memState) turn(j *job, o Options) error {
	now := o.Now().UnixMilli()
	s.sessions[j.session] = now
	j.proofs = map[turn.Digest]turn.Proof{}
	mine := map[turn.Digest]bool{}
	put := func(it *item) {
		id := s.store(it, now, mine)
		var argsOf turn.Digest
		if it.argsItem != nil {
			s.store(it.argsItem, now, mine)
			s.observe(j.session, it.argsItem, turn.Digest{}, now)
			argsOf = it.argsItem.Digest
		}
		s.observe(j.session, it, argsOf, now)
		if pin := (memPin{j.session, it.Digest}); !s.pins[pin] {
			s.pins[pin] = true
			s.used += pinCost(j.session)
		}
		j.proofs[it.Digest] = s.show(it.Digest, id)
	}
	for _, it := range j.items {
		put(it)
	}
	s.hold(j, o, put)
	for _, n := range j.ev.Nodes {
		n.Decisions = s.bindAll(n.Decisions)
		if err := s.putNode(j.session, n); err != nil {
			return err
		}
	}
	return s.makeRoom(o, mine)
}

func (s *memState) store(it *item, now int64, mine map[turn.Digest]bool) turn.ArtifactID {
	mine[it.Digest] = true
	if a, ok := s.artifacts[it.Digest]; ok {
		a.last = max(a.last, now)
		s.artifacts[it.Digest] = a
		return a.id
	}
	id := it.Digest.ID()
	for d, a := range s.artifacts {
		if a.id == id && d != it.Digest {
			id = it.Digest.LongID()
		}
	}
	s.seq++
	s.artifacts[it.Digest] = memArtifact{seq: s.seq, id: id, text: it.Text, runes: it.runes, tool: it.Tool, kind: it.Kind, created: now, last: now, cost: it.cost()}
	s.used += it.cost()
	delete(s.gone, id)
	return id
}

func (s *memState) observe(session string, it *item, argsOf turn.Digest, now int64) {
	at := memSeen{session, it.Digest, it.CallID, it.Tool}
	if _, ok := s.seen[at]; ok {
		return
	}
	s.seen[at] = memObservation{args: it.argsKept, argsBytes: it.argsBytes, argsOf: argsOf, first: now, cost: it.observationCost(session)}
	s.used += it.observationCost(session)
}

func (s *memState) show(d turn.Digest, id turn.ArtifactID) turn.Proof {
	if p, ok := s.proofs[d]; ok {
		return p
	}
	others := make([]string, 0, len(s.artifacts))
	for _, a := range s.artifacts {
		others = append(others, string(a.id))
	}
	p := turn.Proof{Artifact: id, Shown: codec.Shortest(string(id), others...)}
	s.proofs[d], s.shown[p.Shown] = p, d
	return p
}

func (s *memState) bind(d turn.Decision) (turn.Decision, bool) {
	p, ok := s.proofs[d.Before]
	if _, there := s.artifacts[d.Before]; !ok || !there {
		return d, d.ShownID() == "" && d.Artifact == "" && !d.Form.Hides()
	}
	d.Artifact = p.Artifact
	return d.WithShownID(p.Shown), true
}

func (s *memState) bindAll(ds []turn.Decision) []turn.Decision {
	var kept []turn.Decision
	for _, d := range ds {
		if bound, ok := s.bind(d); ok {
			kept = append(kept, bound)
		}
	}
	return kept
}

func (s *memState) putNode(session string, n turn.Node) error {
	data, err := codec.EncodeDecisions(n.Decisions)
	if err != nil {
		return err
	}
	if s.nodes[session] == nil {
		s.nodes[session] = map[turn.Digest]memNode{}
	}
	old, had := s.nodes[session][n.Hash]
	if s.seq++; !had {
		old.seq = s.seq
	}
	cost := nodeCost(session, data)
	s.used += cost - old.cost
	s.nodes[session][n.Hash] = memNode{node: n, seq: old.seq, cost: cost}
	return nil
}

func (s *memState) pinned(d turn.Digest) bool {
	for p := range s.pins {
		if p.digest == d {
			return true
		}
	}
	return false
}

func (s *memState) makeRoom(o Options, mine map[turn.Digest]bool) error {
	if s.used <= o.highMark() {
		return nil
	}
	for _, d := range slices.SortedFunc(maps.Keys(s.artifacts), func(a, b turn.Digest) int {
		x, y := s.artifacts[a], s.artifacts[b]
		return cmp.Or(cmp.Compare(x.last, y.last), cmp.Compare(x.seq, y.seq))
	}) {
		if s.used <= o.lowMark() {
			break
		}
		if !mine[d] && !s.pinned(d) {
			s.remove(d)
		}
	}
	if s.used > o.CapacityBytes {
		return ErrFull
	}
	return nil
}

func (s *memState) remove(d turn.Digest) {
	a := s.artifacts[d]
	s.used -= a.cost
	for at, o := range s.seen {
		if at.digest == d {
			s.used -= o.cost
			delete(s.seen, at)
		}
	}
	s.pruned, s.prunedB = s.pruned+1, s.prunedB+a.cost
	s.gone[a.id] = tombPruned
	delete(s.artifacts, d)
}

// Accept keeps the contract of Vault.Accept.
func (m *Memory) Accept(ctx context.Context, session string, nodes []turn.Node) error {
	session = codec.Label(session)
	if session == "" {
		return ErrBinding
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return err
	}
	next := m.state.clone()
	next.sessions[session] = m.o.Now().UnixMilli()
	for _, n := range nodes {
		kept := next.bindAll(n.Decisions)
		if len(kept) != len(n.Decisions) {
			return ErrUnknown
		}
		n.Decisions = kept
		if err := next.putNode(session, n); err != nil {
			return err
		}
	}
	m.state = next
	return nil
}

// Nodes keeps the contract of Vault.Nodes.
func (m *Memory) Nodes(_ context.Context, session string) ([]turn.Node, error) {
	session = codec.Label(session)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	all := slices.SortedFunc(maps.Values(m.state.nodes[session]), func(a, b memNode) int {
		return cmp.Or(cmp.Compare(a.node.Index, b.node.Index), cmp.Compare(a.seq, b.seq))
	})
	var nodes []turn.Node
	for _, n := range all {
		nodes = append(nodes, n.node)
	}
	if len(nodes) > 0 {
		m.state.sessions[session] = m.o.Now().UnixMilli()
	}
	return nodes, nil
}

// DropNodes keeps the contract of Vault.DropNodes.
func (m *Memory) DropNodes(ctx context.Context, unused time.Duration) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(ctx); err != nil {
		return 0, err
	}
	next, dropped := m.state.clone(), 0
	for session, last := range next.sessions {
		if last >= m.o.Now().UnixMilli()-unused.Milliseconds() {
			continue
		}
		for _, n := range next.nodes[session] {
			next.used -= n.cost
			dropped++
		}
		delete(next.nodes, session)
	}
	m.state = next
	return dropped, nil
}

// Search keeps the contract of Vault.Search.
func (m *Memory) Search(_ context.Context, session, query string, limit int) (Listing, error) {
	folded, err := view.FoldQuery(query)
	if err != nil {
		return Listing{}, err
	}
	return m.list(session, limit, func(a memArtifact) bool {
		return view.Contains(a.tool, folded) || view.Contains(a.text, folded)
	})
}

// List keeps the contract of Vault.List.
func (m *Memory) List(_ context.Context, session string, limit int) (Listing, error) {
	return m.list(session, limit, func(memArtifact) bool { return true })
}
