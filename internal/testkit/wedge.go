package testkit

import (
	"sync"
	"testing"
	"time"
)

// Wedge is a place where callers get stuck until it is released: a full disk queue, a
// lock that is not given back, a computation that does not end. An open wedge lets
// everybody through.
type Wedge struct {
	mu      sync.Mutex
	shut    chan struct{} // nil: open
	entered chan struct{} // one value for each caller that got stuck
}

// NewWedge returns an open wedge.
func NewWedge() *Wedge { return &Wedge{entered: make(chan struct{}, 1<<16)} }

// Shut makes later callers stick.
func (w *Wedge) Shut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shut == nil {
		w.shut = make(chan struct{})
	}
}

// Release lets everybody go, now and later. It may be called more than once.
func (w *Wedge) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shut != nil {
		close(w.shut)
		w.shut = nil
	}
}

// Pass returns at once when the wedge is open, else after Release.
func (w *Wedge) Pass() {
	w.mu.Lock()
	shut := w.shut
	w.mu.Unlock()
	if shut == nil {
		return
	}
	w.entered <- struct{}{}
	<-shut
}

// AwaitStuck waits until one more caller is stuck.
func (w *Wedge) AwaitStuck(tb testing.TB) {
	tb.Helper()
	select {
	case <-w.entered:
	case <-time.After(Patience):
		tb.Fatal("nobody got stuck")
	}
}
