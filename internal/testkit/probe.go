package testkit

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// Probe records values from any goroutine, in order of arrival.
type Probe[T any] struct {
	mu   sync.Mutex
	all  []T
	more chan struct{} // closed and replaced at every arrival
}

// NewProbe returns an empty probe.
func NewProbe[T any]() *Probe[T] { return &Probe[T]{more: make(chan struct{})} }

// Record adds v. It never blocks.
func (p *Probe[T]) Record(v T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, v)
	close(p.more)
	p.more = make(chan struct{})
}

// All is what was recorded so far.
func (p *Probe[T]) All() []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

// Await waits until at least n values were recorded and returns all of them.
func (p *Probe[T]) Await(tb testing.TB, n int) []T {
	tb.Helper()
	late := time.After(Patience)
	for {
		p.mu.Lock()
		all, more := slices.Clone(p.all), p.more
		p.mu.Unlock()
		if len(all) >= n {
			return all
		}
		select {
		case <-more:
		case <-late:
			tb.Fatalf("recorded: %d values, want %d", len(all), n)
		}
	}
}

// Find waits for the first value that ok accepts.
func (p *Probe[T]) Find(tb testing.TB, ok func(T) bool) T {
	tb.Helper()
	for n := 1; ; n++ {
		all := p.Await(tb, n)
		if i := slices.IndexFunc(all, ok); i >= 0 {
			return all[i]
		}
		n = len(all)
	}
}
