package vault

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// Resolve keeps the contract of Vault.Resolve.
func (m *Memory) Resolve(_ context.Context, session, idOrPrefix string) (turn.ArtifactID, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	d, err := m.resolve(codec.Label(session), idOrPrefix)
	if err != nil {
		return "", err
	}
	return m.state.artifacts[d].id, nil
}

func (m *Memory) resolve(session, idOrPrefix string) (turn.Digest, error) {
	prefix, err := turn.ParseIDPrefix(idOrPrefix)
	if err != nil {
		return turn.Digest{}, err
	}
	if m.closed {
		return turn.Digest{}, ErrClosed
	}
	bound, isBound := m.state.shown[prefix]
	if isBound && m.state.owns(session, bound) {
		return bound, nil
	}
	var all, own []turn.Digest
	for d, a := range m.state.artifacts {
		if string(a.id) != prefix && !strings.HasPrefix("a_"+d.String(), prefix) {
			continue
		}
		all = append(all, d)
		if m.state.owns(session, d) {
			own = append(own, d)
		}
	}
	switch {
	case len(own) == 1:
		return own[0], nil
	case len(own) > 1:
		return turn.Digest{}, fmt.Errorf("%w: %s begins %d ids", ErrAmbiguous, prefix, len(own))
	case len(all) > 0:
		return turn.Digest{}, ErrNotYours
	}
	for id := range m.state.gone {
		if strings.HasPrefix(string(id), prefix) {
			return turn.Digest{}, ErrLost
		}
	}
	if isBound {
		return turn.Digest{}, ErrLost
	}
	return turn.Digest{}, ErrUnknown
}

func (s *memState) owns(session string, d turn.Digest) bool {
	if session == "" || s.pins[memPin{session, d}] {
		return true
	}
	for at := range s.seen {
		if at.session == session && at.digest == d {
			return true
		}
	}
	return false
}

// Get keeps the contract of Vault.Get.
func (m *Memory) Get(_ context.Context, session, id string) (Artifact, error) {
	session = codec.Label(session)
	m.mu.RLock()
	defer m.mu.RUnlock()
	d, err := m.resolve(session, id)
	if err != nil {
		return Artifact{}, err
	}
	a := Artifact{Summary: m.summary(session, d), Text: m.state.artifacts[d].text}
	if err := checkStored(a.Summary, a.Text); err != nil {
		return Artifact{}, err
	}
	first := memObservation{first: -1}
	for _, at := range slices.SortedFunc(maps.Keys(m.state.seen), compareSeen) {
		o := m.state.seen[at]
		if at.digest == d && (session == "" || at.session == session) && (first.first < 0 || o.first < first.first) {
			first = o
			a.CallID, a.Args, a.ArgsBytes = at.callID, o.args, o.argsBytes
			a.ArgsArtifact = m.state.artifacts[o.argsOf].id
		}
	}
	return a, nil
}

func compareSeen(a, b memSeen) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.callID, b.callID), cmp.Compare(a.tool, b.tool))
}

func (m *Memory) summary(session string, d turn.Digest) Summary {
	a := m.state.artifacts[d]
	s := Summary{
		ID: a.id, Shown: m.state.proofs[d].Shown, Digest: d, Chars: a.runes, Bytes: len(a.text), Tool: a.tool, Kind: a.kind,
		Created: time.UnixMilli(a.created).UTC(), LastSeen: time.UnixMilli(a.last).UTC(), Pinned: m.state.pinned(d),
	}
	for at := range m.state.seen {
		if at.digest == d && (session == "" || at.session == session) {
			s.Observations++
		}
	}
	return s
}

func (m *Memory) list(session string, limit int, keep func(memArtifact) bool) (Listing, error) {
	limit, err := listLimit(limit)
	if err != nil {
		return Listing{}, err
	}
	session = codec.Label(session)
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return Listing{}, ErrClosed
	}
	out := Listing{Artifacts: []Summary{}}
	for _, d := range slices.SortedFunc(maps.Keys(m.state.artifacts), func(a, b turn.Digest) int {
		return cmp.Compare(m.state.artifacts[b].seq, m.state.artifacts[a].seq)
	}) {
		if !m.state.owns(session, d) || !keep(m.state.artifacts[d]) {
			continue
		}
		if len(out.Artifacts) == limit {
			out.Truncated = true
			break
		}
		out.Artifacts = append(out.Artifacts, m.summary(session, d))
	}
	return out, nil
}

// Verify keeps the contract of Vault.Verify.
func (m *Memory) Verify(context.Context) (Report, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r := Report{Damaged: []Problem{}, Lost: []Problem{}}
	if m.closed {
		return r, ErrClosed
	}
	for d, a := range m.state.artifacts {
		r.Artifacts++
		r.Bytes += int64(len(a.text))
		if checkStored(m.summary("", d), a.text) != nil {
			r.damaged(a.id, "its bytes, hash, length and id do not belong together")
		}
	}
	for _, nodes := range m.state.nodes {
		r.Nodes += len(nodes)
	}
	return r, nil
}

// Status keeps the contract of Vault.Status; there is no path and no schema.
func (m *Memory) Status(context.Context) (Status, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return Status{}, ErrClosed
	}
	s := Status{
		Bytes: m.state.used, Capacity: m.o.CapacityBytes, HighWater: m.o.highMark(), LowWater: m.o.lowMark(), ReadOnly: m.o.ReadOnly,
		Artifacts: len(m.state.artifacts), Pins: len(m.state.pins), Sessions: len(m.state.sessions),
		Pruned: m.state.pruned, PrunedBytes: m.state.prunedB,
	}
	for d, a := range m.state.artifacts {
		s.Content += int64(len(a.text))
		if m.state.pinned(d) {
			s.Pinned++
		}
	}
	for _, nodes := range m.state.nodes {
		s.Nodes += len(nodes)
	}
	s.Percent = float64(s.Bytes) * 100 / float64(s.Capacity)
	s.Level, s.Stored = levelOf(s.Bytes, s.Capacity), s.Content
	return s, nil
}
