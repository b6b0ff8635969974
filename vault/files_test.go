//go:build unix

package vault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// wantHint demands an error that names the path and says what to do.
func wantHint(t *testing.T, err error, path string) {
	t.Helper()
	require.Error(t, err)
	var hinted interface{ Hint() string }
	require.ErrorAs(t, err, &hinted)
	require.NotEmpty(t, hinted.Hint())
	require.ErrorContains(t, err, path)
}

func TestB34_FilesArePrivateFromTheStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home", "token-terminator")
	v := mustOpen(t, dir, vault.Options{})
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text"))
	for _, name := range []string{"", vault.FileName, vault.FileName + "-wal", vault.FileName + "-shm", vault.MarkerKeyName} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if name == "" {
			want = 0o700
		}
		require.Equal(t, want, info.Mode().Perm(), name)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 4, "no temporary file is left")
}

func TestA23_AnExistingParentKeepsItsMode(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(t.TempDir(), "p")
	require.NoError(t, os.Mkdir(parent, 0o750))
	mustOpen(t, filepath.Join(parent, "vault"), vault.Options{})
	mustOpen(t, parent, vault.Options{}) // also when it is the vault's own folder
	info, err := os.Stat(parent)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o750), info.Mode().Perm())
}

func TestA24_OddPathsWork(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with blank", "q?mode=memory", "h#ash", "per%20cent", "ünï", "a&b=c;d", "'quote\"", "file:x", "new\nline", "100%"} {
		dir := filepath.Join(t.TempDir(), name)
		v := mustOpen(t, dir, vault.Options{})
		p := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, name))
		require.FileExists(t, filepath.Join(dir, vault.FileName), name)
		require.NoError(t, v.Close())
		r, err := vault.Open(dir, vault.Options{ReadOnly: true})
		require.NoError(t, err, name)
		a, err := r.Get(context.Background(), "s", p.Proofs[turn.Sum(name)].Shown)
		require.NoError(t, err)
		require.Equal(t, name, a.Text)
		require.NoError(t, r.Close())
	}
}

func TestSymbolicLinksAndOtherKindsAreRefused(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	real := filepath.Join(base, "real")
	require.NoError(t, mustOpen(t, real, vault.Options{}).Close())
	link := filepath.Join(base, "link")
	require.NoError(t, os.Symlink(real, link))
	_, err := vault.Open(link, vault.Options{})
	require.ErrorIs(t, err, safefile.ErrSymlink)
	wantHint(t, err, link)
	for _, name := range []string{vault.FileName, vault.FileName + "-wal", vault.FileName + "-journal", vault.MarkerKeyName} {
		dir := filepath.Join(base, "with "+name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		target := filepath.Join(base, "target of "+name)
		require.NoError(t, os.WriteFile(target, []byte("keep me"), 0o644))
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
		_, err := vault.Open(dir, vault.Options{})
		require.ErrorIs(t, err, safefile.ErrSymlink, name)
		wantHint(t, err, name)
		data, err := os.ReadFile(target)
		require.NoError(t, err)
		require.Equal(t, "keep me", string(data))
	}
	file := filepath.Join(base, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err = vault.Open(dir, vault.Options{})
		require.ErrorIs(t, err, safefile.ErrNotFolder)
		wantHint(t, err, file)
	}
	open := filepath.Join(base, "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777))
	_, err = vault.Open(open, vault.Options{})
	require.ErrorIs(t, err, safefile.ErrOpenToAll)
}

func TestMarkerKeyIsMadeOnceAndChecked(t *testing.T) {
	t.Parallel()
	a, b := mustOpen(t, t.TempDir(), vault.Options{}), mustOpen(t, t.TempDir(), vault.Options{})
	require.NotEqual(t, a.MarkerKey(), b.MarkerKey())
	require.Len(t, a.MarkerKey(), 32)
	again := mustOpen(t, filepath.Dir(a.Path()), vault.Options{FixedKey: true})
	require.Equal(t, a.MarkerKey(), again.MarkerKey(), "a key that is there is kept")
	fixed := mustOpen(t, t.TempDir(), vault.Options{FixedKey: true})
	require.Equal(t, vault.FixedMarkerKey, string(fixed.MarkerKey()))
	for _, bad := range []string{"", "short", string(make([]byte, 33))} {
		dir := t.TempDir()
		path := filepath.Join(dir, vault.MarkerKeyName)
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		_, err := vault.Open(dir, vault.Options{})
		require.ErrorIs(t, err, vault.ErrKey)
		wantHint(t, err, path)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]vault.Options{
		"negative capacity": {CapacityBytes: -1}, "marks crossed": {HighWaterPct: 50, LowWaterPct: 60}, "mark over 100": {HighWaterPct: 101},
		"negative limit": {MaxArtifactRunes: -1}, "unknown synchronous mode": {Synchronous: "SOMETIMES"},
	} {
		_, err := vault.Open(t.TempDir(), o)
		require.Error(t, err, name)
	}
}

// A process without root's powers meets folders and files it may not use.
func TestFoldersWithoutPermissionGiveClearErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o711))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, nobody, nobody))
	}
	out, err := child("unprivileged", dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

const nobody = 65534

func unprivilegedChild(dir string) error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			return err
		}
	}
	home, ctx := filepath.Join(dir, "v"), context.Background()
	v, err := vault.Open(home, vault.Options{})
	if err != nil {
		return err
	}
	ev := vaulttest.Evidence("s", 1, "text")
	p, err := v.Put(ctx, ev)
	if err != nil {
		return err
	}
	id := p.Proofs[turn.Sum("text")].Shown
	// A copy taken while the vault is open holds a log that was not merged.
	live := filepath.Join(dir, "live copy")
	if err := errors.Join(os.CopyFS(live, os.DirFS(home)), os.Remove(filepath.Join(live, vault.FileName+"-shm"))); err != nil {
		return err
	}
	if err := v.Close(); err != nil {
		return err
	}
	steps := []struct {
		what, path string
		mode       fs.FileMode
		readOnly   bool
		want       error // nil: the text can be read
	}{
		{"a folder that may not be written", home, 0o500, false, sqlitefile.ErrReadOnly},
		{"the same, for reading", home, 0o500, true, nil},
		{"a live copy in a folder that may not be written", live, 0o500, true, sqlitefile.ErrPendingWAL},
		{"the copy where it may be written", live, 0o700, true, nil},
		{"a folder that may not be entered", home, 0o000, false, safefile.ErrNotAllowed},
		{"the same, for reading", home, 0o000, true, safefile.ErrNotAllowed},
		{"a file that may not be read", filepath.Join(home, vault.FileName), 0o000, true, sqlitefile.ErrCantOpen},
		{"all as before", home, 0o700, false, nil},
	}
	for _, s := range steps {
		if err := meet(home, s.path, id, s.mode, s.readOnly, s.want); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

// meet gives path its mode and demands that opening the vault there ends as wanted.
func meet(home, path, id string, mode fs.FileMode, readOnly bool, want error) error {
	if path != home {
		if err := os.Chmod(home, 0o700); err != nil {
			return err
		}
	}
	at := path
	if filepath.Base(at) == vault.FileName {
		at = home
	}
	if err := os.Chmod(path, mode); err != nil {
		return err
	}
	err := openAndRead(at, id, readOnly)
	if at != path {
		err = errors.Join(err, os.Chmod(path, 0o600))
	}
	if !errors.Is(err, want) || (want == nil && err != nil) {
		return fmt.Errorf("got %w, want %w", err, want)
	}
	var hinted interface{ Hint() string }
	if err != nil && (!errors.As(err, &hinted) || hinted.Hint() == "") {
		return fmt.Errorf("no hint in %w", err)
	}
	return nil
}

func openAndRead(dir, id string, readOnly bool) error {
	v, err := vault.Open(dir, vault.Options{ReadOnly: readOnly})
	if err != nil {
		return err
	}
	a, err := v.Get(context.Background(), "s", id)
	if err == nil && a.Text != "text" {
		err = fmt.Errorf("read %q", a.Text)
	}
	return errors.Join(err, v.Close())
}

func TestReadOnlyTakesNothingAndMakesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := vault.Open(filepath.Join(dir, "absent"), vault.Options{ReadOnly: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	wantHint(t, err, filepath.Join(dir, "absent"))
	require.NoDirExists(t, filepath.Join(dir, "absent"))
	home := filepath.Join(dir, "home")
	w := mustOpen(t, home, vault.Options{})
	p := vaulttest.MustPut(t, w, vaulttest.Evidence("s", 1, "text"))
	// A copied folder works, the log included, also while the original is in use.
	copied := filepath.Join(dir, "copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(home)))
	r := mustOpen(t, copied, vault.Options{ReadOnly: true})
	a, err := r.Get(context.Background(), "", p.Proofs[turn.Sum("text")].Shown)
	require.NoError(t, err)
	require.Equal(t, "text", a.Text)
	require.Equal(t, w.MarkerKey(), r.MarkerKey())
	got, err := r.Put(context.Background(), vaulttest.Evidence("s", 2, "more"))
	require.ErrorIs(t, err, vault.ErrReadOnly)
	require.Equal(t, turn.StorageUnavailable, got.Reason)
	require.ErrorIs(t, r.Accept(context.Background(), "s", nil), vault.ErrReadOnly)
	_, err = r.Nodes(context.Background(), "s")
	require.NoError(t, err)
	s, err := r.Status(context.Background())
	require.NoError(t, err)
	require.True(t, s.ReadOnly)
}
