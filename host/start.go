package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"token-terminator/host/wire"
)

// Starter says how a daemon is started: a program and its arguments, which must end up
// in "tt serve" for the client's folder.
type Starter struct {
	Exe  string
	Args []string
	Env  []string // nil: this process's
}

// Bounds of the wait for a daemon that starts or ends.
const (
	startPatience = 15 * time.Second
	startPoll     = 20 * time.Millisecond
)

// Daemon is a daemon that this process started.
type Daemon struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Spawn starts a daemon that outlives this process. Nothing it says is kept: it has a
// log of its own.
func Spawn(s Starter) (*Daemon, error) {
	d := &Daemon{cmd: exec.Command(s.Exe, s.Args...), done: make(chan struct{})}
	d.cmd.Env = s.Env
	detach(d.cmd)
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start daemon: %w", err)
	}
	go func() {
		d.err = d.cmd.Wait()
		close(d.done)
	}()
	return d, nil
}

// PID is its process id.
func (d *Daemon) PID() int { return d.cmd.Process.Pid }

// Done is closed when it has ended.
func (d *Daemon) Done() <-chan struct{} { return d.done }

// Err is how it ended; call it after Done.
func (d *Daemon) Err() error { return d.err }

// Dial connects to the daemon as soon as it listens. When it ends before that, the
// error says how.
func (d *Daemon) Dial(ctx context.Context, o Options) (*Client, error) {
	for {
		c, err := Dial(ctx, o)
		if err == nil || !errors.Is(err, ErrNoDaemon) && !errors.Is(err, ErrSilent) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ErrSilent, err)
		case <-d.done:
			return nil, fmt.Errorf("%w: it ended: %v", ErrNoDaemon, d.err)
		case <-time.After(startPoll):
		}
	}
}

// State is how its process ended; call it after Done.
func (d *Daemon) State() *os.ProcessState { return d.cmd.ProcessState }

// Kill ends it at once.
func (d *Daemon) Kill() error { return d.cmd.Process.Kill() }

// launch starts a daemon and greets whichever one serves the folder then: several
// clients may start one at the same time, and the lock lets one of them live.
func (c *Client) launch(ctx context.Context) (*link, wire.Welcome, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	d, err := Spawn(*c.o.Start)
	if err != nil {
		return nil, wire.Welcome{}, err
	}
	ended := false
	for {
		l, welcome, err := c.greet(ctx)
		if err == nil {
			return l, welcome, nil
		}
		if !errors.Is(err, ErrNoDaemon) && !errors.Is(err, ErrSilent) {
			return nil, welcome, err
		}
		if ended {
			return nil, welcome, fmt.Errorf("%w: the one just started ended: %w", ErrNoDaemon, err)
		}
		select {
		case <-ctx.Done():
			return nil, welcome, errors.Join(ErrSilent, err)
		case <-d.Done():
			// It lost against another one, which may not listen yet, or it failed.
			ended = c.awaitOther(ctx)
		case <-time.After(startPoll):
		}
	}
}

// awaitOther waits a little for the daemon that another client started and says whether
// there is none.
func (c *Client) awaitOther(ctx context.Context) (none bool) {
	for range 100 {
		if _, err := ReadInfo(c.o.Folder); err == nil {
			return false
		}
		select {
		case <-ctx.Done():
			return true
		case <-time.After(startPoll):
		}
	}
	return true
}

// dismiss asks an older daemon to leave and waits until it cannot be found any more.
func (c *Client) dismiss(ctx context.Context, l *link) error {
	defer l.close()
	info, err := ReadInfo(c.o.Folder)
	if err != nil {
		return nil // it is leaving already
	}
	body, err := l.ask(ctx, wire.KindEvent, bodyOf(ctx, func(h wire.Head) any {
		return &wire.Event{Head: h, Name: wire.EventDrain}
	}))
	if err == nil {
		err = unpack(body, &wire.EventAnswer{})
	}
	if err != nil && !errors.Is(err, ErrSilent) {
		return err
	}
	for {
		now, err := ReadInfo(c.o.Folder)
		if err != nil || now.PID != info.PID || !now.Started.Equal(info.Started) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ErrSilent, ctx.Err())
		case <-time.After(startPoll):
		}
	}
}

// Newer says whether version a is a later release than b. What is no version is not.
func Newer(a, b string) bool {
	x, okX := release(a)
	y, okY := release(b)
	if !okX || !okY {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

func release(version string) (parts [3]int, ok bool) {
	core, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	words := strings.Split(core, ".")
	if len(words) != len(parts) {
		return parts, false
	}
	for i, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return parts, false
		}
		parts[i] = n
	}
	return parts, true
}
