package vault

import (
	"context"
	"fmt"

	"token-terminator/turn"
)

// pruneBatch is how many candidates one look brings.
const pruneBatch = 64

// makeRoom looks at the counter after a turn was written. Above the high mark it
// removes unpinned artifacts, longest unseen first, down to the low mark; a vault
// that is still over its capacity refuses the turn. Pinned evidence is never touched.
func (w *writing) makeRoom() error {
	used, err := w.count()
	if err != nil || used <= w.v.o.highMark() {
		return err
	}
	var rows, size int64
	for used > w.v.o.lowMark() {
		batch, err := w.prunable()
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		for _, c := range batch {
			if used <= w.v.o.lowMark() {
				break
			}
			if err := w.remove(c, tombPruned); err != nil {
				return err
			}
			rows, size = rows+1, size+c.cost
			if used, err = w.used(); err != nil {
				return err
			}
		}
	}
	if rows > 0 {
		if err := w.exec(qCountPruned, rows, size); err != nil {
			return err
		}
		if err := w.exec(qTrimTombstones, maxTombstones); err != nil {
			return err
		}
	}
	if used > w.v.o.CapacityBytes {
		return fmt.Errorf("%w: it would hold %d of %d bytes", ErrFull, used, w.v.o.CapacityBytes)
	}
	return nil
}

// count adds what the turn's rows count to the counter and gives it.
func (w *writing) count() (int64, error) {
	added := w.added
	w.added = 0
	return w.counted(qCount, added)
}

func (w *writing) used() (int64, error) { return w.counted(qUsed) }

func (w *writing) counted(q query, args ...any) (int64, error) {
	var used int64
	found, err := w.scan(q, []any{&used}, args...)
	if err == nil && !found {
		err = fmt.Errorf("%w: the counter of used bytes is missing", ErrDamaged)
	}
	return used, err
}

// candidate is an unpinned artifact.
type candidate struct {
	seq  int64
	sha  []byte
	id   string
	cost int64
}

// prunable lists the next unpinned artifacts that this turn neither stored nor saw.
func (w *writing) prunable() ([]candidate, error) {
	name := queries[qPrunable].name
	if err := w.v.hook("before " + name); err != nil {
		return nil, err
	}
	rows, err := w.v.stmts[qPrunable].QueryContext(w.ctx, pruneBatch+len(w.mine))
	if err != nil {
		return nil, w.v.explain(name, err)
	}
	defer rows.Close()
	var found []candidate
	for rows.Next() {
		var c candidate
		if err := rows.Scan(&c.seq, &c.sha, &c.id, &c.cost); err != nil {
			return nil, w.v.explain(name, err)
		}
		if !w.mine[c.seq] {
			found = append(found, c)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, w.v.explain(name, err)
	}
	return found, w.v.hook("after " + name)
}

func (w *writing) remove(c candidate, why string) error {
	if err := w.exec(qDeleteArtifact, c.seq); err != nil {
		return err
	}
	if err := w.exec(qDeleteObservations, c.sha); err != nil {
		return err
	}
	var d turn.Digest
	copy(d[:], c.sha)
	w.v.verified.drop(d)
	return w.exec(qInsertTombstone, c.id, c.sha, why, w.now)
}

// usedSum is what the counter of used bytes must be.
const usedSum = `(SELECT coalesce(sum(cost), 0) FROM artifacts) + (SELECT coalesce(sum(cost), 0) FROM observations) +
	(SELECT coalesce(sum(cost), 0) FROM pins) + (SELECT coalesce(sum(cost), 0) FROM nodes)`

// recount sets the counter to the sum of what the rows say. The counter moves with the
// rows, so only an operator's work pays for this look at all of them.
func (v *Vault) recount(ctx context.Context) error {
	_, err := v.conn.ExecContext(ctx, `INSERT OR REPLACE INTO counters (name, value) SELECT 'used', `+usedSum)
	return v.explain("recount", err)
}

// Why an artifact is gone, as its tombstone says.
const (
	tombPruned   = "pruned"
	tombReleased = "released"
)
