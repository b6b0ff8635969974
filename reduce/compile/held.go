package compile

import (
	"slices"

	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/turn"
)

// held lists the originals behind the ids that remembered decisions show again. The
// vault looks whether they still stand.
func (d *Draft) held() []turn.Digest {
	var all []turn.Digest
	seen := map[turn.Digest]bool{}
	for _, b := range d.remembered() {
		if before := b.Decision.Before; b.Decision.ShownID() != "" && !seen[before] {
			seen[before] = true
			all = append(all, before)
		}
	}
	return all
}

// Held implements turn.Source: the original of a remembered decision, out of the request.
func (d *Draft) Held(digest turn.Digest) (turn.Artifact, bool) {
	for _, b := range d.remembered() {
		if b.Decision.Before != digest || b.Message >= len(d.doc.Messages) {
			continue
		}
		m := d.doc.Messages[b.Message]
		at := slices.IndexFunc(m.Texts, func(t request.Text) bool { return t.Block == b.Decision.Block })
		if at < 0 {
			continue
		}
		value, err := d.doc.Value(m.Texts[at])
		if err != nil || turn.Sum(value) != digest {
			continue
		}
		return d.artifact(b.Message, reduce.Block{Text: value, Call: d.call(b.Message, b.Decision.Block)}, b.Decision), true
	}
	return turn.Artifact{}, false
}

// lost says of which originals the remembered decisions may not be shown: those the
// vault has no more, and those it shows under another id since it was made anew.
func (d *Draft) lost(pinned turn.Pinned) map[turn.Digest]bool {
	lost := map[turn.Digest]bool{}
	for _, digest := range pinned.Missing {
		lost[digest] = true
	}
	for _, b := range d.remembered() {
		proof, again := pinned.Proofs[b.Decision.Before]
		if id := b.Decision.ShownID(); again && id != "" && proof.Shown != "" && proof.Shown != id {
			lost[b.Decision.Before] = true
		}
	}
	return lost
}

// standing is blocks without the remembered ones whose originals are lost, and without
// what leans on them: in this request they are shown as they were.
func (d *Draft) standing(blocks []Block, lost map[turn.Digest]bool) []Block {
	if len(lost) == 0 {
		return blocks
	}
	return d.withoutDependents(blocks, func(b Block) bool {
		return !b.New && b.Decision.ShownID() != "" && lost[b.Decision.Before]
	})
}
