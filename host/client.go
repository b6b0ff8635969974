package host

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"token-terminator/host/wire"
)

// Defaults of a client.
const (
	ClientTurn    = time.Second // how long a turn may take, all included
	ClientResult  = 500 * time.Millisecond
	ClientCommand = 500 * time.Millisecond
	ClientRecover = 2 * time.Second
	// After BreakAfter failures in a row the daemon is left alone for BreakFor.
	BreakAfter = 3
	BreakFor   = 30 * time.Second
	// DefaultFallbackBytes bounds what a client remembers of accepted edits.
	DefaultFallbackBytes = 32 << 20
)

// Options of a client.
type Options struct {
	Folder  string // the home's folder of ours, where daemon.json stands
	Name    string // of the client, for the daemon's log
	Version string // of the client; a newer one than the daemon's replaces the daemon
	Env     map[string]string
	Consent wire.Consent
	Replay  bool
	// Operator marks the user's own command, which may see every session.
	Operator bool
	Start    *Starter // how a daemon is started when none runs; nil: not at all

	Clock         Clock // nil: the machine's
	FallbackBytes int64 // 0: DefaultFallbackBytes
}

// Client talks to the daemon of one home. It is safe for concurrent use; it connects
// when it is first used and again after the connection ended.
type Client struct {
	o       Options
	breaker breaker
	kept    *fallback

	mu      sync.Mutex
	link    *link
	welcome wire.Welcome
	dialing chan struct{} // holds one token: the right to connect
	closed  bool
	stats   ClientStats
	missed  map[string]int // by session: turns without an answer, not yet told
}

// ClientStats counts what became of a client's turns.
type ClientStats struct {
	Turns     int64 // asked for
	Edited    int64 // answered with edits that were applied
	Silent    int64 // without an answer in time
	Broken    int64 // of those, not even asked because the breaker was open
	Reapplied int64 // of those without an answer or with a failure, sent with remembered edits
	Refused   int64 // answers whose edits did not fit the request
}

// Dial makes a client and connects it.
func Dial(ctx context.Context, o Options) (*Client, error) {
	c := NewClient(o)
	if _, err := c.connected(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// NewClient makes a client that connects when it is first used.
func NewClient(o Options) *Client {
	if o.Clock == nil {
		o.Clock = wallClock{}
	}
	fill(&o.FallbackBytes, DefaultFallbackBytes)
	c := &Client{o: o, breaker: breaker{clock: o.Clock}, kept: newFallback(o.FallbackBytes), dialing: make(chan struct{}, 1), missed: map[string]int{}}
	c.dialing <- struct{}{}
	return c
}

// Close ends the connection. The daemon goes on.
func (c *Client) Close() {
	c.mu.Lock()
	l := c.link
	c.link, c.closed = nil, true
	c.mu.Unlock()
	if l != nil {
		l.close()
	}
}

// Welcome is how the daemon introduced itself, zero before the first connection.
func (c *Client) Welcome() wire.Welcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.welcome
}

// Stats is what became of the turns so far.
func (c *Client) Stats() ClientStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

func (c *Client) count(f func(*ClientStats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.stats)
}

var errClientClosed = errors.New("the client is closed")

func (c *Client) current() (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClientClosed
	}
	if c.link != nil && c.link.alive() {
		return c.link, nil
	}
	return nil, nil
}

// connected gives the open connection, or makes one.
func (c *Client) connected(ctx context.Context) (*link, error) {
	if l, err := c.current(); l != nil || err != nil {
		return l, err
	}
	select {
	case <-c.dialing:
	case <-ctx.Done():
		return nil, errors.Join(ErrSilent, ctx.Err())
	}
	defer func() { c.dialing <- struct{}{} }()
	if l, err := c.current(); l != nil || err != nil {
		return l, err
	}
	l, welcome, err := c.meet(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		l.end(errClientClosed)
		return nil, errClientClosed
	}
	c.link, c.welcome = l, welcome
	return l, nil
}

// meet finds the daemon, starts one when there is none, and replaces an older one.
func (c *Client) meet(ctx context.Context) (*link, wire.Welcome, error) {
	l, welcome, err := c.greet(ctx)
	if c.o.Start == nil {
		return l, welcome, err
	}
	if err == nil {
		if !Newer(c.o.Version, welcome.DaemonVersion) {
			return l, welcome, nil
		}
		err = c.dismiss(ctx, l)
		if err != nil {
			return nil, welcome, err
		}
	} else if !errors.Is(err, ErrNoDaemon) && !errors.Is(err, ErrSilent) {
		return nil, welcome, err
	}
	return c.launch(ctx)
}

// greet connects to the daemon that daemon.json names and says hello.
func (c *Client) greet(ctx context.Context) (*link, wire.Welcome, error) {
	var welcome wire.Welcome
	info, err := ReadInfo(c.o.Folder)
	if err != nil {
		return nil, welcome, err
	}
	l, err := connect(ctx, info)
	if err != nil {
		return nil, welcome, err
	}
	body, err := l.ask(ctx, wire.KindHello, func(id uint64) (net.Buffers, error) {
		hello := wire.Hello{
			Head: wire.Head{ID: id}, Protocol: wire.Protocol, Client: c.o.Name, Version: c.o.Version, Home: homeOf(c.o.Folder),
			Env: c.o.Env, Consent: c.o.Consent, Token: info.Token, Replay: c.o.Replay, Operator: c.o.Operator,
		}
		data, err := wire.Encode(hello)
		return net.Buffers{data}, err
	})
	if err == nil {
		err = unpack(body, &welcome)
	}
	if err != nil {
		l.close()
		return nil, welcome, err
	}
	return l, welcome, nil
}

// unpack reads an answer; one with an error is a *Refusal.
func unpack(body []byte, into any) error {
	var failed struct {
		Error   string          `json:"error"`
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(body, &failed); err != nil {
		return errUnread
	}
	if failed.Error != "" {
		told := &Refusal{Code: failed.Error}
		_ = json.Unmarshal(failed.Message, &told.Detail) // words for people, if it is words
		return told
	}
	if err := json.Unmarshal(body, into); err != nil {
		return errUnread
	}
	return nil
}

// exchange sends one small request and reads its answer, without the breaker.
func (c *Client) exchange(ctx context.Context, kind wire.Kind, into any, make func(head wire.Head) any) error {
	l, err := c.connected(ctx)
	if err != nil {
		return err
	}
	body, err := l.ask(ctx, kind, bodyOf(ctx, make))
	if err != nil {
		return err
	}
	return unpack(body, into)
}

// bodyOf makes a body in one piece.
func bodyOf(ctx context.Context, make func(head wire.Head) any) func(id uint64) (net.Buffers, error) {
	return func(id uint64) (net.Buffers, error) {
		data, err := wire.Encode(make(headFor(ctx, id)))
		return net.Buffers{data}, err
	}
}

// headFor names the time that is left.
func headFor(ctx context.Context, id uint64) wire.Head {
	h := wire.Head{ID: id}
	if at, ok := ctx.Deadline(); ok {
		h.DeadlineMS = max(time.Until(at).Milliseconds(), 1)
	}
	return h
}

// within gives ctx the usual deadline of a kind, unless it has one.
func within(ctx context.Context, usual time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, usual)
}
