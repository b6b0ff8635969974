package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/turn"
)

// passing are sessions whose requests cannot be edited, and why.
func passing() map[string]struct {
	line   string
	reason turn.Reason
} {
	use := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}`
	call := `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}}]}`
	whole := func(messages string) string {
		return `{"id":"odd","model":"gpt-4o","messages":[{"role":"user","content":"hi"},` + messages + `{"role":"assistant","content":"done"}]}`
	}
	return map[string]struct {
		line   string
		reason turn.Reason
	}{
		"an answer to no call":            {whole(`{"role":"tool","tool_call_id":"zz","content":"a\nb\n"},`), turn.PairingBroken},
		"a tool message without an id":    {whole(`{"role":"tool","content":"a\nb\n"},`), turn.PairingBroken},
		"a role of old":                   {whole(`{"role":"function","name":"bash","content":"a\nb\n"},`), turn.PairingBroken},
		"an answer to no use of a tool":   {whole(use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t9","content":"a"}]},`), turn.PairingBroken},
		"an output beyond what we count":  {whole(call + `,{"role":"tool","tool_call_id":"c1","content":"` + strings.Repeat("line of text\\n", 620_000) + `"},`), turn.NoMeasure},
		"a Responses input of one string": {`{"id":"odd","model":"gpt-4o","input":"hi"}`, turn.NotConversation},
	}
}

func sessionLine(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	return path
}

func TestReplay_ASessionThatCannotBeEditedPasses(t *testing.T) {
	t.Parallel()
	for name, test := range passing() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := sessionLine(t, "odd.jsonl", test.line)
			code, out, errs := tt(t, "", "replay", "--json", "--quiet", file, sessionFile(t, "tau-bench"))
			require.Equal(t, exitDone, code, errs)
			var report struct {
				Sessions []struct {
					ID      string
					Turns   int
					Passed  int `json:"passthrough_turns"`
					Reasons map[turn.Reason]int
				}
			}
			require.NoError(t, json.Unmarshal([]byte(out), &report))
			require.Len(t, report.Sessions, 2)
			odd := report.Sessions[0]
			require.Equal(t, "odd", odd.ID)
			require.Positive(t, odd.Turns)
			require.Equal(t, odd.Turns, odd.Passed)
			require.Equal(t, 1, odd.Reasons[test.reason], odd.Reasons)
			code, _, errs = tt(t, "", "explain", file)
			require.Equal(t, exitDone, code, errs)
		})
	}
}

// A defect met in one session is that session's: the others are reported, the
// exit code tells, and the folder with the originals is gone.
func TestReplay_ADefectEndsOneSessionOnly(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	sessions, problems := datasets.Load([]string{sessionFile(t, "tau-bench"), sessionLine(t, "b.jsonl", `{"id":"b","model":"gpt-4o","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]}`)}, datasets.Auto)
	require.Empty(t, problems)
	var errs bytes.Buffer
	s := &stage{ctx: context.Background(), stderr: &errs}
	f := replayFlags{cache: string(plan.Prefix), unit: unitITE, rate: plan.DefaultRecoveryPct, preset: "default"}
	settings, cache, err := f.settings()
	require.NoError(t, err)
	prices, err := f.pricing()
	require.NoError(t, err)
	var once sync.Once
	r := &replay{flags: &f, settings: settings, pricing: prices, cache: cache, progress: newProgress(s, true, 2)}
	r.trace = func(int, []byte, compile.Outcome) {
		once.Do(func() { panic("secret words of the session") })
	}
	report, notes, err := r.all(s.ctx, sessions)
	require.NoError(t, err)
	require.Len(t, report.Sessions, 1)
	require.Len(t, r.failed, 1)
	require.Contains(t, notes, "1 session could not be replayed: in no figure")
	r.failures(&errs)
	require.Regexp(t, `^tt: replay \S+: a defect of this program \(string in .*TestReplay_ADefect.*, line \d+\); the session is left out\n$`, errs.String())
	require.NotContains(t, errs.String(), "secret")
	require.ErrorContains(t, r.verdict(report.Total, 0), "1 session could not be replayed")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range left {
		require.NotContains(t, entry.Name(), "token-terminator-replay", "originals are left behind")
	}
}

func TestAClosedTerminalEndsACommandInOrder(t *testing.T) {
	t.Parallel()
	require.Contains(t, ending(false), syscall.SIGHUP)
	require.NotContains(t, ending(true), syscall.SIGHUP)
}
