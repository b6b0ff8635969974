//go:build unix

package vault_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// filled is a vault with some originals, and their texts.
func filled(t testing.TB, o vault.Options) (*vault.Vault, []string) {
	v := mustOpen(t, t.TempDir(), o)
	var texts []string
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("%d %s", i, strings.Repeat("a line of a log\n", i*100)))
	}
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, texts...))
	return v, texts
}

func mustHold(t testing.TB, v *vault.Vault, texts []string) {
	t.Helper()
	mustSound(t, v)
	for _, text := range texts {
		a, err := v.Get(context.Background(), "s", idOf(text))
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
}

func TestABackupIsAVaultOfItsOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	v, texts := filled(t, vault.Options{})
	there := filepath.Join(t.TempDir(), "new", "folder")
	heard := 0
	c, err := v.Backup(ctx, vault.PlaceOf(there), func(done, total int) { heard = done })
	require.NoError(t, err)
	require.Positive(t, heard)
	require.Equal(t, 20, c.Artifacts)
	require.True(t, c.Report.Sound())
	for _, name := range []string{c.File, c.Key} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}
	entries, err := os.ReadDir(there)
	require.NoError(t, err)
	require.Len(t, entries, 2, "no part is left")
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 2, "later")) // the vault was in use all the time
	b := mustOpen(t, there, vault.Options{ReadOnly: true})
	mustHold(t, b, texts)
	require.Equal(t, v.MarkerKey(), b.MarkerKey())
	_, err = b.Get(ctx, "s", idOf("later"))
	require.ErrorIs(t, err, vault.ErrUnknown)
	_, err = v.Backup(ctx, vault.PlaceOf(there), nil)
	require.ErrorIs(t, err, safefile.ErrExists)
	mustHold(t, b, texts)

	file := vault.PlaceOf(filepath.Join(t.TempDir(), "one.sqlite3"))
	_, err = b.Backup(ctx, file, nil) // a copy of a copy
	require.NoError(t, err)
	key, err := os.ReadFile(file.Key)
	require.NoError(t, err)
	require.Equal(t, v.MarkerKey(), key)
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	v, _ := filled(t, vault.Options{})
	var rec faults.Recorder
	attempt := func(o vault.Options) error {
		v := mustOpen(t, filepath.Dir(v.Path()), o)
		_, err := v.Backup(ctx, vault.PlaceOf(dir), nil)
		return err
	}
	empty := func() {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
	for _, point := range []string{"before copy", "after copy", "before publish"} {
		require.ErrorIs(t, attempt(vault.Options{ReadOnly: true, Hook: faults.FailAt(point, 1, faults.ErrInjected)}), faults.ErrInjected)
		empty()
	}
	require.ErrorIs(t, attempt(vault.Options{ReadOnly: true, MaxPages: 5}), sqlitefile.ErrFull, "a full disk")
	empty()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := v.Backup(ended, vault.PlaceOf(dir), nil)
	require.ErrorIs(t, err, context.Canceled)
	empty()
	require.NoError(t, attempt(vault.Options{ReadOnly: true, Hook: rec.Hook}))
}

func TestABackupOfADamagedVaultSaysSo(t *testing.T) {
	t.Parallel()
	v, _ := filled(t, vault.Options{})
	_, err := rawDB(t, v.Path()).Exec(`UPDATE bodies SET body = x'00' WHERE seq = 3`)
	require.NoError(t, err)
	to := vault.PlaceOf(t.TempDir())
	c, err := v.Backup(context.Background(), to, nil)
	require.NoError(t, err)
	require.Len(t, c.Report.Damaged, 1)
	plan, err := vault.PlanRestore(context.Background(), to, t.TempDir(), vault.Options{})
	require.NoError(t, err)
	require.ErrorIs(t, plan.Allowed(), vault.ErrUnsound)
}

func restore(t testing.TB, from vault.Place, dir string) vault.Restored {
	t.Helper()
	plan, err := vault.PlanRestore(context.Background(), from, dir, vault.Options{})
	require.NoError(t, err)
	done, err := plan.Run(context.Background(), ".old", nil)
	require.NoError(t, err)
	return done
}

func TestARestoreReplacesTheVaultAndKeepsItAside(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	v, texts := filled(t, vault.Options{})
	from := vault.PlaceOf(t.TempDir())
	_, err := v.Backup(ctx, from, nil)
	require.NoError(t, err)

	fresh := filepath.Join(t.TempDir(), "fresh") // where nothing is
	require.Empty(t, restore(t, from, fresh).Aside)
	r := mustOpen(t, fresh, vault.Options{})
	mustHold(t, r, texts)
	require.Equal(t, v.MarkerKey(), r.MarkerKey())
	vaulttest.MustPut(t, r, vaulttest.Evidence("s", 9, "goes on"))

	other := mustOpen(t, t.TempDir(), vault.Options{}) // where another vault is
	dir := filepath.Dir(other.Path())
	vaulttest.MustPut(t, other, vaulttest.Evidence("t", 1, "only there"))
	plan, err := vault.PlanRestore(ctx, from, dir, vault.Options{})
	require.NoError(t, err)
	require.Equal(t, []any{true, 1, true, 20}, []any{plan.Replaces, plan.Missing, plan.NewKey, plan.Artifacts})
	require.ErrorIs(t, plan.Allowed(), vault.ErrWouldLose)
	_, err = plan.Run(ctx, ".old", nil)
	require.ErrorIs(t, err, sqlitefile.ErrBusy, "a vault in use is not replaced")
	_, err = other.Get(ctx, "t", idOf("only there"))
	require.NoError(t, err)
	key := other.MarkerKey()
	require.NoError(t, other.Close())
	done := restore(t, from, dir)
	require.Equal(t, []string{plan.To.File + ".old", plan.To.Key + ".old"}, done.Aside)
	mustHold(t, mustOpen(t, dir, vault.Options{}), texts)
	back := t.TempDir() // and the way back
	restore(t, vault.Place{File: plan.To.File + ".old", Key: plan.To.Key + ".old"}, back)
	again := mustOpen(t, back, vault.Options{})
	_, err = again.Get(ctx, "t", idOf("only there"))
	require.NoError(t, err)
	require.Equal(t, key, again.MarkerKey())
}

func TestARestoreHealsAVaultThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"no database":    func(p string) error { return os.WriteFile(p, bytes.Repeat([]byte("rubbish "), 999), 0o600) },
		"empty":          func(p string) error { return os.Truncate(p, 0) },
		"schema damaged": func(p string) error { return faults.Fill(p, 100, 3_000, 0xff) },
		"a log without its file": func(p string) error {
			return errors.Join(os.WriteFile(p+"-wal", bytes.Repeat([]byte("not a log"), 500), 0o600), os.Remove(p))
		},
		"a stray log": func(p string) error {
			return os.WriteFile(p+"-wal", bytes.Repeat([]byte("not a log"), 500), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, texts := filled(t, vault.Options{})
			from := vault.PlaceOf(t.TempDir())
			_, err := v.Backup(context.Background(), from, nil)
			require.NoError(t, err)
			require.NoError(t, v.Close())
			require.NoError(t, damage(v.Path()))
			restore(t, from, filepath.Dir(v.Path()))
			mustHold(t, mustOpen(t, filepath.Dir(v.Path()), vault.Options{}), texts)
		})
	}
}

func TestARestoreThatFailsLeavesTheOldVault(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	v, texts := filled(t, vault.Options{})
	from := vault.PlaceOf(t.TempDir())
	_, err := v.Backup(ctx, from, nil)
	require.NoError(t, err)
	dir := filepath.Dir(v.Path())
	require.NoError(t, v.Close())
	try := func(o vault.Options) error {
		plan, err := vault.PlanRestore(ctx, from, dir, o)
		require.NoError(t, err)
		_, err = plan.Run(ctx, ".old", nil)
		return err
	}
	for _, point := range []string{"before copy", "after copy", "before place", "before replace"} {
		require.ErrorIs(t, try(vault.Options{Hook: faults.FailAt(point, 1, faults.ErrInjected)}), faults.ErrInjected, point)
		old := mustOpen(t, dir, vault.Options{ReadOnly: true})
		mustHold(t, old, texts)
		require.NoError(t, old.Close())
	}
	require.ErrorIs(t, try(vault.Options{MaxPages: 5}), sqlitefile.ErrFull)
	_, err = os.Stat(filepath.Join(dir, vault.FileName+".part"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = vault.PlanRestore(ctx, vault.PlaceOf(filepath.Join(dir, "nowhere")), dir, vault.Options{})
	require.Error(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.db"), []byte("no database"), 0o600))
	_, err = vault.PlanRestore(ctx, vault.PlaceOf(filepath.Join(dir, "x.db")), dir, vault.Options{})
	require.ErrorIs(t, err, sqlitefile.ErrNotSQLite)
}

func TestBodiesArePackedAndTheLogIsMerged(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	wal := func() int64 {
		info, err := os.Stat(v.Path() + "-wal")
		require.NoError(t, err)
		return info.Size()
	}
	for i := range 60 {
		text := noise(uint64(i), 500_000)
		vaulttest.MustPut(t, v, vaulttest.Evidence("s", uint64(i), text))
		require.Less(t, wal(), int64(64<<20), "the log has a hard limit")
	}
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 99, strings.Repeat("a line of a log\n", 100_000)))
	st, err := v.Status(ctx)
	require.NoError(t, err)
	require.Less(t, st.Stored, st.Content)
	require.NoError(t, v.Checkpoint(ctx))
	require.Zero(t, wal())
	a, err := v.Get(ctx, "s", idOf(strings.Repeat("a line of a log\n", 100_000)))
	require.NoError(t, err)
	require.Equal(t, turn.Sum(a.Text), a.Digest)
	l, err := v.Search(ctx, "s", "LINE OF A", 0)
	require.NoError(t, err)
	require.Len(t, l.Artifacts, 1, "packed bodies are searched too")
}
