package vault

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// store makes sure that the artifact's row and body stand in the file and gives its
// id. A known artifact whose body was not yet read in this process is compared with
// the text in hand and put right when it differs.
func (w *writing) store(it *item) (turn.ArtifactID, error) {
	var seq int64
	var id string
	var size, runes int64
	known, err := w.scan(qArtifactBySHA, []any{&seq, &id, &size, &runes}, it.Digest[:])
	if err != nil {
		return "", err
	}
	if !known {
		return w.insert(it)
	}
	w.mine[seq] = true
	if size != int64(len(it.Text)) || runes != int64(it.runes) || !w.v.verified.has(it.Digest) {
		if err := w.heal(seq, size, runes, it); err != nil {
			return "", err
		}
	}
	return turn.ArtifactID(id), w.exec(qSeeArtifact, seq, w.now)
}

// heal compares a stored body with the evidence and rewrites what differs.
func (w *writing) heal(seq, size, runes int64, it *item) error {
	var body sql.RawBytes
	same, err := w.compareBody(seq, it.Text, &body)
	if err != nil {
		return err
	}
	if size != int64(len(it.Text)) || runes != int64(it.runes) {
		if err := w.exec(qHealArtifact, seq, len(it.Text), it.runes, it.cost()); err != nil {
			return err
		}
	}
	if same {
		return nil
	}
	w.v.verified.drop(it.Digest)
	return w.exec(qHealBody, seq, []byte(it.Text))
}

func (w *writing) compareBody(seq int64, text string, body *sql.RawBytes) (same bool, err error) {
	name := queries[qBodyBySeq].name
	if err := w.v.hook("before " + name); err != nil {
		return false, err
	}
	rows, err := w.v.stmts[qBodyBySeq].QueryContext(w.ctx, seq)
	if err != nil {
		return false, w.v.explain(name, err)
	}
	defer rows.Close()
	if rows.Next() {
		if err := rows.Scan(body); err != nil {
			return false, w.v.explain(name, err)
		}
		same = string(*body) == text
	}
	if err := rows.Err(); err != nil {
		return false, w.v.explain(name, err)
	}
	return same, w.v.hook("after " + name)
}

// insert writes a new artifact, or one whose row was lost. It keeps the id it had;
// otherwise the short id, or the long one when the short one names other bytes.
func (w *writing) insert(it *item) (turn.ArtifactID, error) {
	id, err := w.chooseID(it.Digest)
	if err != nil {
		return "", err
	}
	err = w.exec(qInsertArtifact, string(id), it.Digest[:], len(it.Text), it.runes, it.Tool, it.Kind, w.now, it.cost())
	if err != nil {
		return "", err
	}
	var seq int64
	var stored string
	var size, runes int64
	if _, err := w.scan(qArtifactBySHA, []any{&seq, &stored, &size, &runes}, it.Digest[:]); err != nil {
		return "", err
	}
	w.mine[seq] = true
	if err := w.exec(qInsertBody, seq, []byte(it.Text)); err != nil {
		return "", err
	}
	w.v.verified.drop(it.Digest)
	return id, w.exec(qDropTombstone, string(id))
}

func (w *writing) chooseID(d turn.Digest) (turn.ArtifactID, error) {
	var before string
	if found, err := w.scan(qIDByShownSHA, []any{&before}, d[:]); err != nil || found {
		return turn.ArtifactID(before), err
	}
	var owner []byte
	found, err := w.scan(qIDOwner, []any{&owner}, string(d.ID()))
	if err != nil {
		return "", err
	}
	if found && !bytes.Equal(owner, d[:]) {
		return d.LongID(), nil
	}
	return d.ID(), nil
}

// show gives the prefix under which the artifact is shown: the one it has, else the
// shortest that is unique now, which then stays bound to it.
func (w *writing) show(d turn.Digest, id turn.ArtifactID) (string, error) {
	var shown, named string
	if found, err := w.scan(qShownBySHA, []any{&shown, &named}, d[:]); err != nil || found {
		return shown, err
	}
	var n [4]string
	if _, err := w.scan(qNeighbours, []any{&n[0], &n[1], &n[2], &n[3]}, string(id)); err != nil {
		return "", err
	}
	shown = codec.Shortest(string(id), n[:]...)
	return shown, w.exec(qInsertShown, shown, d[:], string(id))
}

// readBackAll proves the turn's artifacts on another connection. An artifact that
// does not come back equal loses its proof.
func (v *Vault) readBackAll(ctx context.Context, j *job) {
	if j.err != nil {
		return
	}
	for _, it := range j.items {
		if _, ok := j.proofs[it.Digest]; !ok || v.verified.has(it.Digest) {
			continue
		}
		if err := v.readBack(ctx, it); err != nil {
			delete(j.proofs, it.Digest)
			j.refuse(reasonOf(err))
			continue
		}
		v.verified.add(it.Digest)
	}
}

func (v *Vault) readBack(ctx context.Context, it *item) error {
	if err := v.hook("before read-back"); err != nil {
		return err
	}
	rows, err := v.reads[rReadBack].QueryContext(ctx, it.Digest[:])
	if err != nil {
		return v.explain("read back", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(fmt.Errorf("%w: the row is missing", ErrReadBack), rows.Err())
	}
	var size, runes int
	var body sql.RawBytes
	if err := rows.Scan(&size, &runes, &body); err != nil {
		return v.explain("read back", err)
	}
	if len(body) != size || size != len(it.Text) || runes != it.runes || turn.SumBytes(body) != it.Digest {
		return ErrReadBack
	}
	return v.hook("after read-back")
}
