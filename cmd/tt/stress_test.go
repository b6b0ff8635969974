package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/host"
	"token-terminator/host/watch"
	"token-terminator/host/wire"
	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/turn"
	"token-terminator/vault"
)

// The stress run drives many sessions through one daemon in a process of its own, over
// its socket, and looks at what the daemon holds while they talk and after they went.
// STRESS is "<sessions>x<turns>", e.g. 1000x60; STRESS_IDLE is when the daemon lets
// sessions go.
const (
	stressScale = "TOKEN_TERMINATOR_STRESS"
	stressIdle  = "TOKEN_TERMINATOR_STRESS_IDLE"

	stressBytes   = 200_000 // of a request, on the average over a session
	stressFlight  = 16      // turns asked at the same time
	stressBurst   = 160     // and in every eighth round, so that admission says no
	stressConns   = 32
	stressMaxRSS  = 3 << 29  // bytes: 1.5 GiB
	stressSpare   = 12       // tenths of the idle size: what may be left when all sessions went, and
	stressHeap    = 32       // a part of the peak: pages a few small objects keep,
	stressPages   = 16 << 20 // and never less than this many bytes of them
	stressWait    = 60 * time.Second
	stressSamples = 200 // ids read back at the end
)

type stressRun struct {
	t               testing.TB
	sessions, turns int
	order           childOrder
	daemon          *host.Daemon
	clients         []*host.Client
	pool            []string
	talks           []*chatter

	asked, edited, passed, lost, bytes, saved atomic.Int64
	mu                                        sync.Mutex
	reasons                                   map[turn.Reason]int64
	shown                                     []shownText // a sample
	peak                                      atomic.Int64
}

// shownText is an original that an answer showed smaller.
type shownText struct{ session, id, text string }

// chatter is one session: its request so far, without the end.
type chatter struct {
	name   string
	random *rand.Rand
	body   bytes.Buffer
	calls  int
}

func stressSize(t testing.TB) (sessions, turns int) {
	t.Helper()
	word := os.Getenv(stressScale)
	if word == "" {
		return stressSessions, stressTurns
	}
	a, b, ok := strings.Cut(word, "x")
	sessions, errA := strconv.Atoi(a)
	turns, errB := strconv.Atoi(b)
	require.True(t, ok && errA == nil && errB == nil && sessions > 0 && turns > 0, "%s wants <sessions>x<turns>", stressScale)
	return sessions, turns
}

// TestStress_ManySessionsStayWithinTheDaemonsMemory is the run of reports/published/stress.md.
func TestStress_ManySessionsStayWithinTheDaemonsMemory(t *testing.T) {
	s := &stressRun{t: t, order: childHome(t), reasons: map[turn.Reason]int64{}}
	s.sessions, s.turns = stressSize(t)
	s.order.IdleAfter, s.order.Sweep = 2*time.Second, 500*time.Millisecond
	if word := os.Getenv(stressIdle); word != "" {
		var err error
		s.order.IdleAfter, err = time.ParseDuration(word)
		require.NoError(t, err)
	}
	s.pool = stressPool(t)
	idle := s.idleBytes()
	s.daemon = s.order.spawn(t)
	for range min(stressConns, s.sessions) {
		s.clients = append(s.clients, s.order.dial(t, s.daemon, nil))
	}
	before := liveStatus(t, s.clients[0])

	start := time.Now()
	for i := range s.sessions {
		s.talks = append(s.talks, newChatter(i))
	}
	for round := range s.turns {
		s.round(round)
	}
	took := time.Since(start)
	after := liveStatus(t, s.clients[0])
	s.report(took, idle, before, after)
	s.check(before, after)
	s.recoverSample()
	s.settle(idle, before)
}

// idleBytes is what a daemon of the same settings holds after a few sessions came and
// went: tables, caches of the store, and nothing of a session.
func (s *stressRun) idleBytes() int64 {
	order := childHome(s.t)
	order.IdleAfter, order.Sweep = time.Second, 300*time.Millisecond
	d := order.spawn(s.t)
	c := order.dial(s.t, d, nil)
	before := liveStatus(s.t, c)
	for n := range 4 {
		w := newChatter(-1 - n)
		for i := range uint64(3) {
			w.grow(s.pool, stressBytes)
			out := c.Turn(s.within(stressWait), host.TurnRequest{Binding: turn.Binding{Session: w.name, Turn: i + 1}, Scope: chatScope(), Body: w.request()})
			require.True(s.t, out.Edited, out.Reason)
		}
	}
	low := int64(0)
	require.Eventually(s.t, func() bool {
		now := liveStatus(s.t, c)
		rss := procKB(s.t, d.PID(), "VmRSS")
		if now.Engine.Sessions > 0 || now.Daemon.Goroutines > before.Daemon.Goroutines {
			return false
		}
		settled := low > 0 && rss >= low*99/100
		low = rss
		return settled
	}, stressWait, 1500*time.Millisecond)
	s.t.Logf("idle: %d MiB, of it Go %d", low>>20, liveStatus(s.t, c).Daemon.MemoryBytes>>20)
	require.NoError(s.t, c.Drain(s.within(stressWait)))
	<-d.Done()
	return low
}

func (s *stressRun) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	s.t.Cleanup(cancel)
	return ctx
}

func chatScope() request.Scope {
	return request.Scope{RequestPurpose: request.Word("conversation")}
}

// round asks the next turn of every session.
func (s *stressRun) round(n int) {
	flight := stressFlight
	if n%8 == 7 {
		flight = stressBurst
	}
	next := make(chan int)
	var all sync.WaitGroup
	for range flight {
		all.Go(func() {
			for i := range next {
				s.turn(i, n)
			}
		})
	}
	for i := range s.talks {
		next <- i
		if i%50 == 0 {
			s.peak.Store(max(s.peak.Load(), s.rss()))
		}
	}
	close(next)
	all.Wait()
	if s.sessions*s.turns > 5000 && n%5 == 4 {
		fmt.Fprintf(os.Stderr, "round %d of %d: %d MiB, %v\n", n+1, s.turns, s.rss()>>20, s.reasons)
	}
}

// turn is turn n of session i. Requests begin at three quarters of the average size and
// end at five quarters.
func (s *stressRun) turn(i, n int) {
	talk := s.talks[i]
	want := stressBytes * 3 / 4
	if s.turns > 1 {
		want += n * (stressBytes / 2) / (s.turns - 1)
	}
	talk.grow(s.pool, want)
	body := talk.request()
	ctx, cancel := context.WithTimeout(context.Background(), stressWait)
	defer cancel()
	out := s.clients[i%len(s.clients)].Turn(ctx, host.TurnRequest{Binding: turn.Binding{Session: talk.name, Turn: uint64(n + 1)}, Scope: chatScope(), Body: body})
	s.asked.Add(1)
	s.bytes.Add(int64(len(body)))
	s.saved.Add(int64(len(body) - len(out.Body)))
	switch {
	case out.Fallback != "" && out.Fallback != host.Failed:
		s.lost.Add(1)
	case out.Edited && out.Fallback == "":
		s.edited.Add(1)
	default:
		s.passed.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reasons[out.Reason]++
	if out.Edited && out.Fallback == "" && len(s.shown) < stressSamples && talk.random.IntN(1+s.sessions*s.turns/stressSamples/2) == 0 {
		s.sample(talk.name, body, out)
	}
}

// sample notes one id of an answer with the text it stands for.
func (s *stressRun) sample(session string, body []byte, out host.TurnResult) {
	doc, err := request.Parse(body)
	require.NoError(s.t, err)
	for _, e := range out.Edits {
		for _, m := range markedID.FindAllStringSubmatch(e.Value, -1) {
			_, text, err := doc.At(e.Pointer)
			require.NoError(s.t, err)
			whole, err := doc.Value(text)
			require.NoError(s.t, err)
			s.shown = append(s.shown, shownText{session, m[1], whole})
			return
		}
	}
}

// recoverSample reads ids back that answers showed.
func (s *stressRun) recoverSample() {
	require.NotEmpty(s.t, s.shown)
	for i, one := range s.shown {
		require.Equal(s.t, one.text, wholeText(s.t, s.clients[i%len(s.clients)], one.session, one.id))
	}
	s.t.Logf("%d ids of answers read back byte for byte", len(s.shown))
}

func (s *stressRun) report(took time.Duration, idle int64, before, after watch.Status) {
	s.t.Logf("%d sessions of %d turns, %.1f KB a request: %.1f turns/s, %.1f MB/s, %v in all",
		s.sessions, s.turns, float64(s.bytes.Load())/float64(s.asked.Load())/1000, float64(s.asked.Load())/took.Seconds(),
		float64(s.bytes.Load())/1e6/took.Seconds(), took.Round(time.Second))
	s.t.Logf("answers: %d edited, %d passed, %d lost; %.1f %% of the bytes saved; reasons %v", s.edited.Load(), s.passed.Load(), s.lost.Load(),
		100*float64(s.saved.Load())/float64(s.bytes.Load()), s.reasons)
	s.t.Logf("daemon: idle %d MiB, peak %d MiB (the kernel's mark %d MiB), goroutines %d before, %d at the end; busy frames %d; sessions alive %d; vault %d artifacts, %d MB",
		idle>>20, s.peak.Load()>>20, procKB(s.t, s.daemon.PID(), "VmHWM")>>20, before.Daemon.Goroutines, after.Daemon.Goroutines,
		after.Daemon.BusyFrames, after.Engine.Sessions, after.Vault.Artifacts, after.Vault.Bytes/1_000_000)
}

func (s *stressRun) check(before, after watch.Status) {
	require.Zero(s.t, s.lost.Load(), "an answer was lost")
	require.EqualValues(s.t, s.sessions*s.turns, s.asked.Load())
	require.Equal(s.t, s.asked.Load(), after.Engine.Turns-before.Engine.Turns+after.Daemon.BusyFrames, "the daemon counted every turn")
	require.EqualValues(s.t, s.reasons[turn.Busy], after.Engine.Reasons[turn.Busy]+after.Daemon.BusyFrames, "and every busy one")
	require.Greater(s.t, s.edited.Load(), s.asked.Load()/4)
	require.Zero(s.t, after.Daemon.Panics+after.Engine.Panics)
	require.LessOrEqual(s.t, procKB(s.t, s.daemon.PID(), "VmHWM"), int64(stressMaxRSS))
}

// settle waits until the sessions were let go and the memory was given back.
func (s *stressRun) settle(idle int64, before watch.Status) {
	for _, c := range s.clients[1:] {
		c.Close()
	}
	start := time.Now()
	var last watch.Status
	if !assert.Eventually(s.t, func() bool {
		last = liveStatus(s.t, s.clients[0])
		return last.Engine.Sessions == 0 && last.Daemon.Goroutines <= before.Daemon.Goroutines && s.rss() <= idle*stressSpare/10+max(stressPages, s.peak.Load()/stressHeap)
	}, s.order.IdleAfter+time.Minute, 200*time.Millisecond) {
		s.t.Fatalf("%d sessions, %d goroutines of %d, %d MiB of %d (Go holds %d)", last.Engine.Sessions, last.Daemon.Goroutines,
			before.Daemon.Goroutines, s.rss()>>20, idle>>20, last.Daemon.MemoryBytes>>20)
	}
	s.t.Logf("afterwards: %d MiB (idle %+d %%), goroutines %d, %v after the last turn", s.rss()>>20, s.rss()*100/idle-100, last.Daemon.Goroutines,
		time.Since(start).Round(time.Second))
	v, err := s.clients[0].Status(s.within(stressWait))
	require.NoError(s.t, err)
	require.NotContains(s.t, string(v), `"warnings":["`)
	require.NoError(s.t, s.clients[0].Drain(s.within(stressWait)))
	<-s.daemon.Done()
	require.NoError(s.t, s.daemon.Err())
	checkVault(s.t, s.order.Folder)
}

func (s *stressRun) rss() int64 { return procKB(s.t, s.daemon.PID(), "VmRSS") }

// procKB is a figure of a process in bytes, 0 where the system does not say.
func procKB(t testing.TB, pid int, name string) int64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			require.NoError(t, err)
			return n << 10
		}
	}
	return 0
}

// checkVault has tt vault verify read the folder of a daemon that ended.
func checkVault(t testing.TB, folder string) {
	t.Helper()
	v, err := vault.Open(folder, vault.Options{})
	require.NoError(t, err)
	report, err := v.Verify(context.Background())
	require.NoError(t, err)
	require.True(t, report.Sound(), "%+v", report)
	require.NoError(t, v.Close())
}

// wholeText reads all pages of an id.
func wholeText(t testing.TB, c *host.Client, session, id string) string {
	t.Helper()
	text, err := pagesOf(c, session, id)
	require.NoError(t, err)
	return text
}

func pagesOf(c *host.Client, session, id string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stressWait)
	defer cancel()
	var whole strings.Builder
	for offset := 0; ; {
		page, err := pageOf(ctx, c, wire.Recover{Binding: turn.Binding{Session: session}, Action: actionGet, ArtifactID: id, Offset: offset, Limit: vault.MaxPage})
		if err != nil {
			return "", err
		}
		whole.WriteString(page.Content)
		if page.NextOffset == nil {
			return whole.String(), nil
		}
		offset = *page.NextOffset
	}
}

// stressPool is what tools said: the bundled outputs and, when it is named, the
// corpus's, in pieces of whole lines.
func stressPool(t testing.TB) []string {
	t.Helper()
	outputs, err := datasets.Outputs()
	require.NoError(t, err)
	var pool []string
	add := func(text string) {
		for len(text) > 0 {
			n := min(len(text), 300+len(pool)*7919%9000)
			if at := strings.LastIndexByte(text[:n], '\n'); at > 0 {
				n = at + 1
			}
			pool = append(pool, strings.ToValidUTF8(text[:n], "?"))
			text = text[n:]
		}
	}
	for _, o := range outputs {
		add(string(o.Text))
	}
	if dir := os.Getenv("TOKEN_TERMINATOR_CORPUS"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "outputs", "*", "*"))
		require.NoError(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			add(string(text[:min(len(text), 200_000)]))
		}
	}
	return pool
}

func newChatter(i int) *chatter {
	k := &chatter{name: fmt.Sprint("session ", i), random: rand.New(rand.NewPCG(crashSeed, uint64(i)+2))}
	k.body.WriteString(`{"model":"gpt-4o","tools":[` + reduce.RecoveryTool + `],"messages":[{"role":"system","content":` +
		quoted(strings.Repeat("You are a careful agent. Use the tools, then say what you found. ", 150)) + `},{"role":"user","content":` +
		quoted(fmt.Sprintf("Task %d: find out why the service fails and repair it.", i)) + `}`)
	return k
}

// grow adds calls and results until the request has so many bytes.
func (k *chatter) grow(pool []string, bytes int) {
	for first := true; first || k.body.Len() < bytes; first = false {
		id := fmt.Sprint("call_", k.calls)
		k.calls++
		text := k.own(pool[k.random.IntN(len(pool))])
		fmt.Fprintf(&k.body, `,{"role":"assistant","content":%s,"tool_calls":[{"id":%q,"type":"function","function":{"name":"bash","arguments":%s}}]},{"role":"tool","tool_call_id":%q,"content":%s}`,
			quoted(fmt.Sprintf("Step %d: look further.", k.calls)), id, quoted(fmt.Sprintf(`{"command":"run step %d"}`, k.calls)), id, quoted(text))
	}
}

func (k *chatter) request() []byte {
	return append(bytes.Clone(k.body.Bytes()), "]}"...)
}

// own turns the digits of a text, so that no two sessions see the same one.
func (k *chatter) own(text string) string {
	shift := byte(1 + k.random.IntN(9))
	out := []byte(text)
	for i, c := range out {
		if c >= '0' && c <= '9' {
			out[i] = '0' + (c-'0'+shift+byte(k.random.IntN(2)))%10
		}
	}
	return string(out)
}
