package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/actors"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// The crash suite runs a 60-call session in a child process that kills itself at a
// call into the store, again and again, until the session is through. After every
// death each id of each answered request must recover byte for byte, and each request
// must begin with the bytes of the one before it.

const (
	crashChild = "TOKEN_TERMINATOR_TEST_CRASH_CHILD"
	crashDir   = "TOKEN_TERMINATOR_TEST_CRASH_DIR"
	crashAt    = "TOKEN_TERMINATOR_TEST_CRASH_AT"
	crashRuns  = "TOKEN_TERMINATOR_CRASH_RUNS"
	crashCalls = 60
	crashSeed  = 20261130
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(crashChild) != "":
		os.Exit(crashingChild())
	case os.Getenv(daemonChild) != "":
		os.Exit(servingChild(os.Getenv(daemonChild)))
	case os.Getenv(programChild) != "":
		main()
	}
	if err := os.Setenv(programChild, "1"); err != nil { // for every process started from here
		panic(err)
	}
	os.Exit(m.Run())
}

func crashRunsWanted(t *testing.T) int {
	t.Helper()
	if text := os.Getenv(crashRuns); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		return n
	}
	return 30
}

func TestCrash_KillNineAtEveryCallIntoTheStoreLosesNoEvidence(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	seeds := rand.New(rand.NewPCG(crashSeed, 1))
	dir := t.TempDir()
	killed, sessions, resumed := 0, 0, map[int]bool{}
	for run := range crashRunsWanted(t) {
		at := 1 + seeds.IntN(150)
		child := exec.Command(self, "-test.run=^$")
		child.Env = append(os.Environ(), crashChild+"=1", crashDir+"="+dir, crashAt+"="+strconv.Itoa(at))
		var errs bytes.Buffer
		child.Stderr = &errs
		err := child.Run()
		answered := checkCrashed(t, dir, resumed)
		resumed[answered] = true
		if err == nil {
			require.Equal(t, crashCalls, answered)
			dir, sessions, resumed = t.TempDir(), sessions+1, map[int]bool{}
			continue
		}
		status, ok := child.ProcessState.Sys().(syscall.WaitStatus)
		require.True(t, ok && status.Signaled() && status.Signal() == syscall.SIGKILL, "run %d at %d: %v %s", run, at, err, errs.String())
		killed++
	}
	t.Logf("seed %d: %d deaths, %d sessions through", crashSeed, killed, sessions)
	require.Greater(t, killed, 0)
}

var markedID = regexp.MustCompile(`artifact_id=(a_[0-9a-f]{8,64}) tag=`)

// checkCrashed verifies every answered request of dir and returns how many there are.
// Each begins with the bytes of the one before, unless it opened an epoch, or is one of
// resumed, the first after a death: what died may have pinned an epoch, and what is
// pinned counts as shown.
func checkCrashed(t *testing.T, dir string, resumed map[int]bool) int {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "vault", vault.FileName)); err != nil {
		return 0 // it died before the file was there: nothing can have been answered
	}
	v, err := vault.Open(filepath.Join(dir, "vault"), vault.Options{FixedKey: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, v.Close()) }()
	report, err := v.Verify(context.Background())
	require.NoError(t, err)
	require.True(t, report.Sound(), "%+v", report)
	var last []byte
	n := 0
	for ; n < crashCalls; n++ {
		out, err := os.ReadFile(answerFile(dir, n))
		if err != nil {
			break
		}
		_, epoch := os.Stat(epochFile(dir, n))
		require.True(t, bytes.HasPrefix(out, last) || epoch == nil || resumed[n], "request %d begins with the one before, or opens an epoch", n)
		doc, err := request.Parse(out)
		require.NoError(t, err)
		in, err := request.Parse(crashRequest(n))
		require.NoError(t, err)
		for i, m := range doc.Messages {
			for k, text := range m.Texts {
				shown, err := doc.Value(text)
				require.NoError(t, err)
				for _, match := range markedID.FindAllStringSubmatch(shown, -1) {
					old, err := in.Value(in.Messages[i].Texts[k])
					require.NoError(t, err)
					got, err := v.Get(context.Background(), "crash", match[1])
					require.NoError(t, err)
					require.Equal(t, old, got.Text)
				}
			}
		}
		last = out[:doc.Messages[len(doc.Messages)-1].Span.End]
	}
	return n
}

func answerFile(dir string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("answer-%04d.json", n))
}

// epochFile is there when answer n opened an epoch.
func epochFile(dir string, n int) string { return answerFile(dir, n) + ".epoch" }

// crashRequest is request n of the session, from 0.
func crashRequest(n int) []byte {
	messages := []any{
		map[string]any{"role": "system", "content": strings.Repeat("You are a careful agent. ", 500)},
		map[string]any{"role": "user", "content": "Watch the service."},
	}
	for i := range n + 1 {
		id := fmt.Sprintf("call_%d", i)
		args, _ := json.Marshal(map[string]string{"command": fmt.Sprintf("tail -n %d /var/log/api.log", 100+i)})
		messages = append(messages,
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
				"id": id, "type": "function", "function": map[string]any{"name": "bash", "arguments": string(args)}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": crashLog(i)})
	}
	body, err := json.Marshal(map[string]any{"model": "gpt-4o", "messages": messages})
	if err != nil {
		panic(err)
	}
	// Map keys are sorted, so "messages" comes first; the tools stand behind them here.
	out, err := request.WithTool(body, []byte(reduce.RecoveryTool))
	if err != nil {
		panic(err)
	}
	return out
}

func crashLog(i int) string {
	if i%3 == 2 {
		return fmt.Sprintf("ok %d", i)
	}
	var b strings.Builder
	for k := range 120 {
		if k == 60 {
			fmt.Fprintf(&b, "10:%02d:%02d ERROR disk %d is full\n", i, k%60, i)
		}
		fmt.Fprintf(&b, "10:%02d:%02d INFO request %d served in %d ms\n", i, k%60, i*1000+k, 3+k%7)
	}
	return b.String()
}

// crashingChild goes on with the session in dir where it was left and kills itself at
// the given call into the store.
func crashingChild() int {
	dir := os.Getenv(crashDir)
	at, err := strconv.Atoi(os.Getenv(crashAt))
	if err != nil {
		return 1
	}
	var calls atomic.Int64
	v, err := vault.Open(filepath.Join(dir, "vault"), vault.Options{FixedKey: true, Hook: func(string) error {
		if calls.Add(1) == int64(at) {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		}
		return nil
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	compiler, err := compile.New(compile.Settings{Row: plan.Study()}, v.MarkerKey(), tokens.NewMemo(16<<20))
	if err != nil {
		return 1
	}
	p, err := startPipeline(compiler, v)
	if err != nil {
		return 1
	}
	for n := range crashCalls {
		if _, err := os.Stat(answerFile(dir, n)); err == nil {
			continue
		}
		answer := p.system.Reduce(context.Background(), actors.ReduceTurn{
			Binding: turn.Binding{Engine: "test", Session: "crash", Turn: uint64(n + 1)},
			Body:    crashRequest(n), Facts: request.Scope{RequestPurpose: request.Word("conversation")},
		})
		if detail, ok := answer.Detail.(compile.Outcome); ok && detail.Epoch != nil {
			if err := os.WriteFile(epochFile(dir, n), nil, 0o600); err != nil {
				return 1
			}
		}
		if err := os.WriteFile(answerFile(dir, n)+".part", answer.Body, 0o600); err != nil {
			return 1
		}
		if err := os.Rename(answerFile(dir, n)+".part", answerFile(dir, n)); err != nil {
			return 1
		}
	}
	if err := p.stop(context.Background()); err != nil {
		return 1
	}
	return 0
}
