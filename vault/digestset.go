package vault

import (
	"sync"

	"token-terminator/turn"
)

// digestSet remembers the last n digests that were added. Safe for concurrent use.
type digestSet struct {
	mu   sync.Mutex
	in   map[turn.Digest]struct{}
	ring []turn.Digest
	next int
}

func newDigestSet(n int) *digestSet {
	return &digestSet{in: make(map[turn.Digest]struct{}), ring: make([]turn.Digest, 0, n)}
}

func (s *digestSet) has(d turn.Digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.in[d]
	return ok
}

func (s *digestSet) add(d turn.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.in[d]; ok {
		return
	}
	s.in[d] = struct{}{}
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
