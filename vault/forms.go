package vault

import (
	"context"
	"fmt"
	"time"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// pendingNode stores a node with the ids as they will be shown. A decision that
// leans on an artifact the vault does not hold is left out: its edit has no proof
// and will not be published either.
func (w *writing) pendingNode(j *job, n turn.Node) error {
	kept := make([]turn.Decision, 0, len(n.Decisions))
	for _, d := range n.Decisions {
		bound, ok, err := w.bind(j.proofs, d)
		if err != nil {
			return err
		}
		if ok {
			kept = append(kept, bound)
		}
	}
	n.Decisions = kept
	return w.putNode(j.session, n, false, j.ev.Binding.Turn)
}

// bind gives the decision its artifact's id and shown id. ok is false when it needs
// an artifact that is not here.
func (w *writing) bind(proofs map[turn.Digest]turn.Proof, d turn.Decision) (turn.Decision, bool, error) {
	proof, ok := proofs[d.Before]
	if !ok {
		s, err := w.look(d.Before, "", "", "")
		if err != nil {
			return d, false, err
		}
		if !s.seq.Valid || s.shown == "" {
			return d, d.ShownID() == "" && d.Artifact == "" && !d.Form.Hides(), nil
		}
		proof = turn.Proof{Artifact: turn.ArtifactID(s.id), Shown: s.shown}
	}
	d.Artifact = proof.Artifact
	return d.WithShownID(proof.Shown), true, nil
}

func (w *writing) putNode(session string, n turn.Node, accepted bool, at uint64) error {
	data, err := codec.EncodeDecisions(n.Decisions)
	if err != nil {
		return err
	}
	state := 0
	if accepted {
		state = 1
	}
	return w.exec(qUpsertNode, session, n.Hash[:], n.Parent[:], n.Index, state, int64(at), w.now, nodeCost(session, data), data)
}

// Accept replaces the decisions of these nodes by what was really published, when
// that was less than intended. All nodes are written or none; a decision that shows
// or needs an artifact the vault does not hold is ErrUnknown.
func (v *Vault) Accept(ctx context.Context, session string, nodes []turn.Node) error {
	session = codec.Label(session)
	if session == "" {
		return ErrBinding
	}
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.leave()
	return v.inTransaction(ctx, func(w *writing) error {
		if err := w.exec(qTouchSession, session, w.now); err != nil {
			return err
		}
		for _, n := range nodes {
			kept := make([]turn.Decision, 0, len(n.Decisions))
			for _, d := range n.Decisions {
				bound, ok, err := w.bind(nil, d)
				if err != nil {
					return err
				}
				if !ok {
					return fmt.Errorf("accept node %d, block %s: %w", n.Index, codec.Label(d.Block), ErrUnknown)
				}
				kept = append(kept, bound)
			}
			n.Decisions = kept
			if err := w.putNode(session, n, true, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// Nodes reads the form memory of a session chain in the order of message indexes.
// A pending node counts as accepted. A node whose stored decisions are damaged is
// left out, which costs one cache miss and never a wrong text; Verify reports it.
// Loading counts as use.
func (v *Vault) Nodes(ctx context.Context, session string) ([]turn.Node, error) {
	session = codec.Label(session)
	nodes, err := v.loadNodes(ctx, session)
	if err != nil || v.db == nil || len(nodes) == 0 {
		return nodes, err
	}
	if err := v.enter(ctx); err != nil {
		return nil, err
	}
	defer v.leave()
	err = v.inTransaction(ctx, func(w *writing) error { return w.exec(qTouchSession, session, w.now) })
	return nodes, err
}

func (v *Vault) loadNodes(ctx context.Context, session string) ([]turn.Node, error) {
	if v.closed.Load() {
		return nil, ErrClosed
	}
	if err := v.inPlace(); err != nil {
		return nil, err
	}
	rows, err := v.readers.QueryContext(ctx, `SELECT hash, parent, idx, decisions FROM nodes WHERE session = ?1 ORDER BY idx, rowid`, session)
	if err != nil {
		return nil, v.explain("read nodes", err)
	}
	defer rows.Close()
	var nodes []turn.Node
	for rows.Next() {
		var hash, parent, data []byte
		var n turn.Node
		if err := rows.Scan(&hash, &parent, &n.Index, &data); err != nil {
			return nil, v.explain("read nodes", err)
		}
		n.Decisions, err = codec.DecodeDecisions(data)
		if err != nil || copy(n.Hash[:], hash) != len(n.Hash) || copy(n.Parent[:], parent) != len(n.Parent) {
			continue
		}
		nodes = append(nodes, n)
	}
	return nodes, v.explain("read nodes", rows.Err())
}

// DropNodes forgets the form memory of sessions that were not used for longer than
// unused and says how many nodes went. It is not called on the way of a turn.
func (v *Vault) DropNodes(ctx context.Context, unused time.Duration) (dropped int, err error) {
	if err := v.enter(ctx); err != nil {
		return 0, err
	}
	defer v.leave()
	err = v.inTransaction(ctx, func(w *writing) error {
		limit := w.now - unused.Milliseconds()
		res, err := v.conn.ExecContext(ctx, `DELETE FROM nodes WHERE session IN (SELECT session FROM sessions WHERE last_used < ?1)`, limit)
		if err != nil {
			return v.explain("drop nodes", err)
		}
		n, err := res.RowsAffected()
		dropped = int(n)
		return err
	})
	return dropped, err
}
