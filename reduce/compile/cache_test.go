package compile

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/delta"
	"token-terminator/turn"
)

// The cache keeps two indexes of a session and so many in all, and the last one put is
// always there.
func TestIndexCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := newIndexCache()
	key := func(session, chain string) viewKey { return viewKey{session: session, chain: turn.Sum(chain)} }
	for i := range 3 {
		ix := delta.NewIndex()
		c.put(key("s", fmt.Sprint(i)), ix)
		c.put(key("s", fmt.Sprint(i)), ix) // again: nothing changes
		got, ok := c.get(key("s", fmt.Sprint(i)))
		require.True(t, ok)
		require.Same(t, ix, got)
	}
	for i, want := range []bool{false, true, true} {
		_, ok := c.get(key("s", fmt.Sprint(i)))
		require.Equal(t, want, ok, "index %d of one session", i)
	}
	for i := range 2 * maxIndexes {
		c.put(key(fmt.Sprint(i), "x"), delta.NewIndex())
	}
	require.Len(t, c.held, maxIndexes)
	require.Len(t, c.order, maxIndexes)
	_, ok := c.get(key("s", "2"))
	require.False(t, ok)
	_, ok = c.get(key(fmt.Sprint(2*maxIndexes-1), "x"))
	require.True(t, ok)
}
