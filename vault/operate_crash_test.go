//go:build unix

package vault_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// operateChild carries out one operation in dir and kills itself at the nth hook call.
// In dir are "vault", "backup" (of an older state) and "reference.sqlite3".
func operateChild(what, dir, nth string) error {
	n, err := strconv.Atoi(nth)
	if err != nil {
		return err
	}
	ctx, home := context.Background(), filepath.Join(dir, "vault")
	if what == "restore" {
		plan, err := vault.PlanRestore(ctx, vault.PlaceOf(filepath.Join(dir, "backup")), home, vault.Options{Hook: faults.KillNth(n)})
		if err != nil {
			return err
		}
		_, err = plan.Run(ctx, ".old", nil)
		return err
	}
	counting := false
	kill := faults.KillNth(n)
	v, err := vault.Open(home, vault.Options{Hook: func(p string) error {
		if !counting {
			return nil
		}
		return kill(p)
	}})
	if err != nil {
		return err
	}
	counting = true
	switch what {
	case "backup":
		_, err = v.Backup(ctx, vault.PlaceOf(filepath.Join(dir, "new")), nil)
	case "import":
		_, err = v.Import(ctx, filepath.Join(dir, "reference.sqlite3"), nil)
	case "release":
		var plan vault.Removal
		if plan, err = v.PlanRelease(ctx, "a", ""); err == nil {
			_, err = v.Remove(ctx, plan, nil)
		}
	case "compact":
		err = v.Compact(ctx)
	}
	counting = false
	return errors.Join(err, v.Close())
}

// operateFolder makes what operateChild works on.
func operateFolder(t *testing.T) string {
	ctx, dir := context.Background(), t.TempDir()
	home := filepath.Join(dir, "vault")
	v := mustOpen(t, home, vault.Options{})
	vaulttest.MustPut(t, v, vaulttest.Evidence("old", 1, "in the backup"))
	_, err := v.Backup(ctx, vault.PlaceOf(filepath.Join(dir, "backup")), nil)
	require.NoError(t, err)
	twoSessions(t, v)
	require.NoError(t, v.Close())
	path, db := reference(t)
	for i := range 3 {
		add(t, db, fmt.Sprint("imported ", i), "a")
	}
	require.NoError(t, db.Close())
	require.NoError(t, os.Rename(path, filepath.Join(dir, "reference.sqlite3")))
	return dir
}

// Killed at any point of any operation: the vault opens, is sound, holds what others
// were promised, and the operation done again succeeds.
func TestAnOperationKilledInTheMiddleLosesNothing(t *testing.T) {
	t.Parallel()
	for what, step := range map[string]int{"backup": 1, "restore": 1, "import": 7, "release": 5, "compact": 1} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			killed := 0
			for n := 1; ; n += step {
				dir := operateFolder(t)
				out, err := child("operate", what, dir, fmt.Sprint(n)).CombinedOutput()
				if err == nil {
					break // there are fewer calls than that
				}
				killed++
				require.ErrorContains(t, err, "killed", "call %d: %s", n, out)
				checkOperated(t, dir)
				if what == "backup" {
					_, err := os.Stat(filepath.Join(dir, "new", vault.FileName))
					require.Error(t, err, "a backup has its name only when it is whole")
					require.NoError(t, os.RemoveAll(filepath.Join(dir, "new", vault.MarkerKeyName)))
				}
				require.NoError(t, os.RemoveAll(filepath.Join(dir, "vault", vault.FileName+".old")))
				if out, err := child("operate", what, dir, "1000000").CombinedOutput(); err != nil {
					require.Contains(t, string(out), vault.ErrNoSession.Error(), "call %d", n) // nothing was left to release
				}
				checkOperated(t, dir)
			}
			require.GreaterOrEqual(t, killed, 2)
		})
	}
}

func checkOperated(t *testing.T, dir string) {
	v := mustOpen(t, filepath.Join(dir, "vault"), vault.Options{})
	mustSound(t, v)
	_, err := v.Get(context.Background(), "old", idOf("in the backup"))
	require.NoError(t, err)
	require.NoError(t, v.Close())
}
