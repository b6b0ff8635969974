package evidence

import "strings"

// why says for what a line is kept. Higher values win over lower ones.
type why uint8

const (
	ordinary  why = iota // may go
	neighbour            // stands next to evidence
	sampled              // one of the shown examples of its shape
	edge                 // head or tail
	structure            // summary, heading or first hit, by the rules of the kind
	odd                  // rare shape
	value                // rare or outlying value
	severe               // names an error or a warning
)

// evidence says that the line is protected: the view is refused without it.
func (w why) evidence() bool { return w >= structure }

// source is a text cut into lines, with what the scan found in each.
type source struct {
	text  string
	start []int32  // where each line starts; one more than there are lines
	shape []int32  // index of each line's shape
	slots []slot   // the masked values of all lines, in order
	first []int32  // where each line's slots start; one more than there are lines
	sev   []uint8  // severity bits of each line
	full  []uint64 // hash of each line's bytes
	same  []int32  // for a line inside a repeated run, the line it repeats; else -1
	noise []bool   // lines that the rules of the kind call foldable, whatever their shape; nil none
	file  []string // search hits: the file of each line, "" none; nil for other kinds
	fold  string   // what the notes call them, e.g. "all passed"
	keep  []why
	count []int32 // lines of each shape
	lead  []int32 // first line of each shape
}

// slot is one masked value.
type slot struct {
	id  uint64  // hash of the value's text
	num float64 // its number; NaN when it is no number
}

func (s *source) lines() int { return len(s.shape) }

// line gives a line without its end.
func (s *source) line(i int) string {
	l := s.text[s.start[i]:s.start[i+1]]
	l = strings.TrimSuffix(l, "\n")
	return strings.TrimSuffix(l, "\r")
}

// raw gives a line with its end.
func (s *source) raw(i int) string { return s.text[s.start[i]:s.start[i+1]] }

// mark raises what line i is kept for.
func (s *source) mark(i int, w why) {
	if s.keep[i] < w {
		s.keep[i] = w
	}
}

// read scans the text. Sizes are guessed from the text's length, so that few
// allocations are needed. skip, when not nil, gives how many bytes of a line are no
// part of its shape.
func read(text string, skip func(line string) int) *source {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	s := &source{
		text: text, start: make([]int32, 0, n+1), shape: make([]int32, n), first: make([]int32, 0, n+1),
		sev: make([]uint8, n), full: make([]uint64, n), keep: make([]why, n), slots: make([]slot, 0, len(text)/16+16),
	}
	shapes := newTable(1024)
	sc := scanner{slots: s.slots}
	for i, pos := 0, 0; i < n; i++ {
		s.start = append(s.start, int32(pos))
		s.first = append(s.first, int32(len(sc.slots)))
		end := strings.IndexByte(text[pos:], '\n')
		next := pos + end + 1
		if end < 0 {
			end, next = len(text)-pos, len(text)
		}
		from := pos
		if skip != nil {
			from += skip(text[pos : pos+end])
		}
		sc.scan(text[from : pos+end])
		s.sev[i], s.full[i] = sc.sev, hash(text[pos:pos+end])
		id, fresh := shapes.add(sc.shape)
		if fresh {
			s.lead = append(s.lead, int32(i))
		}
		s.shape[i] = id
		pos = next
	}
	s.slots, s.count = sc.slots, make([]int32, len(s.lead))
	s.start = append(s.start, int32(len(text)))
	s.first = append(s.first, int32(len(s.slots)))
	return s
}

// table numbers 64-bit keys in the order they come. Open addressing; the keys are
// hashes already.
type table struct {
	keys []uint64
	vals []int32 // index + 1, 0 empty
	n    int
}

func newTable(size int) *table {
	return &table{keys: make([]uint64, size), vals: make([]int32, size)}
}

// add gives the number of key and whether it is new.
func (t *table) add(key uint64) (int32, bool) {
	if t.n*2 >= len(t.keys) {
		t.grow()
	}
	mask := uint64(len(t.keys) - 1)
	for i := (key ^ key>>29) & mask; ; i = (i + 1) & mask {
		if t.vals[i] == 0 {
			t.n++
			t.keys[i], t.vals[i] = key, int32(t.n)
			return int32(t.n - 1), true
		}
		if t.keys[i] == key {
			return t.vals[i] - 1, false
		}
	}
}

func (t *table) grow() {
	old := *t
	t.keys, t.vals = make([]uint64, 2*len(old.keys)), make([]int32, 2*len(old.keys))
	mask := uint64(len(t.keys) - 1)
	for j, v := range old.vals {
		if v == 0 {
			continue
		}
		i := (old.keys[j] ^ old.keys[j]>>29) & mask
		for t.vals[i] != 0 {
			i = (i + 1) & mask
		}
		t.keys[i], t.vals[i] = old.keys[j], v
	}
}

const (
	seed  = 0x9e3779b97f4a7c15
	prime = 0x9fb21c651e98df25
)

// hash gives a 64-bit hash of a text, eight bytes at a time.
func hash(s string) uint64 {
	h := uint64(seed) ^ uint64(len(s))*prime
	for len(s) >= 8 {
		v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = (h ^ v) * prime
		h ^= h >> 32
		s = s[8:]
	}
	var v uint64
	for i := 0; i < len(s); i++ {
		v |= uint64(s[i]) << (8 * i)
	}
	h = (h ^ v) * prime
	h = (h ^ h>>32) * prime
	return h ^ h>>29
}

// mix folds one more value into a hash.
func mix(h, v uint64) uint64 {
	h = (h ^ v) * prime
	return h ^ h>>32
}
