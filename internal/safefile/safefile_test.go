//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}

func wantError(t *testing.T, err, why error, path string) {
	t.Helper()
	require.ErrorIs(t, err, why)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, path, e.Path)
	require.NotEmpty(t, e.Hint())
	require.ErrorContains(t, err, path)
}

func TestMakeDirMakesPrivateFoldersAndLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "base")
	require.NoError(t, os.Mkdir(base, 0o755))
	require.NoError(t, MakeDir(filepath.Join(base, "a", "b")))
	require.Equal(t, fs.FileMode(0o755), mode(t, base))
	require.Equal(t, DirMode, mode(t, filepath.Join(base, "a")))
	require.Equal(t, DirMode, mode(t, filepath.Join(base, "a", "b")))
	require.NoError(t, MakeDir(filepath.Join(base, "a", "b")))
	require.NoError(t, MakeDir(base))
	require.Equal(t, fs.FileMode(0o755), mode(t, base))
}

func TestFoldersAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	file, link, open, sticky := filepath.Join(base, "file"), filepath.Join(base, "link"), filepath.Join(base, "open"), filepath.Join(base, "sticky")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(base, link))
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777))
	require.NoError(t, os.Mkdir(sticky, 0o700))
	require.NoError(t, os.Chmod(sticky, 0o777|fs.ModeSticky))
	wantError(t, MakeDir(file), ErrNotFolder, file)
	wantError(t, MakeDir(filepath.Join(file, "below")), ErrNotFolder, filepath.Join(file, "below"))
	wantError(t, MakeDir(link), ErrSymlink, link)
	wantError(t, MakeDir(open), ErrOpenToAll, open)
	require.NoError(t, MakeDir(sticky))
	require.NoError(t, MakeDir(filepath.Join(link, "through a linked parent")))
	wantError(t, CheckDir(filepath.Join(base, "absent")), fs.ErrNotExist, filepath.Join(base, "absent"))
}

func TestOwnersAreCompared(t *testing.T) {
	t.Parallel()
	info, err := os.Stat(t.TempDir())
	require.NoError(t, err)
	require.True(t, ownedByUs(info))
	info.Sys().(*syscall.Stat_t).Uid++
	require.False(t, ownedByUs(info))
}

func TestSecureFileIsPrivateFromItsFirstMoment(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	created, err := SecureFile(path)
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, FileMode, mode(t, path))
	require.NoError(t, os.WriteFile(path, []byte("kept"), 0o600))
	for _, m := range []fs.FileMode{0o644, 0o666, 0o600, 0o400} {
		require.NoError(t, os.Chmod(path, m))
		created, err = SecureFile(path)
		require.NoError(t, err)
		require.False(t, created)
		require.Zero(t, mode(t, path)&0o077, "others lose what they had")
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "kept", string(data))
}

func TestSecureFileRefusesLinksFoldersAndPipes(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	target, link, dangling, pipe := filepath.Join(base, "t"), filepath.Join(base, "l"), filepath.Join(base, "d"), filepath.Join(base, "p")
	require.NoError(t, os.WriteFile(target, nil, 0o644))
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, os.Symlink(filepath.Join(base, "absent"), dangling))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for path, why := range map[string]error{link: ErrSymlink, dangling: ErrSymlink, base: ErrNotFile, pipe: ErrNotFile} {
		_, err := SecureFile(path)
		wantError(t, err, why, path)
		_, err = ReadPrivate(path, 10)
		wantError(t, err, why, path)
	}
	require.Equal(t, fs.FileMode(0o644), mode(t, target))
	require.NoFileExists(t, filepath.Join(base, "absent"))
	_, err := SecureFile(filepath.Join(base, "no", "folder"))
	wantError(t, err, fs.ErrNotExist, filepath.Join(base, "no", "folder"))
}

func TestWriteNewNeverReplacesAndIsNeverHalf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	var all sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		all.Go(func() {
			errs[i] = WriteNew(path, []byte{byte(i), byte(i), byte(i)})
			data, err := os.ReadFile(path)
			if err != nil || len(data) != 3 || data[0] != data[2] {
				errs[i] = errors.Join(err, errors.New("a half file was seen"))
			}
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantError(t, err, ErrExists, path)
	}
	require.Equal(t, 1, won)
	require.Equal(t, FileMode, mode(t, path))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(filepath.Join(dir, "absent"), link))
	wantError(t, WriteNew(link, nil), ErrExists, link)
	require.NoFileExists(t, filepath.Join(dir, "absent"))
	wantError(t, WriteNew(filepath.Join(dir, "no", "x"), nil), fs.ErrNotExist, filepath.Join(dir, "no", "x"))
}

func TestPublishWithoutHardLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	// A missing source makes the link fail, as a file system without links does.
	require.NoError(t, publish(filepath.Join(dir, "absent"), path, []byte("data")))
	require.ErrorIs(t, publish(filepath.Join(dir, "absent"), path, []byte("other")), fs.ErrExist)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "data", string(data))
	require.Equal(t, FileMode, mode(t, path))
}

func TestReadPrivateIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	_, err := ReadPrivate(path, 3)
	wantError(t, err, fs.ErrNotExist, path)
	require.NoError(t, WriteNew(path, []byte("abc")))
	data, err := ReadPrivate(path, 3)
	require.NoError(t, err)
	require.Equal(t, "abc", string(data))
	_, err = ReadPrivate(path, 2)
	wantError(t, err, ErrTooLarge, path)
}

func TestErrorsOfTheSystemAreExplained(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]error{
		syscall.ENOENT: fs.ErrNotExist, syscall.EACCES: ErrNotAllowed, syscall.EPERM: ErrNotAllowed, syscall.EROFS: ErrNotAllowed,
		syscall.ENOSPC: ErrNoSpace, syscall.ELOOP: ErrSymlink, syscall.ENOTDIR: ErrNotFolder, syscall.EIO: syscall.EIO,
	} {
		wantError(t, explain("open file", "/x", &fs.PathError{Op: "open", Path: "/x", Err: cause}), want, "/x")
	}
}
