package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/actors"
	"token-terminator/host"
	"token-terminator/host/wire"
	"token-terminator/internal/faults"
	"token-terminator/internal/testkit"
	"token-terminator/request"
	"token-terminator/turn"
	"token-terminator/vault"
)

// badDay is a host that talks to a real daemon over a real vault while something goes
// wrong. Whatever comes of a turn may be sent: the host's own request, or one whose
// every id gives the host's own text, now and at the end.
type badDay struct {
	*daemonRig
	c     *host.Client
	hook  atomic.Pointer[faults.Hook]
	next  int
	shown map[string]string // text of every id that was sent
}

func newBadDay(t *testing.T, folder string, change func(*engineConfig)) *badDay {
	t.Helper()
	b := &badDay{shown: map[string]string{}}
	b.daemonRig = startDaemon(t, folder, func(cfg *engineConfig) {
		cfg.vault.Hook = func(point string) error {
			if hook := b.hook.Load(); hook != nil {
				return (*hook)(point)
			}
			return nil
		}
		if change != nil {
			change(cfg)
		}
	})
	b.c = b.client(nil, nil)
	return b
}

func (b *badDay) fail(hook faults.Hook) {
	if hook == nil {
		b.hook.Store(nil)
		return
	}
	b.hook.Store(&hook)
}

// turn sends the next request of the session.
func (b *badDay) turn() host.TurnResult {
	b.t.Helper()
	body := crashRequest(b.next)
	b.next++
	out := askTurn(b.t, b.c, "crash", uint64(b.next), string(body))
	require.NotEqual(b.t, host.Silent, out.Fallback)
	require.True(b.t, out.Reason.Known(), out.Reason)
	if !out.Edited {
		require.Equal(b.t, string(body), string(out.Body))
	}
	for id, whole := range textsOf(b.t, body, out.Body) {
		b.shown[id] = whole
	}
	return out
}

// passes sends the next request, which must come back as it is, for one of the reasons.
func (b *badDay) passes(reasons ...turn.Reason) {
	b.t.Helper()
	out := b.turn()
	require.Contains(b.t, reasons, out.Reason)
	require.NotEqual(b.t, turn.Reduced, out.Reason)
	require.Positive(b.t, liveStatus(b.t, b.c).Engine.Reasons[out.Reason], "the reason is counted")
}

func (b *badDay) reduced() host.TurnResult {
	b.t.Helper()
	out := b.turn()
	require.True(b.t, out.Edited, out.Reason)
	require.Empty(b.t, out.Fallback)
	return out
}

// code is what a fetch of an id is refused with, "" when it gives the text.
func (b *badDay) code(id string) string {
	b.t.Helper()
	text, err := pagesOf(b.c, "crash", id)
	if err != nil {
		var refused *host.Refusal
		require.ErrorAs(b.t, err, &refused)
		return refused.Code
	}
	require.Equal(b.t, b.shown[id], text)
	return ""
}

// whole demands that every id that was ever sent gives its text, and a sound vault.
func (b *badDay) whole() {
	b.t.Helper()
	for id := range b.shown {
		require.Empty(b.t, b.code(id), id)
	}
	code, text, errs := tt(b.t, "", "vault", "verify", "--vault", b.folder)
	require.Equal(b.t, exitDone, code, text+errs)
}

// textsOf gives the host's own text of every id in a request that was sent.
func textsOf(t testing.TB, body, sent []byte) map[string]string {
	t.Helper()
	in, err := request.Parse(body)
	require.NoError(t, err)
	doc, err := request.Parse(sent)
	require.NoError(t, err)
	out := map[string]string{}
	for i, m := range doc.Messages {
		for k, text := range m.Texts {
			shown, err := doc.Value(text)
			require.NoError(t, err)
			whole, err := in.Value(in.Messages[i].Texts[k])
			require.NoError(t, err)
			for _, match := range markedID.FindAllStringSubmatch(shown, -1) {
				out[match[1]] = whole
			}
		}
	}
	return out
}

// change does something to the vault's file behind the daemon's back.
func (b *badDay) change(query string) {
	b.t.Helper()
	db, err := sql.Open("sqlite", b.engine.vault.current().Path())
	require.NoError(b.t, err)
	_, err = db.Exec(query)
	require.NoError(b.t, err)
	require.NoError(b.t, db.Close())
}

// The store takes nothing for a while: every turn of that time comes back as it is, for
// a reason that is counted; what was sent before stays; afterwards turns are reduced.
func TestDaemonBadDay_WhileTheStoreTakesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    func(*engineConfig)
		begin  func(b *badDay) (end func())
		reason turn.Reason
	}{
		"read-only, every write fails": {reason: turn.StorageUnavailable, begin: func(b *badDay) func() {
			b.fail(faults.FailAlways("before begin", faults.ErrInjected))
			return func() { b.fail(nil) }
		}},
		"the commit fails, as on a full disk": {reason: turn.StorageUnavailable, begin: func(b *badDay) func() {
			b.fail(faults.FailAlways("before commit", faults.ErrInjected))
			return func() { b.fail(nil) }
		}},
		"locked by another process": {
			set:    func(cfg *engineConfig) { cfg.vault.BusyTimeout = 20 * time.Millisecond },
			reason: turn.StorageUnavailable,
			begin: func(b *badDay) func() {
				db, err := sql.Open("sqlite", b.engine.vault.current().Path())
				require.NoError(b.t, err)
				conn, err := db.Conn(context.Background())
				require.NoError(b.t, err)
				_, err = conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
				require.NoError(b.t, err)
				return func() {
					_, err := conn.ExecContext(context.Background(), "ROLLBACK")
					require.NoError(b.t, err)
					require.NoError(b.t, conn.Close())
					require.NoError(b.t, db.Close())
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBadDay(t, filepath.Join(t.TempDir(), "vault"), c.set)
			b.reduced()
			b.reduced()
			end := c.begin(b)
			b.passes(c.reason)
			b.passes(c.reason)
			end()
			b.turn()
			b.reduced()
			b.whole()
		})
	}
}

// Limits that are really reached: pages of the file, and the capacity.
func TestDaemonBadDay_AFullVault(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]vault.Options{"disk": {MaxPages: 24}, "capacity": {CapacityBytes: 60_000}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBadDay(t, filepath.Join(t.TempDir(), "vault"), func(cfg *engineConfig) {
				cfg.vault.MaxPages, cfg.vault.CapacityBytes = o.MaxPages, o.CapacityBytes
			})
			full, edited := 0, 0
			for range 24 {
				out := b.turn()
				if out.Edited && out.Fallback == "" {
					edited++
					continue
				}
				require.Equal(t, turn.VaultFull, out.Reason)
				full++
			}
			require.NotZero(t, full)
			require.NotZero(t, edited)
			require.EqualValues(t, full, liveStatus(t, b.c).Engine.Reasons[turn.VaultFull])
			b.whole()
		})
	}
}

// An original goes while the session is on: a fetch says that it is lost, the next
// request stores it again or shows it as it was, and a fetch gives it again.
func TestDaemonBadDay_ALostOriginalIsCalledLostAndComesBack(t *testing.T) {
	t.Parallel()
	b := newBadDay(t, filepath.Join(t.TempDir(), "vault"), nil)
	b.reduced()
	b.reduced()
	b.change(`DELETE FROM pins; DELETE FROM bodies; DELETE FROM artifacts`)
	for id := range b.shown {
		require.Contains(t, []string{wire.ErrorLost, wire.ErrorUnknown}, b.code(id), id)
	}
	out := b.turn()
	require.True(t, out.Reason.Known())
	b.reduced()
	for id := range textsOf(t, crashRequest(b.next-1), out.Body) {
		require.Empty(t, b.code(id), id)
	}
	b.whole()
}

// A clock that jumps by years in both directions costs nobody an original.
func TestDaemonBadDay_AClockThatJumps(t *testing.T) {
	t.Parallel()
	clock := faults.NewClock()
	b := newBadDay(t, filepath.Join(t.TempDir(), "vault"), func(cfg *engineConfig) { cfg.vault.Now = clock.Now })
	for n := range 9 {
		clock.Move([]time.Duration{time.Minute, -400 * 24 * time.Hour, 800 * 24 * time.Hour}[n%3])
		b.reduced()
	}
	b.whole()
}

// The log loses its tail in a crash: the next daemon serves what is left, answers for
// the rest as unknown or lost, and the session's next request stores it again.
func TestDaemonBadDay_ALogThatIsCut(t *testing.T) {
	t.Parallel()
	for _, part := range []int64{0, 1, 2, 3} {
		t.Run(fmt.Sprint(part, " of 4"), func(t *testing.T) {
			t.Parallel()
			o := childHome(t)
			daemon := o.spawn(t)
			c := o.dial(t, daemon, nil)
			var out host.TurnResult
			for n := range 6 {
				out = askTurn(t, c, "crash", uint64(n+1), string(crashRequest(n)))
				require.True(t, out.Edited, out.Reason)
			}
			require.NoError(t, daemon.Kill())
			<-daemon.Done()
			wal := filepath.Join(o.Folder, vault.FileName+"-wal")
			info, err := os.Stat(wal)
			require.NoError(t, err)
			const head, frame = 32, 24 + 4096
			frames := (info.Size() - head) / frame
			require.Positive(t, frames)
			require.NoError(t, os.Truncate(wal, head+frames*part/4*frame))

			b := newBadDay(t, o.Folder, nil)
			before := textsOf(t, crashRequest(5), out.Body)
			require.NotEmpty(t, before)
			for id, whole := range before {
				b.shown[id] = whole
				require.Contains(t, []string{"", wire.ErrorLost, wire.ErrorUnknown}, b.code(id))
			}
			b.shown, b.next = map[string]string{}, 6
			b.reduced()
			b.reduced()
			b.whole()
			for id, whole := range before { // the session has them in hand
				b.shown[id] = whole
				require.Empty(t, b.code(id))
			}
		})
	}
}

// Pages of the file are damaged between two daemons: an id gives its own text or says
// why not, what is sent gives its text, and a verification finds damage wherever a
// fetch did.
func TestDaemonBadDay_ADamagedPage(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	b := newBadDay(t, folder, nil)
	for range 6 {
		b.reduced()
	}
	shown := b.shown
	b.stop()
	info, err := os.Stat(filepath.Join(folder, vault.FileName))
	require.NoError(t, err)
	pages := info.Size() / 4096
	require.Greater(t, pages, int64(8))
	for page := int64(1); page < pages; page += 2 {
		to := filepath.Join(t.TempDir(), "vault")
		require.NoError(t, os.CopyFS(to, os.DirFS(folder)))
		require.NoError(t, os.Chmod(to, 0o700))
		for _, name := range []string{vault.FileName, vault.MarkerKeyName} {
			require.NoError(t, os.Chmod(filepath.Join(to, name), 0o600))
		}
		_ = os.Remove(filepath.Join(to, host.LockName))
		require.NoError(t, faults.Fill(filepath.Join(to, vault.FileName), page*4096, 4096, []byte{0xff, 0}[page/2%2]))
		d := newBadDay(t, to, nil)
		d.next = 6
		hurt := 0
		for id, whole := range shown {
			d.shown[id] = whole
			if word := d.code(id); word != "" {
				hurt++
				require.Contains(t, []string{wire.ErrorDamaged, wire.ErrorLost, wire.ErrorUnknown, wire.ErrorNotYours, wire.ErrorStorage}, word, "page %d", page)
			}
		}
		if v := d.engine.vault.current(); v != nil {
			report, err := v.Verify(context.Background())
			require.True(t, hurt == 0 || err != nil || !report.Sound(), "page %d", page)
		}
		d.shown = map[string]string{}
		out := d.turn()
		if out.Edited && out.Fallback == "" {
			for id := range d.shown {
				require.Empty(t, d.code(id), "page %d: %s", page, id)
			}
		}
		d.stop()
	}
}

// A vault that does not open stops no daemon: its file stays as it is, requests pass
// for a reason that status shows, and when it opens again they are reduced.
func TestDaemonBadDay_AVaultThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	v, err := vault.Open(folder, vault.Options{FixedKey: true})
	require.NoError(t, err)
	path := v.Path()
	require.NoError(t, v.Close())
	db, err := sql.Open("sqlite", path) // an older file whose step to this version fails
	require.NoError(t, err)
	_, err = db.Exec(`DROP TABLE artifacts; DROP TABLE pins; PRAGMA user_version = 2`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	p := startProcess(t, folder)
	c, err := host.Dial(patience(t), host.Options{Folder: folder, Version: version})
	require.NoError(t, err)
	defer c.Close()
	body := chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))
	out := askTurn(t, c, "s", 1, body)
	require.Equal(t, turn.StorageUnavailable, out.Reason)
	require.Equal(t, body, string(out.Body))
	status := liveStatus(t, c)
	require.Equal(t, "bypass", status.Engine.State)
	require.Nil(t, status.Vault, "unknown")
	require.Contains(t, strings.Join(status.Warnings, "\n"), "the vault cannot be written")
	code, text, errs := tt(t, "", "status", "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, text, "the vault cannot be written")
	_, err = c.Recover(patience(t), wire.Recover{Binding: turn.Binding{Session: "s"}, Action: actionGet, ArtifactID: "a_12345678"})
	var refused *host.Refusal
	require.ErrorAs(t, err, &refused)
	require.Equal(t, wire.ErrorStorage, refused.Code)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "the old file is as it was")
	require.Contains(t, p.words.String(), "the vault does not open")

	require.NoError(t, os.Rename(path, path+".before"))
	n := uint64(1)
	require.Eventually(t, func() bool {
		n++
		return askTurn(t, c, "s", n, body).Edited
	}, testkit.Patience, 100*time.Millisecond)
}

// The store hangs in its commit: the answer comes at the deadline.
func TestDaemonBadDay_ASlowStoreEndsInTheOriginalAtTheDeadline(t *testing.T) {
	t.Parallel()
	wedge := testkit.NewWedge()
	clock := testkit.NewClock(time.Unix(1_800_000_000, 0))
	b := newBadDay(t, filepath.Join(t.TempDir(), "vault"), func(cfg *engineConfig) { cfg.clock = clock })
	b.reduced()
	b.fail(func(point string) error {
		if point == "before commit" {
			wedge.Pass()
		}
		return nil
	})
	wedge.Shut()
	body := string(crashRequest(1))
	got := make(chan host.TurnResult, 1)
	go func() { got <- askTurn(t, b.c, "crash", 2, body) }()
	wedge.AwaitStuck(t)
	clock.Advance(testkit.Patience)
	out := <-got
	require.Equal(t, turn.Deadline, out.Reason)
	wedge.Release()
	b.next = 2
	b.reduced()
	b.whole()
}

// raw is a connection that speaks the protocol by hand.
type raw struct {
	t    *testing.T
	conn net.Conn
	r    *wire.Reader
}

func (d *daemonRig) raw(greet bool) *raw {
	d.t.Helper()
	conn, err := net.Dial("unix", d.server.Info().Socket)
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(d.t, conn.SetDeadline(time.Now().Add(3*testkit.Patience)))
	r := &raw{d.t, conn, wire.NewReader(bufio.NewReader(conn))}
	if greet {
		r.send(wire.KindHello, []byte(`{"id":1,"protocol":1,"client":"t","version":"0.1.0","home":"","env":{}}`))
		require.NotContains(d.t, r.next(), `"error"`)
	}
	return r
}

func (r *raw) send(kind wire.Kind, body []byte) {
	r.t.Helper()
	require.NoError(r.t, wire.WriteFrame(r.conn, kind, body))
}

func (r *raw) next() string {
	r.t.Helper()
	f, err := r.r.Next()
	require.NoError(r.t, err)
	return string(f.Body)
}

// framed is a turn of n bytes in all, kind and head included.
func framed(n int) []byte {
	head := `{"id":7,"binding":{"session":"s"},"scope":{"purpose":"conversation"},"request_json":`
	request := chatBody(toolCalls("a"), `{"role":"tool","tool_call_id":"a","content":"`)
	end := `"}]}}`
	request = strings.TrimSuffix(request, "]}")
	body := make([]byte, 0, n)
	body = append(append(body, head...), request...)
	for len(body) < n-1-len(end) {
		body = append(body, "line of a log, and more of it "[len(body)%30])
	}
	return append(body, end...)
}

// The largest frame is answered, and so is one byte more, without being kept; the
// connection goes on.
func TestDaemonBadDay_TheLargestFrameAndOneByteMore(t *testing.T) {
	t.Parallel()
	b := newBadDay(t, filepath.Join(t.TempDir(), "vault"), nil)
	c := b.raw(true)
	body := framed(wire.MaxFrame)
	require.Len(t, body, wire.MaxFrame-1)
	c.send(wire.KindTurn, body)
	answer := c.next()
	require.Contains(t, answer, `"decision":"pass"`)
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], wire.MaxFrame+1)
	_, err := c.conn.Write(append(head[:], byte(wire.KindTurn)))
	require.NoError(t, err)
	_, err = c.conn.Write(framed(wire.MaxFrame + 1))
	require.NoError(t, err)
	require.Contains(t, c.next(), string(turn.TooLarge))
	c.send(wire.KindStatus, []byte(`{"id":9}`))
	require.Contains(t, c.next(), `"schema":1`)
	require.EqualValues(t, 1, liveStatus(t, b.c).Daemon.LongFrames)
	b.reduced()
	b.whole()
}

// Whatever arrives, the daemon goes on: random bytes, frames that stop, JSON that is
// none, kinds nobody knows, nesting without an end. Others notice nothing.
func TestDaemonBadDay_Garbage(t *testing.T) {
	t.Parallel()
	b := newBadDay(t, filepath.Join(t.TempDir(), "vault"), nil)
	random := rand.New(rand.NewPCG(crashSeed, 4))
	for n := range 200 {
		c := b.raw(n%2 == 0)
		switch n % 5 {
		case 0: // bytes of no protocol
			junk := make([]byte, 1+random.IntN(4000))
			for i := range junk {
				junk[i] = byte(random.Uint32())
			}
			_, _ = c.conn.Write(junk)
		case 1: // a frame that stops
			body := framed(20_000)
			var head [4]byte
			binary.BigEndian.PutUint32(head[:], uint32(len(body)+1))
			_, _ = c.conn.Write(append(append(head[:], byte(wire.KindTurn)), body[:random.IntN(len(body))]...))
		case 2: // a damaged body
			body := framed(20_000)
			for range 1 + random.IntN(20) {
				body[random.IntN(len(body))] = byte(random.Uint32())
			}
			_ = wire.WriteFrame(c.conn, wire.KindTurn, body)
		case 3: // a kind nobody knows, or no request for an answer's kind
			_ = wire.WriteFrame(c.conn, wire.Kind(8+random.IntN(248)), []byte(`{"id":3}`))
		case 4: // nesting
			deep := strings.Repeat(`{"a":[`, 1+random.IntN(100_000))
			_ = wire.WriteFrame(c.conn, wire.Kind(1+random.IntN(7)), []byte(`{"id":4,"request_json":`+deep))
		}
		if n%20 == 0 {
			b.reduced()
		}
		require.NoError(t, c.conn.Close())
	}
	require.Zero(t, liveStatus(t, b.c).Daemon.Panics+liveStatus(t, b.c).Engine.Panics)
	b.whole()
}

// A client goes in the middle of a frame, and in the middle of its turn: its work ends,
// nothing of it stays, and others go on.
func TestDaemonBadDay_AClientThatGoes(t *testing.T) {
	t.Parallel()
	wedge := testkit.NewWedge()
	b := newBadDay(t, filepath.Join(t.TempDir(), "vault"), func(cfg *engineConfig) {
		cfg.wrap = func(c actors.Compile) actors.Compile { return stuckCompile{c, wedge} }
	})
	body := framed(100_000)
	half := b.raw(true)
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(body)+1))
	_, err := half.conn.Write(append(append(head[:], byte(wire.KindTurn)), body[:50_000]...))
	require.NoError(t, err)
	require.NoError(t, half.conn.Close())

	wedge.Shut()
	gone := b.raw(true)
	gone.send(wire.KindTurn, body)
	wedge.AwaitStuck(t)
	require.NoError(t, gone.conn.Close())
	wedge.Release()
	b.reduced()
	require.Eventually(t, func() bool {
		s := liveStatus(t, b.c)
		return s.Daemon.Connections == 1 && s.Daemon.OpenFrames <= 1 && s.Engine.TurnsInFlight == 0 && s.Engine.BytesInFlight == 0
	}, testkit.Patience, 10*time.Millisecond)
	b.whole()
}
