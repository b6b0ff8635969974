package vault

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"token-terminator/turn"
)

// Removed is what a removal took away.
type Removed struct {
	Artifacts int   `json:"artifacts"`
	Bytes     int64 `json:"bytes"` // that counted against the capacity
	Pins      int64 `json:"pins"`
	Nodes     int64 `json:"nodes"`
	Kept      int   `json:"kept"` // of the plan: in use again since it was made
}

// Remove carries out a plan. Forms go before the pins they lean on, pins before the
// artifacts, and every batch is a transaction that looks again at who holds what; so a
// run that ends in the middle leaves a sound vault, and the same plan made again goes
// on. Every artifact that goes leaves a tombstone. progress, when not nil, hears how
// many artifacts are done. On an error Removed says what had gone until then.
func (v *Vault) Remove(ctx context.Context, r Removal, progress func(done, total int)) (Removed, error) {
	var out Removed
	if err := v.enter(ctx); err != nil {
		return out, err
	}
	defer v.leave()
	if len(r.Sessions) > 0 {
		if err := v.removal(ctx, &out, func(w *writing, now *Removed) error { return w.forget(r.Sessions, now) }); err != nil {
			return out, err
		}
	}
	done := 0
	for batch := range slices.Chunk(r.Artifacts, removeBatch) {
		err := v.removal(ctx, &out, func(w *writing, now *Removed) error {
			for _, d := range batch {
				if err := w.end(r, d, now); err != nil {
					return err
				}
			}
			if r.Why != tombPruned || now.Artifacts == 0 {
				return nil
			}
			return w.exec(qCountPruned, now.Artifacts, now.Bytes)
		})
		if err != nil {
			return out, err
		}
		if done += len(batch); progress != nil {
			progress(done, len(r.Artifacts))
		}
	}
	if len(r.Sessions) == 0 {
		return out, nil
	}
	return out, v.removal(ctx, &out, func(w *writing, now *Removed) error { return w.endSessions(r.Sessions, now) })
}

// removal runs one batch and adds its sums when it was committed.
func (v *Vault) removal(ctx context.Context, sum *Removed, do func(*writing, *Removed) error) error {
	var now Removed
	if err := v.inTransaction(ctx, func(w *writing) error { return do(w, &now) }); err != nil {
		return err
	}
	sum.Artifacts, sum.Bytes, sum.Kept = sum.Artifacts+now.Artifacts, sum.Bytes+now.Bytes, sum.Kept+now.Kept
	sum.Pins, sum.Nodes = sum.Pins+now.Pins, sum.Nodes+now.Nodes
	return nil
}

// forget drops the sessions' form memory.
func (w *writing) forget(sessions []string, now *Removed) (err error) {
	now.Nodes, err = w.delete("forget forms", `DELETE FROM nodes WHERE session IN (SELECT value FROM json_each(?1))`, jsonStrings(sessions))
	return err
}

// end ends the plan's promises on one artifact and removes it when nobody else holds
// or, for a session's release, saw it.
func (w *writing) end(r Removal, d Doomed, now *Removed) error {
	names, sha := jsonStrings(r.Sessions), d.digest[:]
	pins, err := w.endPins(r, names, sha)
	if err != nil {
		return err
	}
	now.Pins += pins
	c := candidate{sha: sha, id: string(d.ID)}
	found, err := w.lookFor("look again", `SELECT seq, cost FROM artifacts WHERE sha = ?1`, []any{&c.seq, &c.cost}, sha)
	if err != nil || !found {
		return err
	}
	var held bool
	const query = `SELECT EXISTS (SELECT 1 FROM pins WHERE sha = ?1) OR (NOT ?3 AND
		EXISTS (SELECT 1 FROM observations WHERE sha = ?1 AND session NOT IN (SELECT value FROM json_each(?2))))`
	if _, err := w.lookFor("look for owners", query, []any{&held}, sha, names, r.one || r.reset && pins == 0); err != nil {
		return err
	}
	if held {
		now.Kept++
		return nil
	}
	now.Artifacts, now.Bytes = now.Artifacts+1, now.Bytes+c.cost
	why := r.Why
	if pins > 0 {
		why = tombReleased
	}
	return w.remove(c, why)
}

func (w *writing) endPins(r Removal, names string, sha []byte) (int64, error) {
	if r.one {
		return w.delete("end pins", `DELETE FROM pins WHERE sha = ?1`, sha)
	}
	if len(r.Sessions) == 0 {
		return 0, nil
	}
	return w.delete("end pins", `DELETE FROM pins WHERE sha = ?1 AND session IN (SELECT value FROM json_each(?2))`, sha, names)
}

// endSessions ends what is left of the sessions: pins on artifacts others hold too.
func (w *writing) endSessions(sessions []string, now *Removed) error {
	names := jsonStrings(sessions)
	clear(w.v.used)
	pins, err := w.delete("end pins", `DELETE FROM pins WHERE session IN (SELECT value FROM json_each(?1))`, names)
	if err != nil {
		return err
	}
	now.Pins = pins
	if _, err := w.delete("end sessions", `DELETE FROM sessions WHERE session IN (SELECT value FROM json_each(?1))
		AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.session = sessions.session)`, names); err != nil {
		return err
	}
	return w.exec(qTrimTombstones, maxTombstones)
}

// delete runs a statement that is not prepared and says how many rows went.
func (w *writing) delete(name, text string, args ...any) (int64, error) {
	if err := w.v.hook("before " + name); err != nil {
		return 0, err
	}
	res, err := w.v.conn.ExecContext(w.run, text, args...)
	if err != nil {
		return 0, w.v.explain(name, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, w.v.explain(name, err)
	}
	return n, w.v.hook("after " + name)
}

// jsonStrings writes names as the JSON array that json_each reads.
func jsonStrings(names []string) string {
	if len(names) == 0 {
		return "[]"
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(names); err != nil {
		panic("vault: strings do not encode: " + err.Error())
	}
	return b.String()
}

// Compact gives the space of removed artifacts back to the disk. It needs room for a
// second copy of what stays, and nobody else may write meanwhile.
func (v *Vault) Compact(ctx context.Context) error {
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.leave()
	if err := v.hook("before compact"); err != nil {
		return err
	}
	if err := v.recount(ctx); err != nil {
		return err
	}
	if _, err := v.conn.ExecContext(ctx, "VACUUM"); err != nil {
		return v.explain("compact", err)
	}
	if _, err := v.keeper.merge(ctx, true); err != nil {
		return v.explain("compact", err)
	}
	return v.hook("after compact")
}

// jsonDigests writes digests as a JSON array of hex strings.
func jsonDigests(ds []turn.Digest) string {
	names := make([]string, len(ds))
	for i, d := range ds {
		names[i] = d.String()
	}
	return jsonStrings(names)
}
