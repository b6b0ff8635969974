package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"token-terminator/host/wire"
	"token-terminator/turn"
)

// Patience with the other end. These bound what a silent client can hold, nothing else.
const (
	helloPatience = 10 * time.Second // for the first frame
	bodyPatience  = 30 * time.Second // for a body that was announced
	writePatience = 10 * time.Second // for an answer to be taken
	readBuffer    = 64 << 10         // bytes
)

// conn is one connection. Its reader takes frames one after the other; each is worked
// on in a goroutine of its own, and answers leave as they come.
type conn struct {
	s      *Server
	net    net.Conn
	ctx    context.Context // done when the client is gone
	cancel context.CancelFunc
	slots  chan struct{}  // frames in work
	owed   sync.WaitGroup // answers not written yet

	writing sync.Mutex
	desk    Desk   // nil before the hello; the reader's own
	home    string // as this client spells it
}

func newConn(s *Server, c net.Conn) *conn {
	ctx, cancel := context.WithCancel(context.Background())
	return &conn{s: s, net: c, ctx: ctx, cancel: cancel, slots: make(chan struct{}, s.cfg.MaxOpen)}
}

// refuse tells a connection that it is not taken.
func refuse(c net.Conn, full bool) {
	word := wire.ErrorStopped
	if full {
		word = wire.ErrorBusy
	}
	if body, err := wire.Encode(wire.Failure{Error: word}); err == nil {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		_ = wire.WriteFrame(c, wire.KindHello|wire.Answer, body)
	}
	_ = c.Close()
}

// serve reads until the client is gone or cannot be understood.
func (c *conn) serve() {
	defer c.s.forget(c)
	defer c.net.Close()
	defer c.cancel()
	_ = c.net.SetReadDeadline(time.Now().Add(helloPatience))
	r := wire.NewReader(bufio.NewReaderSize(c.net, readBuffer))
	half := int64(0) // room taken for a body that has not all arrived
	defer func() { c.s.bytes.Add(-half) }()
	r.Reserve = func(n int64) bool {
		_ = c.net.SetReadDeadline(time.Now().Add(bodyPatience))
		if !c.s.reserve(n) {
			return false
		}
		half = n
		return true
	}
	for {
		frame, err := r.Next()
		var skipped *wire.Skipped
		switch {
		case err == nil:
			half = 0
			_ = c.net.SetReadDeadline(c.patience())
			c.take(frame)
			continue
		case errors.As(err, &skipped):
			_ = c.net.SetReadDeadline(c.patience())
			c.leftOut(skipped)
			continue
		case errors.Is(err, wire.ErrHostile):
			c.s.tally.long.Add(1)
			c.write(wire.Answer, wire.Failure{Error: wire.ErrorTooLarge, Message: "the length is beyond any frame; the connection is closed"})
		}
		break
	}
	if !c.s.stopping.Load() {
		c.cancel()
	}
	c.owed.Wait()
}

// patience is until when the next frame may begin: for ever once the client is known.
func (c *conn) patience() time.Time {
	if c.desk == nil {
		return time.Now().Add(helloPatience)
	}
	return time.Time{}
}

// finish ends the connection of a server that stops: at once, or when what has already
// arrived is answered.
func (c *conn) finish(now bool) {
	if half, ok := c.net.(interface{ CloseRead() error }); ok && !now {
		_ = half.CloseRead()
		return
	}
	c.cancel()
	_ = c.net.Close()
}

// leftOut answers a frame that was read past.
func (c *conn) leftOut(s *wire.Skipped) {
	c.s.tally.frames.Add(1)
	word := wire.ErrorBusy
	if s.Why == turn.TooLarge {
		word = wire.ErrorTooLarge
		c.s.tally.long.Add(1)
	} else {
		c.s.tally.busy.Add(1)
	}
	id, known := wire.PeekID(s.Head)
	c.write(s.Kind|wire.Answer, passOr(s.Kind, id, known, s.Why, word))
}

// take works on one frame: the hello at once, everything else beside the reader.
func (c *conn) take(f wire.Frame) {
	c.s.tally.frames.Add(1)
	c.s.touch()
	size := int64(len(f.Body))
	c.s.open.add()
	c.owed.Add(1)
	answered := func() {
		c.s.touch()
		c.s.open.done()
		c.owed.Done()
	}
	req, err := wire.Decode(f.Kind, f.Body)
	if err != nil || c.s.stopping.Load() || f.Kind == wire.KindHello || c.desk == nil {
		c.write(f.Kind|wire.Answer, c.atOnce(f.Kind, req, err))
		c.s.bytes.Add(-size)
		answered()
		return
	}
	select {
	case c.slots <- struct{}{}:
	case <-c.ctx.Done():
		c.s.bytes.Add(-size)
		answered()
		return
	}
	go func() {
		defer answered()
		c.work(f.Kind, req, func() {
			<-c.slots
			c.s.bytes.Add(-size)
		})
	}()
}

// atOnce answers what needs no work: a hello, and what cannot be worked on.
func (c *conn) atOnce(kind wire.Kind, req wire.Request, err error) (out any) {
	var id uint64
	known := false
	defer func() {
		if v := recover(); v != nil {
			c.caught(kind, v)
			out = passOr(kind, id, known, turn.InternalError, wire.ErrorInternal)
		}
	}()
	var fault *wire.BodyError
	if errors.As(err, &fault) {
		c.s.tally.bad.Add(1)
		if fault.Code == wire.BadFrame && fault.HasID {
			return passOr(kind, fault.ID, true, fault.Reason, fault.Code)
		}
		return failure(fault.ID, fault.HasID, fault.Code, fault.Field)
	}
	id, known = req.Opening().ID, true
	hello, isHello := req.(*wire.Hello)
	switch {
	case c.s.stopping.Load():
		return passOr(kind, id, true, turn.Stopped, wire.ErrorStopped)
	case !isHello:
		return failure(id, true, wire.ErrorHello, "")
	case c.desk != nil:
		return failure(id, true, wire.Unsupported, "a connection has one hello")
	}
	if refused := c.s.checkHello(hello); refused != nil {
		return failure(id, true, refused.Code, refused.Detail)
	}
	desk, notices, err := c.s.cfg.Backend.Open(hello)
	if err != nil {
		return refusal(id, err)
	}
	c.desk, c.home = desk, hello.Home
	return wire.Welcome{
		ID: id, Protocol: wire.Protocol, DaemonVersion: c.s.cfg.Version, ExeSHA256: c.s.exe(), Engine: c.s.cfg.Engine, Notices: notices,
	}
}

// work calls the desk and writes its answer, or the deadline's. The call may return
// later than that; release is called when it does.
func (c *conn) work(kind wire.Kind, req wire.Request, release func()) {
	id := req.Opening().ID
	limit := limitOf(kind, req.Opening().DeadlineMS)
	guard := limit
	if kind == wire.KindTurn {
		guard += backstop
	}
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	expired := make(chan struct{})
	stop := c.s.cfg.Clock.AfterFunc(guard, func() { close(expired) })
	defer stop()
	done := make(chan any, 1)
	go func() {
		defer release()
		done <- c.call(ctx, kind, req, limit)
	}()
	select {
	case out := <-done:
		c.write(kind|wire.Answer, out)
	case <-expired:
		c.write(kind|wire.Answer, passOr(kind, id, true, turn.Deadline, wire.ErrorDeadline))
	case <-c.ctx.Done(): // nobody is there to read it
	}
}

// call is one call of the desk; a panic is an answer too.
func (c *conn) call(ctx context.Context, kind wire.Kind, req wire.Request, limit time.Duration) (out any) {
	id := req.Opening().ID
	defer func() {
		if v := recover(); v != nil {
			c.caught(kind, v)
			out = passOr(kind, id, true, turn.InternalError, wire.ErrorInternal)
		}
	}()
	if b := bindingOf(req); b != nil {
		if !c.s.isHome(b.Home) && b.Home != c.home {
			return failure(id, true, wire.ErrorWrongHome, "")
		}
		b.Home = c.s.lease.Folder
	}
	switch m := req.(type) {
	case *wire.Turn:
		a := c.desk.Turn(ctx, m, limit)
		a.ID = id
		return a
	case *wire.Result:
		a := c.desk.Result(ctx, m)
		a.ID = id
		return a
	case *wire.Command:
		a := c.desk.Command(ctx, m)
		a.ID = id
		return a
	case *wire.Recover:
		found, err := c.desk.Recover(ctx, m)
		return c.found(id, found, err)
	case *wire.Event:
		return c.event(ctx, id, m)
	case *wire.Status:
		status, err := c.s.cfg.Backend.Status(ctx, c.s.Stats())
		if err != nil {
			return refusal(id, err)
		}
		data, err := wire.Encode(status)
		if err != nil {
			return failure(id, true, wire.ErrorInternal, "")
		}
		return wire.StatusAnswer{ID: id, Status: data}
	}
	return failure(id, true, wire.Unsupported, "")
}

func (c *conn) found(id uint64, found any, err error) any {
	if err != nil {
		return refusal(id, err)
	}
	data, err := wire.Encode(found)
	if err != nil {
		return failure(id, true, wire.ErrorInternal, "")
	}
	return wire.RecoverAnswer{ID: id, Result: data}
}

func (c *conn) event(ctx context.Context, id uint64, e *wire.Event) any {
	if e.Name == wire.EventDrain {
		c.s.askToLeave("drain")
		return wire.EventAnswer{ID: id, OK: true}
	}
	if err := c.desk.Event(ctx, e); err != nil {
		return refusal(id, err)
	}
	return wire.EventAnswer{ID: id, OK: true}
}

// write sends one answer. A client that does not take it is let go.
func (c *conn) write(kind wire.Kind, body any) {
	data, err := wire.Encode(body)
	if err != nil || len(data) >= wire.MaxFrame {
		c.s.cfg.Logger.Error("answer not written", "kind", int(kind), "bytes", len(data))
		data, _ = wire.Encode(wire.Failure{Error: wire.ErrorInternal})
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.net.SetWriteDeadline(time.Now().Add(writePatience))
	if err := wire.WriteFrame(c.net, kind, data); err != nil {
		c.cancel()
		_ = c.net.Close()
		return
	}
	c.s.tally.answers.Add(1)
}

// caught notes a panic by the type of its value: the value may hold content.
func (c *conn) caught(kind wire.Kind, v any) {
	c.s.tally.panics.Add(1)
	c.s.cfg.Logger.Error("panic caught", "kind", int(kind), "type", fmt.Sprintf("%T", v))
}

// bindingOf is the binding of a request, nil when it has none.
func bindingOf(req wire.Request) *turn.Binding {
	switch m := req.(type) {
	case *wire.Turn:
		return &m.Binding
	case *wire.Result:
		return &m.Binding
	case *wire.Command:
		return &m.Binding
	case *wire.Recover:
		return &m.Binding
	case *wire.Event:
		return &m.Binding
	}
	return nil
}
