package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"token-terminator/host/wire"
)

// link is one connection of a client, with its open requests. It ends with the first
// fault of the stream; the client then makes a new one.
type link struct {
	net     net.Conn
	writing sync.Mutex

	mu   sync.Mutex
	next uint64
	open map[uint64]chan frame
	err  error // set when the link has ended
	done chan struct{}
}

type frame struct {
	kind wire.Kind
	body []byte
}

var (
	// ErrSilent says that the daemon gave no answer: none runs, it went away, or it took
	// longer than the caller waits.
	ErrSilent  = errors.New("the daemon does not answer")
	errEnded   = fmt.Errorf("%w: the connection ended", ErrSilent)
	errUnread  = fmt.Errorf("%w: its answer does not read", ErrSilent)
	errForeign = errors.New("the socket belongs to another user")
)

// connect opens the connection daemon.json names, to a process of our own user.
func connect(ctx context.Context, info Info) (*link, error) {
	network, address := "unix", info.Socket
	if address == "" {
		network, address = "tcp4", info.Address
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSilent, err)
	}
	if network == "unix" && unixSockets {
		if uid, err := peerUID(c); err != nil || uid != os.Geteuid() {
			return nil, errors.Join(errForeign, c.Close())
		}
	}
	l := &link{net: c, open: map[uint64]chan frame{}, done: make(chan struct{})}
	go l.read()
	return l, nil
}

// read hands answers to their askers until the stream ends.
func (l *link) read() {
	defer close(l.done)
	r := wire.NewReader(bufio.NewReaderSize(l.net, readBuffer))
	for {
		f, err := r.Next()
		if err != nil {
			l.end(err)
			return
		}
		var head struct {
			ID *uint64 `json:"id"`
		}
		if json.Unmarshal(f.Body, &head) != nil || head.ID == nil {
			if l.lone(f) {
				continue
			}
			l.end(errEnded)
			return
		}
		l.mu.Lock()
		ch := l.open[*head.ID]
		delete(l.open, *head.ID)
		l.mu.Unlock()
		if ch != nil {
			ch <- frame{f.Kind, f.Body}
		}
	}
}

// lone gives an answer without an id to the only asker there is.
func (l *link) lone(f wire.Frame) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) != 1 {
		return false
	}
	for id, ch := range l.open {
		delete(l.open, id)
		ch <- frame{f.Kind, f.Body}
	}
	return true
}

func (l *link) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf("%w (%T)", errEnded, err)
	}
	for id, ch := range l.open {
		delete(l.open, id)
		close(ch)
	}
	_ = l.net.Close()
}

func (l *link) alive() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err == nil
}

// close ends the link and waits for its reader.
func (l *link) close() {
	l.end(net.ErrClosed)
	<-l.done
}

// begin takes an id for a request.
func (l *link) begin() (id uint64, ch chan frame, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, nil, l.err
	}
	l.next++
	ch = make(chan frame, 1)
	l.open[l.next] = ch
	return l.next, ch, nil
}

func (l *link) drop(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, id)
}

// ask sends one request and waits for its answer. parts makes the body for an id, in
// pieces that are sent one after the other.
func (l *link) ask(ctx context.Context, kind wire.Kind, parts func(id uint64) (net.Buffers, error)) ([]byte, error) {
	id, ch, err := l.begin()
	if err != nil {
		return nil, err
	}
	defer l.drop(id)
	body, err := parts(id)
	if err != nil {
		return nil, err
	}
	if err := l.send(ctx, kind, body); err != nil {
		return nil, err
	}
	select {
	case f, ok := <-ch:
		if !ok {
			return nil, errEnded
		}
		return f.body, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrSilent, ctx.Err())
	}
}

// send writes one frame. A frame that was begun and not finished ends the link.
func (l *link) send(ctx context.Context, kind wire.Kind, body net.Buffers) error {
	size := 0
	for _, part := range body {
		size += len(part)
	}
	head, err := wire.AppendHead(nil, kind, size)
	if err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	deadline, _ := ctx.Deadline()
	_ = l.net.SetWriteDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { l.end(ctx.Err()) })
	frame := append(net.Buffers{head}, body...)
	_, err = frame.WriteTo(l.net)
	stop()
	if err != nil {
		l.end(err)
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return nil
}
