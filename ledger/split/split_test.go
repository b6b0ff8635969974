package split

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The contract's rule for three chains, their hashes taken with sha256sum.
func TestBucketIsTheContractsRule(t *testing.T) {
	t.Parallel()
	require.Equal(t, 0xc1c54227%100, Bucket("salt-1", "chain-1"))
	require.Equal(t, 0x815ed13b%100, Bucket("salt-1", "chain-2"))
	require.Equal(t, 0x2d711642%100, Bucket("", "x"))
}

func TestArmsFollowThePercentages(t *testing.T) {
	t.Parallel()
	e := Experiment{Name: "e", Salt: "s", Arms: []Arm{{"a", 10}, {"none", 0}, {"b", 60}, {"c", 30}}}
	require.NoError(t, e.Validate())
	seen := map[string]int{}
	for i := range 20_000 {
		chain := fmt.Sprint("chain-", i)
		arm, bucket := e.Of(chain), Bucket("s", chain)
		want := "c"
		if bucket < 10 {
			want = "a"
		} else if bucket < 70 {
			want = "b"
		}
		require.Equal(t, want, arm)
		seen[arm]++
	}
	require.InDelta(t, 2_000, seen["a"], 300)
	require.InDelta(t, 12_000, seen["b"], 500)
	require.Zero(t, seen["none"])
	for name, bad := range map[string]Experiment{
		"no name":           {Arms: []Arm{{"a", 100}}},
		"long name":         {Name: strings.Repeat("x", 81), Arms: []Arm{{"a", 100}}},
		"under 100":         {Name: "e", Arms: []Arm{{"a", 99}}},
		"twice":             {Name: "e", Arms: []Arm{{"a", 50}, {"a", 50}}},
		"an arm without":    {Name: "e", Arms: []Arm{{"", 100}}},
		"negative and over": {Name: "e", Arms: []Arm{{"a", -1}, {"b", 101}}},
	} {
		require.ErrorIs(t, bad.Validate(), ErrExperiment, name)
	}
}
