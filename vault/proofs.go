package vault

import (
	"context"
	"database/sql"
	"errors"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// Proofs says which of these artifacts the session holds a pin on, with their rows in
// place and their bytes read and found equal in this process. A turn that shows ids
// from its form memory asks here first; what is missing is stored again from the
// evidence in hand, or shown as it is. It writes nothing.
func (v *Vault) Proofs(ctx context.Context, session string, digests []turn.Digest) (map[turn.Digest]turn.Proof, error) {
	if v.closed.Load() {
		return nil, ErrClosed
	}
	session = codec.Label(session)
	proofs := make(map[turn.Digest]turn.Proof, len(digests))
	for _, d := range digests {
		var p turn.Proof
		err := v.reads[rProof].QueryRowContext(ctx, session, d[:]).Scan((*string)(&p.Artifact), &p.Shown)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, v.explain("look up proof", err)
		}
		if !v.verified.has(d) {
			_, m, err := v.read(ctx, session, found{string(p.Artifact), d[:]})
			if errors.Is(err, ErrDamaged) || errors.Is(err, ErrLost) {
				continue
			}
			if err != nil {
				return nil, err
			}
			v.verified.add(d, m)
		}
		proofs[d] = p
	}
	return proofs, nil
}

// Proofs keeps the contract of Vault.Proofs.
func (m *Memory) Proofs(_ context.Context, session string, digests []turn.Digest) (map[turn.Digest]turn.Proof, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	session = codec.Label(session)
	proofs := make(map[turn.Digest]turn.Proof, len(digests))
	for _, d := range digests {
		if _, there := m.state.artifacts[d]; there && m.state.pins[memPin{session, d}] {
			proofs[d] = m.state.proofs[d]
		}
	}
	return proofs, nil
}
