package testkit

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// Patience is how long the helpers wait for an event before the test fails. It is
// real time and has no part in what is tested.
const Patience = 20 * time.Second

// Clock is a clock that stands still until Advance moves it.
type Clock struct {
	mu     sync.Mutex
	cond   *sync.Cond
	now    time.Time
	timers []*timer // armed, in order of arming
}

type timer struct {
	at time.Time
	f  func()
}

// NewClock returns a clock that shows start.
func NewClock(start time.Time) *Clock {
	c := &Clock{now: start}
	c.cond = sync.NewCond(&c.mu)
	return c
}

// Now is the time the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f inside the Advance that reaches d from now. The returned function
// disarms the timer and says whether it was still armed.
func (c *Clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	c.cond.Broadcast()
	return func() bool { return c.disarm(t) }
}

func (c *Clock) disarm(t *timer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.timers, t)
	if i < 0 {
		return false
	}
	c.timers = slices.Delete(c.timers, i, i+1)
	c.cond.Broadcast()
	return true
}

// Advance moves the clock by d and calls the timers that are due, the earliest first,
// each at its own time, in the caller's goroutine.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		t := c.earliest()
		if t == nil || t.at.After(end) {
			break
		}
		c.timers = slices.DeleteFunc(c.timers, func(o *timer) bool { return o == t })
		if t.at.After(c.now) {
			c.now = t.at
		}
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	c.now = end
	c.cond.Broadcast()
	c.mu.Unlock()
}

func (c *Clock) earliest() *timer {
	var first *timer
	for _, t := range c.timers {
		if first == nil || t.at.Before(first.at) {
			first = t
		}
	}
	return first
}

// Armed is how many timers wait.
func (c *Clock) Armed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// AwaitTimer waits until a timer is armed that is due within d from now.
func (c *Clock) AwaitTimer(tb testing.TB, d time.Duration) {
	tb.Helper()
	if !c.await(func() bool {
		t := c.earliest()
		return t != nil && !t.at.After(c.now.Add(d))
	}) {
		tb.Fatalf("no timer within %v was armed", d)
	}
}

// AwaitArmed waits until exactly n timers are armed.
func (c *Clock) AwaitArmed(tb testing.TB, n int) {
	tb.Helper()
	if !c.await(func() bool { return len(c.timers) == n }) {
		tb.Fatalf("timers armed: %d, want %d", c.Armed(), n)
	}
}

func (c *Clock) await(ok func() bool) bool {
	late := false
	stop := time.AfterFunc(Patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.cond.Broadcast()
	})
	defer stop.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !ok() && !late {
		c.cond.Wait()
	}
	return ok()
}
