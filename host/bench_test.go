package host

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"token-terminator/host/wire"
	"token-terminator/request"
	"token-terminator/turn"
)

// nothing is a backend that passes every turn at once: what is left is the transport.
type nothing struct{ *stub }

func (n nothing) Open(*wire.Hello) (Desk, []string, error) { return n, nil, nil }

func (n nothing) Turn(context.Context, *wire.Turn, time.Duration) wire.TurnAnswer {
	return wire.TurnAnswer{Decision: wire.Pass, Reason: turn.NothingToReduce}
}

// BenchmarkRoundTrip sends a request of 1 MB and takes a pass. B/op includes both ends
// of the socket: one buffer for the frame in the daemon, none for the request in the
// client.
func BenchmarkRoundTrip(b *testing.B) {
	dir := b.TempDir()
	lease, err := Acquire(context.Background(), filepath.Join(dir, FolderName))
	if err != nil {
		b.Fatal(err)
	}
	server, err := Listen(lease, Config{Backend: nothing{newStub()}, TempDir: "/tmp", Version: "0.1.0"})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop(context.Background())
	c, err := Dial(context.Background(), Options{Folder: lease.Folder, Version: "0.1.0"})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	in := TurnRequest{Binding: turn.Binding{Session: "s"}, Scope: request.Scope{Purpose: request.Word("title")}, Body: []byte(chat(strings.Repeat("x", 1<<20)))}
	b.SetBytes(int64(len(in.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if out := c.Turn(context.Background(), in); out.Fallback != "" {
			b.Fatal(out.Fallback)
		}
	}
}
