package host

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"unicode/utf8"

	"token-terminator/host/wire"
	"token-terminator/request"
	"token-terminator/turn"
)

// TurnRequest is one provider request of a session.
type TurnRequest struct {
	Binding turn.Binding // Session names the chain; Turn may be 0
	Scope   request.Scope
	Measure *wire.Measure
	Detail  bool
	Body    []byte // the request's own bytes; never changed
	// Count, if set, is the host's own whole-request counter, a further veto: a request
	// it does not count as smaller is not sent.
	Count func(body []byte) (tokens int)
}

// TurnResult is what to send.
type TurnResult struct {
	Body   []byte // the request itself, or a new one
	Edited bool
	Edits  []turn.Edit
	Reason turn.Reason
	Tokens *wire.Tokens
	// Notice is what the daemon says to the user about this request, "" nothing.
	Notice string
	Detail json.RawMessage
	// Fallback is set when the daemon did not decide: why. Body then holds the edits
	// that were sent before for unchanged old messages, and no others.
	Fallback Why
}

// Why says why a client decided by itself.
type Why string

// Why a client decided by itself.
const (
	Silent  Why = "silent"  // no answer in time
	Broken  Why = "breaker" // the daemon is left alone for a while
	Failed  Why = "failed"  // the daemon answered with a failure of its own
	Misfits Why = "misfits" // its edits do not fit the request
)

// Turn asks how one request may be sent. It never fails: on any doubt the answer is
// the request itself, or the request with exactly the edits that were sent before.
func (c *Client) Turn(ctx context.Context, t TurnRequest) TurnResult {
	c.count(func(s *ClientStats) { s.Turns++ })
	if !c.breaker.ready() {
		c.miss(t.Binding.Session, true)
		return c.alone(t, Broken, turn.Deadline)
	}
	ctx, cancel := within(ctx, ClientTurn)
	defer cancel()
	answer, err := c.askTurn(ctx, t)
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		c.breaker.worked() // it is there and said what it thinks
		return c.alone(t, Failed, turn.InternalError)
	case errors.Is(err, wire.ErrTooLong):
		return TurnResult{Body: t.Body, Reason: turn.TooLarge}
	case err != nil:
		c.breaker.failed()
		c.miss(t.Binding.Session, false)
		return c.alone(t, Silent, turn.Deadline)
	}
	c.breaker.worked()
	c.confess(ctx, t.Binding)
	if answer.Decision != wire.Edit {
		return c.passed(t, answer)
	}
	return c.edited(t, answer)
}

// confess tells a daemon that is back how many turns of the session went out without it.
func (c *Client) confess(ctx context.Context, b turn.Binding) {
	c.mu.Lock()
	n := c.missed[b.Session]
	delete(c.missed, b.Session)
	c.mu.Unlock()
	if n > 0 {
		_ = c.Event(ctx, wire.Event{Binding: b, Name: wire.EventFailOpen, Count: n, Reason: string(turn.Deadline)})
	}
}

// miss counts a turn that went out without the daemon.
func (c *Client) miss(session string, broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Silent++
	if broken {
		c.stats.Broken++
	}
	if session != "" && (c.missed[session] > 0 || len(c.missed) < maxMissed) {
		c.missed[session]++
	}
}

// maxMissed bounds of how many sessions such turns are counted.
const maxMissed = 1024

func (c *Client) askTurn(ctx context.Context, t TurnRequest) (wire.TurnAnswer, error) {
	var answer wire.TurnAnswer
	l, err := c.connected(ctx)
	if err != nil {
		return answer, err
	}
	body, err := l.ask(ctx, wire.KindTurn, func(id uint64) (net.Buffers, error) {
		head, raw, tail, err := wire.EncodeTurn(&wire.Turn{
			Head: headFor(ctx, id), Binding: t.Binding, Scope: t.Scope, Measure: t.Measure, Detail: t.Detail, RequestJSON: t.Body,
		})
		return net.Buffers{head, raw, tail}, err
	})
	if err != nil {
		return answer, err
	}
	return answer, unpack(body, &answer)
}

// passed sends the request as it is, when the daemon decided so. Where it only could
// not decide, the edits of before go with it.
func (c *Client) passed(t TurnRequest, a wire.TurnAnswer) TurnResult {
	switch a.Reason {
	case turn.Busy, turn.Deadline, turn.Stopped, turn.InternalError, turn.Cancelled:
		return c.alone(t, Failed, a.Reason)
	}
	if c.kept.knows(t.Binding.Session) && conversational(t) {
		if doc, err := request.Parse(t.Body); err == nil {
			c.kept.accept(t.Binding.Session, doc, nil)
		}
	}
	return TurnResult{Body: t.Body, Reason: a.Reason, Tokens: a.Tokens, Detail: a.Detail, Notice: a.Notice}
}

// edited applies an answer's edits to our own copy, each against its digest.
func (c *Client) edited(t TurnRequest, a wire.TurnAnswer) TurnResult {
	body, doc, err := apply(t.Body, a.Edits)
	if err == nil && t.Count != nil && t.Count(body) >= t.Count(t.Body) {
		c.kept.accept(t.Binding.Session, doc, nil) // it goes out whole, now and when it is old
		return TurnResult{Body: t.Body, Reason: turn.NotSmallerTokens, Tokens: a.Tokens, Detail: a.Detail, Notice: a.Notice}
	}
	if err != nil {
		c.count(func(s *ClientStats) { s.Refused++ })
		return TurnResult{Body: t.Body, Reason: turn.InternalError, Fallback: Misfits}
	}
	c.kept.accept(t.Binding.Session, doc, a.Edits)
	c.count(func(s *ClientStats) { s.Edited++ })
	return TurnResult{Body: body, Edited: true, Edits: a.Edits, Reason: a.Reason, Tokens: a.Tokens, Detail: a.Detail, Notice: a.Notice}
}

var errNotSmaller = errors.New("the edits make the request no smaller")

func apply(body []byte, edits []turn.Edit) ([]byte, *request.Doc, error) {
	doc, err := request.Parse(body)
	if err != nil {
		return nil, nil, err
	}
	out, err := doc.Apply(edits)
	if err != nil {
		return nil, nil, err
	}
	if len(edits) == 0 || utf8.RuneCount(out) >= utf8.RuneCount(body) {
		return nil, nil, errNotSmaller
	}
	return out, doc, nil
}

// alone decides without the daemon.
func (c *Client) alone(t TurnRequest, why Why, reason turn.Reason) TurnResult {
	pass := TurnResult{Body: t.Body, Reason: reason, Fallback: why}
	if !conversational(t) {
		return pass
	}
	doc, err := request.Parse(t.Body)
	if err != nil || doc.Check() != nil {
		return pass
	}
	edits := c.kept.edits(t.Binding.Session, doc)
	body, _, err := apply(t.Body, edits)
	if err != nil {
		return pass
	}
	c.count(func(s *ClientStats) { s.Reapplied++ })
	pass.Body, pass.Edited, pass.Edits = body, true, edits
	return pass
}

// conversational says whether the host's facts let this request be edited at all.
func conversational(t TurnRequest) bool {
	_, allowed := t.Scope.Decide(t.Body)
	return allowed && t.Binding.Session != ""
}
