package vault

import (
	"sync"

	"token-terminator/turn"
)

// mark is how a body lay in the file when it was read back and found equal.
type mark struct{ how, size int }

// digestSet remembers the last n digests that were added, with their marks. Safe for
// concurrent use.
type digestSet struct {
	mu   sync.Mutex
	in   map[turn.Digest]mark
	ring []turn.Digest
	next int
}

func newDigestSet(n int) *digestSet {
	return &digestSet{in: make(map[turn.Digest]mark), ring: make([]turn.Digest, 0, n)}
}

func (s *digestSet) has(d turn.Digest) bool {
	_, ok := s.of(d)
	return ok
}

// of gives the mark of a digest that was added.
func (s *digestSet) of(d turn.Digest) (mark, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.in[d]
	return m, ok
}

func (s *digestSet) add(d turn.Digest, m mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.in[d]
	s.in[d] = m
	if known {
		return
	}
	if len(s.ring) < cap(s.ring) {
		s.ring = append(s.ring, d)
		return
	}
	delete(s.in, s.ring[s.next])
	s.ring[s.next] = d
	s.next = (s.next + 1) % len(s.ring)
}

func (s *digestSet) drop(d turn.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.in, d) // its ring slot stays and frees nothing when it comes round
}
