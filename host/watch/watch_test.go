package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"token-terminator/actors"
	"token-terminator/ledger"
	"token-terminator/turn"
	"token-terminator/vault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const canary = "canary-4711 secret words"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func stats() *actors.Stats {
	return &actors.Stats{
		Turns: 7, Edited: 3, TurnsInFlight: 2, BytesInFlight: 900, PinBytes: 50, Sessions: 2, Batches: 4, Restarts: 1,
		Reasons: map[turn.Reason]int64{turn.Reduced: 3, turn.Busy: 1, turn.Deadline: 2, turn.SmallRequest: 1},
	}
}

func keysOf(t *testing.T, doc any) map[string]any {
	t.Helper()
	data, err := json.Marshal(doc)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(data, &m))
	return m
}

// The document has exactly the contract's fields, and what is unknown is null.
func TestStatusHasTheContractsFieldsAndNullForUnknown(t *testing.T) {
	t.Parallel()
	empty := keysOf(t, Gather(Parts{}))
	require.Equal(t, map[string]any{
		"schema": 1.0, "daemon": nil, "engine": nil, "vault": nil, "sessions": nil, "turns": nil,
		"saved":   map[string]any{"tokens": map[string]any{"exact": nil, "panel": nil}, "ite": nil},
		"reasons": nil, "jev": nil, "policy": nil, "last_error_type": nil, "warnings": []any{},
	}, empty)
	full := Gather(Parts{
		Daemon: &Daemon{PID: 9}, Engine: "tt", Mode: "balanced", Stats: stats(), Vault: &vault.Status{Bytes: 75, Capacity: 100, Percent: 75, Level: vault.LevelWarning},
		Totals:  &ledger.Totals{Turns: 70, Sessions: 5, Exact: ledger.Counted{Turns: 3, Raw: 900, Final: 400}, Priced: 3, ITE: 100, EventITE: 30},
		Reasons: map[turn.Reason]int64{turn.Reduced: 70}, Ledger: &ledger.Health{On: true, Dropped: 2}, Jev: &Part{"off"}, Policy: &Part{"off"}, LastErrType: "full",
		Calibrations: []ledger.Calibration{{Verdict: ledger.Contradicted, UsedFor: ledger.Panel}},
	})
	require.Equal(t, "on", full.Engine.State)
	require.EqualValues(t, 3, full.Engine.FailOpens)
	require.EqualValues(t, 1, full.Engine.Busy)
	require.EqualValues(t, 70, *full.Turns)
	require.EqualValues(t, 500, *full.Saved.Tokens.Exact)
	require.Nil(t, full.Saved.Tokens.Panel, "nothing was measured by the panel: unknown, not 0")
	require.InDelta(t, 70, *full.Saved.ITE, 1e-9)
	require.Equal(t, "warning", full.Vault.State)
	require.EqualValues(t, 50, *full.Vault.PendingBytes)
	require.Len(t, full.Warnings, 3)
	require.Equal(t, "full", *full.LastErrorType)
}

func TestStatesOfTheEngine(t *testing.T) {
	t.Parallel()
	down := stats()
	down.Storage = turn.StorageUnavailable
	for want, p := range map[string]Parts{
		"on": {Stats: stats()}, "off": {Stats: stats(), Off: true}, "observing": {Stats: stats(), Observing: true}, "bypass": {Stats: down, Observing: true},
	} {
		require.Equal(t, want, Gather(p).Engine.State)
	}
	s := Gather(Parts{Stats: down, Vault: &vault.Status{Level: vault.LevelOK}, Ledger: &ledger.Health{}})
	require.Equal(t, "down", s.Vault.State)
	require.Len(t, s.Warnings, 2)
	require.EqualValues(t, 7, *s.Turns, "without a ledger: since the start")
	require.Equal(t, "off", s.Engine.Ledger.State)
	var text bytes.Buffer
	require.NoError(t, WriteText(&text, s))
	require.Contains(t, text.String(), "reduced 3, deadline 2, busy 1, small_request 1")
	require.Contains(t, text.String(), "exact unknown")
}

func live(t *testing.T) (*Live, *ledger.Ledger) {
	t.Helper()
	l, err := ledger.Open(context.Background(), filepath.Join(t.TempDir(), ledger.FileName), ledger.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return &Live{
		Daemon: func() Daemon { return Daemon{PID: 4, Version: "v", Started: start} },
		Parts:  func() Parts { return Parts{Engine: "tt", Mode: "balanced", Jev: &Part{"off"}, Policy: &Part{"off"}} },
		Stats:  func() actors.Stats { return *stats() },
		Vault: func(context.Context) (vault.Status, error) {
			return vault.Status{Path: "/home/" + canary, Bytes: 10, Capacity: 100, Percent: 10, Level: vault.LevelOK}, nil
		},
		Ledger: l,
	}, l
}

func entry(n uint64) ledger.Turn {
	ite := 42.5
	return ledger.Turn{
		Binding: turn.Binding{Engine: "tt", Home: canary, Session: "chain", Turn: n}, Edited: true, Reason: turn.Reduced, Elapsed: 30 * time.Millisecond,
		Measure: ledger.Exact, Raw: 5000, Final: 4000, ITE: &ite, Row: "study",
	}
}

// A status has what was recorded just before it was asked for.
func TestLiveStatusIsFreshAndTheVaultIsNotCountedEachTime(t *testing.T) {
	t.Parallel()
	source, l := live(t)
	now, asked := start, 0
	source.Now = func() time.Time { return now }
	count := source.Vault
	source.Vault = func(ctx context.Context) (vault.Status, error) { asked++; return count(ctx) }
	l.Record(entry(1))
	s, err := source.Status(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 1, *s.Turns)
	require.EqualValues(t, 1000, *s.Saved.Tokens.Exact)
	_, _ = source.Status(context.Background())
	require.Equal(t, 1, asked)
	now = now.Add(vaultFresh)
	_, _ = source.Status(context.Background())
	require.Equal(t, 2, asked)
	now = now.Add(-time.Hour)
	source.Vault = func(context.Context) (vault.Status, error) { return vault.Status{}, errors.New(canary) }
	s, _ = source.Status(context.Background())
	require.Nil(t, s.Vault, "what cannot be asked is unknown")
	require.Nil(t, (&Live{}).Brief(context.Background()).Engine)
}

func get(t *testing.T, h http.Handler, method, path, host string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestPagesAreForThisMachineOnly(t *testing.T) {
	t.Parallel()
	source, _ := live(t)
	h := Handler(source, NewMetrics(source))
	for host, code := range map[string]int{
		"127.0.0.1:9464": 200, "127.0.0.1": 200, "localhost:1": 200, "LocalHost": 200, "[::1]:9464": 200, "[::1]": 200, "127.8.9.1:1": 200,
		"evil.example": 403, "evil.example:9464": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example": 403, "10.0.0.1": 403,
		"0.0.0.0:9464": 403, "[::]:1": 403, "": 403, "127.0.0.1:9464:1": 403, "localhost:x": 403, "[::1%eth0]:1": 403,
	} {
		for _, path := range []string{"/status", "/metrics", "/healthz"} {
			res := get(t, h, http.MethodGet, path, host)
			require.Equal(t, code, res.StatusCode, "%s %s", host, path)
			require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions, "TRACE"} {
		res := get(t, h, method, "/status", "localhost")
		require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode, method)
		require.Equal(t, "GET", res.Header.Get("Allow"))
	}
	require.Equal(t, http.StatusForbidden, get(t, h, http.MethodGet, "/status", "localhost", "Sec-Fetch-Site", "cross-site").StatusCode)
	require.Equal(t, http.StatusOK, get(t, h, http.MethodGet, "/status", "localhost", "Sec-Fetch-Site", "none").StatusCode)
	for origin, code := range map[string]int{
		"http://evil.example": 403, "null": 403, "http://localhost.evil.example": 403, "http://localhost:8080": 403, "https://localhost": 403, "http://localhost": 200,
	} {
		require.Equal(t, code, get(t, h, http.MethodGet, "/status", "localhost", "Origin", origin).StatusCode, origin)
	}
	require.Equal(t, http.StatusNotFound, get(t, h, http.MethodGet, "/", "localhost").StatusCode)
	require.Equal(t, http.StatusNotFound, get(t, Handler(source, nil), http.MethodGet, "/metrics", "localhost").StatusCode)
}

type failing struct{}

func (failing) Status(context.Context) (Status, error) { return Status{}, errors.New(canary) }

func TestHealthAndFailingSources(t *testing.T) {
	t.Parallel()
	source, _ := live(t)
	require.Equal(t, 200, get(t, Handler(source, nil), http.MethodGet, "/healthz", "localhost").StatusCode)
	source.Stats = func() actors.Stats { s := stats(); s.Storage = turn.StorageUnavailable; return *s }
	require.Equal(t, 503, get(t, Handler(source, nil), http.MethodGet, "/healthz", "localhost").StatusCode)
	h := Handler(failing{}, NewMetrics(failing{}))
	for _, path := range []string{"/healthz", "/status", "/metrics"} {
		res := get(t, h, http.MethodGet, path, "localhost")
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NotContains(t, string(body), "canary", path)
		require.Equal(t, path == "/metrics", res.StatusCode == 200, "counters are known all the same")
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	source, _ := live(t)
	m := NewMetrics(source)
	m.Observe(entry(1))
	panel := entry(2)
	panel.Measure, panel.ITE = ledger.Panel, nil
	m.Observe(panel)
	m.Observe(ledger.Turn{Reason: turn.Busy, Elapsed: 2 * time.Second})
	m.Observe(ledger.Turn{Reason: turn.Reason(canary)})
	res := get(t, Handler(source, m), http.MethodGet, "/metrics", "localhost")
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	for _, line := range []string{
		`token_terminator_turns_total{decision="edit",reason="reduced"} 2`,
		`token_terminator_turns_total{decision="pass",reason="busy"} 1`,
		`token_terminator_turns_total{decision="pass",reason="other"} 1`,
		`token_terminator_fail_opens_total{reason="busy"} 1`,
		`token_terminator_tokens_saved_total{measure="exact"} 1000`,
		`token_terminator_tokens_saved_total{measure="panel"} 1000`,
		`token_terminator_ite_saved 42.5`,
		`token_terminator_turn_seconds_bucket{le="0.05"} 3`,
		`token_terminator_turn_seconds_count 4`,
		`token_terminator_turns_in_flight 2`,
		`token_terminator_busy 1`,
		`token_terminator_sessions 2`,
		`token_terminator_vault_bytes 10`,
		`token_terminator_vault_full_ratio 0.1`,
		`token_terminator_bypass 0`,
		`token_terminator_scorer{state="none"} 1`,
	} {
		require.Contains(t, string(body), line+"\n")
	}
	require.NotContains(t, string(body), "canary")
	problems := lint(string(body))
	require.Empty(t, problems)
}

// lint finds lines that no scraper could read.
func lint(body string) (bad []string) {
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var value float64
		if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &value); err != nil {
			bad = append(bad, line)
		}
	}
	return bad
}

// Nothing a page says holds a path, a content or foreign words.
func TestPrivacy_NoPageHoldsContent(t *testing.T) {
	t.Parallel()
	source, l := live(t)
	m := NewMetrics(source)
	for n := range uint64(5) {
		one := entry(n + 1)
		one.Reason, one.Model, one.Mode = turn.Reason(canary), "m", "balanced"
		l.Record(one)
		m.Observe(one)
	}
	h := Handler(source, m)
	for _, path := range []string{"/status", "/metrics", "/healthz", "/" + "nothing", "/status?q=" + "canary-4711"} {
		body, err := io.ReadAll(get(t, h, http.MethodGet, path, "localhost").Body)
		require.NoError(t, err)
		require.NotContains(t, string(body), "canary-4711", path)
		require.NotContains(t, string(body), "/home/", path)
	}
}

func TestListenTakesLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "10.1.2.3:0", "example.com:80", "127.0.0.1", "", "[::1%lo]:0", "127.0.0.1:0:0"} {
		_, err := Listen(addr)
		require.ErrorIs(t, err, ErrAddress, addr)
	}
	ln, err := Listen("localhost:0")
	require.NoError(t, err)
	defer ln.Close()
	_, err = Listen(ln.Addr().String())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "127.0.0.1")
}

func TestServeAnswersUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	source, _ := live(t)
	ln, err := Listen("127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, ln, Handler(source, NewMetrics(source))) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + ln.Addr().String() + "/status")
	require.NoError(t, err)
	var s Status
	require.NoError(t, json.NewDecoder(res.Body).Decode(&s))
	require.NoError(t, res.Body.Close())
	require.Equal(t, Schema, s.Schema)
	cancel()
	require.NoError(t, <-ended)
	_, err = net.Dial("tcp", ln.Addr().String())
	require.Error(t, err)
}

func FuzzHostHeader(f *testing.F) {
	for _, seed := range []string{"localhost", "127.0.0.1:80", "[::1]:1", "evil.example", "127.0.0.1@evil", "localhost.", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !loopbackHost(host) {
			return
		}
		name := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			name = h
		}
		name = strings.Trim(name, "[]")
		ip := net.ParseIP(name)
		require.True(t, strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback(), "%q", host)
	})
}
