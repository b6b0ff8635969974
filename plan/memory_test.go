package plan

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// node makes a node of a chain; near gives hashes that agree in many leading digits.
func node(rng *rand.Rand, near bool) turn.Node {
	var h turn.Digest
	for i := range h {
		h[i] = byte(rng.Uint32())
	}
	if near {
		for i := range 30 {
			h[i] = 0xab
		}
	}
	return turn.Node{Hash: h, Index: rng.IntN(1000), Decisions: []turn.Decision{{Block: "/content", Text: "x", Bases: []turn.Base{{Message: 1}}}}}
}

// A memory behaves as a plain map does, over any mix of extensions and forks, and
// a fork never changes what another one sees.
func TestMemoryBehavesAsAMapAndForksKeepApart(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 7))
		type fork struct {
			memory *Memory
			model  map[turn.Digest]int
		}
		forks := []fork{{nil, map[turn.Digest]int{}}}
		var all []turn.Node
		for range 25 {
			from := forks[rng.IntN(len(forks))]
			model := map[turn.Digest]int{}
			for k, v := range from.model {
				model[k] = v
			}
			var nodes []turn.Node
			for range rng.IntN(20) {
				n := node(rng, seed%3 == 0)
				if len(all) > 0 && rng.IntN(3) == 0 {
					n.Hash = all[rng.IntN(len(all))].Hash // decided again
				}
				nodes, all = append(nodes, n), append(all, n)
				model[n.Hash] = n.Index
			}
			forks = append(forks, fork{from.memory.With(nodes), model})
			for i := range nodes {
				nodes[i].Decisions[0].Text = "changed by the caller"
				nodes[i].Decisions[0].Bases[0].Message = 99
			}
		}
		for i, f := range forks {
			require.Equal(t, len(f.model), f.memory.Len(), "seed %d fork %d", seed, i)
			for _, n := range all {
				got, ok := f.memory.Lookup(n.Hash)
				want, known := f.model[n.Hash]
				require.Equal(t, known, ok, "seed %d fork %d", seed, i)
				if known {
					require.Equal(t, want, got.Index, "seed %d fork %d", seed, i)
					require.Equal(t, "x", got.Decisions[0].Text)
					require.Equal(t, 1, got.Decisions[0].Bases[0].Message)
				}
			}
		}
	}
}

// chain gives the nodes of a conversation whose messages hash from the names.
func chain(names ...string) (nodes []turn.Node, hashes []turn.Digest) {
	var parent turn.Digest
	for i, name := range names {
		h := turn.Chain(parent, turn.Sum(name))
		nodes = append(nodes, turn.Node{Hash: h, Parent: parent, Index: i})
		hashes = append(hashes, h)
		parent = h
	}
	return nodes, hashes
}

func TestLongestPrefixAndPath(t *testing.T) {
	t.Parallel()
	main, hashes := chain("s", "u", "a", "t")
	other, otherHashes := chain("s", "u", "b")
	m := (*Memory)(nil).With(main)
	fork := m.With(other)
	require.Equal(t, 4, m.LongestPrefix(hashes))
	require.Equal(t, 2, m.LongestPrefix(otherHashes))
	require.Equal(t, 3, fork.LongestPrefix(otherHashes))
	require.Equal(t, 5, fork.Len(), "the common part is there once")
	require.Equal(t, 0, (*Memory)(nil).LongestPrefix(hashes))
	require.Equal(t, 0, m.LongestPrefix(nil))
	path, ok := fork.Path(otherHashes[2])
	require.True(t, ok)
	require.Equal(t, other, path)
	_, ok = (*Memory)(nil).With(main[1:]).Path(hashes[3])
	require.False(t, ok, "a parent is missing")
	loop := turn.Node{Hash: turn.Sum("loop"), Parent: turn.Sum("loop")}
	_, ok = m.With([]turn.Node{loop}).Path(loop.Hash)
	require.False(t, ok, "a parent that is its own child")
}

func TestMemoryIsSafeForConcurrentReaders(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var nodes []turn.Node
	for range 500 {
		nodes = append(nodes, node(rng, false))
	}
	m := (*Memory)(nil).With(nodes)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			own := m.With([]turn.Node{{Hash: turn.Sum(string(rune('a' + i)))}})
			for _, n := range nodes {
				if _, ok := own.Lookup(n.Hash); !ok {
					t.Error("a reader lost a node")
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 500, m.Len())
}

func BenchmarkMemoryExtend(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var nodes []turn.Node
	for range 1000 {
		nodes = append(nodes, node(rng, false))
	}
	m := (*Memory)(nil).With(nodes)
	one := []turn.Node{node(rng, false)}
	b.ReportAllocs()
	for b.Loop() {
		m.With(one)
	}
}
