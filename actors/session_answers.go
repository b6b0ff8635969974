package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

// finish answers every attempt of w. The memory moves on only when somebody got the
// answer, for only then is it what was sent.
func (s *session) finish(ctx actor.Context, w *work, o Outcome, replayed bool) {
	next := s.memory
	if next != nil && len(o.Nodes) > 0 {
		next = next.With(o.Nodes)
	}
	out := TurnReduced{Edited: o.Edited, Body: o.Body, Edits: o.Edits, Reason: o.Reason, Detail: o.Detail, Replayed: replayed}
	for _, a := range w.attempts {
		if s.answer(a, out) {
			s.memory = next
		}
		if w.past != nil {
			w.past.attempt = max(w.past.attempt, a.binding.Attempt)
		}
	}
	s.end(ctx, w)
}

// answer gives one attempt its answer and says whether it was the first one.
func (s *session) answer(a *attempt, out TurnReduced) bool {
	if a.timer != nil {
		a.timer()
	}
	out.Binding = a.binding
	first := a.cmd.reply.answer(out)
	if !first {
		s.env.tally.lateAnswers.Add(1)
	}
	a.ticket.release()
	return first
}

// drop gives every attempt of w the original.
func (s *session) drop(ctx actor.Context, w *work, why turn.Reason) {
	for _, a := range w.attempts {
		s.answer(a, pass(a.binding, why))
	}
	s.end(ctx, w)
}

func (s *session) dropAll(ctx actor.Context, why turn.Reason) {
	for _, w := range slices.Clone(s.open) {
		s.drop(ctx, w, why)
	}
}

// end takes w off the list and stops its Compiler. The admission of the turn is given
// back when the Compiler is gone, not before: it may still use CPU.
func (s *session) end(ctx actor.Context, w *work) {
	w.attempts = nil
	s.open = slices.DeleteFunc(s.open, func(o *work) bool { return o == w })
	if w.compiler != nil {
		w.cancel()
		ctx.Stop(w.compiler)
		w.compiler = nil
	}
}

// leave answers the attempts that match with the original; work that nobody waits for
// any more is ended.
func (s *session) leave(ctx actor.Context, why turn.Reason, match func(*attempt) bool) {
	for _, w := range slices.Clone(s.open) {
		kept := w.attempts[:0:0]
		for _, a := range w.attempts {
			if match(a) {
				s.answer(a, pass(a.binding, why))
			} else {
				kept = append(kept, a)
			}
		}
		w.attempts = kept
		if len(kept) == 0 {
			s.end(ctx, w)
		}
	}
}

func (s *session) find(b turn.Binding, at stage) *work {
	for _, w := range s.open {
		if w.binding == b && w.stage == at {
			return w
		}
	}
	return nil
}

// compilerGone gives back the admission of a turn. A Compiler is only ever stopped by
// its Session, so one that goes with its turn still open has failed.
func (s *session) compilerGone(ctx actor.Context, who *actor.PID) {
	s.running[who.Id].release()
	delete(s.running, who.Id)
	for _, w := range slices.Clone(s.open) {
		if w.compiler != nil && w.compiler.Equal(who) {
			w.cancel()
			w.compiler = nil
			s.drop(ctx, w, turn.InternalError)
		}
	}
}

// writerUnreachable fails what this session itself has asked of the VaultWriter.
func (s *session) writerUnreachable(ctx actor.Context) {
	s.loading = false
	for _, w := range slices.Clone(s.open) {
		if w.stage != compiling {
			s.drop(ctx, w, turn.StorageUnavailable)
		}
	}
}
