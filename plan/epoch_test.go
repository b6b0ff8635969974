package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// A request of 50,000 tokens after 30 calls: 40,000 stand behind the block, 30,000 of
// them were sent before.
func settled() Moment {
	return Moment{RawTokens: 60_000, RequestTokens: 50_000, CachedEnd: 45_000, SystemEnd: 2000, LastMarks: 44_000, CallsSoFar: 30, SinceEpoch: 30}
}

func block(at, removed, calls int) Away {
	return Away{At: at, Removed: removed, Block: removed + 50, Calls: calls, Cached: true, Hidden: true}
}

func at(m Moment, change func(*Moment)) Moment {
	change(&m)
	return m
}

// Worked by hand under Study: (1.25 − 0.1)·(45,000 − 35,000) − 1.25·4,000 = 6,500, and
// the rent of 4,000 tokens is 400 a call.
func TestEpochOfWorkedExamples(t *testing.T) {
	t.Parallel()
	four := func(calls int) []Away { return []Away{block(35_000, 4000, calls)} }
	for name, c := range map[string]struct {
		settings Settings
		moment   Moment
		all      []Away
		kind     EpochKind
		reason   turn.Reason
		price    float64
	}{
		"nothing to change":               {moment: settled()},
		"forgone for sixteen calls":       {moment: settled(), all: four(16), price: 6500},
		"forgone for seventeen calls":     {moment: settled(), all: four(17), kind: WarmEpoch, reason: turn.EpochEarned, price: 6500},
		"the last epoch was just now":     {moment: at(settled(), func(m *Moment) { m.SinceEpoch = 3 }), all: four(17), price: 6500},
		"a cold cache":                    {moment: at(settled(), func(m *Moment) { m.Cold = true }), all: four(0), kind: ColdEpoch, reason: turn.EpochCold, price: -5000},
		"over the window":                 {moment: at(settled(), func(m *Moment) { m.Window = 49_999 }), all: four(0), kind: WindowEpoch, reason: turn.EpochWindow, price: 6500},
		"inside the window":               {moment: at(settled(), func(m *Moment) { m.Window = 50_000 }), all: four(0), price: 6500},
		"never sent, memory knows nobody": {moment: at(settled(), func(m *Moment) { m.Mismatch, m.CachedEnd = true, 0 }), all: []Away{{At: 10, Removed: 4000, Hidden: true}}, kind: ColdEpoch, reason: turn.MemoryMismatch, price: -5000},
		"marks reach back to the system":  {moment: at(settled(), func(m *Moment) { m.Cache = Marks }), all: four(17), price: 1.15*43_000 - 5000},
		"a dependent must be shown anew":  {moment: settled(), all: append(four(17), Away{At: 40_000, Removed: -1000, Calls: 17, Cached: true}), price: 11_500 - 3750},
		"the bank is empty":               {settings: Settings{Bank: true}, moment: at(settled(), func(m *Moment) { m.Accounted, m.Saved, m.Spent = true, 100, 100_000 }), all: four(17), price: 6500},
		"the bank holds the price":        {settings: Settings{Bank: true}, moment: at(settled(), func(m *Moment) { m.Accounted, m.Saved, m.Spent = true, 4500, 100_000 }), all: four(17), kind: WarmEpoch, reason: turn.EpochEarned, price: 6500},
		"it would fall under the prefix":  {moment: Moment{RawTokens: 1500, RequestTokens: 1400, CachedEnd: 1300, CallsSoFar: 30, SinceEpoch: 30, Cold: true}, all: []Away{block(900, 400, 20)}, price: -500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := c.settings.Epoch(Study(), c.moment, c.all)
			require.Equal(t, c.kind, e.Kind)
			require.Equal(t, c.reason, e.Reason)
			require.InDelta(t, c.price, e.Price, 1e-6)
		})
	}
}

func TestAFetchIsPartOfThePrice(t *testing.T) {
	t.Parallel()
	shown := block(35_000, 4000, 17)
	shown.Hidden = false
	fetch := Settings{}.FetchCost(Study(), Fetch{PrefixTokens: 50_000, BlockTokens: 4050, LaterCalls: 20})
	e := Settings{}.Epoch(Study(), settled(), []Away{shown})
	require.InDelta(t, 6500+0.05*fetch, e.Price, 1e-6)
	require.True(t, Settings{}.Worth(Study(), settled(), shown))
	shown.Removed = 399
	require.False(t, Settings{}.Worth(Study(), settled(), shown), "a receipt saves 400 tokens or more")
}

// The programme equals the best of all schedules of epochs, priced by the bill itself,
// and no arm is cheaper.
func TestTheOptimumIsTheBestOfAllSchedules(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		c := randomCourse(rand.New(rand.NewPCG(seed, 11)))
		got, err := c.Optimum()
		require.NoError(t, err)
		best := 0.0
		for schedule := range 1 << len(c.Calls) {
			if cost := c.scheduled(t, schedule); schedule == 0 || cost < best {
				best = cost
			}
		}
		require.InDelta(t, best, got, 1e-6*best, "seed %d", seed)
	}
}

func randomCourse(rng *rand.Rand) Course {
	c := Course{Row: Study(), Cache: []Cache{Prefix, Marks}[rng.IntN(2)], Fixed: 1500 + rng.IntN(2000), Settings: Settings{RecoveryPct: -1}}
	c.Messages = []CourseMessage{{Raw: 500, Birth: 500, System: true}}
	var old []Putting
	for j := range 1 + rng.IntN(9) {
		size := 100 + rng.IntN(6000)
		c.Messages = append(c.Messages, CourseMessage{Raw: 60, Birth: 60}, CourseMessage{Raw: size, Birth: size})
		if size > 500 {
			old = append(old, Putting{Message: len(c.Messages) - 1, Gain: size - 50, RawGain: size - 50, Block: size, Calls: -1})
		}
		call := CourseCall{Messages: len(c.Messages), Output: 50, Cold: j > 0 && rng.IntN(6) == 0}
		for k := range old {
			if old[k].Calls++; old[k].Calls >= 5 {
				call.Away = append(call.Away, old[k])
			}
		}
		c.Calls = append(c.Calls, call)
	}
	return c
}

// scheduled is the cost of a course when the calls whose bit is set are epochs.
func (c Course) scheduled(t *testing.T, schedule int) float64 {
	t.Helper()
	a, err := c.arm(func(m CourseMessage) int { return m.Birth })
	require.NoError(t, err)
	away := map[int]Putting{}
	for j, call := range c.Calls {
		if schedule>>j&1 == 1 {
			for _, p := range call.Away {
				away[p.Message] = p
			}
		}
		a.call(j, away, func(p Putting) int { return p.Gain })
	}
	return a.net()
}

func TestMaskingAndRewritingNeedNoMemory(t *testing.T) {
	t.Parallel()
	c := Course{Row: Study(), Cache: Prefix, Fixed: 2000, Messages: []CourseMessage{{Raw: 1000, Birth: 900}}, Calls: []CourseCall{{Messages: 1, Output: 10}}}
	birth := 2900*1.25 + 50
	always, err := c.AlwaysRewrite()
	require.NoError(t, err)
	require.InDelta(t, birth, always, 1e-9)
	masked, err := c.Masking()
	require.NoError(t, err)
	require.InDelta(t, 3000*1.25+50, masked, 1e-9, "masking shows what was recorded")
	c.Cache = "none"
	_, err = c.AlwaysRewrite()
	require.ErrorIs(t, err, ErrBadCache)
}
