//go:build unix

package vault_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

const (
	walHead  = 32
	walFrame = 24 + 4096
)

// copyVault copies a vault's file, its log cut to keep bytes (-1 all) and damaged.
func copyVault(t *testing.T, dir string, keep int64, damage func(wal []byte)) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{vault.FileName, vault.FileName + "-wal", vault.MarkerKeyName} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		if strings.HasSuffix(name, "-wal") {
			if keep >= 0 {
				data = data[:keep]
			}
			if damage != nil {
				damage(data)
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(to, name), data, 0o600))
	}
	return to
}

// A log cut at every frame's border, in the middle of frames, and with a bit turned: the
// commits before that are there byte for byte, the rest is unknown, and nothing of a
// commit is there by half.
func TestALogCutAtEveryFrameLosesExactlyItsTail(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	v := mustOpen(t, dir, vault.Options{})
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 0, "merged"))
	require.NoError(t, v.Close())
	v = mustOpen(t, dir, vault.Options{})
	reading, err := rawDB(t, v.Path()).Conn(ctx) // while somebody reads, the log is not emptied
	require.NoError(t, err)
	_, err = reading.ExecContext(ctx, "BEGIN; SELECT count(*) FROM pins")
	require.NoError(t, err)
	var ends []int64 // of the log after each commit
	for n := range uint64(5) {
		ev := vaulttest.Evidence("s", n+1, fmt.Sprint("text ", n), noise(n, 9_000), "merged")
		ev.Nodes = []turn.Node{{Hash: turn.Sum(fmt.Sprint(n)), Index: int(n), Decisions: []turn.Decision{vaulttest.Decision("/content", fmt.Sprint("text ", n))}}}
		vaulttest.MustPut(t, v, ev)
		info, err := os.Stat(v.Path() + "-wal")
		require.NoError(t, err)
		ends = append(ends, info.Size())
	}
	dir = copyVault(t, dir, -1, nil)
	require.NoError(t, reading.Close())
	check := func(t *testing.T, at int64, damage func([]byte), valid int64) {
		whole := 0
		for _, end := range ends {
			if end <= valid {
				whole++
			}
		}
		c := mustOpen(t, copyVault(t, dir, at, damage), vault.Options{})
		mustSound(t, c)
		for n := range uint64(5) {
			for _, text := range []string{fmt.Sprint("text ", n), noise(n, 9_000)} {
				a, err := c.Get(ctx, "s", idOf(text))
				if n >= uint64(whole) {
					require.ErrorIs(t, err, vault.ErrUnknown, "log of %d bytes", at)
					continue
				}
				require.NoError(t, err, "log of %d bytes", at)
				require.Equal(t, text, a.Text)
				require.True(t, a.Pinned)
			}
		}
		nodes, err := c.Nodes(ctx, "s")
		require.NoError(t, err)
		require.Len(t, nodes, whole)
		a, err := c.Get(ctx, "s", idOf("merged"))
		require.NoError(t, err)
		require.Equal(t, "merged", a.Text)
		vaulttest.MustPut(t, c, vaulttest.Holding("s", 9, vaulttest.InHand{"text 4"}, "text 4"))
		mustSound(t, c)
		require.NoError(t, c.Close())
	}
	last := ends[len(ends)-1]
	for _, part := range []int64{0, 1, 2} { // three runs side by side
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			t.Parallel()
			for n := part; walHead+n*walFrame <= last; n += 3 {
				border := walHead + n*walFrame
				check(t, border, nil, border)
				if n%5 == 0 && border+walFrame <= last {
					check(t, border+10+n%4000, nil, border)
					check(t, last, func(wal []byte) { wal[border+500] ^= 1 }, border)
				}
			}
		})
	}
}

// Every page of the file damaged in turn: each id gives its own bytes or an error that
// says why not, verify finds the damage whenever an id is hurt, and a turn that still
// has the texts gets proofs that hold, or a reason.
func TestADamagedPageNeverGivesWrongBytes(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	v := mustOpen(t, dir, vault.Options{})
	var texts vaulttest.InHand
	for n := range uint64(12) {
		texts = append(texts, fmt.Sprint("small ", n), noise(n, 11_000), strings.Repeat(fmt.Sprint("packed ", n, "\n"), 900))
	}
	for n := 0; n < len(texts); n += 3 {
		ev := vaulttest.Evidence("s", uint64(n), texts[n:n+3]...)
		ev.Nodes = []turn.Node{{Hash: turn.Sum(fmt.Sprint(n)), Index: n}}
		vaulttest.MustPut(t, v, ev)
	}
	path := v.Path()
	require.NoError(t, v.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	pages := info.Size() / 4096
	require.Greater(t, pages, int64(40))
	damage := func(t *testing.T, page int64, fill byte) {
		to := t.TempDir()
		require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
		require.NoError(t, faults.Fill(filepath.Join(to, vault.FileName), page*4096, 4096, fill))
		d, err := vault.Open(to, vault.Options{})
		if err != nil {
			wantHint(t, err, to)
			return
		}
		defer d.Close()
		hurt := 0
		for _, text := range texts {
			a, err := d.Get(ctx, "s", idOf(text))
			if err == nil {
				require.Equal(t, text, a.Text)
				continue
			}
			hurt++
			known := false
			for _, want := range []error{vault.ErrDamaged, vault.ErrLost, vault.ErrUnknown, vault.ErrNotYours, sqlitefile.ErrCorrupt} {
				known = known || errors.Is(err, want)
			}
			require.True(t, known, "page %d: %v", page, err)
		}
		r, err := d.Verify(ctx)
		require.True(t, hurt == 0 || err != nil || !r.Sound(), "page %d: verify finds what an id shows", page)
		p, err := d.Put(ctx, vaulttest.Holding("s", 99, texts, texts...))
		if err != nil {
			require.Empty(t, p.Proofs)
			require.True(t, p.Reason.Known())
			return
		}
		for digest, proof := range p.Proofs {
			a, err := d.Get(ctx, "s", proof.Shown)
			require.NoError(t, err, "page %d: a proof holds", page)
			require.Equal(t, digest, a.Digest)
		}
	}
	for _, part := range []int64{0, 1} {
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			t.Parallel()
			for page := 1 + part; page < pages; page += 2 {
				damage(t, page, []byte{0xff, 0}[page/2%2])
			}
		})
	}
}

// Another process keeps the lock for longer than the vault waits: the turn ends with a
// reason, nothing of it is there, and when the lock is gone the next one is stored.
func TestALockHeldPastTheWaitEndsTheTurnWithAReason(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{BusyTimeout: 20 * time.Millisecond})
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "before"))
	conn, err := rawDB(t, v.Path()).Conn(ctx)
	require.NoError(t, err)
	_, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	require.NoError(t, err)
	for _, r := range v.PutAll(ctx, []turn.Evidence{vaulttest.Evidence("s", 2, "one"), vaulttest.Evidence("s", 3, "two")}) {
		require.ErrorIs(t, r.Err, sqlitefile.ErrBusy)
		wantHint(t, r.Err, v.Path())
		require.Equal(t, turn.StorageUnavailable, r.Pinned.Reason)
		require.Empty(t, r.Pinned.Proofs)
	}
	a, err := v.Get(ctx, "s", idOf("before")) // reading goes on
	require.NoError(t, err)
	require.Equal(t, "before", a.Text)
	_, err = conn.ExecContext(ctx, "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	_, err = v.Get(ctx, "s", idOf("one"))
	require.ErrorIs(t, err, vault.ErrUnknown)
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 2, "one", "two"))
	mustSound(t, v)
}

// A clock that jumps while a vault is at its capacity: room is made of what nobody was
// promised, held ids stand, and what is refused has a reason.
func TestAFullVaultWithAJumpingClockKeepsItsPromises(t *testing.T) {
	t.Parallel()
	ctx, clock := context.Background(), faults.NewClock()
	v := mustOpen(t, t.TempDir(), vault.Options{CapacityBytes: 120_000, Now: clock.Now})
	var kept vaulttest.InHand
	full := 0
	for i := range uint64(60) {
		clock.Move([]time.Duration{time.Minute, -400 * 24 * time.Hour, 800 * 24 * time.Hour}[i%3])
		text := fmt.Sprintf("%d %s", i, strings.Repeat("z", 3_000))
		ev := vaulttest.Evidence("s", i, text)
		ev.Held, ev.Source = nil, kept
		for _, k := range kept {
			ev.Held = append(ev.Held, turn.Sum(k))
		}
		p, err := v.Put(ctx, ev)
		if err != nil {
			require.ErrorIs(t, err, vault.ErrFull)
			require.Equal(t, turn.VaultFull, p.Reason)
			require.Empty(t, p.Proofs)
			_, err = v.Get(ctx, "s", idOf(text))
			require.ErrorIs(t, err, vault.ErrUnknown)
			full++
			continue
		}
		require.Empty(t, p.Missing)
		kept = append(kept, text)
	}
	require.Greater(t, len(kept), 20)
	require.Greater(t, full, 5)
	for _, text := range kept {
		a, err := v.Get(ctx, "s", idOf(text))
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	mustSound(t, v)
}

// Many sessions heal at once after an operator released them all.
func TestHealingFromManySidesAtOnce(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	texts := vaulttest.InHand{"one", "two", "three"}
	for n := range 8 {
		vaulttest.MustPut(t, v, vaulttest.Evidence(fmt.Sprint("s", n), 1, texts...))
	}
	change(t, v, `DELETE FROM pins; DELETE FROM artifacts`)
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for n := range 8 {
		all.Go(func() {
			p, err := v.Put(ctx, vaulttest.Holding(fmt.Sprint("s", n), 2, texts, texts...))
			if err == nil && len(p.Missing) > 0 {
				err = fmt.Errorf("%d missing", len(p.Missing))
			}
			errs <- err
		})
	}
	all.Wait()
	for range 8 {
		require.NoError(t, <-errs)
	}
	for n := range 8 {
		for _, text := range texts {
			a, err := v.Get(ctx, fmt.Sprint("s", n), idOf(text))
			require.NoError(t, err)
			require.Equal(t, text, a.Text)
		}
	}
	mustSound(t, v)
}
