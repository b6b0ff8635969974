package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Worked by hand under Study: one call over 50,000 at 0.1, 60 output at 5, a page
// written at 1.25 and read at 0.1 by each later call.
func TestFetchCostOfWorkedExamples(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fetch Fetch
		want  float64
	}{
		"a small block comes whole":          {Fetch{50_000, 500, 10}, 5000 + 300 + 500*(1.25+1)},
		"a page holds at most 2,000 tokens":  {Fetch{50_000, 90_000, 10}, 5000 + 300 + 2000*(1.25+1)},
		"the last call pays the write alone": {Fetch{50_000, 500, 0}, 5000 + 300 + 625},
		"under the smallest prefix is fresh": {Fetch{1000, 500, 0}, 1000 + 300 + 625},
		"nothing later is not negative":      {Fetch{50_000, 500, -3}, 5000 + 300 + 625},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.InDelta(t, c.want, Settings{}.FetchCost(Study(), c.fetch), 1e-9)
		})
	}
}

func TestEachHiddenBlockIsChargedOnce(t *testing.T) {
	t.Parallel()
	d := NewDebits(Settings{}, Study())
	require.True(t, d.Hide("3/content", 2, 10_000, 1000))
	require.False(t, d.Hide("3/content", 3, 12_000, 1000), "it is charged when it is first hidden")
	require.True(t, d.Hide("5/content", 4, 20_000, 9000))
	require.Equal(t, 2, d.Blocks())
	first := 1000.0 + 300 + 1000*(1.25+0.1*7) // calls 3 to 9
	second := 2000.0 + 300 + 2000*(1.25+0.1*5)
	require.InDelta(t, 0.05*(first+second), d.Expected(10), 1e-9)
	d.Need("5/content")
	d.Need("5/content")
	d.Need("never hidden")
	count, debit := d.NeededLater(10)
	require.Equal(t, 1, count)
	require.InDelta(t, second, debit, 1e-9)
	require.InDelta(t, 0.05*(first+second), d.Expected(10), 1e-9, "needed blocks are reported beside it")
	require.Zero(t, NewDebits(Settings{RecoveryPct: -1}, Study()).Expected(10))
}

func TestNeededFindsTheOnlyPlaceOfAWord(t *testing.T) {
	t.Parallel()
	n := NewNeeded()
	n.Show("look at main.go")
	n.Hide("a", "main.go 4711 secret_name common")
	n.Show("[marker] common")
	n.Hide("b", "4711 other")
	require.Empty(t, n.Use(`{"path":"main.go","word":"common"}`), "both stand in sight")
	require.Empty(t, n.Use(`{"path":"invented.go"}`), "a word of the model's own")
	require.Equal(t, []string{"a"}, n.Use(`{"line":4711,"q":"\u0073ecret_name"}`), "a number and an escaped word, one block")
	require.Empty(t, n.Use(`{"line":4711}`), "the call itself shows it now")
	require.Equal(t, []string{"b"}, n.Use(`not json: other`))
	n.ShowJSON(`{"shown_later":1}`)
	n.Hide("c", "shown_later x")
	require.Empty(t, n.Use(`"shown_later"`))
	require.Empty(t, n.Use(`"x"`), "one letter is no word")
	n.Hide("d", "Größe straße")
	require.Equal(t, []string{"d"}, n.Use(`{"q":"straße"}`))
}
