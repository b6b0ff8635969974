package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"token-terminator/internal/safefile"
)

// Defaults of Config. Sizes are bytes.
const (
	DefaultIdle     = 30 * time.Minute
	DefaultMaxConns = 256
	DefaultMaxOpen  = 128
	DefaultMaxBytes = 256 << 20
)

// Config wires a Server. Backend is required; every other zero value means its default.
type Config struct {
	Backend    Backend
	Version    string
	Engine     string
	Exe        string // path of the program, for its hash; "" unknown
	RuntimeDir string // the user's runtime folder, "" none
	TempDir    string // "" the system's
	HTTP       string // address of status and metrics, for daemon.json only

	Idle     time.Duration // without a frame, after which the daemon leaves; < 0 never
	MaxConns int
	MaxOpen  int   // frames of one connection in work; more wait unread
	MaxBytes int64 // of bodies in work, of all connections; more are answered busy
	TCP      bool  // loopback and token although there are unix sockets

	Clock   Clock
	Logger  *slog.Logger                // nil: no logs. Only counts, codes and type names are logged.
	PeerUID func(net.Conn) (int, error) // tests; nil: the system's word
}

func (c Config) withDefaults() Config {
	fill(&c.Idle, DefaultIdle)
	fill(&c.MaxConns, DefaultMaxConns)
	fill(&c.MaxOpen, DefaultMaxOpen)
	fill(&c.MaxBytes, DefaultMaxBytes)
	fill(&c.TempDir, os.TempDir())
	fill(&c.Engine, "tt")
	c.TCP = c.TCP || !unixSockets
	if c.Clock == nil {
		c.Clock = wallClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.PeerUID == nil {
		c.PeerUID = peerUID
	}
	return c
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Server is a running daemon's door.
type Server struct {
	cfg      Config
	lease    *Lease
	info     Info
	listener net.Listener
	exe      func() string

	mu      sync.Mutex
	conns   map[*conn]struct{}
	stopped bool // guarded by mu: no connection is taken any more

	stopping  atomic.Bool
	leave     chan struct{} // closed when the daemon should leave
	leaveOnce sync.Once
	accepting chan struct{}  // closed when Accept returned for good
	inside    sync.WaitGroup // connections
	open      openFrames
	bytes     atomic.Int64
	active    atomic.Int64 // UnixNano of the last frame
	stopIdle  func() bool
	idleMu    sync.Mutex

	tally struct {
		frames, answers, foreign, crowded, busy, long, bad, panics atomic.Int64
	}
	stopOnce sync.Once
	stopErr  error
}

// Listen opens the socket of the lease's folder, writes daemon.json and serves until
// Stop. The lease belongs to the server then, and Stop gives it back, with the backend
// closed. When Listen fails the caller still owns both.
func Listen(lease *Lease, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg: cfg, lease: lease, conns: map[*conn]struct{}{},
		leave: make(chan struct{}), accepting: make(chan struct{}),
	}
	s.exe = sync.OnceValue(func() string { return hashFile(cfg.Exe) })
	s.open.init()
	s.info = Info{PID: os.Getpid(), Version: cfg.Version, Started: lease.Started, HTTP: cfg.HTTP}
	if err := s.bind(); err != nil {
		return nil, err
	}
	if err := writeInfo(lease.Folder, s.info); err != nil {
		return nil, errors.Join(err, s.listener.Close())
	}
	s.touch()
	s.watchIdle(cfg.Idle)
	go s.accept()
	return s, nil
}

func (s *Server) bind() error {
	if s.cfg.TCP {
		var token [32]byte
		if _, err := rand.Read(token[:]); err != nil {
			return fmt.Errorf("make token: %w", err)
		}
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("listen on loopback: %w", err)
		}
		s.listener, s.info.Address, s.info.Token = l, l.Addr().String(), hex.EncodeToString(token[:])
		return nil
	}
	path, err := socketPath(s.lease.Folder, s.cfg.RuntimeDir, s.cfg.TempDir)
	if err != nil {
		return err
	}
	if err := removeStale(path); err != nil {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("listen on the socket: %w", err)
	}
	if err := os.Chmod(path, safefile.FileMode); err != nil {
		return errors.Join(fmt.Errorf("make the socket private: %w", err), l.Close())
	}
	s.listener, s.info.Socket = l, path
	return nil
}

// Info is what daemon.json says.
func (s *Server) Info() Info { return s.info }

// Leaving is closed when the daemon should leave: a client asked it to, or nobody used
// it for the idle time. Whoever runs the server then calls Stop.
func (s *Server) Leaving() <-chan struct{} { return s.leave }

func (s *Server) askToLeave(why string) {
	s.leaveOnce.Do(func() {
		s.cfg.Logger.Info("leaving", "reason", why)
		close(s.leave)
	})
}

func (s *Server) accept() {
	defer close(s.accepting)
	for {
		c, err := s.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			s.cfg.Logger.Warn("accept failed", "err_type", fmt.Sprintf("%T", err))
			select {
			case <-s.leave:
				return
			case <-time.After(acceptPause): // out of file descriptors, most likely
				continue
			}
		}
		s.admit(c)
	}
}

const acceptPause = 50 * time.Millisecond

// admit takes a connection, unless its user is another one or there are too many.
func (s *Server) admit(c net.Conn) {
	if !s.cfg.TCP {
		if err := s.checkPeer(c); err != nil {
			s.tally.foreign.Add(1)
			s.cfg.Logger.Warn("connection refused", "reason", "foreign_peer")
			_ = c.Close()
			return
		}
	}
	s.mu.Lock()
	full := len(s.conns) >= s.cfg.MaxConns
	if full || s.stopped {
		s.mu.Unlock()
		if full {
			s.tally.crowded.Add(1)
		}
		refuse(c, full)
		return
	}
	one := newConn(s, c)
	s.conns[one] = struct{}{}
	s.inside.Add(1)
	s.mu.Unlock()
	go one.serve()
}

// checkPeer says whether the user on the other end is our own.
func (s *Server) checkPeer(c net.Conn) error {
	uid, err := s.cfg.PeerUID(c)
	if err != nil {
		return err
	}
	if uid != os.Geteuid() {
		return errForeignPeer
	}
	return nil
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.inside.Done()
}

// Stats is what the server did so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	n := len(s.conns)
	s.mu.Unlock()
	return Stats{
		Started: s.info.Started, Connections: n, Open: s.open.count(), Bytes: s.bytes.Load(),
		Frames: s.tally.frames.Load(), Answers: s.tally.answers.Load(), Foreign: s.tally.foreign.Load(),
		Crowded: s.tally.crowded.Load(), BusyFrames: s.tally.busy.Load(), LongFrames: s.tally.long.Load(),
		BadFrames: s.tally.bad.Load(), Panics: s.tally.panics.Load(), Leaving: s.stopping.Load(),
	}
}

// reserve takes room for a body of n bytes.
func (s *Server) reserve(n int64) bool {
	if s.bytes.Add(n) <= s.cfg.MaxBytes {
		return true
	}
	s.bytes.Add(-n)
	return false
}

// Stop ends the daemon in order: it can no longer be found, frames in work are
// answered, what has already arrived is answered with the reason stopped, then the
// backend is closed and the lease given back. When ctx ends first the answers still
// missing are given up and ctx's error is returned. A second Stop returns what the
// first returned.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() { s.stopErr = s.shutdown(ctx) })
	return s.stopErr
}

func (s *Server) shutdown(ctx context.Context) error {
	s.askToLeave("stop")
	s.stopping.Store(true)
	s.quitIdle()
	errs := []error{os.Remove(filepath.Join(s.lease.Folder, InfoName)), s.listener.Close()}
	<-s.accepting
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()

	late := s.open.wait(ctx)
	s.each(func(c *conn) { c.finish(late != nil) })
	if gone := waitFor(ctx, &s.inside); gone != nil {
		late = gone
		s.each(func(c *conn) { c.finish(true) })
		s.inside.Wait()
	}
	if late != nil {
		errs = append(errs, fmt.Errorf("stop daemon: answers given up: %w", late))
	}
	errs = append(errs, s.cfg.Backend.Close(ctx), s.lease.Release())
	return errors.Join(errs...)
}

func (s *Server) each(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}

func waitFor(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
