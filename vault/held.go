package vault

import (
	"database/sql"
	"slices"
	"sync"

	"token-terminator/turn"
)

// hold looks whether the held artifacts of a turn still stand: pin, row, body and shown
// id. One that does not is stored again from the request in hand, in this transaction;
// one that cannot be is missing. While nothing was removed from the file since they were
// last looked for, that costs one row read.
func (w *writing) hold(j *job) error {
	if len(j.ev.Held) == 0 {
		return nil
	}
	found, err := w.scan(qRemoved, []any{&j.removed})
	if err == nil && !found {
		j.removed = -1 // a damaged file: look every time
	}
	if err != nil {
		return err
	}
	unsure := w.v.standing.without(j.removed, j.session, j.ev.Held)
	stands := make(map[turn.Digest]bool, len(unsure))
	for batch := range slices.Chunk(unsure, proofsBatch) {
		if err := w.stand(j.session, batch, stands); err != nil {
			return err
		}
	}
	for _, d := range unsure {
		_, fresh := j.proofs[d]
		switch {
		case fresh:
		case stands[d]:
			j.stands = append(j.stands, d)
		default:
			if err := w.restore(j, d); err != nil {
				return err
			}
		}
	}
	for _, it := range j.items {
		j.stands = append(j.stands, it.Digest)
	}
	return nil
}

// stand notes which digests have everything that a shown id needs.
func (w *writing) stand(session string, digests []turn.Digest, stands map[turn.Digest]bool) error {
	name := queries[qStanding].name
	if err := w.v.hook("before " + name); err != nil {
		return err
	}
	rows, err := w.v.stmts[qStanding].QueryContext(w.run, session, jsonDigests(digests))
	if err != nil {
		return w.v.explain(name, err)
	}
	defer rows.Close()
	for rows.Next() {
		var sha sql.RawBytes
		if err := rows.Scan(&sha); err != nil {
			return w.v.explain(name, err)
		}
		stands[turn.Digest(sha)] = true
	}
	if err := rows.Err(); err != nil {
		return w.v.explain(name, err)
	}
	return w.v.hook("after " + name)
}

// restore stores a held artifact again.
func (w *writing) restore(j *job, d turn.Digest) error {
	it := heldItem(j.ev.Source, d, w.v.o.MaxArtifactRunes)
	if it == nil {
		j.missing = append(j.missing, d)
		return nil
	}
	w.v.verified.drop(d)
	proof, err := w.item(j, it)
	if err != nil {
		return err
	}
	j.items, j.proofs[d] = append(j.items, it), proof
	return nil
}

// heldItem is a held artifact from the request in hand, nil when it is not there or is
// not what the digest says.
func heldItem(from turn.Source, d turn.Digest, maxRunes int) *item {
	if from == nil {
		return nil
	}
	a, ok := from.Held(d)
	if !ok || a.Digest != d {
		return nil
	}
	it, err := newItem(a, maxRunes)
	if err != nil {
		return nil
	}
	return it
}

// standSet remembers which artifacts were found in their place for which sessions, as
// long as the file's counter of removals stands still. Safe for concurrent use.
type standSet struct {
	mu      sync.Mutex
	removed int64
	in      map[stander]struct{}
}

type stander struct {
	session string
	digest  turn.Digest
}

// maxStanding bounds the set; when it is full it starts again.
const maxStanding = 100_000

// without gives the digests that are not known to stand, each once.
func (s *standSet) without(removed int64, session string, all []turn.Digest) []turn.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []turn.Digest
	seen := map[turn.Digest]bool{}
	for _, d := range all {
		if _, ok := s.in[stander{session, d}]; ok && s.removed == removed && removed >= 0 || seen[d] {
			continue
		}
		seen[d] = true
		out = append(out, d)
	}
	return out
}

func (s *standSet) add(removed int64, session string, all []turn.Digest) {
	if len(all) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed != removed || s.in == nil || len(s.in)+len(all) > maxStanding {
		s.removed, s.in = removed, make(map[stander]struct{}, len(all))
	}
	for _, d := range all {
		s.in[stander{session, d}] = struct{}{}
	}
}

// hold keeps the contract of Vault's.
func (s *memState) hold(j *job, o Options, put func(*item)) {
	for _, d := range j.ev.Held {
		_, there := s.artifacts[d]
		if _, fresh := j.proofs[d]; fresh || there && s.pins[memPin{j.session, d}] || slices.Contains(j.missing, d) {
			continue
		}
		if it := heldItem(j.ev.Source, d, o.MaxArtifactRunes); it != nil {
			put(it)
		} else {
			j.missing = append(j.missing, d)
		}
	}
}
