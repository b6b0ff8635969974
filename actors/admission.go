package actors

import (
	"sync"
	"sync/atomic"

	"token-terminator/turn"
)

// gate bounds what is in flight. It never blocks: mailboxes are unbounded, and who
// does not get in is answered at once.
type gate struct {
	mu       sync.Mutex
	items    int
	bytes    int64
	maxItems int // 0: no bound
	maxBytes int64
}

// admit takes one place and size bytes, or says why not.
func (g *gate) admit(size int64) (*ticket, turn.Reason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case size > g.maxBytes:
		return nil, turn.TooLarge
	case g.bytes+size > g.maxBytes, g.maxItems > 0 && g.items >= g.maxItems:
		return nil, turn.Busy
	}
	g.items++
	g.bytes += size
	return &ticket{gate: g, size: size}, ""
}

func (g *gate) load() (items int, bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.items, g.bytes
}

// ticket is one admission; a nil ticket is none.
type ticket struct {
	gate     *gate
	size     int64
	returned atomic.Bool
}

// release gives the place back. Only the first call counts.
func (t *ticket) release() {
	if t == nil || !t.returned.CompareAndSwap(false, true) {
		return
	}
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	t.gate.items--
	t.gate.bytes -= t.size
}

// reply is the one-shot way back to the caller of a turn: whoever takes it first
// answers, everybody else is told that the answer was given.
type reply struct {
	taken atomic.Bool
	ch    chan TurnReduced // room for one
}

func newReply() *reply { return &reply{ch: make(chan TurnReduced, 1)} }

// answer gives the answer and says whether it was the first.
func (r *reply) answer(t TurnReduced) bool {
	if !r.taken.CompareAndSwap(false, true) {
		return false
	}
	r.ch <- t
	return true
}

// answered says whether the answer was given.
func (r *reply) answered() bool { return r.taken.Load() }

// pass is the answer that sends the original. The boundary fills in its bytes.
func pass(b turn.Binding, why turn.Reason) TurnReduced {
	return TurnReduced{Binding: b, Reason: why}
}
