//go:build unix

package main

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/actors"
	"token-terminator/internal/faults"
	"token-terminator/internal/sqlitefile"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// healing is a session that goes on in one process while its vault meets a bad day.
type healing struct {
	t    *testing.T
	dir  string
	p    *pipeline
	next int
	hook atomic.Pointer[faults.Hook]
}

func newHealing(t *testing.T, o vault.Options) *healing {
	t.Helper()
	h := &healing{t: t, dir: filepath.Join(t.TempDir(), "vault")}
	o.FixedKey = true
	o.Hook = func(point string) error {
		if hook := h.hook.Load(); hook != nil {
			return (*hook)(point)
		}
		return nil
	}
	v, err := vault.Open(h.dir, o)
	require.NoError(t, err)
	c, err := compile.New(compile.Settings{Row: plan.Study()}, v.MarkerKey(), tokens.NewMemo(16<<20))
	require.NoError(t, err)
	h.p, err = startPipeline(c, v)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.p.stop(context.Background())) })
	return h
}

func (h *healing) vault() *vault.Vault { return h.p.vault.Load() }

func (h *healing) fail(hook faults.Hook) {
	if hook == nil {
		h.hook.Store(nil)
		return
	}
	h.hook.Store(&hook)
}

// turn sends the next request of the session. Whatever comes of it, it may be sent: it
// is the original byte for byte, or each id in it gives the caller's own string.
func (h *healing) turn() actors.TurnReduced {
	h.t.Helper()
	body := crashRequest(h.next)
	h.next++
	out := h.p.reduce(context.Background(), request.Scope{RequestPurpose: request.Word("conversation")}, actors.ReduceTurn{
		Binding: turn.Binding{Engine: "test", Session: "crash", Turn: uint64(h.next)}, Body: body,
	})
	require.True(h.t, out.Reason.Known(), out.Reason)
	if !out.Edited {
		require.True(h.t, bytes.Equal(body, out.Body))
		require.NotEqual(h.t, turn.Reduced, out.Reason)
		return out
	}
	h.recovers(body, out.Body)
	return out
}

func (h *healing) recovers(body, reduced []byte) {
	h.t.Helper()
	in, err := request.Parse(body)
	require.NoError(h.t, err)
	doc, err := request.Parse(reduced)
	require.NoError(h.t, err)
	for i, m := range doc.Messages {
		for k, text := range m.Texts {
			shown, err := doc.Value(text)
			require.NoError(h.t, err)
			for _, match := range markedID.FindAllStringSubmatch(shown, -1) {
				old, err := in.Value(in.Messages[i].Texts[k])
				require.NoError(h.t, err)
				got, err := h.vault().Get(context.Background(), "crash", match[1])
				require.NoError(h.t, err, "message %d", i)
				require.Equal(h.t, old, got.Text)
			}
		}
	}
}

func (h *healing) sound() {
	h.t.Helper()
	r, err := h.vault().Verify(context.Background())
	require.NoError(h.t, err)
	require.True(h.t, r.Sound(), "%+v", r)
}

func (h *healing) change(text string) {
	h.t.Helper()
	db, err := sql.Open("sqlite", h.vault().Path())
	require.NoError(h.t, err)
	_, err = db.Exec(text)
	require.NoError(h.t, err)
	require.NoError(h.t, db.Close())
}

// begins demands that the answer to a later request repeats the edits of an earlier one.
func begins(t *testing.T, earlier, later actors.TurnReduced) {
	t.Helper()
	require.GreaterOrEqual(t, len(later.Edits), len(earlier.Edits))
	require.Equal(t, earlier.Edits, later.Edits[:len(earlier.Edits)])
}

// What takes rows, pins, the file or the folder away between two turns of a session: the
// next turn stores again what it shows, with the same bytes as before.
func TestHealing_TheNextTurnStoresAgainWhatWentMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take   func(h *healing)
		opened int64 // times the folder is opened again
	}{
		"rows gone":   {func(h *healing) { h.change(`DELETE FROM artifacts`) }, 0},
		"bodies gone": {func(h *healing) { h.change(`DELETE FROM bodies`) }, 0},
		"pins gone":   {func(h *healing) { h.change(`DELETE FROM pins`) }, 0},
		"everything gone but the file": {func(h *healing) {
			h.change(`DELETE FROM pins; DELETE FROM artifacts; DELETE FROM shown; DELETE FROM nodes; DELETE FROM observations`)
		}, 0},
		"released and pruned": {func(h *healing) {
			plan, err := h.vault().PlanRelease(context.Background(), "crash", "")
			require.NoError(h.t, err)
			_, err = h.vault().Remove(context.Background(), plan, nil)
			require.NoError(h.t, err)
		}, 0},
		"file deleted": {func(h *healing) {
			for _, side := range []string{"", "-wal", "-shm"} {
				require.NoError(h.t, os.Remove(h.vault().Path()+side))
			}
		}, 1},
		"folder deleted": {func(h *healing) { require.NoError(h.t, os.RemoveAll(h.dir)) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHealing(t, vault.Options{})
			h.turn()
			before := h.turn()
			require.True(t, before.Edited)
			key := h.vault().MarkerKey()
			c.take(h)
			ids := markedID.FindAllSubmatch(before.Body, -1)
			require.NotEmpty(t, ids)
			_, err := h.vault().Get(context.Background(), "crash", string(ids[0][1]))
			require.Equal(t, name != "pins gone", err != nil, "until then an id without its original says so")
			after := h.turn()
			require.Equal(t, turn.Reduced, after.Reason)
			begins(t, before, after)
			h.recovers(crashRequest(h.next-1), before.Body)
			require.Equal(t, c.opened, h.p.system.Stats().Reopened)
			require.Equal(t, key, h.vault().MarkerKey())
			h.sound()
			begins(t, after, h.turn())
		})
	}
}

// An original that cannot be stored again is shown in this request, with what leans on
// it; the others stay small, and the turn after that heals.
func TestHealing_WhatCannotBeStoredAgainIsShownAsItWas(t *testing.T) {
	t.Parallel()
	h := newHealing(t, vault.Options{})
	h.turn()
	h.turn()
	before := h.turn()
	require.Len(t, before.Edits, 2)
	h.change(`DELETE FROM artifacts WHERE seq = 1`)
	h.fail(faults.FailAlways("after read-back", faults.ErrInjected))
	hurt := h.turn()
	require.True(t, hurt.Edited)
	require.Len(t, hurt.Edits, 1)
	require.NotContains(t, hurt.Edits, before.Edits[0], "the original of the first")
	require.Contains(t, hurt.Edits, before.Edits[1])
	h.fail(nil)
	healed := h.turn()
	begins(t, before, healed)
	h.sound()
}

// Nothing may be written: disk full, capacity reached, locked, read-only, disk errors.
// Each turn meanwhile is the original with a reason, reading goes on, and the first turn
// after it shows again what was shown before.
func TestHealing_WhileNothingMayBeWrittenTheOriginalGoesOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hook faults.Hook
		want turn.Reason
	}{
		"no room on the disk":   {faults.FailAlways("before insert", sqlitefile.ErrFull), turn.VaultFull},
		"no room at the commit": {faults.FailAlways("before commit", sqlitefile.ErrFull), turn.VaultFull},
		"locked by another":     {faults.FailAlways("before begin", sqlitefile.ErrBusy), turn.StorageUnavailable},
		"read-only":             {faults.FailAlways("before begin", sqlitefile.ErrReadOnly), turn.StorageUnavailable},
		"disk errors":           {faults.FailAlways("before commit", sqlitefile.ErrIO), turn.StorageUnavailable},
		"damaged":               {faults.FailAlways("before find", sqlitefile.ErrCorrupt), turn.StorageUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHealing(t, vault.Options{})
			before := h.turn()
			require.True(t, before.Edited)
			h.fail(c.hook)
			for range 2 {
				require.Equal(t, c.want, h.turn().Reason)
			}
			h.recovers(crashRequest(0), before.Body)
			h.fail(nil)
			after := h.turn()
			require.True(t, after.Edited)
			begins(t, before, after)
			h.sound()
		})
	}
}

// The same with limits that are really reached.
func TestHealing_AVaultThatIsReallyFull(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]vault.Options{"pages": {MaxPages: 24}, "capacity": {CapacityBytes: 60_000}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHealing(t, o)
			var last actors.TurnReduced
			full := 0
			for range 20 {
				out := h.turn()
				if out.Edited {
					last = out
					continue
				}
				require.Equal(t, turn.VaultFull, out.Reason)
				full++
			}
			require.NotZero(t, full)
			require.True(t, last.Edited)
			h.recovers(crashRequest(h.next-1), last.Body)
			h.sound()
		})
	}
}

// The file is overwritten while it is open: whatever the turn ends with may be sent, and
// once the damaged file is moved away the session heals.
func TestHealing_AFileOverwrittenWhileItIsOpen(t *testing.T) {
	t.Parallel()
	h := newHealing(t, vault.Options{})
	h.turn()
	before := h.turn()
	require.NoError(t, h.vault().Checkpoint(context.Background()))
	info, err := os.Stat(h.vault().Path())
	require.NoError(t, err)
	require.NoError(t, faults.Fill(h.vault().Path(), 4096, info.Size()-4096, 0xff))
	body := crashRequest(h.next)
	out := h.p.reduce(context.Background(), request.Scope{RequestPurpose: request.Word("conversation")}, actors.ReduceTurn{
		Binding: turn.Binding{Engine: "test", Session: "crash", Turn: uint64(h.next + 1)}, Body: body,
	})
	h.next++
	require.True(t, out.Reason.Known())
	require.NoError(t, os.Rename(h.dir, h.dir+".damaged"))
	after := h.turn()
	require.True(t, after.Edited)
	begins(t, before, after)
	h.sound()
	require.False(t, strings.HasSuffix(h.vault().Path(), ".damaged"))
}
