package plan_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/plan"
)

// worthOf is the gains of a set less the costs of what leans on it.
func worthOf(gains []int, leaning []plan.Leaning, in func(int) bool) int {
	sum := 0
	for k, g := range gains {
		if in(k) {
			sum += g
		}
	}
	for _, l := range leaning {
		for _, k := range l.Bases {
			if in(k) {
				sum -= l.Cost
				break
			}
		}
	}
	return sum
}

func TestClosureOfWorkedExamples(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		gains   []int
		leaning []plan.Leaning
		want    []bool
	}{
		"nothing":                           {nil, nil, []bool{}},
		"no gain":                           {[]int{0, -5, 7}, nil, []bool{false, false, true}},
		"a cost above its base's gain":      {[]int{10}, []plan.Leaning{{Cost: 11, Bases: []int{0}}}, []bool{false}},
		"a cost below":                      {[]int{10}, []plan.Leaning{{Cost: 9, Bases: []int{0}}}, []bool{true}},
		"two bases pay one cost together":   {[]int{6, 6}, []plan.Leaning{{Cost: 10, Bases: []int{0, 1}}}, []bool{true, true}},
		"and not when both are too small":   {[]int{5, 5}, []plan.Leaning{{Cost: 11, Bases: []int{0, 1}}}, []bool{false, false}},
		"one dear cost keeps only its base": {[]int{5, 50}, []plan.Leaning{{Cost: 8, Bases: []int{0}}, {Cost: 8, Bases: []int{1}}}, []bool{false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, plan.Closure(test.gains, test.leaning))
		})
	}
}

func TestClosureIsTheBestOfAllSets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 9))
	for range 3000 {
		gains := make([]int, 1+rng.IntN(8))
		for k := range gains {
			gains[k] = rng.IntN(40) - 5
		}
		leaning := make([]plan.Leaning, rng.IntN(8))
		for n := range leaning {
			leaning[n] = plan.Leaning{Cost: rng.IntN(40), Bases: rng.Perm(len(gains))[:1+rng.IntN(min(3, len(gains)))]}
		}
		best := 0
		for set := range 1 << len(gains) {
			best = max(best, worthOf(gains, leaning, func(k int) bool { return set>>k&1 == 1 }))
		}
		chosen := plan.Closure(gains, leaning)
		require.Equal(t, best, worthOf(gains, leaning, func(k int) bool { return chosen[k] }), "%v %v", gains, leaning)
	}
}
