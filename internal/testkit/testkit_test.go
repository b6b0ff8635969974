package testkit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClockCallsTimersInOrderAtTheirTime(t *testing.T) {
	t.Parallel()
	start := time.Unix(100, 0)
	c := NewClock(start)
	var got []time.Duration
	note := func() { got = append(got, c.Now().Sub(start)) }
	c.AfterFunc(3*time.Second, note)
	c.AfterFunc(time.Second, func() { note(); c.AfterFunc(time.Second, note) })
	stop := c.AfterFunc(2*time.Second, note)
	require.True(t, stop())
	require.False(t, stop())
	c.Advance(10 * time.Second)
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, got)
	require.Equal(t, start.Add(10*time.Second), c.Now())
	require.Zero(t, c.Armed())
}

func TestClockAwaitsTimersOfOtherGoroutines(t *testing.T) {
	t.Parallel()
	c := NewClock(time.Unix(0, 0))
	go c.AfterFunc(time.Minute, func() {})
	c.AwaitArmed(t, 1)
	go c.AfterFunc(time.Second, func() {})
	c.AwaitTimer(t, time.Second)
}

func TestProbeKeepsOrderAndFinds(t *testing.T) {
	t.Parallel()
	p := NewProbe[int]()
	go func() {
		for n := range 10 {
			p.Record(n)
		}
	}()
	require.Equal(t, 7, p.Find(t, func(n int) bool { return n == 7 }))
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, p.Await(t, 10))
}

func TestWedgeHoldsUntilReleased(t *testing.T) {
	t.Parallel()
	w := NewWedge()
	w.Pass() // open
	w.Shut()
	w.Shut()
	done := make(chan struct{})
	go func() { w.Pass(); close(done) }()
	w.AwaitStuck(t)
	select {
	case <-done:
		t.Fatal("passed a shut wedge")
	default:
	}
	w.Release()
	w.Release()
	<-done
	w.Pass()
}

// recorder is a testing.TB that notes failures instead of failing.
type recorder struct {
	testing.TB
	cleanup []func()
	failed  bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Cleanup(f func())      { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Errorf(string, ...any) { r.failed = true }

func TestNoLeaksSeesAGoroutineThatStays(t *testing.T) {
	stay := make(chan struct{})
	cases := map[string]struct {
		leak bool
	}{"left behind": {true}, "gone": {false}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			NoLeaks(r, "token-terminator/internal/testkit")
			if c.leak {
				go waitFor(stay)
				defer close(stay)
			}
			for _, f := range r.cleanup {
				f()
			}
			require.Equal(t, c.leak, r.failed)
		})
	}
}

func waitFor(c <-chan struct{}) { <-c }
