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

// standing is what the file holds about one artifact before it is stored: one query
// looks it all up.
type standing struct {
	seq                sql.NullInt64 // of the row, when there is one
	id                 string
	size, runes        int64
	how, length        sql.NullInt64 // of the body, when there is one
	shown, shownID     string        // bound before, "" when never
	owner              []byte        // whose bytes the short id names, nil when nobody's
	gone               bool          // a tombstone stands for the short id
	below, above       string        // ids next to the short one
	shownLow, shownTop string
}

func (w *writing) look(d turn.Digest) (s standing, err error) {
	_, err = w.scan(qLook, []any{&s.seq, &s.id, &s.size, &s.runes, &s.how, &s.length, &s.shown, &s.shownID,
		&s.owner, &s.gone, &s.below, &s.above, &s.shownLow, &s.shownTop}, d[:], string(d.ID()))
	return s, err
}

// artifactID is the id the artifact has, had, or gets: the short one, or the long one
// when the short one names other bytes.
func (s standing) artifactID(d turn.Digest) turn.ArtifactID {
	switch {
	case s.seq.Valid:
		return turn.ArtifactID(s.id)
	case s.shownID != "":
		return turn.ArtifactID(s.shownID)
	case s.owner != nil && !bytes.Equal(s.owner, d[:]):
		return d.LongID()
	}
	return d.ID()
}

// store makes sure that the artifact's row and body stand in the file. A known
// artifact whose body was not yet read in this process, or which lies there in
// another way than it did, is compared with the text in hand and put right.
func (w *writing) store(it *item, s standing, id turn.ArtifactID) error {
	if !s.seq.Valid {
		return w.insert(it, s, id)
	}
	seq := s.seq.Int64
	w.mine[seq] = true
	at, proved := w.v.verified.of(it.Digest)
	proved = proved && s.how.Valid && at == mark{int(s.how.Int64), int(s.length.Int64)}
	if !proved || s.size != int64(len(it.Text)) || s.runes != int64(it.runes) {
		if err := w.heal(seq, s, it); err != nil {
			return err
		}
	}
	return w.exec(qSeeArtifact, seq, w.now)
}

// heal compares a stored body with the evidence and rewrites what differs.
func (w *writing) heal(seq int64, s standing, it *item) error {
	same, err := w.compareBody(seq, it.Text)
	if err != nil {
		return err
	}
	if s.size != int64(len(it.Text)) || s.runes != int64(it.runes) {
		if err := w.exec(qHealArtifact, seq, len(it.Text), it.runes, it.cost()); err != nil {
			return err
		}
	}
	if same {
		return nil
	}
	return w.body(qHealBody, seq, it)
}

func (w *writing) body(q query, seq int64, it *item) error {
	it.pack(w.v.packer)
	w.v.verified.drop(it.Digest)
	w.size += int64(len(it.body))
	return w.exec(q, seq, it.how, it.body)
}

func (w *writing) compareBody(seq int64, text string) (same bool, err error) {
	var how int
	var body []byte
	found, err := w.scan(qBodyBySeq, []any{&how, &body}, seq)
	if err != nil || !found {
		return false, err
	}
	raw, err := w.v.packer.Unpack(how, body, len(text))
	return err == nil && string(raw) == text, nil
}

// insert writes a new artifact, or one whose row was lost.
func (w *writing) insert(it *item, s standing, id turn.ArtifactID) error {
	seq, err := w.insertRow(it, id)
	if err != nil {
		return err
	}
	w.mine[seq] = true
	if err := w.body(qInsertBody, seq, it); err != nil {
		return err
	}
	if !s.gone && id == it.Digest.ID() {
		return nil
	}
	return w.exec(qDropTombstone, string(id))
}

func (w *writing) insertRow(it *item, id turn.ArtifactID) (seq int64, err error) {
	res, err := w.result(qInsertArtifact, string(id), it.Digest[:], len(it.Text), it.runes, it.Tool, it.Kind, w.now, it.cost())
	if err != nil {
		return 0, err
	}
	seq, err = res.LastInsertId()
	return seq, w.v.explain(queries[qInsertArtifact].name, err)
}

// show gives the prefix under which the artifact is shown: the one it has, else the
// shortest that is unique now, which then stays bound to it.
func (w *writing) show(d turn.Digest, s standing, id turn.ArtifactID) (string, error) {
	if s.shown != "" {
		return s.shown, nil
	}
	n := [4]string{s.below, s.above, s.shownLow, s.shownTop}
	if id != d.ID() {
		if _, err := w.scan(qNeighbours, []any{&n[0], &n[1], &n[2], &n[3]}, string(id)); err != nil {
			return "", err
		}
	}
	shown := codec.Shortest(string(id), n[:]...)
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
		m, err := v.readBack(ctx, it)
		if err != nil {
			delete(j.proofs, it.Digest)
			j.refuse(reasonOf(err))
			continue
		}
		v.verified.add(it.Digest, m)
	}
}

// readBack reads one artifact on another connection and compares hash and lengths.
func (v *Vault) readBack(ctx context.Context, it *item) (mark, error) {
	if err := v.hook("before read-back"); err != nil {
		return mark{}, err
	}
	rows, err := v.reads[rReadBack].QueryContext(ctx, it.Digest[:])
	if err != nil {
		return mark{}, v.explain("read back", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return mark{}, errors.Join(fmt.Errorf("%w: the row is missing", ErrReadBack), rows.Err())
	}
	var size, runes, how int
	var body sql.RawBytes
	if err := rows.Scan(&size, &runes, &how, &body); err != nil {
		return mark{}, v.explain("read back", err)
	}
	if size != len(it.Text) || runes != it.runes {
		return mark{}, ErrReadBack
	}
	raw, err := v.packer.Unpack(how, body, size)
	if err != nil || len(raw) != size || turn.SumBytes(raw) != it.Digest {
		return mark{}, ErrReadBack
	}
	return mark{how, len(body)}, v.hook("after read-back")
}
