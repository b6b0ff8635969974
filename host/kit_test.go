package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"token-terminator/host/wire"
	"token-terminator/internal/testkit"
	"token-terminator/request"
	"token-terminator/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stub is a backend and a desk that shortens every tool result to its first three
// letters. Each call passes a wedge and may be made to panic.
type stub struct {
	wedge *testkit.Wedge
	mu    sync.Mutex
	panic bool
	pass  turn.Reason // what turns pass with, "" edit
	turns []turn.Binding
	hello []*wire.Hello
	event []wire.Event
	shut  int
	limit time.Duration
}

func newStub() *stub { return &stub{wedge: testkit.NewWedge()} }

func (s *stub) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *stub) hurt() {
	s.mu.Lock()
	hurt := s.panic
	s.mu.Unlock()
	if hurt {
		panic("MARKER in a panic value")
	}
}

func (s *stub) Open(h *wire.Hello) (Desk, []string, error) {
	s.hurt()
	s.set(func() { s.hello = append(s.hello, h) })
	if h.Env["TOKEN_TERMINATOR_MODE"] == "bad" {
		return nil, nil, &Refusal{Code: wire.ErrorSetting, Detail: "MODE"}
	}
	return s, nil, nil
}

func (s *stub) Status(context.Context, Stats) (any, error) {
	s.hurt()
	return map[string]int{"schema": 1}, nil
}

func (s *stub) Close(context.Context) error {
	s.set(func() { s.shut++ })
	return nil
}

func (s *stub) Turn(ctx context.Context, t *wire.Turn, limit time.Duration) wire.TurnAnswer {
	s.wedge.Pass()
	s.hurt()
	s.mu.Lock()
	s.turns, s.limit = append(s.turns, t.Binding), limit
	why := s.pass
	s.mu.Unlock()
	doc, err := request.Parse(t.RequestJSON)
	if why != "" || err != nil {
		return wire.TurnAnswer{Decision: wire.Pass, Reason: why}
	}
	a := wire.TurnAnswer{Decision: wire.Edit, Reason: turn.Reduced, Tokens: &wire.Tokens{Raw: 2, Final: 1, Measure: "exact"}}
	for i, m := range doc.Messages {
		for _, text := range m.Texts {
			if value, _ := doc.Value(text); m.Role == "tool" && len(value) > 3 {
				a.Edits = append(a.Edits, turn.Edit{Pointer: doc.Pointer(i, text.Block), Before: turn.Sum(value), Value: value[:3]})
			}
		}
	}
	return a
}

func (s *stub) Result(_ context.Context, r *wire.Result) wire.ResultAnswer {
	s.wedge.Pass()
	s.hurt()
	text := r.Text[:1]
	return wire.ResultAnswer{Decision: wire.Edit, Reason: turn.CompressedLog, Text: &text}
}

func (s *stub) Command(context.Context, *wire.Command) wire.CommandAnswer {
	s.hurt()
	return wire.CommandAnswer{Decision: wire.Refuse, Refuse: "own_marker", Message: "no"}
}

func (s *stub) Recover(_ context.Context, r *wire.Recover) (any, error) {
	s.wedge.Pass()
	s.hurt()
	if r.ArtifactID == "a_00000000" {
		return nil, &Refusal{Code: wire.ErrorUnknown}
	}
	if r.ArtifactID == "a_ffffffff" {
		return nil, errors.New("secret words of another program")
	}
	return map[string]string{"content": "whole"}, nil
}

func (s *stub) Event(_ context.Context, e *wire.Event) error {
	s.hurt()
	s.set(func() { s.event = append(s.event, *e) })
	return nil
}

// rig is a server over a stub in a folder of its own.
type rig struct {
	*Server
	t      *testing.T
	stub   *stub
	clock  *testkit.Clock
	folder string
}

// shortDir is a folder whose path leaves room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tt")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func serve(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, stub: newStub(), clock: testkit.NewClock(time.Unix(1_800_000_000, 0)), folder: filepath.Join(shortDir(t), FolderName)}
	lease, err := Acquire(context.Background(), r.folder)
	require.NoError(t, err)
	cfg := Config{Backend: r.stub, Version: "0.1.0", Engine: "test", TempDir: shortDir(t), Clock: r.clock}
	if change != nil {
		change(&cfg)
	}
	r.Server, err = Listen(lease, cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		r.stub.wedge.Release()
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		require.NoError(t, r.Stop(ctx))
		require.Zero(t, r.Stats().Connections)
		require.Zero(t, r.bytes.Load(), "room for bodies is given back")
	})
	return r
}

// caller speaks the protocol by hand.
type caller struct {
	t    *testing.T
	conn net.Conn
	r    *wire.Reader
}

func (r *rig) dial() *caller {
	r.t.Helper()
	network, address := "unix", r.Info().Socket
	if address == "" {
		network, address = "tcp4", r.Info().Address
	}
	conn, err := net.Dial(network, address)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(r.t, conn.SetDeadline(time.Now().Add(testkit.Patience)))
	return &caller{r.t, conn, wire.NewReader(bufio.NewReader(conn))}
}

// greeted is a connection that said hello.
func (r *rig) greeted() *caller {
	r.t.Helper()
	c := r.dial()
	require.Equal(r.t, float64(1), c.ask(wire.KindHello, `{"id":1,"protocol":1,"client":"t","version":"0.1.0","home":"","env":{}}`)["protocol"])
	return c
}

func (c *caller) send(kind wire.Kind, body string) {
	c.t.Helper()
	require.NoError(c.t, wire.WriteFrame(c.conn, kind, []byte(body)))
}

func (c *caller) next() (wire.Kind, map[string]any) {
	c.t.Helper()
	f, err := c.r.Next()
	require.NoError(c.t, err)
	var body map[string]any
	require.NoError(c.t, json.Unmarshal(f.Body, &body))
	return f.Kind, body
}

func (c *caller) ask(kind wire.Kind, body string) map[string]any {
	c.t.Helper()
	c.send(kind, body)
	got, answer := c.next()
	require.Equal(c.t, kind|wire.Answer, got)
	return answer
}

// chat is a request with one tool result of so many letters.
func chat(result string) string {
	return `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"` + result + `"}]}`
}

func turnFrame(id, request string) string {
	return `{"id":` + id + `,"binding":{"session":"s"},"scope":{"purpose":"chat"},"request_json":` + request + `}`
}
