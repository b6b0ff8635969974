package actors

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

// past is a remembered answer: a retry of the same turn with the same bytes gets it
// again after its evidence was pinned and read back again, without a new compile.
type past struct {
	turn     uint64
	attempt  uint64 // the last one answered from it
	body     bodyKey
	outcome  Outcome
	evidence turn.Evidence
	proofs   map[turn.Digest]turn.Proof
	bytes    int64
}

// remember keeps an answer within the bounds of the configuration. One that is too
// large is not kept; its retry is compiled again.
func (s *session) remember(w *work, m *TurnCompiled) {
	p := &past{
		turn: w.binding.Turn, body: w.body,
		outcome: m.Outcome, evidence: m.evidence, proofs: m.proofs,
	}
	p.evidence.Nodes = m.Outcome.Nodes
	p.evidence.Source, p.evidence.Ready = nil, nil // they hold the request
	for _, a := range w.attempts {
		p.attempt = max(p.attempt, a.binding.Attempt)
	}
	p.bytes = int64(len(p.outcome.Body)) + weigh(p.evidence)
	for _, e := range p.outcome.Edits {
		p.bytes += int64(len(e.Value))
	}
	limit := s.env.share()
	if p.bytes > limit {
		return
	}
	s.past = append(s.past, p)
	s.pastBytes += p.bytes
	for len(s.past) > s.env.cfg.RememberTurns || s.pastBytes > limit {
		s.pastBytes -= s.past[0].bytes
		s.past[0] = nil
		s.past = s.past[1:]
	}
}

// share is how many bytes of answers one session may remember now.
func (w *wiring) share() int64 {
	return min(w.cfg.RememberBytes, w.cfg.RememberTotal/max(w.tally.sessions.Load(), 1))
}

func (s *session) recall(number uint64, body bodyKey) *past {
	for _, p := range s.past {
		if p.turn == number && p.body == body {
			return p
		}
	}
	return nil
}

// verify asks for the evidence of a remembered answer to be pinned again.
func (s *session) verify(ctx actor.Context, w *work, p *past) {
	w.stage, w.past = verifying, p
	if len(p.evidence.Artifacts)+len(p.evidence.Held) == 0 {
		s.finish(ctx, w, p.outcome, true)
		return
	}
	pin, why := s.env.pin(w.binding, p.evidence)
	if why != "" {
		s.drop(ctx, w, why)
		return
	}
	ctx.Request(s.env.writer, pin)
}

// verified gives the remembered answer if every proof it was built on stands. The
// shown prefix must be the same, for it is part of the answer's bytes.
func (s *session) verified(ctx actor.Context, m *EvidencePinned) {
	w := s.find(m.Binding, verifying)
	if w == nil {
		return
	}
	if m.Failure != "" {
		s.drop(ctx, w, m.Failure)
		return
	}
	if len(m.Pinned.Missing) > 0 {
		s.compileAnew(ctx, w)
		return
	}
	for _, a := range w.past.evidence.Artifacts {
		had, needed := w.past.proofs[a.Digest]
		if needed && m.Pinned.Proofs[a.Digest] != had {
			s.drop(ctx, w, turn.ProofMissing)
			return
		}
	}
	s.finish(ctx, w, w.past.outcome, true)
}

// compileAnew lets go of a remembered answer some of whose older ids are gone. The
// request is in hand, so compiling it again stores them again, or shows them as they were.
func (s *session) compileAnew(ctx actor.Context, w *work) {
	s.past = slices.DeleteFunc(s.past, func(p *past) bool { return p == w.past })
	s.pastBytes -= w.past.bytes
	w.past = nil
	if s.memory == nil {
		s.drop(ctx, w, turn.ProofMissing)
		return
	}
	s.compile(ctx, w)
}

// pin makes the message that carries one turn's evidence, if there is room for it.
func (w *wiring) pin(b turn.Binding, ev turn.Evidence) (*PinEvidence, turn.Reason) {
	ev.Binding = b
	ticket, why := w.pins.admit(weigh(ev))
	if why != "" {
		return nil, turn.Busy
	}
	return &PinEvidence{Binding: b, Evidence: ev, ticket: ticket}, ""
}

// weigh is the bytes of the texts in ev.
func weigh(ev turn.Evidence) int64 {
	total := 0
	for _, a := range ev.Artifacts {
		total += len(a.Text) + len(a.Args)
	}
	for _, n := range ev.Nodes {
		for _, d := range n.Decisions {
			total += len(d.Text)
		}
	}
	return int64(total + len(turn.Digest{})*len(ev.Held))
}
