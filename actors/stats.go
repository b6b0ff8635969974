package actors

import (
	"maps"
	"sync"
	"sync/atomic"

	"token-terminator/turn"
)

// Stats is a snapshot of what a System did since its start.
type Stats struct {
	Turns         int64 // answered commands
	Edited        int64
	Replayed      int64 // answered from memory, evidence verified again
	Reasons       map[turn.Reason]int64
	TurnsInFlight int   // admitted, their work not yet over
	BytesInFlight int64 // of their requests
	PinBytes      int64 // evidence on its way into the vault
	Sessions      int64 // Session actors alive
	Compiles      int64 // Compiler actors started
	Batches       int64 // group commits
	BatchedTurns  int64 // turns in them
	DeadLetters   int64 // messages of ours that reached nobody, timers aside
	LateAnswers   int64 // answers that came after the caller had got one
	Panics        int64 // caught in any actor
	Restarts      int64 // of the VaultWriter
	Reopened      int64 // times the store was opened again because its files were gone
	Storage       turn.Reason
}

// tally collects Stats. It holds counters only; no decision reads it.
type tally struct {
	mu      sync.Mutex
	reasons map[turn.Reason]int64

	turns, edited, replayed  atomic.Int64
	sessions, compiles       atomic.Int64
	batches, batchedTurns    atomic.Int64
	deadLetters, lateAnswers atomic.Int64
	panics, restarts         atomic.Int64
	reopened                 atomic.Int64
	storageDown              atomic.Bool
}

func newTally() *tally { return &tally{reasons: map[turn.Reason]int64{}} }

func (t *tally) answered(out TurnReduced) {
	t.turns.Add(1)
	if out.Edited {
		t.edited.Add(1)
	}
	if out.Replayed {
		t.replayed.Add(1)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reasons[out.Reason]++
}

func (w *wiring) stats() Stats {
	t := w.tally
	s := Stats{
		Turns: t.turns.Load(), Edited: t.edited.Load(), Replayed: t.replayed.Load(),
		Sessions: t.sessions.Load(), Compiles: t.compiles.Load(),
		Batches: t.batches.Load(), BatchedTurns: t.batchedTurns.Load(),
		DeadLetters: t.deadLetters.Load(), LateAnswers: t.lateAnswers.Load(),
		Panics: t.panics.Load(), Restarts: t.restarts.Load(), Reopened: t.reopened.Load(),
	}
	s.TurnsInFlight, s.BytesInFlight = w.turns.load()
	_, s.PinBytes = w.pins.load()
	if t.storageDown.Load() {
		s.Storage = turn.StorageUnavailable
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Reasons = maps.Clone(t.reasons)
	return s
}
