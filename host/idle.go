package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"sync"
	"time"
)

// touch notes that the daemon is in use.
func (s *Server) touch() { s.active.Store(s.cfg.Clock.Now().UnixNano()) }

// watchIdle looks again after d whether the daemon was used.
func (s *Server) watchIdle(d time.Duration) {
	if s.cfg.Idle < 0 {
		return
	}
	s.idleMu.Lock()
	defer s.idleMu.Unlock()
	if s.stopping.Load() {
		return
	}
	s.stopIdle = s.cfg.Clock.AfterFunc(d, func() {
		quiet := s.cfg.Clock.Now().Sub(time.Unix(0, s.active.Load()))
		switch {
		case s.open.count() > 0:
			s.watchIdle(s.cfg.Idle)
		case quiet >= s.cfg.Idle:
			s.askToLeave("idle")
		default:
			s.watchIdle(s.cfg.Idle - quiet)
		}
	})
}

func (s *Server) quitIdle() {
	s.idleMu.Lock()
	defer s.idleMu.Unlock()
	if s.stopIdle != nil {
		s.stopIdle()
	}
}

// openFrames counts frames that have no answer yet and lets one wait for none.
type openFrames struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed while n is 0
}

func (o *openFrames) init() {
	o.none = make(chan struct{})
	close(o.none)
}

func (o *openFrames) add() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n++; o.n == 1 {
		o.none = make(chan struct{})
	}
}

func (o *openFrames) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 {
		close(o.none)
	}
}

func (o *openFrames) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.n
}

// wait returns when no frame is open, or with ctx's error.
func (o *openFrames) wait(ctx context.Context) error {
	o.mu.Lock()
	none := o.none
	o.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hashFile is the SHA-256 of a file in hex, "" when it cannot be read.
func hashFile(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
