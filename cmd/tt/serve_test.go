package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/host"
)

// A daemon that cannot start in the background says why, with its own exit code.
func TestServe_TheBackgroundRelaysWordsAndExitCode(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	odd := filepath.Join(t.TempDir(), "odd")
	require.NoError(t, os.MkdirAll(odd, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(odd, "config.toml"), []byte("mode = \"loud\"\n"), 0o600))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	for name, c := range map[string]struct {
		args  []string
		code  int
		words string
	}{
		"config.toml":  {[]string{"--vault", odd}, exitUsage, "config.toml line 1: key mode: want one of"},
		"not loopback": {[]string{"--http", "10.1.2.3:9464"}, exitUsage, "want a loopback address"},
		"no such port": {[]string{"--http", "127.0.0.1:99999"}, exitUsage, "want a port from 0 to 65535"},
		"busy port":    {[]string{"--http", busy.Addr().String()}, exitUsage, "already in use: choose another port"},
		"no folder":    {[]string{"--vault", link}, exitStorage, "symbolic link"},
	} {
		args := append([]string{"serve", "--foreground=false", "--vault", filepath.Join(t.TempDir(), "vault")}, c.args...)
		code, out, errs := tt(t, "", args...)
		require.Equal(t, c.code, code, "%s: %s", name, errs)
		require.Contains(t, errs, c.words, name)
		require.Empty(t, out, name)
	}
}

func TestServe_StopEndsTheDaemon(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	code, _, errs := tt(t, "", "serve", "--stop", "--vault", folder)
	require.Equal(t, exitDone, code)
	require.Contains(t, errs, "no daemon is running")
	code, out, errs := tt(t, "", "serve", "--foreground=false", "--idle", "90s", "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, out, "ready: process ")
	code, _, errs = tt(t, "", "serve", "--foreground=false", "--vault", folder)
	require.Equal(t, exitRefused, code)
	require.Contains(t, errs, "tt serve --stop")
	code, out, errs = tt(t, "", "serve", "--stop", "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, out, "ended: process ")
	_, err := host.ReadInfo(folder)
	require.ErrorIs(t, err, host.ErrNoDaemon)
}
