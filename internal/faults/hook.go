package faults

import (
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
)

// ErrInjected is what an injected failure is, unless the test gives another error.
var ErrInjected = errors.New("injected failure")

// Hook is called with the name of a point; an error stands for a failure there.
type Hook func(point string) error

// FailAt fails the nth call (from 1) of the point.
func FailAt(point string, nth int, err error) Hook {
	var c counter
	return func(at string) error {
		if at == point && c.next() == nth {
			return err
		}
		return nil
	}
}

// FailAlways fails every call whose point begins with prefix.
func FailAlways(prefix string, err error) Hook {
	return func(at string) error {
		if strings.HasPrefix(at, prefix) {
			return err
		}
		return nil
	}
}

// FailNth fails the nth call (from 1), whatever its point.
func FailNth(nth int, err error) Hook {
	var c counter
	return func(string) error {
		if c.next() == nth {
			return err
		}
		return nil
	}
}

// Call runs do at the nth call (from 1) of the point and never fails.
func Call(point string, nth int, do func()) Hook {
	var c counter
	return func(at string) error {
		if at == point && c.next() == nth {
			do()
		}
		return nil
	}
}

// KillNth ends the process at its nth call (from 1) as kill -9 would: no deferred
// function runs and nothing is flushed.
func KillNth(nth int) Hook {
	var c counter
	return func(string) error {
		if c.next() == nth {
			Kill()
		}
		return nil
	}
}

// Kill ends this process at once and does not return.
func Kill() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		os.Exit(137)
	}
	select {} // until the signal arrives
}

// Seeded gives a number from low to high, both included, that depends on seed alone.
func Seeded(seed uint64, low, high int) int {
	return low + rand.New(rand.NewPCG(seed, 0x7474)).IntN(high-low+1)
}

// All calls every hook in order and gives the first error.
func All(hooks ...Hook) Hook {
	return func(at string) error {
		for _, h := range hooks {
			if err := h(at); err != nil {
				return err
			}
		}
		return nil
	}
}

// Recorder remembers the points it was called with.
type Recorder struct {
	mu     sync.Mutex
	points []string
}

// Hook is the recorder as a hook.
func (r *Recorder) Hook(point string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.points = append(r.points, point)
	return nil
}

// Points lists the calls so far, in order.
func (r *Recorder) Points() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.points...)
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}
