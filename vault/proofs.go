package vault

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// proofsBatch is how many artifacts one query looks up.
const proofsBatch = 500

// Proofs says which of these artifacts the session holds a pin on, with their rows in
// place and their bytes read and found equal in this process. A turn that shows ids
// from its form memory asks here first, for all of them at once; what is missing is
// stored again with Put from the evidence in hand, and gets its old id back, or is
// shown as it is. Proofs writes nothing.
//
// It is meant for every turn: one query looks up all rows, and a body is read again
// only when it was not read yet, or lies in the file in another way than it did then.
// So a row that this or another process deleted is never proved.
func (v *Vault) Proofs(ctx context.Context, session string, digests []turn.Digest) (map[turn.Digest]turn.Proof, error) {
	if v.closed.Load() {
		return nil, ErrClosed
	}
	if err := v.inPlace(); err != nil {
		return nil, err
	}
	session = codec.Label(session)
	proofs := make(map[turn.Digest]turn.Proof, len(digests))
	for batch := range slices.Chunk(digests, proofsBatch) {
		standing, err := v.pinned(ctx, session, batch)
		if err != nil {
			return nil, err
		}
		for _, p := range standing {
			ok, err := v.proved(ctx, session, p)
			if err != nil {
				return nil, err
			}
			if ok {
				proofs[p.digest] = p.Proof
			}
		}
	}
	return proofs, nil
}

// pinnedRow is an artifact with a pin of the session, a shown id, a row and a body.
type pinnedRow struct {
	turn.Proof
	digest turn.Digest
	at     mark
}

func (v *Vault) pinned(ctx context.Context, session string, digests []turn.Digest) ([]pinnedRow, error) {
	rows, err := v.reads[rProof].QueryContext(ctx, session, jsonDigests(digests))
	if err != nil {
		return nil, v.explain("look up proofs", err)
	}
	defer rows.Close()
	var all []pinnedRow
	for rows.Next() {
		var p pinnedRow
		var sha sql.RawBytes
		if err := rows.Scan(&sha, (*string)(&p.Artifact), &p.Shown, &p.at.how, &p.at.size); err != nil {
			return nil, v.explain("look up proofs", err)
		}
		copy(p.digest[:], sha)
		all = append(all, p)
	}
	return all, v.explain("look up proofs", rows.Err())
}

// proved says whether the bytes were read and found equal, reading them when needed.
func (v *Vault) proved(ctx context.Context, session string, p pinnedRow) (bool, error) {
	if at, ok := v.verified.of(p.digest); ok && at == p.at {
		return true, nil
	}
	v.verified.drop(p.digest)
	_, m, err := v.read(ctx, session, found{string(p.Artifact), p.digest[:]})
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrLost) || errors.Is(err, ErrReleased) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v.verified.add(p.digest, m)
	return true, nil
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
