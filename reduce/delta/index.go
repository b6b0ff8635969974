package delta

import (
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
)

// Base is one earlier text the model sees in the request at hand.
type Base struct {
	Message int    // index of the message it stands in
	Block   string // RFC 6901 pointer inside that message
	Label   string // how notes name it; words a reader finds in the request: "result 7 (Bash: npm test)", "call 12 (Write main.go) content"
	Path    string // file it shows or writes, "" when it is no file's text
	Text    string // decoded and as visible now: reduced when the block is shown reduced
	IsRead  bool   // it is the result of a read
}

const (
	maxTextBytes = 1 << 28 // longer texts are neither bases nor shown as deltas
	minBaseBytes = 32      // shorter texts cannot hold a run worth a note
	maxPostings  = 32      // bases looked at for one line, newest first
	maxPlaces    = 8       // places of one line looked at in one base
)

// indexed is a Base with its lines.
type indexed struct {
	Base
	pieces          // no lines for texts too short or too long to lean on
	short  string   // label after the first mention
	hashes []uint64 // of lines
	again  []int32  // next line with the same hash, -1 none

	// numbered lists the lines that show line numbers, nil when these do not rise.
	numbered []int32
	// listing says that most lines show numbers other than their positions.
	listing bool
}

// number fills numbered and listing.
func (in *indexed) number() {
	last, off, rising := int32(-1), 0, true
	for i, l := range in.lines {
		if !l.style.numbered() {
			continue
		}
		rising = rising && l.num > last
		last = l.num
		in.numbered = append(in.numbered, int32(i))
		if int(l.num) != i+1 {
			off++
		}
	}
	if !rising {
		in.numbered = nil
	}
	in.listing = 2*off > len(in.lines)
}

// find is the line that shows num as its line number, -1 when there is none or the
// shown numbers do not rise.
func (in *indexed) find(num int) int {
	at, ok := slices.BinarySearchFunc(in.numbered, num, func(i int32, num int) int {
		return int(in.lines[i].num) - num
	})
	if !ok {
		return -1
	}
	return int(in.numbered[at])
}

// renumbered says whether a line of [from,to) shows a number other than its position.
func (in *indexed) renumbered(from, to int32) bool {
	for i := from; i < to; i++ {
		if l := in.lines[i]; l.style.numbered() && l.num != i+1 {
			return true
		}
	}
	return false
}

// posting says that a line stands in a base, first at that place.
type posting struct{ base, line, next int32 }

type slot struct {
	hash uint64
	head int32 // newest posting
	last int32 // last line with this hash in the newest posting's base
}

// Index finds lines in visible texts. Adding is for one goroutine; Propose may be
// called by many at once while nobody adds. Texts are kept, not copied.
type Index struct {
	seed     maphash.Seed
	bases    []*indexed // an element is never changed once added
	lines    table
	whole    table
	postings []posting // of lines and of whole texts
}

// NewIndex returns an empty index.
func NewIndex() *Index { return &Index{seed: maphash.MakeSeed()} }

// Len is the number of bases added.
func (ix *Index) Len() int { return len(ix.bases) }

// Base returns the base added i-th, counted from 0.
func (ix *Index) Base(i int) Base { return ix.bases[i].Base }

// Clone returns an index with the same bases that can grow on its own. Texts and
// their lines are shared, the tables are copied (about 40 bytes a distinct line).
func (ix *Index) Clone() *Index {
	return &Index{
		seed:     ix.seed,
		bases:    slices.Clone(ix.bases),
		lines:    ix.lines.clone(),
		whole:    ix.whole.clone(),
		postings: slices.Clone(ix.postings),
	}
}

// Add makes b available to Propose. Add bases in the order of the request: of equal
// candidates the later one is taken, since it stays visible longest. The order
// number of b is the Len before the call.
func (ix *Index) Add(b Base) {
	if b.Label = cleanLabel(b.Label); b.Label == "" {
		b.Label = "text " + strconv.Itoa(len(ix.bases)+1)
	}
	in := &indexed{Base: b, short: shortLabel(b.Label)}
	id := int32(len(ix.bases))
	ix.bases = append(ix.bases, in)
	if len(b.Text) < minBaseBytes || len(b.Text) > maxTextBytes {
		return
	}
	ix.post(&ix.whole, ix.hashWhole(b.Text), id, 0, nil)
	in.pieces = cut(b.Text)
	in.number()
	in.hashes = make([]uint64, len(in.lines))
	in.again = make([]int32, len(in.lines))
	for i, l := range in.lines {
		in.again[i] = -1
		in.hashes[i] = hashPiece(ix.seed, b.Text, l, in.unit)
		ix.post(&ix.lines, in.hashes[i], id, int32(i), in.again)
	}
}

func (ix *Index) hashWhole(text string) uint64 {
	return max(1, maphash.String(ix.seed, text))
}

// post records one line of base id; a repeat inside the base goes to its own chain.
func (ix *Index) post(t *table, hash uint64, id, at int32, again []int32) {
	s := t.slot(hash)
	if s.head >= 0 && ix.postings[s.head].base == id && again != nil {
		again[s.last] = at
		s.last = at
		return
	}
	ix.postings = append(ix.postings, posting{base: id, line: at, next: s.head})
	s.head, s.last = int32(len(ix.postings)-1), at
}

// same returns the newest base whose text is text, preferring those of path; -1 none.
func (ix *Index) same(text, path string) int {
	found := -1
	at := ix.whole.find(ix.hashWhole(text))
	for n := 0; at >= 0 && n < maxPostings; n++ {
		p := ix.postings[at]
		at = p.next
		if ix.bases[p.base].Text != text {
			continue
		}
		if path == "" || ix.bases[p.base].Path == path {
			return int(p.base)
		}
		if found < 0 {
			found = int(p.base)
		}
	}
	return found
}

// table maps hashes to chains of postings by open addressing.
type table struct {
	slots []slot
	used  int
}

func (t *table) clone() table { return table{slots: slices.Clone(t.slots), used: t.used} }

// find returns the newest posting of hash, -1 none.
func (t *table) find(hash uint64) int32 {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch t.slots[i].hash {
		case hash:
			return t.slots[i].head
		case 0:
			return -1
		}
	}
}

// slot returns the place of hash, made when missing.
func (t *table) slot(hash uint64) *slot {
	if 2*t.used >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		switch s.hash {
		case hash:
			return s
		case 0:
			*s = slot{hash: hash, head: -1, last: -1}
			t.used++
			return s
		}
	}
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, max(256, 2*len(old)))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.hash == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].hash != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// cleanLabel keeps a label on one line.
func cleanLabel(label string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, label)
}

// shortLabel leaves out the part in parentheses.
func shortLabel(label string) string {
	from, to := strings.Index(label, " ("), strings.LastIndexByte(label, ')')
	if from <= 0 || to < from {
		return label
	}
	return label[:from] + label[to+1:]
}
