package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/host"
	"token-terminator/internal/testkit"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/turn"
	"token-terminator/vault"
)

// daemonCrashRuns is how many daemons are killed.
const daemonCrashRuns = "TOKEN_TERMINATOR_DAEMON_CRASH_RUNS"

// doomed is a session whose host lives on while its daemon is killed again and again.
type doomed struct {
	t     *testing.T
	order childOrder
	clock *testkit.Clock // of the host's breaker
	host  *host.Client
	next  int               // call to ask for
	last  []byte            // what a daemon answered last, up to the end of its last message
	shown map[string]string // text of every id that was in a request that was sent
	alone bool              // the last request was sent without a daemon's word
	tally *doomedTally
}

type doomedTally struct{ deaths, opening, sessions, answered, alone, reapplied, epochs, pinned, ids int }

func newDoomed(t *testing.T, tally *doomedTally) *doomed {
	d := &doomed{t: t, order: childHome(t), clock: testkit.NewClock(time.Unix(1_800_000_000, 0)), shown: map[string]string{}, tally: tally}
	d.host = host.NewClient(host.Options{Folder: d.order.Folder, Name: "test", Version: version, Clock: d.clock})
	t.Cleanup(d.host.Close)
	return d
}

// TestDaemonCrash_KillNineAtEveryCallIntoTheStore kills the daemon at calls into its
// store while a host talks to it. What the host sends is valid all the time: what it
// was answered, or its own request with the edits of before. The next daemon takes the
// home over, every id that was ever sent gives its text, and answers go on as before.
func TestDaemonCrash_KillNineAtEveryCallIntoTheStore(t *testing.T) {
	t.Parallel()
	runs := 4
	if word := os.Getenv(daemonCrashRuns); word != "" {
		var err error
		runs, err = strconv.Atoi(word)
		require.NoError(t, err)
	}
	seeds := rand.New(rand.NewPCG(crashSeed, 3))
	var tally doomedTally
	d := newDoomed(t, &tally)
	for range runs {
		if d.run(1 + seeds.Int64N(300)) {
			tally.sessions++
			d = newDoomed(t, &tally)
		}
	}
	t.Logf("seed %d: %+v", crashSeed, tally)
	require.Greater(t, tally.deaths, 0)
	require.Greater(t, tally.answered, 0)
}

// run is the life of one daemon. It says whether the session came through.
func (d *doomed) run(at int64) bool {
	d.order.KillAt = at
	daemon := d.order.spawn(d.t)
	d.clock.Advance(host.BreakFor)
	if !d.up(daemon) {
		d.died(daemon)
		d.tally.opening++
		return false
	}
	for ; d.next < crashCalls; d.next++ {
		if !d.ask() {
			d.next++ // the host sent it: its provider has it
			d.died(daemon)
			return false
		}
	}
	err := d.host.Drain(d.within())
	<-daemon.Done()
	if err != nil || daemon.Err() != nil {
		d.died(daemon)
	} else {
		d.check()
	}
	return true
}

func (d *doomed) within() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), stressWait)
	d.t.Cleanup(cancel)
	return ctx
}

// up waits until the daemon listens and says whether it lived to do so.
func (d *doomed) up(daemon *host.Daemon) bool {
	c, err := daemon.Dial(d.within(), host.Options{Folder: d.order.Folder, Name: "test", Version: version})
	if errors.Is(err, host.ErrNoDaemon) || errors.Is(err, host.ErrSilent) {
		return false
	}
	require.NoError(d.t, err)
	c.Close()
	return true
}

// ask sends the next request and says whether a daemon answered it.
func (d *doomed) ask() bool {
	body := crashRequest(d.next)
	out := d.host.Turn(d.within(), host.TurnRequest{Binding: turn.Binding{Session: "crash", Turn: uint64(d.next + 1)}, Scope: chatScope(), Detail: true, Body: body})
	if !bytes.HasPrefix(out.Body, d.last) {
		require.Empty(d.t, out.Fallback, "without the daemon's word a request begins with the last answer")
		var detail compile.Outcome
		require.NoError(d.t, json.Unmarshal(out.Detail, &detail))
		if detail.Epoch != nil {
			d.tally.epochs++
		} else {
			// The daemon that died had pinned an epoch and not answered: pinned counts as shown.
			require.True(d.t, d.alone, "request %d begins with the last answer, or opens an epoch", d.next)
			d.tally.pinned++
		}
	}
	d.alone = out.Fallback != ""
	d.sent(body, out.Body)
	if out.Fallback != "" {
		require.Equal(d.t, host.Silent, out.Fallback)
		d.tally.alone++
		if out.Edited {
			d.tally.reapplied++
		}
		require.Equal(d.t, len(d.last) > 0 && d.next > 0, out.Edited, "what was sent before is sent again")
		return false
	}
	require.True(d.t, out.Reason.Known(), out.Reason)
	d.tally.answered++
	doc, err := request.Parse(out.Body)
	require.NoError(d.t, err)
	if out.Edited {
		d.last = out.Body[:doc.Messages[len(doc.Messages)-1].Span.End]
	}
	return true
}

// sent notes the ids of a request that went out, each with the host's own text.
func (d *doomed) sent(body, sent []byte) {
	in, err := request.Parse(body)
	require.NoError(d.t, err)
	doc, err := request.Parse(sent)
	require.NoError(d.t, err)
	require.Equal(d.t, len(in.Messages), len(doc.Messages))
	for i, m := range doc.Messages {
		for k, text := range m.Texts {
			shown, err := doc.Value(text)
			require.NoError(d.t, err)
			whole, err := in.Value(in.Messages[i].Texts[k])
			require.NoError(d.t, err)
			ids := markedID.FindAllStringSubmatch(shown, -1)
			for _, match := range ids {
				d.shown[match[1]] = whole
			}
			if len(ids) == 0 && m.Role == "tool" {
				require.Equal(d.t, whole, shown, "what shows no id is whole")
			}
		}
	}
}

func (d *doomed) died(daemon *host.Daemon) {
	<-daemon.Done()
	status, ok := daemon.State().Sys().(syscall.WaitStatus)
	require.True(d.t, ok && status.Signaled() && status.Signal() == syscall.SIGKILL, "%v", daemon.Err())
	d.tally.deaths++
	d.check()
}

// check opens the vault that was left behind: it is sound, and every id gives its text.
func (d *doomed) check() {
	if _, err := os.Stat(filepath.Join(d.order.Folder, vault.FileName)); err != nil {
		require.Empty(d.t, d.shown)
		return
	}
	v, err := vault.Open(d.order.Folder, vault.Options{FixedKey: true})
	require.NoError(d.t, err)
	report, err := v.Verify(context.Background())
	require.NoError(d.t, err)
	require.True(d.t, report.Sound(), "%+v", report)
	for id, whole := range d.shown {
		got, err := v.Get(context.Background(), "crash", id)
		require.NoError(d.t, err, id)
		require.Equal(d.t, whole, got.Text)
		d.tally.ids++
	}
	require.NoError(d.t, v.Close())
}
