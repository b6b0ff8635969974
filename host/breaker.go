package host

import (
	"sync"
	"time"
)

// breaker leaves a daemon alone that failed several times in a row.
type breaker struct {
	clock Clock
	mu    sync.Mutex
	fails int
	until time.Time
}

// ready says whether the daemon may be asked. When the pause is over one caller may
// try; the next failure begins a new pause.
func (b *breaker) ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails < BreakAfter {
		return true
	}
	now := b.clock.Now()
	if now.Before(b.until) {
		return false
	}
	b.until = now.Add(BreakFor)
	return true
}

func (b *breaker) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails++; b.fails >= BreakAfter {
		b.until = b.clock.Now().Add(BreakFor)
	}
}

func (b *breaker) worked() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails = 0
}
