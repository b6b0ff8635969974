package host

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneDaemonForEachFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "home", FolderName)
	first, err := Acquire(context.Background(), folder)
	require.NoError(t, err)
	require.NoError(t, writeInfo(folder, Info{PID: os.Getpid(), Socket: "/x"}))
	_, err = Acquire(context.Background(), folder)
	var running *RunningError
	require.ErrorAs(t, err, &running)
	require.Equal(t, os.Getpid(), running.PID)
	require.Equal(t, first.Started, running.Started)
	require.Contains(t, err.Error(), "runs for this home already")
	require.NotEmpty(t, running.Hint())
	require.NoError(t, first.Release())
	require.NoError(t, first.Release())
	second, err := Acquire(context.Background(), folder)
	require.NoError(t, err)
	require.NoError(t, second.Release())
	for name, mode := range map[string]os.FileMode{"": 0o700, LockName: 0o600, InfoName: 0o600} {
		info, err := os.Stat(filepath.Join(folder, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
}

// A daemon that has withdrawn its daemon.json is on its way out and is waited for.
func TestALeavingDaemonIsWaitedFor(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), FolderName)
	first, err := Acquire(context.Background(), folder)
	require.NoError(t, err)
	got := make(chan error, 1)
	go func() {
		second, err := Acquire(context.Background(), folder)
		if err == nil {
			err = second.Release()
		}
		got <- err
	}()
	require.NoError(t, first.Release())
	require.NoError(t, <-got)

	third, err := Acquire(context.Background(), folder)
	require.NoError(t, err)
	defer third.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Acquire(ctx, folder)
	var running *RunningError
	require.ErrorAs(t, err, &running)
}

func TestTheSocketIsPrivateAndAStaleOneGoes(t *testing.T) {
	t.Parallel()
	run, temp := filepath.Join(shortDir(t), "run"), shortDir(t)
	folder := filepath.Join(shortDir(t), FolderName)
	path, err := socketPath(folder, run, temp)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(run, FolderName), filepath.Dir(path))
	require.Regexp(t, `^[0-9a-f]{16}\.sock$`, filepath.Base(path))
	other, err := socketPath(folder, "", temp)
	require.NoError(t, err)
	require.Equal(t, filepath.Base(path), filepath.Base(other), "the name is the home's")
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(other)} {
		require.NoError(t, os.Chmod(dir, 0o755))
		_, err := socketPath(folder, run, temp)
		require.NoError(t, err)
		_, err = socketPath(folder, "", temp)
		require.NoError(t, err)
		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
	long := filepath.Join(temp, "a-folder-with-quite-a-long-name-so-that-no-socket-can-stand-in-it-on-any-system-we-know-of-at-all")
	_, err = socketPath(folder, "", long)
	require.Error(t, err)
	fell, err := socketPath(folder, long, temp)
	require.NoError(t, err)
	require.Equal(t, other, fell, "too long a runtime folder is passed over")
	fell, err = socketPath(folder, "run", temp)
	require.NoError(t, err)
	require.Equal(t, other, fell, "a relative one means another place to each program")
	_, err = socketPath(folder, "", "temp")
	require.Error(t, err)

	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.FileExists(t, path)
	require.NoError(t, removeStale(path))
	require.NoFileExists(t, path)
	require.NoError(t, removeStale(path))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	require.Error(t, removeStale(path), "what is no socket stays")

	require.NoError(t, os.Remove(filepath.Join(run, FolderName, filepath.Base(path))))
	require.NoError(t, os.Remove(filepath.Join(run, FolderName)))
	require.NoError(t, os.Symlink(temp, filepath.Join(run, FolderName)))
	_, err = socketPath(folder, run, temp)
	require.Error(t, err, "a link leads somewhere else")
}

func TestStoppingTakesEverythingAway(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	info, err := ReadInfo(r.folder)
	require.NoError(t, err)
	require.Equal(t, r.Info(), info)
	stat, err := os.Stat(info.Socket)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), stat.Mode().Perm())
	r.silence()
	require.NoFileExists(t, info.Socket)
	_, err = ReadInfo(r.folder)
	require.ErrorIs(t, err, ErrNoDaemon)
	lease, err := Acquire(context.Background(), r.folder)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), lease.Started, time.Minute)
	require.NoError(t, lease.Release())
}
