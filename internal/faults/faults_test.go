package faults

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHooksFailExactlyWhereTold(t *testing.T) {
	t.Parallel()
	at := FailAt("b", 2, ErrInjected)
	nth := FailNth(3, ErrInjected)
	always := FailAlways("be", ErrInjected)
	var rec Recorder
	called := 0
	call := Call("b", 1, func() { called++ })
	all := All(rec.Hook, call)
	var gotAt, gotNth []int
	for i, point := range []string{"a", "b", "b", "b"} {
		if at(point) != nil {
			gotAt = append(gotAt, i)
		}
		if nth(point) != nil {
			gotNth = append(gotNth, i)
		}
		require.NoError(t, all(point))
	}
	require.Equal(t, []int{2}, gotAt)
	require.Equal(t, []int{2}, gotNth)
	require.ErrorIs(t, always("before"), ErrInjected)
	require.NoError(t, always("after"))
	require.Equal(t, []string{"a", "b", "b", "b"}, rec.Points())
	require.Equal(t, 1, called)
	require.ErrorIs(t, All(FailNth(1, ErrInjected))("x"), ErrInjected)
}

func TestSeededIsRepeatableAndInRange(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for seed := range uint64(200) {
		n := Seeded(seed, 3, 7)
		require.Equal(t, n, Seeded(seed, 3, 7))
		require.True(t, n >= 3 && n <= 7)
		seen[n] = true
	}
	require.Len(t, seen, 5)
}

func TestFilesAreDamagedExactly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("abcdef"), 0o600))
	require.NoError(t, FlipBit(path, 0))
	require.NoError(t, FlipBit(path, -1))
	require.NoError(t, Replace(path, "cd", "CD"))
	require.NoError(t, Fill(path, 1, 1, '.'))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "`.CDeg", string(data))
	require.Error(t, FlipBit(path, 6))
	require.Error(t, Replace(path, "zz", "yy"))
	require.Error(t, Fill(path, 5, 2, 0))
	require.Error(t, FlipBit(path+"x", 0))
}

func TestReadersAreShortAndTorn(t *testing.T) {
	t.Parallel()
	p := make([]byte, 4)
	n, err := ShortReader(strings.NewReader("abcd"), 1).Read(p)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	data, err := io.ReadAll(TornReader(strings.NewReader("abcd"), 2, ErrInjected))
	require.ErrorIs(t, err, ErrInjected)
	require.Equal(t, "ab", string(data))
}

func TestClockMovesOnlyWhenTold(t *testing.T) {
	t.Parallel()
	c := NewClock()
	start := c.Now()
	require.Equal(t, start, c.Now())
	c.Move(-time.Hour)
	require.Equal(t, start.Add(-time.Hour), c.Now())
}
