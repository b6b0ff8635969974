package vault

import (
	"fmt"
	"unicode/utf8"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// What rows count against the capacity beside the strings in them: columns of fixed
// size, index entries and page overhead, rounded up.
const (
	artifactOverhead    = 320 // with its shown id
	observationOverhead = 160
	pinOverhead         = 260
	nodeOverhead        = 240
)

// kindArguments marks artifacts that hold a call's long arguments.
const kindArguments = "arguments"

// item is one artifact that passed the checks which need no database.
type item struct {
	turn.Artifact // labels bounded
	runes         int
	argsKept      string
	argsBytes     int
	argsItem      *item // long arguments, stored as an artifact of their own

	how    int // how body is written, once packed is true
	body   []byte
	packed bool
}

// pack makes the bytes that go into the file, once.
func (it *item) pack(p *codec.Packer) {
	if !it.packed {
		it.how, it.body = p.Pack(it.Text)
		it.packed = true
	}
}

func (it *item) cost() int64 {
	return artifactOverhead + int64(len(it.Text)+len(it.Tool)+len(it.Kind))
}

func (it *item) observationCost(session string) int64 {
	return observationOverhead + int64(len(session)+len(it.CallID)+len(it.Tool)+len(it.argsKept))
}

func pinCost(session string) int64 { return pinOverhead + int64(len(session)) }

func nodeCost(session string, decisions []byte) int64 {
	return nodeOverhead + int64(len(session)+len(decisions))
}

// checkText says whether the vault takes this text under this digest, and how many
// code points it has.
func checkText(text string, digest turn.Digest, maxRunes int) (runes int, err error) {
	if !utf8.ValidString(text) {
		return 0, errUnicode
	}
	runes = utf8.RuneCountInString(text)
	if runes > maxRunes {
		return 0, fmt.Errorf("%w of %d characters: it has %d", errTooLarge, maxRunes, runes)
	}
	if turn.Sum(text) != digest {
		return 0, errDigest
	}
	return runes, nil
}

// newItem checks one artifact and bounds what comes with it. Long arguments become
// an item of their own when they are text within the limit; else the preview and
// their length are all that stays.
func newItem(a turn.Artifact, maxRunes int) (*item, error) {
	runes, err := checkText(a.Text, a.Digest, maxRunes)
	if err != nil {
		return nil, err
	}
	it := &item{Artifact: a, runes: runes, argsBytes: len(a.Args)}
	it.Tool, it.CallID, it.Kind = codec.Label(a.Tool), codec.Label(a.CallID), codec.Label(a.Kind)
	var long bool
	if it.argsKept, long = codec.Args(a.Args); !long {
		return it, nil
	}
	args := turn.Artifact{Digest: turn.Sum(a.Args), Text: a.Args, Tool: it.Tool, CallID: it.CallID, Kind: kindArguments}
	if runes, err := checkText(args.Text, args.Digest, maxRunes); err == nil {
		it.argsItem = &item{Artifact: args, runes: runes}
	}
	return it, nil
}

// job is one turn's evidence on its way through a group.
type job struct {
	ev      turn.Evidence
	session string
	items   []*item     // of the evidence, then those that were stored again
	given   int         // items of the evidence
	bad     turn.Reason // of the first artifact that was refused
	err     error       // of the whole turn
	proofs  map[turn.Digest]turn.Proof
	stands  []turn.Digest // held artifacts that were found in their place
	missing []turn.Digest // held artifacts that are gone and could not be stored again
	removed int64         // the counter of removals when that was found
}

// ready is what can be made of evidence without the database.
type ready struct {
	items []*item
	bad   turn.Reason
}

// Prepare checks, hashes and packs a turn's artifacts, which needs no database. Whoever
// has the evidence calls it before handing it on, so that the one goroutine that writes
// does nothing but that; Put and PutAll do it themselves for evidence that is not ready.
func (v *Vault) Prepare(ev turn.Evidence) turn.Evidence {
	r := makeReady(ev, v.o.MaxArtifactRunes)
	r.pack(v)
	ev.Ready = r
	return ev
}

// makeReady checks each artifact. A refused one does not hurt the others of its turn.
func makeReady(ev turn.Evidence, maxRunes int) *ready {
	r := &ready{}
	for _, a := range ev.Artifacts {
		it, err := newItem(a, maxRunes)
		if err == nil {
			r.items = append(r.items, it)
		} else if r.bad == "" {
			r.bad = reasonOf(err)
		}
	}
	return r
}

func newJob(ev turn.Evidence, maxRunes int) *job {
	j := &job{ev: ev, session: codec.Label(ev.Binding.Session)}
	if j.session == "" {
		j.err = ErrBinding
		return j
	}
	r, ok := ev.Ready.(*ready)
	if !ok {
		r = makeReady(ev, maxRunes)
		j.ev.Ready = r
	}
	j.given = len(r.items)
	j.items, j.bad = r.items[:j.given:j.given], r.bad
	return j
}

// forget takes back what a transaction that was rolled back said.
func (j *job) forget() {
	j.items = j.items[:j.given:j.given]
	j.proofs, j.err, j.stands, j.missing = nil, nil, nil, nil
}

// pack compresses what is not known to stand in the file already.
func (r *ready) pack(v *Vault) {
	for _, it := range r.items {
		for _, one := range []*item{it, it.argsItem} {
			if one != nil && !v.verified.has(one.Digest) {
				one.pack(v.packer)
			}
		}
	}
}

func (j *job) refuse(why turn.Reason) {
	if j.bad == "" {
		j.bad = why
	}
}

// result is the answer to the turn.
func (j *job) result() PutResult {
	p := turn.Pinned{Binding: j.ev.Binding, Proofs: j.proofs, Missing: j.missing, Reason: j.bad}
	if p.Proofs == nil {
		p.Proofs = map[turn.Digest]turn.Proof{}
	}
	if j.err != nil {
		p.Proofs, p.Missing, p.Reason = map[turn.Digest]turn.Proof{}, nil, reasonOf(j.err)
	}
	return PutResult{Pinned: p, Err: j.err}
}
