package testkit

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// NoLeaks fails the test at its end when a goroutine is left that runs code whose
// import path contains one of paths and that did not exist when NoLeaks was called.
// Tests that use it must not run in parallel with others of the same code.
func NoLeaks(tb testing.TB, paths ...string) {
	tb.Helper()
	before := map[string]bool{}
	for _, g := range goroutines(paths) {
		before[goroutineID(g)] = true
	}
	tb.Cleanup(func() {
		if left := settle(before, paths); len(left) > 0 {
			tb.Errorf("%d goroutines left, the first:\n%s", len(left), left[0])
		}
	})
}

// settle waits for goroutines that are on their way out.
func settle(before map[string]bool, paths []string) []string {
	deadline := time.Now().Add(Patience / 10)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		var left []string
		for _, g := range goroutines(paths) {
			if !before[goroutineID(g)] {
				left = append(left, g)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		<-tick.C
	}
}

// goroutines lists the stacks that mention one of paths, the caller's own aside.
func goroutines(paths []string) []string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	var found []string
	for i, g := range strings.Split(string(buf), "\n\n") {
		if i > 0 && mentions(g, paths) { // the first stack is the caller's
			found = append(found, g)
		}
	}
	return found
}

func mentions(stack string, paths []string) bool {
	for _, p := range paths {
		if strings.Contains(stack, p) {
			return true
		}
	}
	return false
}

func goroutineID(stack string) string {
	id, _, _ := strings.Cut(stack, " [")
	return id
}
