package actors

import (
	"context"
	"fmt"

	"token-terminator/turn"
)

// Stop ends the system in order: no new turns, sessions finish what they have, then
// the vault writer commits what is queued. When ctx ends first, open turns are
// answered with the original, the store's context is cancelled and ctx's error is
// returned; the store's own call may then still be on its way back. A second Stop
// returns what the first returned.
func (s *System) Stop(ctx context.Context) error {
	s.stop.Do(func() { s.stopErr = s.shutdown(ctx) })
	return s.stopErr
}

func (s *System) shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.env.closing.Store(true)
	s.mu.Unlock()
	root := s.system.Root

	root.Send(s.door, &DrainSessions{Binding: turn.Binding{Engine: s.env.cfg.Engine}})
	var late error
	if !closedBefore(ctx, s.doorGone) {
		late = fmt.Errorf("stop sessions: %w", ctx.Err())
		root.Stop(s.door)
	}
	close(s.gone)
	s.calls.Wait() // every caller has its answer now

	if s.ledger != nil {
		root.Poison(s.ledger)
	}
	root.Poison(s.env.writer)
	if late == nil && !closedBefore(ctx, s.recorderGone) {
		late = fmt.Errorf("stop recorder: %w", ctx.Err())
	}
	if late == nil && !closedBefore(ctx, s.writerGone) {
		late = fmt.Errorf("stop vault writer: %w", ctx.Err())
	}
	s.end()
	s.system.Shutdown()
	return late
}

func closedBefore(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}
