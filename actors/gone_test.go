package actors

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

var errGoneHere = fmt.Errorf("%w: MARKER", ErrStoreGone)

func emptyStore(t *testing.T) *store {
	return &store{t: t, put: newSpot(), accept: newSpot(), get: newSpot(), nodes: map[string][]turn.Node{}}
}

// Every way in which the writer may find out that the files went: the store is opened
// again and the turn in hand goes on with it, without a restart.
func TestAStoreWhoseFilesWentIsOpenedAgain(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(*store){
		"at a pin":  func(s *store) { s.putErr = errGoneHere },
		"at a load": func(s *store) { s.nodesErr = errGoneHere },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := emptyStore(t)
			r := newRig(t, func(c *Config) {
				c.Reopen = func(Store) (Store, error) { return other, nil }
			})
			r.store.change(hurt)
			cmd := command("s", 1)
			requireSmall(t, cmd, r.reduce(cmd))
			require.Len(t, other.batches, 1)
			next := command("s", 2)
			requireSmall(t, next, r.reduce(next))
			s := r.sys.Stats()
			require.Equal(t, int64(1), s.Reopened)
			require.Zero(t, s.Restarts)
			require.NotContains(t, r.logs.String(), "MARKER")
		})
	}
}

func TestAnAcceptInAStoreThatWentGivesTheOriginal(t *testing.T) {
	t.Parallel()
	other := emptyStore(t)
	r := newRig(t, func(c *Config) {
		c.Reopen = func(Store) (Store, error) { return other, nil }
	})
	r.logic.lowered = true
	r.store.change(func(s *store) { s.acceptErr = errGoneHere })
	cmd := command("s", 1)
	requireOriginal(t, cmd, r.reduce(cmd), turn.StorageUnavailable)
	next := command("s", 2)
	requireSmall(t, next, r.reduce(next))
	require.Len(t, other.batches, 1)
}

// While the files do not open again every turn gets its original; the first turn after
// that works.
func TestAStoreThatWentAndDoesNotOpenIsTriedAgain(t *testing.T) {
	t.Parallel()
	other, tries := emptyStore(t), 0
	r := newRig(t, func(c *Config) {
		c.Reopen = func(Store) (Store, error) {
			if tries++; tries < 3 {
				return nil, errors.New("MARKER")
			}
			return other, nil
		}
	})
	r.store.change(func(s *store) { s.putErr = errGoneHere })
	for n := range 2 {
		cmd := command("s", n)
		requireOriginal(t, cmd, r.reduce(cmd), turn.StorageUnavailable)
	}
	cmd := command("s", 3)
	requireSmall(t, cmd, r.reduce(cmd))
	require.Equal(t, 3, tries)
	require.Zero(t, r.sys.Stats().Restarts)
	require.NotContains(t, r.logs.String(), "MARKER")
}

func TestAStoreThatWentWithoutAWayBackGivesTheOriginal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.store.change(func(s *store) { s.putErr = errGoneHere })
	cmd := command("s", 1)
	requireOriginal(t, cmd, r.reduce(cmd), turn.StorageUnavailable)
}

// A retry some of whose older ids are gone is compiled again: its request is in hand.
func TestRetryWhoseHeldIDsAreGoneIsCompiledAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.logic.held = []turn.Digest{turn.Sum("older")}
	cmd := command("s", 1)
	requireSmall(t, cmd, r.reduce(cmd))
	again := r.reduce(cmd)
	requireSmall(t, cmd, again)
	require.True(t, again.Replayed)
	r.store.change(func(s *store) { s.missing = r.logic.held })
	anew := r.reduce(cmd)
	requireSmall(t, cmd, anew)
	require.False(t, anew.Replayed)
	require.Equal(t, int64(2), r.sys.Stats().Compiles)
	r.store.change(func(s *store) { s.missing = nil })
	last := r.reduce(cmd)
	requireSmall(t, cmd, last)
	require.True(t, last.Replayed)
}
