package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/ledger/split"
	"token-terminator/turn"
)

func half() Experiment {
	return Experiment{Name: "half", Salt: "salt-1", Arms: []split.Arm{{Name: "ours", Percent: 50}, {Name: "raw", Percent: 50}}}
}

// A chain keeps its arm when percentages and salt change, across restarts, and when
// many ask at once.
func TestAChainNeverChangesItsArm(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l, path := open(t, Options{})
	given := map[string]string{}
	for i := range 20 {
		chain := strings.Repeat("long ", i*2) + fmt.Sprint(i)
		arm, err := l.Assign(ctx, half(), chain)
		require.NoError(t, err)
		require.Equal(t, half().Of(chain), arm)
		stored, err := l.Reads().Arm(ctx, "half", chain)
		require.NoError(t, err)
		require.Equal(t, arm, stored, "it stands in the file before the answer")
		given[chain] = arm
	}
	require.NoError(t, l.Close())
	l = reopen(t, path, Options{})
	other := Experiment{Name: "half", Salt: "another", Arms: []split.Arm{{Name: "new", Percent: 100}}}
	var all sync.WaitGroup
	for chain, arm := range given {
		for range 3 {
			all.Go(func() {
				got, err := l.Assign(ctx, other, chain)
				if err != nil || got != arm {
					t.Errorf("chain moved from %q to %q: %v", arm, got, err)
				}
			})
		}
	}
	all.Wait()
	l.Record(Turn{Binding: binding("0", 1), Reason: turn.Reduced})
	flush(t, l)
	arms, err := l.Reads().Arms(ctx, "half")
	require.NoError(t, err)
	require.Equal(t, []string{given["0"]}, keys(arms))
	_, err = l.Assign(ctx, Experiment{}, "x")
	require.ErrorIs(t, err, ErrExperiment)
}

func samples(n int, edited bool, raw, final, reported int) (all []Sample) {
	for range n {
		all = append(all, Sample{edited, raw, final, reported})
	}
	return all
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	passed := samples(30, false, 1000, 1000, 1070)
	for name, c := range map[string]struct {
		samples []Sample
		verdict Verdict
		factor  float64
		real    int64
	}{
		"nothing":                {nil, Unknown, 0, 0},
		"too few passed":         {append(samples(19, false, 1000, 1000, 1070), samples(30, true, 1000, 500, 535)...), Unknown, 0, 0},
		"too few edited":         {append(samples(19, true, 1000, 500, 2000), passed...), Unknown, 1.07, 19 * (1070 - 2000)},
		"borne out":              {append(samples(20, true, 1000, 500, 535), passed...), BorneOut, 1.07, 20 * 535},
		"contradicted":           {append(samples(20, true, 1000, 500, 1070), passed...), Contradicted, 1.07, 0},
		"dearer":                 {append(samples(20, true, 1000, 500, 1200), passed...), Contradicted, 1.07, -20 * 130},
		"rows of no use":         {append(samples(50, true, 0, 0, 0), passed...), Unknown, 1.07, 0},
		"within the spread":      {append(append(samples(20, true, 1000, 970, 1040), samples(15, false, 1000, 1000, 1000)...), samples(15, false, 1000, 1000, 1100)...), Unknown, 1.05, 200},
		"spread, and borne out":  {append(append(samples(20, true, 1000, 500, 600), samples(15, false, 1000, 1000, 1000)...), samples(15, false, 1000, 1000, 1100)...), BorneOut, 1.05, 9000},
		"spread, a dear request": {append(append(samples(20, true, 1000, 500, 1100), samples(15, false, 1000, 1000, 1000)...), samples(15, false, 1000, 1000, 1100)...), Contradicted, 1.05, -1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Calibrate("m", Panel, c.samples)
			require.Equal(t, c.verdict, got.Verdict)
			if c.factor == 0 {
				require.Nil(t, got.Factor, "unknown is no number")
				return
			}
			require.InDelta(t, c.factor, *got.Factor, 1e-9)
			if got.Real != nil {
				require.InDelta(t, c.real, *got.Real, 1)
			}
			require.Equal(t, c.verdict == Contradicted, got.PanelOff())
			got.UsedFor = Exact
			require.False(t, got.PanelOff(), "an exact count has no panel to switch off")
		})
	}
}

// The order of samples changes nothing, and more reported tokens for edited turns never
// turn a verdict to the better.
func TestCalibrateIsPureAndMonotone(t *testing.T) {
	t.Parallel()
	rank := map[Verdict]int{Contradicted: 0, Unknown: 1, BorneOut: 2}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var all []Sample
		for range 60 {
			raw := 1000 + rng.IntN(9000)
			all = append(all, Sample{rng.IntN(2) == 0, raw, raw - rng.IntN(800), raw*9/10 + rng.IntN(1500)})
		}
		first := Calibrate("m", Panel, all)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		require.Equal(t, first, Calibrate("m", Panel, all), "seed %d", seed)
		for i := range all {
			if all[i].Edited {
				all[i].Reported += 500
			}
		}
		require.LessOrEqual(t, rank[Calibrate("m", Panel, all).Verdict], rank[first.Verdict], "seed %d", seed)
	}
}

func TestCalibrationsReadTheFile(t *testing.T) {
	t.Parallel()
	l, _ := open(t, Options{})
	for n := range uint64(60) {
		b, edited := binding("a", n+1), n%2 == 0
		one := Turn{Binding: b, Model: "claude", Measure: Panel, Raw: 5000, Final: 5000, Edited: edited, Reason: turn.Reduced}
		used := 5500
		if edited {
			one.Final, used = 4000, 5600
		}
		one.Usage = &Usage{Fresh: 500, Read: used - 500}
		l.Record(one)
	}
	flush(t, l)
	all, err := l.Reads().Calibrations(context.Background())
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.InDelta(t, 1.1, *all[0].Factor, 1e-9)
	require.True(t, all[0].PanelOff())
}

func FuzzNamesAreBounded(f *testing.F) {
	f.Add("gpt-4o", "reduced")
	f.Add("a\x00b\xff\u2028", strings.Repeat("ü", 500))
	f.Fuzz(func(t *testing.T, model, reason string) {
		for _, s := range []string{name(model), name(reason)} {
			require.True(t, utf8.ValidString(s))
			require.LessOrEqual(t, utf8.RuneCountInString(s), maxName)
			require.Equal(t, s, name(s))
		}
		require.Equal(t, word(reason), word(word(reason)))
		require.Contains(t, []string{"", "other", reason}, epochReason(reason))
		require.Contains(t, []string{"", reason}, hexOnly(reason))
		require.LessOrEqual(t, len(chainKey(model)), 4*maxName)
	})
}
