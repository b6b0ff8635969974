package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// script drives a Warmth: seconds since a start, and what the calls report.
type script struct {
	w   Warmth
	now time.Time
}

func newScript() *script { return &script{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (s *script) turn(after int, model string) ColdReason {
	s.now = s.now.Add(time.Duration(after) * time.Second)
	cold, why := s.w.Turn(s.now, model, Study())
	if cold != (why != "") {
		panic("cold without a reason")
	}
	return why
}

func TestWarmth_IdleModelAndCompaction(t *testing.T) {
	t.Parallel()
	s := newScript()
	require.Empty(t, s.turn(0, "m"), "the first call")
	require.Empty(t, s.turn(300, "m"), "entries live for 300 s")
	require.Equal(t, ColdIdle, s.turn(301, "m"))
	require.Empty(t, s.turn(10, "m"), "that call wrote it anew")
	s.w.Answered(s.now.Add(290 * time.Second))
	require.Empty(t, s.turn(580, "m"), "an answer that takes long keeps the cache warm")
	require.Equal(t, ColdModel, s.turn(1, "n"))
	require.Equal(t, ColdModel, s.turn(1, "m"))
	s.w.Compacted()
	require.Equal(t, ColdCompacted, s.turn(1, "m"))
	require.Empty(t, s.turn(1, "m"))
}

func TestWarmth_TimesThatAreNotKnownSayNothing(t *testing.T) {
	t.Parallel()
	var w Warmth
	for range 3 {
		cold, _ := w.Turn(time.Time{}, "m", Study())
		require.False(t, cold)
	}
	row := Study()
	row.TTL = 0
	s := newScript()
	s.turn(0, "m")
	cold, _ := s.w.Turn(s.now.Add(1000*time.Hour), "m", row)
	require.False(t, cold, "an unknown lifetime never ends")
	s.w.Answered(s.now) // earlier than the last use: a clock that went back
	require.Empty(t, s.turn(1000*3600+5, "m"))
}

func TestWarmth_ResumesAfterARestart(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.w.Resume(s.now, "m")
	early := s.w
	require.Equal(t, ColdIdle, s.turn(400, "m"))
	s.w = early
	require.Equal(t, ColdModel, s.turn(0, "n"))
}

func TestWarmth_ReportedUsage(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.turn(0, "m")
	require.False(t, s.w.Usage(s.now, CallUsage{Input: 1000, Written: 1000}), "nothing was written before")
	s.turn(5, "m")
	require.False(t, s.w.Usage(s.now, CallUsage{Input: 1200, Read: 1000, Written: 200}))
	s.turn(5, "m")
	require.True(t, s.w.Usage(s.now, CallUsage{Input: 1300, Read: 400, Written: 900}), "a prefix shared with others is not ours")
	require.Empty(t, s.turn(5, "m"), "the call before wrote it anew")
}

// A provider that does not report writes and never reads anything: after three misses
// on a prefix that should have been there the route counts as uncached, until it reads.
func TestWarmth_ThreeMissesMakeARouteUncached(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.turn(0, "m")
	s.w.Usage(s.now, CallUsage{Input: 1000})
	for n := range UncachedAfter {
		require.False(t, s.w.Uncached(), n)
		require.Empty(t, s.turn(5, "m"))
		require.True(t, s.w.Usage(s.now, CallUsage{Input: 1000 + n}))
	}
	require.True(t, s.w.Uncached())
	require.Equal(t, ColdUncached, s.turn(5, "m"))
	s.w.Usage(s.now, CallUsage{Input: 1100})
	require.Equal(t, ColdUncached, s.turn(5, "m"), "it stays so")
	s.w.Usage(s.now, CallUsage{Input: 1200, Read: 1100})
	require.False(t, s.w.Uncached(), "one call that reads ends it")
	require.Empty(t, s.turn(5, "m"))
}

func TestWarmth_AnExpectedMissIsNoneOfTheThree(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.turn(0, "m")
	s.w.Usage(s.now, CallUsage{Input: 1000})
	for range 5 {
		require.Equal(t, ColdIdle, s.turn(1000, "m"))
		s.w.Usage(s.now, CallUsage{Input: 1000})
		require.False(t, s.w.Uncached())
	}
	require.Equal(t, ColdModel, s.turn(1, "n"))
	require.False(t, s.w.Uncached(), "another model is another route")
}

func TestRow_WithoutCacheReadsNothing(t *testing.T) {
	t.Parallel()
	row := Study().WithoutCache()
	require.NoError(t, row.Validate())
	require.InDelta(t, row.Input, row.Read, 0)
	require.InDelta(t, row.Input, row.Write, 0)
	require.Zero(t, row.MinPrefix)
}
