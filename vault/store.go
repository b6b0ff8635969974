package vault

import (
	"bytes"
	"database/sql"
	"fmt"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// standing is what the file holds about one artifact before it is stored: one query
// looks it all up.
type standing struct {
	seq            sql.NullInt64 // of the row, when there is one
	id             string
	size, runes    int64
	how, length    sql.NullInt64 // of the body, when there is one
	shown, shownID string        // bound before, "" when never
	pinned, seen   bool          // by the session, and in this call
	owner          []byte        // whose bytes the short id names, nil when nobody's
	gone           bool          // a tombstone stands for the short id
	next           [4][]byte     // the hashes next to it, of artifacts and shown ids; nil when it was shown
}

// look finds out about an artifact for one session and call.
func (w *writing) look(d turn.Digest, session, call, tool string) (s standing, err error) {
	if _, err = w.scan(qLook, []any{&s.seq, &s.id, &s.size, &s.runes, &s.how, &s.length, &s.shown, &s.shownID, &s.pinned, &s.seen,
		&s.owner, &s.next[0], &s.next[1], &s.next[2], &s.next[3]}, d[:], string(d.ID()), session, call, tool); err != nil {
		return s, err
	}
	if s.gone = s.owner != nil; s.seq.Valid || s.shownID != "" {
		s.owner = nil
		return s, nil
	}
	for _, other := range s.next { // hardly ever: half of a hash the same
		if len(other) == len(d) && bytes.Equal(other[:turn.ShortHex/2], d[:turn.ShortHex/2]) {
			var owner []byte
			lo, hi := shaRange(string(d.ID()))
			if _, err = w.scan(qOwner, []any{&owner}, lo, hi, string(d.ID())); owner != nil {
				s.owner = owner
			}
			return s, err
		}
	}
	return s, nil
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
// another way than it did, is compared with the text in hand and put right. pins is
// how many pins the turn has just added to it.
func (w *writing) store(it *item, s standing, id turn.ArtifactID, pins int) error {
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
	return w.exec(qSeeArtifact, seq, w.now, pins)
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
	w.added += it.cost()
	seq, err = res.LastInsertId()
	return seq, w.v.explain(queries[qInsertArtifact].name, err)
}

// show gives the prefix under which the artifact is shown: the one it has, else the
// shortest that is unique now, which then stays bound to it.
func (w *writing) show(d turn.Digest, s standing, id turn.ArtifactID) (string, error) {
	if s.shown != "" {
		return s.shown, nil
	}
	var n [4]string
	for i, sha := range s.next {
		if sha != nil {
			n[i] = fmt.Sprintf("a_%x", sha)
		}
	}
	shown := codec.Shortest(string(id), n[:]...)
	return shown, w.exec(qInsertShown, shown, d[:], string(id))
}
