package tokens

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// tallier counts runes and remembers how many bytes it was given.
type tallier struct {
	name  string
	bytes atomic.Int64
}

func (c *tallier) Name() string { return c.name }

func (c *tallier) Count(text []byte) int {
	c.bytes.Add(int64(len(text)))
	return len([]rune(string(text)))
}

func TestMemoCountsATextOnce(t *testing.T) {
	t.Parallel()
	m, c := NewMemo(1<<20), &tallier{name: "t"}
	for range 3 {
		require.Equal(t, 5, m.Count(c, []byte("héllo")))
	}
	require.EqualValues(t, 6, c.bytes.Load())
	require.Equal(t, 6+entryOverhead, m.Bytes())
}

func TestMemoKeepsCountersApart(t *testing.T) {
	t.Parallel()
	m := NewMemo(1 << 20)
	text := []byte("お誕生日おめでとう")
	for _, c := range encodings {
		require.Equal(t, c.Count(text), m.Count(c, text), c.name)
	}
	for _, c := range encodings {
		require.Equal(t, c.Count(text), m.Count(c, text), c.name)
	}
	require.Equal(t, len(text)+entryOverhead, m.Bytes(), "one entry holds the counts of all")
}

func TestMemoDoesNotKeepTheCallersBytes(t *testing.T) {
	t.Parallel()
	m, c := NewMemo(1<<20), &tallier{name: "t"}
	text := []byte("abc")
	m.Count(c, text)
	copy(text, "xyz")
	require.Equal(t, 3, m.Count(c, []byte("abc")))
	require.EqualValues(t, 3, c.bytes.Load())
}

func TestMemoHitRestsOnTheBytes(t *testing.T) {
	t.Parallel()
	m := NewMemo(1 << 20)
	c := &tallier{name: "t"}
	set := counterSet{c}
	key := m.keyOf([]byte("one"))
	m.store(key, set, []byte("one"), tally{runes: 3, tokens: [2]int{99}})
	_, ok := m.find(key, set, []byte("two"))
	require.False(t, ok, "another text under the same key")
	m.store(key, set, []byte("two"), tally{runes: 3, tokens: [2]int{7}})
	got, ok := m.find(key, set, []byte("one"))
	require.True(t, ok)
	require.Equal(t, 99, got.tokens[0], "the first text keeps the key")
}

func TestMemoIsBoundedAndDropsTheOldest(t *testing.T) {
	t.Parallel()
	c := &tallier{name: "t"}
	m := NewMemo(10 * (100 + entryOverhead))
	text := func(i int) []byte { return fmt.Appendf(nil, "%0100d", i) }
	for i := range 10 {
		m.Count(c, text(i))
	}
	m.Count(c, text(0)) // used again: 1 is the oldest now
	m.Count(c, text(10))
	require.LessOrEqual(t, m.Bytes(), 10*(100+entryOverhead))
	before := c.bytes.Load()
	for _, i := range []int{0, 2, 9, 10} {
		m.Count(c, text(i))
	}
	require.Equal(t, before, c.bytes.Load(), "these stayed")
	m.Count(c, text(1))
	require.Equal(t, before+100, c.bytes.Load(), "this was dropped")
	m.Count(c, []byte(strings.Repeat("a", 1<<20)))
	require.LessOrEqual(t, m.Bytes(), 10*(100+entryOverhead), "too large a text is not kept")
	require.Len(t, m.entries, 10)
}

func TestMemoWithoutRoomRemembersNothing(t *testing.T) {
	t.Parallel()
	m, c := NewMemo(0), &tallier{name: "t"}
	m.Count(c, []byte("a"))
	m.Count(c, []byte("a"))
	require.EqualValues(t, 2, c.bytes.Load())
	require.Zero(t, m.Bytes())
}

func TestMemoIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	m := NewMemo(50 * entryOverhead)
	a, b := &tallier{name: "a"}, &tallier{name: "b"}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			r := newRand(uint64(g))
			for range 2000 {
				text := []byte(strings.Repeat("x", r.IntN(100)))
				c := a
				if r.IntN(2) == 0 {
					c = b
				}
				if n := m.Count(c, text); n != len(text) {
					t.Errorf("%d runes counted in %d", n, len(text))
				}
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, m.Bytes(), 50*entryOverhead)
}
