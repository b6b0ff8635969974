package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/reduce"
)

// tt runs one command line in this process.
func tt(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return ttEnv(t, map[string]string{"TOKEN_TERMINATOR_HOME": t.TempDir()}, stdin, args...)
}

func ttEnv(t *testing.T, env map[string]string, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	s := &stage{
		ctx: context.Background(), stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs,
		getenv: func(name string) string { return env[name] },
	}
	code = run(s, append([]string{"tt"}, args...))
	return code, out.String(), errs.String()
}

// sessionFile writes one bundled session as the corpus line it is.
func sessionFile(t *testing.T, contains string) string {
	t.Helper()
	sessions, err := datasets.Bundled()
	require.NoError(t, err)
	for _, s := range sessions {
		if !strings.Contains(s.ID, contains) {
			continue
		}
		line, err := json.Marshal(map[string]any{
			"id": s.ID, "source": s.Source, "model": s.Model, "messages": s.Messages, "tools": s.Tools, "meta": s.Meta,
		})
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "session.jsonl")
		require.NoError(t, os.WriteFile(path, append(line, '\n'), 0o600))
		return path
	}
	t.Fatalf("no bundled session is named like %q", contains)
	return ""
}

func TestReplay_DumpLetsAnOutsiderCheckEveryClaim(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dump")
	code, out, errs := tt(t, "", "replay", "--json", "--dump", dir)
	require.Equal(t, exitDone, code, errs)
	var report struct {
		Sessions []struct {
			ID        string         `json:"id"`
			Turns     int            `json:"turns"`
			ByForm    map[string]any `json:"by_form"`
			Checked   int            `json:"recoveries_checked"`
			Failed    int            `json:"recoveries_failed"`
			Enlarged  int            `json:"enlarged_turns"`
			Pairing   int            `json:"pairing_violations"`
			Prefix    int            `json:"prefix_violations"`
			Artifacts int            `json:"artifacts"`
			Epochs    []struct {
				Turn int `json:"turn"`
			} `json:"epochs"`
		} `json:"sessions"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.GreaterOrEqual(t, len(report.Sessions), 5)
	changed := 0
	for _, s := range report.Sessions {
		require.Zero(t, s.Failed+s.Enlarged+s.Pairing+s.Prefix, s.ID)
		folder := filepath.Join(dir, datasets.Session{ID: s.ID}.DumpName())
		epochs := map[int]bool{}
		for _, e := range s.Epochs {
			epochs[e.Turn] = true
		}
		changed += audit(t, folder, epochs, func(id string) string {
			code, text, errs := tt(t, "", "vault", "get", id, "--vault", filepath.Join(dir, "vault"))
			require.Equal(t, exitDone, code, errs)
			return text
		})
	}
	require.Greater(t, changed, 50)
}

func TestReplay_TwoRunsGiveEqualBytes(t *testing.T) {
	t.Parallel()
	file := sessionFile(t, "tau-bench")
	var dumps []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "dump")
		code, _, errs := tt(t, "", "replay", "--json", "--dump", dir, file)
		require.Equal(t, exitDone, code, errs)
		var all strings.Builder
		require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".json") {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				all.WriteString(filepath.Base(path))
				all.Write(data)
			}
			return err
		}))
		dumps = append(dumps, all.String())
	}
	require.Equal(t, dumps[0], dumps[1])
}

// contractFields are the keys of S in the project's contract.
var contractFields = []string{
	"id", "source", "model", "tokenizer", "messages", "turns", "prefix_added", "tokens", "unique_tokens_removed", "cost",
	"denominators", "by_form", "by_tool", "epochs", "prefix_violations", "enlarged_turns", "passthrough_turns", "artifacts",
	"recoveries_checked", "recoveries_failed", "pairing_violations", "needed_later", "latency_ms", "reasons", "hidden_blocks",
}

func TestReplay_JSONKeepsTheContract(t *testing.T) {
	t.Parallel()
	code, out, errs := tt(t, "", "replay", "--json", sessionFile(t, "tau-bench"))
	require.Equal(t, exitDone, code, errs)
	var report map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	var sessions []map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(report["sessions"], &sessions))
	var total map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(report["total"], &total))
	for _, s := range append(sessions, total) {
		var have []string
		for key := range s {
			have = append(have, key)
		}
		want := contractFields
		if string(s["id"]) == `"total"` {
			want = append([]string{"exact", "panel"}, want...)
		}
		require.ElementsMatch(t, want, have)
	}
	var cost map[string]any
	require.NoError(t, json.Unmarshal(sessions[0]["cost"], &cost))
	require.Contains(t, cost, "share_of_optimum")
	for _, arm := range []string{"birth", "always_rewrite", "masking", "optimum"} {
		require.Positive(t, cost[arm], arm)
	}
	if string(sessions[0]["epochs"]) == "[]" {
		require.InDelta(t, cost["final"].(float64)+cost["recovery_debit"].(float64), cost["birth"], 1e-6)
	}
}

// With a gap every nine calls old results are put away; without epochs nothing is.
func TestReplay_GapsOpenEpochs(t *testing.T) {
	t.Parallel()
	type figures struct {
		Total struct {
			ByForm map[string]any `json:"by_form"`
			Cost   struct {
				Final   float64 `json:"final"`
				Debit   float64 `json:"recovery_debit"`
				Birth   float64 `json:"birth"`
				Optimum float64 `json:"optimum"`
			} `json:"cost"`
			Prefix int `json:"prefix_violations"`
			Failed int `json:"recoveries_failed"`
		} `json:"total"`
		Sessions []struct {
			Epochs []struct{ Kind string } `json:"epochs"`
		} `json:"sessions"`
	}
	run := func(args ...string) (f figures) {
		code, out, errs := tt(t, "", append([]string{"replay", "--json", "--gaps", "9"}, args...)...)
		require.Equal(t, exitDone, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &f))
		return f
	}
	with, without := run(), run("--no-epochs")
	require.Contains(t, with.Total.ByForm, "receipt")
	require.NotContains(t, without.Total.ByForm, "receipt")
	require.Zero(t, with.Total.Prefix+with.Total.Failed+without.Total.Prefix)
	require.InDelta(t, without.Total.Cost.Birth, without.Total.Cost.Final+without.Total.Cost.Debit, 1e-3)
	require.InDelta(t, without.Total.Cost.Birth, with.Total.Cost.Birth, 1e-3, "the birth arm is the session without epochs")
	require.Less(t, with.Total.Cost.Final+with.Total.Cost.Debit, with.Total.Cost.Birth)
	require.LessOrEqual(t, with.Total.Cost.Optimum, with.Total.Cost.Birth+1e-6)
	cold := 0
	for _, s := range with.Sessions {
		for _, e := range s.Epochs {
			if e.Kind == "cold" {
				cold++
			}
		}
	}
	require.Positive(t, cold)
}

func TestReplay_ATranscriptOfClaudeCodeReplays(t *testing.T) {
	t.Parallel()
	code, out, errs := tt(t, "", "replay", "--assume-tokenizer", "o200k_base", filepath.Join("..", "..", "datasets", "sessions", "transcript"))
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, out, "o200k_base (assumed)")
}

func TestReplay_BadInputIsNamedAndLosesNothingElse(t *testing.T) {
	t.Parallel()
	good := sessionFile(t, "tau-bench")
	cases := map[string]struct {
		content string
		says    string
	}{
		"empty file":       {"", "nothing in it"},
		"not JSON":         {"{\"messages\": [\n", ":1"},
		"not UTF-8":        {"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}\n", "UTF-8"},
		"wrong format":     {"{\"hello\": 1}\n", "format"},
		"repeated key":     {"{\"messages\":[{\"role\":\"user\",\"role\":\"user\",\"content\":\"x\"}]}\n", ""},
		"messages no list": {"{\"messages\": 7}\n", "messages"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := filepath.Join(t.TempDir(), "bad.jsonl")
			require.NoError(t, os.WriteFile(bad, []byte(test.content), 0o600))
			code, out, errs := tt(t, "", "replay", "--json", bad, good)
			require.True(t, slices.Contains([]int{exitDone, exitUsage}, code), errs)
			require.Contains(t, out, "tau-bench", "the good file is reported all the same")
			if code == exitUsage {
				require.Contains(t, errs, "bad.jsonl")
				require.Contains(t, errs, test.says)
			}
		})
	}
}

func TestReplay_RefusesAFolderThatIsNotEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.txt"), []byte("keep"), 0o600))
	code, _, errs := tt(t, "", "replay", "--dump", dir, sessionFile(t, "tau-bench"))
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "not empty")
	data, err := os.ReadFile(filepath.Join(dir, "mine.txt"))
	require.NoError(t, err)
	require.Equal(t, "keep", string(data))
}

func TestReplay_NeverTouchesTheHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	code, _, errs := ttEnv(t, map[string]string{"TOKEN_TERMINATOR_HOME": home}, "", "replay", "--json", sessionFile(t, "tau-bench"))
	require.Equal(t, exitDone, code, errs)
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestReplay_SaysWhatItLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	open := write("open.jsonl", `{"id":"open","model":"gpt-4o","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes?"},{"role":"user","content":"go"}]}`+"\n")
	foreign := write("anthropic.jsonl", `{"id":"foreign","model":"claude-sonnet-5-5","max_tokens":99,"system":"You help.","messages":[{"role":"user","content":"list"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"a.go b.go"}]},{"role":"assistant","content":"two"}]}`+"\n")
	code, out, errs := tt(t, "", "replay", open)
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, out, "1 message at the end of 1 session: no recorded answer")
	code, out, errs = tt(t, "", "replay", "--json", foreign)
	require.Contains(t, []int{exitDone, exitUsage}, code, errs)
	if code == exitDone {
		require.NotContains(t, out, `"not_json"`)
	} else {
		require.Contains(t, errs, "anthropic.jsonl")
	}
	code, _, errs = tt(t, "", "replay", "--min-messages", "9", open)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "no session has 9 messages")
}

func TestReplay_WhatElseOfARequestWasRecordedIsSent(t *testing.T) {
	t.Parallel()
	session := func(choice, tools string) string {
		var m []map[string]any
		m = append(m, map[string]any{"role": "system", "content": strings.Repeat("You are careful. ", 800)}, map[string]any{"role": "user", "content": "look"})
		m = append(m, map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"id": "c1", "type": "function", "function": map[string]any{"name": "bash", "arguments": `{"command":"tail log"}`}}}},
			map[string]any{"role": "tool", "tool_call_id": "c1", "content": plainLog(500)}, map[string]any{"role": "assistant", "content": "fine"})
		messages, err := json.Marshal(m)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "s.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(`{"id":"s","model":"gpt-4o","seed":12345678901234567890,"tool_choice":`+choice+`,"tools":`+tools+`,"messages":`+string(messages)+"}\n"), 0o600))
		return path
	}
	cases := map[string]struct {
		choice, tools string
		hidden        bool
		declared      int
	}{
		"auto":                     {`"auto"`, `[]`, true, 1},
		"no tool may be called":    {`"none"`, `[]`, false, 1},
		"another tool is forced":   {`{"type":"function","function":{"name":"bash"}}`, `[]`, false, 1},
		"the tool is there":        {`"auto"`, `[` + reduce.RecoveryTool + `]`, true, 1},
		"another tool of our name": {`"auto"`, `[{"type":"function","function":{"name":"token_terminator","parameters":{"type":"object"}}}]`, false, 1},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "dump")
			code, _, errs := tt(t, "", "replay", "--json", "--dump", dir, session(test.choice, test.tools))
			require.Equal(t, exitDone, code, errs)
			in, out, forms := readTurn(t, filepath.Join(dir, "s", "0002"))
			require.Contains(t, string(in), `"seed":12345678901234567890`)
			require.Contains(t, string(in), `"tool_choice":`+test.choice)
			require.Equal(t, test.declared, strings.Count(string(out), `"name":"token_terminator"`))
			hidden := slices.ContainsFunc(forms, func(f auditForm) bool { return f.Form == "compressed" })
			require.Equal(t, test.hidden, hidden)
		})
	}
}
