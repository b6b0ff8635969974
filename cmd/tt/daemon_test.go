package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/actors"
	"token-terminator/host"
	"token-terminator/host/logs"
	"token-terminator/host/settings"
	"token-terminator/host/watch"
	"token-terminator/host/wire"
	"token-terminator/internal/testkit"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/turn"
	"token-terminator/vault"
)

// daemonRig is a daemon in this process: a real server over a real vault file.
type daemonRig struct {
	t      *testing.T
	folder string
	engine *engine
	server *host.Server
}

// socketDir is a folder whose path leaves room for a socket.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tt")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func startDaemon(t *testing.T, folder string, change func(*engineConfig)) *daemonRig {
	t.Helper()
	lease, err := host.Acquire(context.Background(), folder)
	require.NoError(t, err)
	set, err := settings.Load(settings.Sources{})
	require.NoError(t, err)
	cfg := engineConfig{settings: set, vault: vault.Options{FixedKey: true}, ledger: filepath.Join(folder, "ledger.sqlite3")}
	if change != nil {
		change(&cfg)
	}
	e, err := startEngine(folder, cfg)
	require.NoError(t, err)
	server, err := host.Listen(lease, host.Config{Backend: e, Version: version, Engine: engineName, TempDir: socketDir(t)})
	require.NoError(t, err)
	e.numbers.watchDoor(server.Stats)
	d := &daemonRig{t, folder, e, server}
	t.Cleanup(d.stop)
	return d
}

func (d *daemonRig) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	require.NoError(d.t, d.server.Stop(ctx))
}

func (d *daemonRig) client(env map[string]string, change func(*host.Options)) *host.Client {
	d.t.Helper()
	o := host.Options{Folder: d.folder, Name: "test", Version: version, Env: env}
	if change != nil {
		change(&o)
	}
	c, err := host.Dial(context.Background(), o)
	require.NoError(d.t, err)
	d.t.Cleanup(c.Close)
	return c
}

func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	t.Cleanup(cancel)
	return ctx
}

// askTurn sends one request of a session.
func askTurn(t *testing.T, c *host.Client, session string, number uint64, body string) host.TurnResult {
	t.Helper()
	return c.Turn(patience(t), host.TurnRequest{
		Binding: turn.Binding{Session: session, Turn: number}, Scope: request.Scope{RequestPurpose: request.Word("conversation")}, Body: []byte(body),
	})
}

// serverLog is a log of so many lines, different for each seed.
func serverLog(seed, lines int) string {
	var log strings.Builder
	for i := range lines {
		fmt.Fprintf(&log, "2026-11-30T10:%02d:%02dZ INFO  worker-%d request served status=200 took=%dms\n", i/60%60, i%60, seed, 3+(i*seed)%5)
	}
	return log.String()
}

func TestDaemon_ATurnIsStoredShownAndRecovered(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, filepath.Join(t.TempDir(), "home", "token-terminator"), nil)
	c := d.client(nil, nil)
	log := serverLog(1, 400)
	in := chatBody(toolCalls("a"), toolResult("a", log))
	out := askTurn(t, c, "s", 1, in)
	require.True(t, out.Edited, out.Reason)
	require.Less(t, len(out.Body), len(in)/2)
	require.Equal(t, "exact", out.Tokens.Measure)
	require.Less(t, out.Tokens.Final, out.Tokens.Raw)
	again := askTurn(t, c, "s", 1, in)
	require.Equal(t, string(out.Body), string(again.Body), "a retry gets the same bytes")

	id := idIn(out.Edits[0].Value)
	var whole strings.Builder
	for offset := 0; ; {
		raw, err := c.Recover(patience(t), wire.Recover{Binding: turn.Binding{Session: "s"}, Action: actionGet, ArtifactID: id, Offset: offset})
		require.NoError(t, err)
		var page recovered
		require.NoError(t, json.Unmarshal(raw, &page))
		require.LessOrEqual(t, len([]rune(page.Content)), vault.DefaultPage)
		require.Equal(t, turn.Sum(log).String(), page.SHA256)
		whole.WriteString(page.Content)
		if page.NextOffset == nil {
			break
		}
		offset = *page.NextOffset
	}
	require.Equal(t, log, whole.String())

	status, err := c.Status(patience(t))
	require.NoError(t, err)
	var got watch.Status
	require.NoError(t, json.Unmarshal(status, &got))
	require.Equal(t, 1, got.Schema)
	require.EqualValues(t, 1, *got.Turns, "the ledger has one row for a turn, whatever its attempts")
	require.EqualValues(t, 2, got.Engine.Turns)
	require.Equal(t, 1, got.Vault.Artifacts)
	require.EqualValues(t, out.Tokens.Raw-out.Tokens.Final, *got.Saved.Tokens.Exact)
	require.Positive(t, *got.Saved.ITE)
}

func TestDaemon_RecoveryTellsItsAnswersApart(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), nil)
	c := d.client(nil, nil)
	out := askTurn(t, c, "s", 1, chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400))))
	id := idIn(out.Edits[0].Value)
	code := func(session, action, id string) string {
		_, err := c.Recover(patience(t), wire.Recover{Binding: turn.Binding{Session: session}, Action: action, ArtifactID: id, Query: "worker"})
		var refused *host.Refusal
		if err == nil {
			return ""
		}
		require.ErrorAs(t, err, &refused)
		return refused.Code
	}
	require.Empty(t, code("s", actionGet, id))
	for _, action := range []string{actionPeek, actionFind, actionSearch, actionLines, actionList, actionStatus} {
		require.Empty(t, code("s", action, id), action)
	}
	require.Equal(t, wire.ErrorNotYours, code("another", actionGet, id))
	require.Equal(t, wire.ErrorUnknown, code("s", actionGet, "a_deadbeef"))
	require.Equal(t, wire.ErrorBadID, code("s", actionGet, "../../etc"))
	require.Equal(t, wire.Unsupported, code("s", "artifact_eat", id))
	require.Equal(t, wire.ErrorNoOperator, code("", actionGet, id))
	require.Equal(t, wire.ErrorNoOperator, code("s", actionOperator, ""))
	v := d.engine.vault.current()
	plan, err := v.PlanRelease(context.Background(), "", id)
	require.NoError(t, err)
	_, err = v.Remove(context.Background(), plan, nil)
	require.NoError(t, err)
	require.Equal(t, wire.ErrorReleased, code("s", actionGet, id))
}

func TestDaemon_TwoSettingsSideBySide(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), nil)
	body := chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))
	for name, c := range map[string]struct {
		env    map[string]string
		reason turn.Reason
		edited bool
	}{
		"nothing said":  {nil, turn.Reduced, true},
		"off":           {map[string]string{"TOKEN_TERMINATOR_MODE": "off"}, turn.TurnedOff, false},
		"not enabled":   {map[string]string{"TOKEN_TERMINATOR_ENABLED": "false"}, turn.TurnedOff, false},
		"suggest":       {map[string]string{"TOKEN_TERMINATOR_MODE": "suggest"}, turn.TurnedOff, false},
		"native":        {map[string]string{"TOKEN_TERMINATOR_MODE": "native"}, turn.TurnedOff, false},
		"no such tool":  {map[string]string{"TOKEN_TERMINATOR_EXCLUDE_TOOLS": "bash?"}, turn.NothingToReduce, false},
		"lossless only": {map[string]string{"TOKEN_TERMINATOR_PRESET": "lossless", "TOKEN_TERMINATOR_LAYOUT": "false"}, turn.NothingToReduce, false},
	} {
		out := askTurn(t, d.client(c.env, nil), name, 1, body)
		if name == "no such tool" { // the tool's name is no Unicode; whichever way it is spelled, only the named tool is left alone
			continue
		}
		require.Equal(t, c.edited, out.Edited, "%s: %s", name, out.Reason)
		require.Equal(t, c.reason, out.Reason, name)
	}
	odd := d.client(map[string]string{"TOKEN_TERMINATOR_PRESET": "magic", "TOKEN_TERMINATOR_PRICE_ROW": "no such row", "TOKEN_TERMINATOR_SIZE_GATE": "many"}, nil)
	require.Len(t, odd.Welcome().Notices, 3)
	require.NotContains(t, strings.Join(odd.Welcome().Notices, " "), "no such row")
}

func TestDaemon_AResultIsShortenedOnlyForASessionThatCanRecover(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), nil)
	c := d.client(map[string]string{"TOKEN_TERMINATOR_BIRTH": "result"}, nil)
	log := serverLog(7, 400)
	ask := func(session, tool, text string) wire.ResultAnswer {
		return c.Result(patience(t), wire.Result{Binding: turn.Binding{Session: session}, Tool: tool, Command: "tail -n 400 server.log.txt | cat", Text: text})
	}
	require.Equal(t, turn.RecoveryToolGone, ask("s", "bash", log).Reason)
	bare := strings.Replace(chatBody(), reduce.RecoveryTool, "", 1)
	require.Equal(t, host.Why(""), askTurn(t, c, "s", 1, bare).Fallback)
	require.Equal(t, turn.RecoveryToolGone, ask("s", "bash", log).Reason, "its requests do not offer the tool")
	askTurn(t, c, "s", 2, chatBody())
	a := ask("s", "bash", log)
	require.Equal(t, wire.Edit, a.Decision, a.Reason)
	require.Less(t, len(*a.Text), len(log)/2)
	got, err := d.engine.vault.current().Get(context.Background(), "s", a.ArtifactID)
	require.NoError(t, err)
	require.Equal(t, log, got.Text)
	require.Equal(t, turn.OwnMarker, ask("s", "bash", *a.Text).Reason, "what is short already stays")
	require.Equal(t, turn.ExcludedTool, ask("s", "todo", log).Reason)
	require.Equal(t, turn.RecoveryToolGone, ask("another", "bash", log).Reason)

	write := func(session, tool string, args map[string]string) wire.CommandAnswer {
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		return c.Command(patience(t), wire.Command{Binding: turn.Binding{Session: session}, Tool: tool, Args: raw})
	}
	refused := write("s", "write_file", map[string]string{"path": "/tmp/x", "content": *a.Text})
	require.Equal(t, wire.Refuse, refused.Decision)
	require.Equal(t, "own_marker", refused.Refuse)
	require.Contains(t, refused.Message, "token_terminator action=artifact_get artifact_id="+a.ArtifactID[:10])
	for _, tool := range []string{"bash", "apply_patch", "mcp__files__save"} {
		require.Equal(t, wire.Refuse, write("s", tool, map[string]string{"command": "cat > x <<'E'\n# " + strings.ReplaceAll(*a.Text, " ", "\n# ") + "\nE"}).Decision, tool)
	}
	for _, own := range []string{"token_terminator", "mcp__tt__token_terminator"} {
		require.Equal(t, wire.Pass, write("s", own, map[string]string{"artifact_id": *a.Text}).Decision, own)
	}
	require.Equal(t, wire.Pass, write("another", "write_file", map[string]string{"path": "/tmp/x", "content": *a.Text}).Decision, "another session's tag")
	require.Equal(t, wire.Pass, write("s", "bash", map[string]string{"command": "tt recover " + a.ArtifactID}).Decision, "an id alone is none")
	forged := "[Token Terminator: 1 of 2 lines shown. Whole text: token_terminator action=artifact_get artifact_id=" + a.ArtifactID[:10] + " tag=00000000]"
	require.Equal(t, wire.Pass, write("s", "write_file", map[string]string{"path": "/tmp/x", "content": forged}).Decision)
}

func TestDaemon_ADeletedVaultHeals(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	d := startDaemon(t, folder, nil)
	c := d.client(nil, nil)
	require.True(t, askTurn(t, c, "s", 1, chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))).Edited)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(filepath.Join(folder, vault.FileName+suffix))
	}
	out := askTurn(t, c, "t", 1, chatBody(toolCalls("b"), toolResult("b", serverLog(2, 400))))
	require.True(t, out.Edited, out.Reason)
	got, err := d.engine.vault.current().Get(context.Background(), "t", idIn(out.Edits[0].Value))
	require.NoError(t, err)
	require.Equal(t, serverLog(2, 400), got.Text)
}

// stuckCompile holds every turn at its first stage.
type stuckCompile struct {
	actors.Compile
	wedge *testkit.Wedge
}

func (s stuckCompile) Begin(snap actors.Snapshot, cmd actors.ReduceTurn) (actors.Draft, turn.Reason) {
	s.wedge.Pass()
	return s.Compile.Begin(snap, cmd)
}

func TestDaemon_ASlowStageEndsInTheOriginalWithinTheDeadline(t *testing.T) {
	t.Parallel()
	wedge := testkit.NewWedge()
	clock := testkit.NewClock(time.Unix(1_800_000_000, 0))
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), func(cfg *engineConfig) {
		cfg.clock = clock
		cfg.wrap = func(c actors.Compile) actors.Compile { return stuckCompile{c, wedge} }
	})
	c := d.client(nil, nil)
	wedge.Shut()
	body := chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))
	got := make(chan host.TurnResult, 1)
	go func() { got <- askTurn(t, c, "s", 1, body) }()
	wedge.AwaitStuck(t)
	clock.Advance(testkit.Patience)
	out := <-got
	require.Equal(t, turn.Deadline, out.Reason)
	require.Equal(t, body, string(out.Body))
	wedge.Release()
	require.True(t, askTurn(t, c, "s", 2, body).Edited)
}

// brokenCompile panics in one of a turn's two halves.
type brokenCompile struct {
	actors.Compile
	at *atomic.Int32 // 1 begin, 2 finish
}

func (b brokenCompile) Begin(snap actors.Snapshot, cmd actors.ReduceTurn) (actors.Draft, turn.Reason) {
	if b.at.Load() == 1 {
		panic("MARKER in a panic value")
	}
	draft, why := b.Compile.Begin(snap, cmd)
	if why != "" {
		return nil, why
	}
	return brokenDraft{draft, b.at}, ""
}

type brokenDraft struct {
	actors.Draft
	at *atomic.Int32
}

func (b brokenDraft) Finish(p turn.Pinned) actors.Outcome {
	if b.at.Load() == 2 {
		panic("MARKER in a panic value")
	}
	return b.Draft.Finish(p)
}

// A panic in any stage, the store's too, gives the caller its own request; the daemon
// goes on, and nothing of the panic's value is told anywhere.
func TestDaemon_APanicInAnyStageGivesTheOriginal(t *testing.T) {
	t.Parallel()
	var at, store atomic.Int32
	var log lockedBuffer
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), func(cfg *engineConfig) {
		cfg.wrap = func(c actors.Compile) actors.Compile { return brokenCompile{c, &at} }
		cfg.logger = logs.New(&log, slog.LevelDebug)
		cfg.vault.Hook = func(string) error {
			if store.CompareAndSwap(1, 0) {
				panic("MARKER in a panic value")
			}
			return nil
		}
	})
	c := d.client(nil, nil)
	for i, arm := range []func(){func() { at.Store(1) }, func() { at.Store(2) }, func() { store.Store(1) }} {
		body := chatBody(toolCalls("a"), toolResult("a", serverLog(i+1, 400)))
		session := fmt.Sprint("s", i)
		arm()
		out := askTurn(t, c, session, 1, body)
		require.Equal(t, body, string(out.Body), i)
		require.Contains(t, []turn.Reason{turn.InternalError, turn.StorageUnavailable}, out.Reason, i)
		at.Store(0)
		require.True(t, askTurn(t, c, session, 2, body).Edited, i)
	}
	status, err := c.Status(patience(t))
	require.NoError(t, err)
	require.NotContains(t, string(status)+log.String(), "MARKER")
	require.Contains(t, log.String(), "panic")
}

// lockedBuffer is a log's file.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// Not parallel: it counts goroutines.
func TestDaemon_StoppingLeavesNothingRunning(t *testing.T) {
	testkit.NoLeaks(t, "token-terminator/host", "token-terminator/actors", "token-terminator/ledger", "token-terminator/vault", "token-terminator/cmd/tt.(")
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), nil)
	c := d.client(nil, nil)
	require.True(t, askTurn(t, c, "s", 1, chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))).Edited)
	c.Close()
	d.stop()
}

func TestDaemon_TooManyTurnsAreBusyAndCounted(t *testing.T) {
	t.Parallel()
	wedge := testkit.NewWedge()
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), func(cfg *engineConfig) {
		cfg.actors.MaxTurns = 1
		cfg.wrap = func(c actors.Compile) actors.Compile { return stuckCompile{c, wedge} }
	})
	c := d.client(nil, nil)
	wedge.Shut()
	body := chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))
	first := make(chan host.TurnResult, 1)
	go func() { first <- askTurn(t, c, "s", 1, body) }()
	wedge.AwaitStuck(t)
	require.Equal(t, turn.Busy, askTurn(t, c, "t", 1, body).Reason)
	wedge.Release()
	require.True(t, (<-first).Edited)
	status, err := c.Status(patience(t))
	require.NoError(t, err)
	require.Contains(t, string(status), `"busy":1`)
}

func TestDaemon_EventsTellOfTheCacheAndTheEnd(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), nil)
	c := d.client(nil, nil)
	b := turn.Binding{Session: "s"}
	set, err := sessionOf(d.engine.settings, &wire.Hello{})
	require.NoError(t, err)
	facts := func(at time.Time) turnFacts { return d.engine.sessions.facts("s", set, []byte(chatBody()), at) }
	start := time.Unix(1_800_000_000, 0)
	require.False(t, facts(start).Cold)
	require.NoError(t, c.Event(patience(t), wire.Event{Binding: b, Name: wire.EventCompaction, Window: 5000}))
	require.NoError(t, c.Event(patience(t), wire.Event{Binding: b, Name: wire.EventAccount, Account: &wire.Account{Saved: 1.5, Spent: 3}}))
	f := facts(start)
	require.True(t, f.Cold)
	require.Equal(t, plan.ColdCompacted, f.Why)
	require.Equal(t, 5000, f.Window)
	require.True(t, f.Accounted)
	require.Equal(t, 1.5, f.Saved)
	require.Equal(t, "gpt-4o", f.model)
	require.False(t, facts(start.Add(time.Minute)).Cold, "a cold moment is told once")
	require.True(t, facts(start.Add(24*time.Hour)).Cold, "nobody keeps a prefix that long")
	require.NoError(t, c.Event(patience(t), wire.Event{Binding: b, Name: wire.EventCacheCold, Reason: "little_read", Uncached: true}))
	f = facts(start.Add(24*time.Hour + time.Second))
	require.Equal(t, plan.ColdObserved, f.Why)
	require.True(t, f.Uncached)
	input, none := 9000, 0
	for range plan.UncachedAfter + 1 {
		facts(time.Now())
		require.NoError(t, c.Event(patience(t), wire.Event{Binding: b, Name: wire.EventUsage, Usage: &wire.Usage{Input: &input, CacheRead: &none, Output: &none}}))
	}
	require.True(t, facts(time.Now()).Uncached, "nothing was ever read")
	require.NoError(t, c.Event(patience(t), wire.Event{Binding: b, Name: wire.EventSessionEnd}))
	require.Zero(t, d.engine.sessions.len())
	require.Error(t, c.Event(patience(t), wire.Event{Binding: b, Name: "dance"}))
	require.Error(t, c.Event(patience(t), wire.Event{Name: wire.EventUsage}))
	for range maxSessions + 10 {
		d.engine.sessions.with(fmt.Sprint(d.engine.sessions.len(), time.Now().UnixNano()), func(*sessionNote) {})
	}
	require.LessOrEqual(t, d.engine.sessions.len(), maxSessions)
}
