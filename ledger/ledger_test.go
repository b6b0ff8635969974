package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"token-terminator/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, o Options) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	return reopen(t, path, o), path
}

func reopen(t *testing.T, path string, o Options) *Ledger {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return start }
	}
	if o.Synchronous == "" {
		o.Synchronous = "OFF" // tests do not wait for the disk
	}
	l, err := Open(context.Background(), path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func binding(session string, n uint64) turn.Binding {
	return turn.Binding{Engine: "tt", Home: "/home/secret", Session: session, Generation: 1, Turn: n, Attempt: 1}
}

func ite(f float64) *float64 { return &f }

func flush(t *testing.T, l *Ledger) {
	t.Helper()
	require.NoError(t, l.Flush(context.Background()))
}

func totals(t *testing.T, l *Ledger, f Filter) Totals {
	t.Helper()
	flush(t, l)
	sum, err := l.Reads().Totals(context.Background(), f)
	require.NoError(t, err)
	return sum
}

// Whatever turns come, in whatever order of attempts, the sums are those of the last
// attempt of each turn.
func TestTotalsAreTheSumsOfTheLastAttempts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 11))
		l, path := open(t, Options{})
		last := map[turn.Binding]Turn{}
		for range 120 {
			one := randomTurn(rng)
			key := one.Binding
			key.Attempt = 0
			if known, ok := last[key]; !ok || one.Binding.Attempt >= known.Binding.Attempt {
				last[key] = one
			}
			l.Record(one)
		}
		var want Totals
		sessions := map[string]bool{}
		for _, one := range last {
			want.add(one)
			sessions[one.Binding.Session] = true
		}
		want.Sessions = int64(len(sessions))
		got := totals(t, l, Filter{})
		got.FirstAt, got.LastAt, got.MicrosLo, got.MicrosHi = 0, 0, 0, 0
		require.InDelta(t, want.ITE, got.ITE, 1e-6, "seed %d", seed)
		want.ITE, got.ITE = 0, 0
		require.Equal(t, want, got, "seed %d", seed)
		require.EqualValues(t, Health{On: true, Recorded: 120}, l.Health())

		require.NoError(t, l.Close())
		again := totals(t, reopen(t, path, Options{}), Filter{})
		require.Equal(t, want.Turns, again.Turns, "it stands in the file")
		require.Equal(t, want.Exact, again.Exact)
	}
}

func randomTurn(rng *rand.Rand) Turn {
	one := Turn{
		Binding: binding(fmt.Sprint("s", rng.IntN(5)), uint64(1+rng.IntN(12))), At: start.Add(time.Duration(rng.IntN(1e6)) * time.Second),
		Model: "m", Edited: rng.IntN(2) == 0, Reason: turn.Reduced, Bytes: rng.IntN(1e6), Elapsed: time.Duration(rng.IntN(1e9)),
	}
	one.Binding.Attempt = uint64(1 + rng.IntN(4))
	if !one.Edited {
		one.Reason = []turn.Reason{turn.NothingToReduce, turn.Deadline, turn.Busy}[rng.IntN(3)]
	}
	if rng.IntN(4) > 0 {
		one.Measure = []Measure{Exact, Panel}[rng.IntN(2)]
		one.Raw = 1000 + rng.IntN(1e5)
		one.Final = one.Raw - rng.IntN(1000)
		one.ITE, one.Row, one.Assumed = ite(rng.Float64()*100-20), "study", true
	}
	return one
}

func (sum *Totals) add(one Turn) {
	sum.Turns++
	sum.Bytes += int64(one.Bytes)
	if one.Edited {
		sum.Edited++
	} else if FailsOpen(one.Reason) {
		sum.FailOpens++
	}
	by := map[Measure]*Counted{Exact: &sum.Exact, Panel: &sum.Panel}[one.Measure]
	if by == nil {
		return
	}
	by.Turns++
	by.Raw += int64(one.Raw)
	by.Final += int64(one.Final)
	sum.Priced++
	sum.Assumed++
	sum.ITE += *one.ITE
}

func TestTurnsThatWereNeverIssuedAreRowsOfTheirOwn(t *testing.T) {
	t.Parallel()
	l, _ := open(t, Options{})
	for range 3 {
		l.Record(Turn{Binding: turn.Binding{Session: "a"}, Reason: turn.Busy})
	}
	sum := totals(t, l, Filter{})
	require.EqualValues(t, 3, sum.Turns)
	require.EqualValues(t, 3, sum.FailOpens)
	require.Zero(t, sum.Exact, "what was not measured is in no measure")
	require.Zero(t, sum.Priced)
}

func TestUsageAndEventsFindTheirTurnAndSession(t *testing.T) {
	t.Parallel()
	l, _ := open(t, Options{})
	b := binding("a", 1)
	l.Record(Turn{Binding: b, Edited: true, Reason: turn.Reduced, Measure: Panel, Raw: 5000, Final: 4000, ITE: ite(300), Row: "study", Model: "claude"})
	l.Report(Reported{b, Usage{Fresh: 10, Read: 4000, Write: 500, Output: 77}})
	l.Report(Reported{binding("nobody", 9), Usage{Fresh: 1}})
	pages := 900
	l.Note(Event{Binding: b, Kind: Recovery, Reason: "artifact_get", Tokens: &pages, ITE: ite(120)})
	l.Note(Event{Binding: b, Kind: FailedOpen, Reason: string(turn.Deadline), ITE: ite(30)})
	l.Note(Event{Binding: b, Kind: "something else"})
	// A later attempt keeps what was reported.
	b.Attempt = 2
	l.Record(Turn{Binding: b, Edited: true, Reason: turn.Reduced, Measure: Panel, Raw: 5000, Final: 4000, ITE: ite(300), Row: "study", Model: "claude"})
	sum := totals(t, l, Filter{Session: "a"})
	require.Equal(t, Reports{Turns: 1, Fresh: 10, Read: 4000, Write: 500, Out: 77}, sum.Usage)
	require.EqualValues(t, 1, sum.Recoveries)
	require.EqualValues(t, 1, sum.FailOpens)
	require.InDelta(t, 150, sum.NetITE(), 1e-9)
	require.Zero(t, totals(t, l, Filter{Session: "nobody"}).Turns)
	samples, err := l.Reads().Samples(context.Background(), "claude", Panel)
	require.NoError(t, err)
	require.Equal(t, []Sample{{Edited: true, Raw: 5000, Final: 4000, Reported: 4510}}, samples)
}

func TestGroupsReasonsAndForms(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l, _ := open(t, Options{})
	for i := range 6 {
		session := []string{"a", "b"}[i%2]
		one := Turn{
			Binding: binding(session, uint64(i+1)), At: start.Add(time.Duration(i) * 12 * time.Hour), Model: "m" + session, Edited: i < 4,
			Reason: turn.Reduced, Measure: Exact, Raw: 100, Final: 90,
			Forms:   []FormCount{{Form: turn.Delta, Fresh: true, N: 1, Before: 20, After: 10}, {Form: turn.Delta, N: 2, Before: 8, After: 4}},
			Reasons: map[turn.Reason]int{turn.DeltaRuns: 1, turn.BelowFloor: 3, "words of somebody": 1},
		}
		if !one.Edited {
			one.Reason, one.Forms = turn.Deadline, nil
		}
		l.Record(one)
	}
	flush(t, l)
	r := l.Reads()
	days, err := r.Groups(ctx, ByDay, Filter{}, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"2026-03-04", "2026-03-03", "2026-03-02", "2026-03-01"}, keys(days))
	require.EqualValues(t, 2, days[1].Turns)
	sessions, err := r.Groups(ctx, BySession, Filter{Since: start, Until: start.Add(24 * time.Hour)}, 10)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, keys(sessions))
	models, err := r.Groups(ctx, ByModel, Filter{Model: "ma"}, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"ma"}, keys(models))
	_, err = r.Groups(ctx, "weather", Filter{}, 1)
	require.Error(t, err)
	reasons, err := r.Reasons(ctx, Filter{})
	require.NoError(t, err)
	require.Equal(t, map[turn.Reason]int64{turn.Reduced: 4, turn.Deadline: 2}, reasons.Turns)
	require.Equal(t, map[turn.Reason]int64{turn.DeltaRuns: 6, turn.BelowFloor: 18, "other": 6}, reasons.Blocks)
	require.Equal(t, map[turn.Reason]int64{turn.Deadline: 2}, reasons.Fails)
	forms, err := r.Forms(ctx, Filter{})
	require.NoError(t, err)
	require.Equal(t, []FormTotal{{turn.Delta, true, 4, 80, 40}, {turn.Delta, false, 8, 32, 16}}, forms)
}

func keys(groups []Group) (names []string) {
	for _, g := range groups {
		names = append(names, g.Key)
	}
	return names
}

// A writer that stands still costs entries, never time.
func TestRecordNeverWaitsAndDropsAreCounted(t *testing.T) {
	t.Parallel()
	entered, let := make(chan struct{}), make(chan struct{})
	var once sync.Once
	l, _ := open(t, Options{Queue: 4, Hook: func() error {
		once.Do(func() { close(entered); <-let })
		return nil
	}})
	l.Record(Turn{Binding: binding("a", 1), Reason: turn.Reduced})
	<-entered
	for n := range uint64(10) {
		l.Record(Turn{Binding: binding("a", n+2), Reason: turn.Reduced})
	}
	require.EqualValues(t, 6, l.Health().Dropped)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, l.Flush(ended), context.Canceled)
	close(let)
	flush(t, l)
	require.EqualValues(t, 5, l.Health().Recorded)
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	l.Record(Turn{})
	require.EqualValues(t, 7, l.Health().Dropped)
	require.ErrorIs(t, l.Flush(context.Background()), ErrClosed)
	_, err := l.Assign(context.Background(), half(), "x")
	require.ErrorIs(t, err, ErrClosed)
}

func TestAFailedTransactionIsCountedAndTheNextOneWorks(t *testing.T) {
	t.Parallel()
	boom := true
	l, _ := open(t, Options{Hook: func() error {
		if boom {
			return errors.New("words of a driver")
		}
		return nil
	}})
	l.Record(Turn{Binding: binding("a", 1), Reason: turn.Reduced})
	flush(t, l)
	require.EqualValues(t, 1, l.Health().Failed)
	require.Equal(t, "fmt.wrapError", l.Health().LastErr)
	boom = false // the writer waits for the queue: nothing runs beside this line
	l.Record(Turn{Binding: binding("a", 2), Reason: turn.Reduced})
	require.EqualValues(t, 1, totals(t, l, Filter{}).Turns)
}

func TestALedgerThatIsOffTakesEverything(t *testing.T) {
	t.Parallel()
	var l *Ledger
	ctx := context.Background()
	l.Record(Turn{})
	l.Note(Event{})
	l.Report(Reported{})
	require.Equal(t, Health{}, l.Health())
	require.ErrorIs(t, l.Flush(ctx), ErrOff)
	require.NoError(t, l.Close())
	require.NoError(t, l.Reads().Close())
	require.Empty(t, l.Fingerprint("words"))
	for _, ask := range []func() error{
		func() error { _, err := l.Reads().Totals(ctx, Filter{}); return err },
		func() error { _, err := l.Reads().Groups(ctx, ByDay, Filter{}, 1); return err },
		func() error { _, err := l.Reads().Reasons(ctx, Filter{}); return err },
		func() error { _, err := l.Reads().Forms(ctx, Filter{}); return err },
		func() error { _, err := l.Reads().Arms(ctx, "e"); return err },
		func() error { _, err := l.Reads().Arm(ctx, "e", "c"); return err },
		func() error { _, err := l.Reads().Samples(ctx, "m", Panel); return err },
		func() error { _, err := l.Reads().Calibrations(ctx); return err },
		func() error { _, err := l.Assign(ctx, half(), "c"); return err },
	} {
		require.ErrorIs(t, ask(), ErrOff)
	}
}

func TestOldRowsGoAndArmsStay(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l, path := open(t, Options{})
	l.Record(Turn{Binding: binding("old", 1), At: start, Reason: turn.Reduced, Reasons: map[turn.Reason]int{turn.BelowFloor: 1}})
	l.Note(Event{Binding: binding("old", 1), At: start, Kind: Recovery})
	l.Record(Turn{Binding: binding("young", 1), At: start.AddDate(1, 1, 0), Reason: turn.Reduced})
	arm, err := l.Assign(ctx, half(), "old")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	l = reopen(t, path, Options{Now: func() time.Time { return start.AddDate(1, 2, 0) }})
	sum := totals(t, l, Filter{})
	require.EqualValues(t, 1, sum.Turns)
	require.EqualValues(t, 1, sum.Sessions)
	require.Zero(t, sum.Recoveries)
	again, err := l.Reads().Arm(ctx, half().Name, "old")
	require.NoError(t, err)
	require.Equal(t, arm, again)
}

func TestTheFileIsPrivateAndSaltedByHome(t *testing.T) {
	t.Parallel()
	l, path := open(t, Options{})
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	other, _ := open(t, Options{})
	require.Len(t, l.Fingerprint("look at it"), fingerprintHex)
	require.Equal(t, l.Fingerprint("look at it"), l.Fingerprint(" look\n at  it "))
	require.NotEqual(t, l.Fingerprint("look at it"), l.Fingerprint("look at this"))
	require.NotEqual(t, l.Fingerprint("look at it"), other.Fingerprint("look at it"))
	print := l.Fingerprint("look at it")
	require.NoError(t, l.Close())
	require.Equal(t, print, reopen(t, path, Options{}).Fingerprint("look at it"))
}
