package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// progress says on stderr how far a long run is: one line that is written over on a
// terminal, else a line now and then.
type progress struct {
	mu       sync.Mutex
	stage    *stage
	quiet    bool
	terminal bool
	total    int
	finished int
	last     time.Time
	shown    bool
	now      func() time.Time
}

// progressEvery is how often a line is written for a long session, or at all when
// stderr is no terminal.
const progressEvery = 3 * time.Second

func newProgress(s *stage, quiet bool, total int) *progress {
	p := &progress{stage: s, quiet: quiet, total: total, last: time.Now(), now: time.Now}
	if file, ok := s.stderr.(*os.File); ok {
		if info, err := file.Stat(); err == nil {
			p.terminal = info.Mode()&os.ModeCharDevice != 0
		}
	}
	return p
}

func (p *progress) done(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished++
	if p.quiet {
		return
	}
	if p.terminal {
		fmt.Fprintf(p.stage.stderr, "\r\x1b[K%d of %d  %.60s", p.finished, p.total, what)
		p.shown = true
		return
	}
	if p.now().Sub(p.last) >= progressEvery {
		p.last = p.now()
		fmt.Fprintf(p.stage.stderr, "%d of %d done\n", p.finished, p.total)
	}
}

// turn says how far the session is that takes its time.
func (p *progress) turn(what string, k, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet || p.now().Sub(p.last) < progressEvery {
		return
	}
	p.last = p.now()
	line := fmt.Sprintf("%d of %d done; %.60s turn %d of %d", p.finished, p.total, what, k, n)
	if p.terminal {
		fmt.Fprint(p.stage.stderr, "\r\x1b[K"+line)
		p.shown = true
		return
	}
	fmt.Fprintln(p.stage.stderr, line)
}

// at says how far a run is that counts by itself.
func (p *progress) at(done, total int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quiet {
		return
	}
	if p.terminal {
		fmt.Fprintf(p.stage.stderr, "\r\x1b[K%d of %d %s", done, total, what)
		p.shown = true
		return
	}
	if p.now().Sub(p.last) >= progressEvery {
		p.last = p.now()
		fmt.Fprintf(p.stage.stderr, "%d of %d %s\n", done, total, what)
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.stage.stderr, "\r\x1b[K")
	}
}
