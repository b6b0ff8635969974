package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/host"
	"token-terminator/host/watch"
	"token-terminator/host/wire"
	"token-terminator/internal/testkit"
	"token-terminator/vault"
)

// daemonChild makes this test program a daemon: its value is a childOrder as JSON.
const daemonChild = "TOKEN_TERMINATOR_TEST_DAEMON"

// childOrder is what a daemon in a process of its own is told.
type childOrder struct {
	Folder    string
	Runtime   string        // folder of the socket
	KillAt    int64         // the call into the store at which it kills itself, from 1; 0 never
	IdleAfter time.Duration // of sessions
	Sweep     time.Duration // between looks for memory to give back
	Vault     vault.Options `json:"-"`
}

// servingChild is "tt serve" with what the order adds.
func servingChild(order string) int {
	var o childOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	o.Vault.FixedKey = true
	if o.KillAt > 0 {
		var calls atomic.Int64
		o.Vault.Hook = func(string) error {
			if calls.Add(1) == o.KillAt {
				_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
			}
			return nil
		}
	}
	s := &stage{ctx: context.Background(), stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ, getenv: func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return o.Runtime
		}
		return os.Getenv(name)
	}}
	f := serveFlags{idle: host.DefaultIdle}
	err := f.serve(s, o.Folder, func(cfg *engineConfig) {
		cfg.vault.FixedKey, cfg.vault.Hook, cfg.sweep = o.Vault.FixedKey, o.Vault.Hook, o.Sweep
		if o.IdleAfter > 0 {
			cfg.actors.IdleAfter = o.IdleAfter
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUnexpected
	}
	return 0
}

// starter starts this program as a daemon.
func (o childOrder) starter(t testing.TB) *host.Starter {
	t.Helper()
	order, err := json.Marshal(o)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	return &host.Starter{Exe: self, Args: []string{"-test.run=^$"}, Env: append(withoutSettings(os.Environ()), daemonChild+"="+string(order))}
}

// spawn starts a daemon of the order and ends it with the test.
func (o childOrder) spawn(t testing.TB) *host.Daemon {
	t.Helper()
	d, err := host.Spawn(*o.starter(t))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = d.Kill()
		<-d.Done()
	})
	return d
}

// dial connects to a daemon that was just started.
func (o childOrder) dial(t testing.TB, d *host.Daemon, env map[string]string) *host.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	c, err := d.Dial(ctx, host.Options{Folder: o.Folder, Name: "test", Version: version, Env: env})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// childHome is an order for a folder that does not exist yet.
func childHome(t testing.TB) childOrder {
	t.Helper()
	dir, err := os.MkdirTemp("", "tt")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return childOrder{Folder: filepath.Join(dir, "home", host.FolderName), Runtime: dir}
}

// pageOf is one answer of artifact_get.
func pageOf(ctx context.Context, c *host.Client, r wire.Recover) (recovered, error) {
	var page recovered
	raw, err := c.Recover(ctx, r)
	if err != nil {
		return page, err
	}
	return page, json.Unmarshal(raw, &page)
}

// liveStatus is the daemon's status.
func liveStatus(t testing.TB, c *host.Client) watch.Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	raw, err := c.Status(ctx)
	require.NoError(t, err)
	var out watch.Status
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}
