package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

// neverRestart stops a child that failed. Every actor catches its own panics, so this
// is the second net.
func neverRestart() actor.SupervisorStrategy {
	return actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })
}

// caught counts and logs a panic: where, for which turn, and the type of its value.
func (w *wiring) caught(stage string, b turn.Binding, value any) {
	w.tally.panics.Add(1)
	w.log.Error("panic caught", "stage", stage, "session", b.Session, "turn", b.Turn, "gen", b.Generation,
		"reason", string(turn.InternalError), "err_type", typeName(value))
}

// undelivered sees every dead letter. A command that reached nobody is answered here,
// so that its caller does not wait for the deadline.
func (w *wiring) undelivered(event any) {
	letter, ok := event.(*actor.DeadLetterEvent)
	if !ok {
		return
	}
	switch m := letter.Message.(type) {
	case *ReduceTurn:
		m.reply.answer(pass(m.Binding, w.endReason()))
		m.ticket.release()
	case *CloseSession:
		m.done <- &SessionClosed{Binding: m.Binding}
	case *PinEvidence:
		m.ticket.release()
	}
	if w.lost(letter.Message) {
		w.tally.deadLetters.Add(1)
	}
}

// lost says whether an undelivered message counts as a dead letter: not a timer that
// came late, nor a call that raced with Stop and was answered above.
func (w *wiring) lost(message any) bool {
	switch message.(type) {
	case *ExpireTurn, *IdleSession, *AbandonTurn:
		return false
	case *ReduceTurn, *CloseSession, *DrainSessions, *RecordTurn:
		return !w.closing.Load()
	}
	_, ours := message.(Message)
	return ours
}

// endReason is why a turn fails when an actor went away under it.
func (w *wiring) endReason() turn.Reason {
	if w.closing.Load() {
		return turn.Stopped
	}
	return turn.InternalError
}

func (w *wiring) tell(role string, pid *actor.PID) {
	if w.spawned != nil {
		w.spawned(role, pid)
	}
}
