package tokens

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sync"
	"unicode/utf8"
)

// entryOverhead is what one entry costs beside its text, in bytes: the entry,
// its place in the map and its counts, rounded up.
const entryOverhead = 256

// Memo remembers the counts of texts, so that an unchanged part of a request is
// hashed and compared instead of counted. It is bounded by bytes and drops what
// was used least recently. A hit rests on comparing the stored bytes, never on a
// hash alone. Safe for concurrent use.
type Memo struct {
	seeds [2]maphash.Seed
	max   int

	mu      sync.Mutex
	used    int
	entries map[memoKey]*memoEntry
	list    memoEntry // ring: list.next was used last, list.prev longest ago
}

// memoKey is two hashes under seeds of this process and the length.
type memoKey struct {
	a, b uint64
	n    int
}

// memoEntry is one text. Only counts and the ring change after it was made, both
// under the memo's lock.
type memoEntry struct {
	key        memoKey
	text       []byte
	runes      int // code points; -1: not UTF-8
	counts     []memoCount
	prev, next *memoEntry
}

type memoCount struct {
	name   string
	tokens int
}

// NewMemo returns a memo that holds at most maxBytes, its own overhead included.
// A value of 0 or less gives a memo that remembers nothing.
func NewMemo(maxBytes int) *Memo {
	m := &Memo{
		seeds:   [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		max:     maxBytes,
		entries: map[memoKey]*memoEntry{},
	}
	m.list.prev, m.list.next = &m.list, &m.list
	return m
}

// Count is c.Count(seg), remembered. Counters are told apart by name. seg is not kept.
func (m *Memo) Count(c Counter, seg []byte) int {
	set := counterSet{c}
	key := m.keyOf(seg)
	t, ok := m.find(key, set, seg)
	if !ok {
		t = tallyOf(set, seg)
		m.store(key, set, seg, t)
	}
	return t.tokens[0]
}

// Bytes is how much the memo holds now, overhead included.
func (m *Memo) Bytes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// counterSet is what measures a text: one counter, or two for the panel.
type counterSet [2]Counter

// tally is what a counterSet says about one text.
type tally struct {
	runes  int // -1: not UTF-8
	tokens [len(counterSet{})]int
}

func tallyOf(set counterSet, text []byte) tally {
	t := tally{runes: -1}
	if utf8.Valid(text) {
		t.runes = runesOf(text)
	}
	for i, c := range set {
		if c != nil {
			t.tokens[i] = c.Count(text)
		}
	}
	return t
}

// runesOf counts the code points of UTF-8: every byte that continues none begins one.
func runesOf(text []byte) int {
	n := len(text)
	for len(text) >= 8 {
		w := binary.LittleEndian.Uint64(text)
		n -= bits.OnesCount64(w >> 7 &^ (w >> 6) & 0x0101010101010101)
		text = text[8:]
	}
	for _, b := range text {
		if b&0xc0 == 0x80 {
			n--
		}
	}
	return n
}

func (m *Memo) keyOf(text []byte) memoKey {
	return memoKey{maphash.Bytes(m.seeds[0], text), maphash.Bytes(m.seeds[1], text), len(text)}
}

// find returns what is known of text, when it is known for the whole set.
func (m *Memo) find(key memoKey, set counterSet, text []byte) (tally, bool) {
	m.mu.Lock()
	e := m.entries[key]
	if e == nil {
		m.mu.Unlock()
		return tally{}, false
	}
	t, ok := e.tallyFor(set)
	m.touch(e)
	m.mu.Unlock()
	return t, ok && bytes.Equal(e.text, text)
}

func (e *memoEntry) tallyFor(set counterSet) (tally, bool) {
	t := tally{runes: e.runes}
	for i, c := range set {
		if c == nil {
			continue
		}
		n, ok := e.count(c.Name())
		if !ok {
			return tally{}, false
		}
		t.tokens[i] = n
	}
	return t, true
}

func (e *memoEntry) count(name string) (int, bool) {
	for i := range e.counts {
		if e.counts[i].name == name {
			return e.counts[i].tokens, true
		}
	}
	return 0, false
}

// store keeps t for text. When other bytes own the key, they keep it.
func (m *Memo) store(key memoKey, set counterSet, text []byte, t tally) {
	cost := len(text) + entryOverhead
	if cost > m.max {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if e == nil {
		e = &memoEntry{key: key, text: bytes.Clone(text), runes: t.runes}
		m.entries[key] = e
		m.used += cost
		m.push(e)
		m.shrink()
	} else if !bytes.Equal(e.text, text) {
		return
	}
	for i, c := range set {
		if c == nil {
			continue
		}
		if _, known := e.count(c.Name()); !known {
			e.counts = append(e.counts, memoCount{c.Name(), t.tokens[i]})
		}
	}
}

func (m *Memo) shrink() {
	for m.used > m.max {
		e := m.list.prev
		e.prev.next, e.next.prev = e.next, e.prev
		delete(m.entries, e.key)
		m.used -= len(e.text) + entryOverhead
	}
}

func (m *Memo) touch(e *memoEntry) {
	e.prev.next, e.next.prev = e.next, e.prev
	m.push(e)
}

func (m *Memo) push(e *memoEntry) {
	e.prev, e.next = &m.list, m.list.next
	e.prev.next, e.next.prev = e, e
}
