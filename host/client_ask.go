package host

import (
	"context"
	"encoding/json"
	"unicode/utf8"

	"token-terminator/host/wire"
)

// Result asks how a tool's result may be shown. On any doubt the answer is Pass.
func (c *Client) Result(ctx context.Context, r wire.Result) wire.ResultAnswer {
	ctx, cancel := within(ctx, ClientResult)
	defer cancel()
	var a wire.ResultAnswer
	err := c.guarded(ctx, wire.KindResult, &a, func(h wire.Head) any { r.Head = h; return &r })
	if err != nil || a.Decision != wire.Edit || a.Text == nil || utf8.RuneCountInString(*a.Text) >= utf8.RuneCountInString(r.Text) {
		return wire.ResultAnswer{Decision: wire.Pass, Reason: a.Reason}
	}
	return a
}

// Command asks whether a tool may be called so. On any doubt it may.
func (c *Client) Command(ctx context.Context, cmd wire.Command) wire.CommandAnswer {
	ctx, cancel := within(ctx, ClientCommand)
	defer cancel()
	var a wire.CommandAnswer
	err := c.guarded(ctx, wire.KindCommand, &a, func(h wire.Head) any { cmd.Head = h; return &cmd })
	if err != nil {
		return wire.CommandAnswer{Decision: wire.Pass}
	}
	return a
}

// guarded is exchange behind the breaker.
func (c *Client) guarded(ctx context.Context, kind wire.Kind, into any, make func(wire.Head) any) error {
	if !c.breaker.ready() {
		return ErrSilent
	}
	err := c.exchange(ctx, kind, into, make)
	if _, refused := err.(*Refusal); err == nil || refused {
		c.breaker.worked()
	} else {
		c.breaker.failed()
	}
	return err
}

// Recover asks the vault and gives the answer's JSON. Errors: a *Refusal with the
// protocol's word, ErrSilent, ErrNoDaemon.
func (c *Client) Recover(ctx context.Context, r wire.Recover) (json.RawMessage, error) {
	ctx, cancel := within(ctx, ClientRecover)
	defer cancel()
	var a wire.RecoverAnswer
	err := c.exchange(ctx, wire.KindRecover, &a, func(h wire.Head) any { r.Head = h; return &r })
	return a.Result, err
}

// Event tells the daemon of something that happened.
func (c *Client) Event(ctx context.Context, e wire.Event) error {
	ctx, cancel := within(ctx, ClientRecover)
	defer cancel()
	var a wire.EventAnswer
	return c.exchange(ctx, wire.KindEvent, &a, func(h wire.Head) any { e.Head = h; return &e })
}

// Status is the daemon's status JSON.
func (c *Client) Status(ctx context.Context) (json.RawMessage, error) {
	ctx, cancel := within(ctx, ClientRecover)
	defer cancel()
	var a wire.StatusAnswer
	err := c.exchange(ctx, wire.KindStatus, &a, func(h wire.Head) any { return &wire.Status{Head: h} })
	return a.Status, err
}

// Drain asks the daemon to finish its work and end. It does not wait for that.
func (c *Client) Drain(ctx context.Context) error {
	return c.Event(ctx, wire.Event{Name: wire.EventDrain})
}
