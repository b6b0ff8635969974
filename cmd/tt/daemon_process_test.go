package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/host"
	"token-terminator/host/wire"
	"token-terminator/internal/testkit"
	"token-terminator/turn"
)

// programChild makes a process of this test binary behave as tt itself: TestMain looks
// at it, and sets it for all processes that tests start.
const programChild = "TOKEN_TERMINATOR_TEST_PROGRAM"

// process is tt in a process of its own.
type process struct {
	cmd   *exec.Cmd
	ready ready
	words *lockedBuffer
	done  chan error
}

// startProcess runs tt serve until it says that it is ready.
func startProcess(t *testing.T, folder string, flags ...string) *process {
	t.Helper()
	p := &process{words: &lockedBuffer{}, done: make(chan error, 1)}
	p.cmd = exec.Command(os.Args[0], append([]string{"serve", "--json", "--vault", folder}, flags...)...)
	p.cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+socketDir(t))
	p.cmd.Stderr = p.words
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, p.words)
	require.NoError(t, json.Unmarshal([]byte(line), &p.ready))
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// ended waits for the end of the process and gives its exit code.
func (p *process) ended(t *testing.T) int {
	t.Helper()
	select {
	case err := <-p.done:
		p.done <- err
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(testkit.Patience):
		t.Fatal("the daemon does not end")
		return -1
	}
}

func TestServe_EndsInOrderOnASignalAndASecondOneIsRefused(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	p := startProcess(t, folder)
	require.Equal(t, p.cmd.Process.Pid, p.ready.PID)
	require.FileExists(t, p.ready.Socket)
	code, _, errs := tt(t, "", "serve", "--vault", folder)
	require.Equal(t, exitRefused, code)
	require.Contains(t, errs, fmt.Sprintf("process %d", p.ready.PID))
	require.Contains(t, errs, "Try: ")
	code, _, _ = tt(t, "", "serve", "--vault", folder, "--foreground=false")
	require.Equal(t, exitRefused, code)

	c, err := host.Dial(context.Background(), host.Options{Folder: folder, Version: version})
	require.NoError(t, err)
	defer c.Close()
	require.Len(t, c.Welcome().ExeSHA256, 64)
	log := serverLog(1, 400)
	out := askTurn(t, c, "s", 1, chatBody(toolCalls("a"), toolResult("a", log)))
	require.True(t, out.Edited, out.Reason)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, exitDone, p.ended(t), p.words)
	require.NoFileExists(t, p.ready.Socket)
	require.NoFileExists(t, filepath.Join(folder, host.InfoName))
	code, text, errs := tt(t, "", "vault", "get", idIn(out.Edits[0].Value), "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, log, text)
}

func TestServe_AKilledDaemonIsReplacedAndNothingIsLost(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	p := startProcess(t, folder)
	c, err := host.Dial(context.Background(), host.Options{Folder: folder, Version: version})
	require.NoError(t, err)
	defer c.Close()
	body := chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))
	out := askTurn(t, c, "s", 1, body)
	require.True(t, out.Edited, out.Reason)
	require.NoError(t, p.cmd.Process.Kill())
	p.ended(t)
	require.Equal(t, string(out.Body), string(askTurn(t, c, "s", 1, body).Body), "what was sent before is sent again")
	require.FileExists(t, filepath.Join(folder, host.InfoName), "it left its description behind")
	code, _, errs := tt(t, "", "vault", "status", "--vault", folder)
	require.Equal(t, exitDone, code, errs)

	startProcess(t, folder)
	again, err := host.Dial(context.Background(), host.Options{Folder: folder, Version: version})
	require.NoError(t, err)
	defer again.Close()
	require.Equal(t, string(out.Body), string(askTurn(t, again, "s", 1, body).Body))
}

func TestServe_PagesAreServedOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	code, _, errs := tt(t, "", "serve", "--vault", folder, "--http", "0.0.0.0:0")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "loopback")
	p := startProcess(t, folder, "--http", "127.0.0.1:0", "--idle", "1m")
	info, err := host.ReadInfo(folder)
	require.NoError(t, err)
	for path, want := range map[string]string{"/healthz": `"state"`, "/status": fmt.Sprintf(`"pid": %d`, p.ready.PID), "/metrics": "token_terminator_vault_bytes"} {
		answer, err := http.Get("http://" + info.HTTP + path)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, answer.Body.Close())
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode, path)
		require.Contains(t, string(body), want)
	}
	data, err := os.ReadFile(filepath.Join(folder, "logs", "daemon.log"))
	require.NoError(t, err)
	require.Contains(t, string(data), `"msg":"ready"`)
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.Equal(t, exitDone, p.ended(t), p.words)
}

// A client that may start a daemon does, one for all that ask at the same time; a newer
// client replaces an older daemon when its work is done.
func TestServe_ClientsStartOneDaemonAndANewerOneReplacesIt(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	start, err := selfStarter("serve", "--vault", folder, "--idle", "1m")
	require.NoError(t, err)
	start.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+socketDir(t))
	dial := func(version string) (*host.Client, error) {
		return host.Dial(patience(t), host.Options{Folder: folder, Version: version, Start: start})
	}
	type dialed struct {
		c   *host.Client
		err error
	}
	all := make(chan dialed, 4)
	for range cap(all) {
		go func() {
			c, err := dial(version)
			all <- dialed{c, err}
		}()
	}
	for range cap(all) {
		d := <-all
		require.NoError(t, d.err)
		defer d.c.Close()
	}
	first, err := host.ReadInfo(folder)
	require.NoError(t, err)
	newer, err := dial("99.0.0")
	require.NoError(t, err)
	second, err := host.ReadInfo(folder)
	require.NoError(t, err)
	require.NotEqual(t, first.PID, second.PID)
	require.True(t, askTurn(t, newer, "s", 1, chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))).Edited)
	require.NoError(t, newer.Drain(patience(t)))
	newer.Close()
	require.Eventually(t, func() bool {
		lease, err := host.Acquire(context.Background(), folder)
		return err == nil && lease.Release() == nil
	}, testkit.Patience, 10*time.Millisecond)
}

func TestServe_VaultCommandsGoThroughTheDaemon(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	d := startDaemon(t, folder, nil)
	c := d.client(nil, nil)
	log := serverLog(1, 400)
	out := askTurn(t, c, "s", 1, chatBody(toolCalls("a"), toolResult("a", log)))
	id := idIn(out.Edits[0].Value)
	before := d.server.Stats().Frames
	run := func(want int, args ...string) string {
		code, text, errs := tt(t, "", append([]string{"vault"}, append(args, "--vault", folder)...)...)
		require.Equal(t, want, code, "%v: %s", args, errs)
		return text + errs
	}
	require.Equal(t, log, run(exitDone, "get", id))
	require.Contains(t, run(exitDone, "list"), id)
	require.Contains(t, run(exitDone, "find", id, "worker-1", "--limit", "3"), "worker-1")
	require.Contains(t, run(exitDone, "verify"), "1 artifacts read, 0 damaged, 0 lost")
	require.Contains(t, run(exitDone, "status", "--json"), `"artifacts": 1`)
	require.Contains(t, run(exitRefused, "get", "a_deadbeef"), "Try: ")
	require.Contains(t, run(exitUsage, "dance"), "there is no vault action")
	require.Contains(t, run(exitRefused, "restore", t.TempDir()), "a daemon has this vault open")
	copied := filepath.Join(t.TempDir(), "copy")
	require.Contains(t, run(exitDone, "backup", copied+string(filepath.Separator)), "every hash checked")
	require.FileExists(t, filepath.Join(copied, "vault.sqlite3"))
	transcript := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(transcript, out.Body, 0o600))
	require.Contains(t, run(exitRefused, "release", id, "--yes", "--transcripts", transcript), "is named in")
	require.Contains(t, run(exitRefused, "release", id), "nothing was changed")
	require.Contains(t, run(exitDone, "release", id, "--dry-run"), "would release: 1 original")
	require.Contains(t, run(exitDone, "release", id, "--yes"), "removed 1 original")
	require.Contains(t, run(exitRefused, "get", id), "released")
	require.Contains(t, run(exitDone, "prune", "--yes"), "prune")
	require.GreaterOrEqual(t, d.server.Stats().Frames, before+13)
	_, err := c.Recover(patience(t), wire.Recover{Binding: turn.Binding{}, Action: actionOperator, Operator: []byte(`{"verb":"status"}`)})
	require.Error(t, err, "a host is no operator")
}

func TestServe_ReduceGoesThroughTheDaemon(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	log := serverLog(3, 400)
	args := []string{"reduce", "--command", "kubectl logs api", "--json", "--vault"}
	code, alone, errs := tt(t, log, append(args, filepath.Join(t.TempDir(), "other"))...)
	require.Equal(t, exitDone, code, errs)
	d := startDaemon(t, folder, nil)
	before := d.server.Stats().Frames
	code, through, errs := tt(t, log, append(args, folder)...)
	require.Equal(t, exitDone, code, errs)
	require.Greater(t, d.server.Stats().Frames, before+1)
	var one, two reduced
	require.NoError(t, json.Unmarshal([]byte(alone), &one))
	require.NoError(t, json.Unmarshal([]byte(through), &two))
	require.InDelta(t, *one.TokensOut, *two.TokensOut, 5, "two vaults, two marker keys")
	require.Equal(t, *one.ArtifactID, *two.ArtifactID)
	require.Equal(t, turn.CompressedLog, two.Reason)
	code, text, errs := tt(t, "", "recover", *two.ArtifactID, "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, log, text)
}

// dumped is every file of a dump but the vault's.
func dumped(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, filepath.Join(dir, "vault")) {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(data)
		return err
	}))
	return files
}

// withoutTimes is a replay's JSON but for how long it took.
func withoutTimes(t *testing.T, text string) any {
	t.Helper()
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	for _, s := range append(report["sessions"].([]any), report["total"]) {
		delete(s.(map[string]any), "latency_ms")
	}
	return report
}

// sameByDaemon replays twice and compares everything.
func sameByDaemon(t *testing.T, args ...string) {
	t.Helper()
	var files [2]map[string]string
	var reports [2]any
	for i, extra := range [][]string{nil, {"--daemon"}} {
		dir := filepath.Join(t.TempDir(), "dump")
		code, out, errs := tt(t, "", append(append([]string{"replay", "--quiet", "--json", "--dump", dir}, extra...), args...)...)
		require.Equal(t, exitDone, code, errs)
		files[i], reports[i] = dumped(t, dir), withoutTimes(t, out)
	}
	require.Greater(t, len(files[0]), 10)
	for name, data := range files[0] {
		require.True(t, data == files[1][name], "%s differs", name)
	}
	require.Len(t, files[1], len(files[0]))
	require.Equal(t, reports[0], reports[1])
}

func TestReplayDaemon_GivesTheSameBytesAndFigures(t *testing.T) {
	t.Parallel()
	sameByDaemon(t)
	file := sessionFile(t, "tau-bench")
	sameByDaemon(t, "--gaps", "4", "--bank", "--window", "9000", "--price-row", "study", "--recovery-rate", "0", "--preset", "tight", file)
	sameByDaemon(t, "--model", "claude-opus-4-5", "--assume-tokenizer", "cl100k_base", "--no-epochs", "--cache", "marks", file)
}

// A sample of the recorded sessions of a corpus, when one is named; the whole of it is
// compared in reports/published/daemon.md.
func TestReplayDaemon_GivesTheSameOverACorpus(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("TOKEN_TERMINATOR_CORPUS")
	if dir == "" { // the recorded transcript that ships with the project, in its own format
		sameByDaemon(t, "--assume-tokenizer", "o200k_base", filepath.Join("..", "..", "datasets", "sessions", "transcript"))
		return
	}
	var files []string
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "sessions"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() < sampledBytes {
			files = append(files, path)
		}
		return err
	}))
	args := []string{"--assume-tokenizer", "o200k_base"}
	for i := 0; i < len(files); i += max(1, len(files)/sampledFiles) {
		args = append(args, files[i])
	}
	require.Greater(t, len(args), 2, "no session file below %s", dir)
	sameByDaemon(t, args...)
}

// How large a sampled session file may be, in bytes, and how many there are, about.
const (
	sampledBytes = 1 << 20
	sampledFiles = 8
)

func TestReplayDaemon_EndsWithItsReplay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dump")
	code, _, errs := tt(t, "", "replay", "--daemon", "--quiet", "--json", "--dump", dir, sessionFile(t, "tau-bench"))
	require.Equal(t, exitDone, code, errs)
	_, err := host.ReadInfo(filepath.Join(dir, "vault"))
	require.ErrorIs(t, err, host.ErrNoDaemon)
	lease, err := host.Acquire(context.Background(), filepath.Join(dir, "vault"))
	require.NoError(t, err)
	require.NoError(t, lease.Release())
}
