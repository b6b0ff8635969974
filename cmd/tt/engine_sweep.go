package main

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"token-terminator/actors"
)

// sweepEvery is how often the daemon looks whether nobody is there any more.
const sweepEvery = time.Minute

// sweeper gives memory back once the last session was let go: what was remembered of
// texts is of no use to anybody then, and the system gets its pages.
type sweeper struct {
	every time.Duration
	stats func() actors.Stats
	clear func()
	after func(time.Duration, func()) func() bool

	mu     sync.Mutex
	stop   func() bool
	ended  bool
	turns  int64 // answered when it last gave back
	quiet  bool  // nobody was there at the last look either
	sweeps int64
}

// arm sets the next look.
func (s *sweeper) arm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.stop = s.after(s.every, s.look)
	}
}

func (s *sweeper) look() {
	defer s.arm()
	now := s.stats()
	if now.Sessions > 0 || now.TurnsInFlight > 0 || now.Turns == s.turns {
		s.quiet = false
		return
	}
	if !s.quiet { // the last ones may be on their way out
		s.quiet = true
		return
	}
	s.turns, s.quiet = now.Turns, false
	s.clear()
	runtime.GC() // pools let go in two steps
	debug.FreeOSMemory()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweeps++
}

func (s *sweeper) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.stop != nil {
		s.stop()
	}
}
