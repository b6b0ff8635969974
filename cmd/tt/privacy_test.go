//go:build unix

package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/vault"
)

const canary = "canary-4711-tweets"

// canarySession is a session whose user, system and answers hold the canary, and
// whose results hold it when asked to.
func canarySession(t *testing.T, inResults bool) string {
	t.Helper()
	result := serviceLog(400)
	if inResults {
		result = canary + "\n" + result
	}
	messages := []any{
		map[string]any{"role": "system", "content": "be careful " + canary},
		map[string]any{"role": "user", "content": "look at " + canary},
	}
	for _, id := range []string{"a", "b"} {
		messages = append(messages,
			map[string]any{"role": "assistant", "content": "thinking of " + canary, "tool_calls": []any{map[string]any{
				"id": id, "type": "function", "function": map[string]any{"name": "bash", "arguments": `{"command":"kubectl logs"}`}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": result})
	}
	messages = append(messages, map[string]any{"role": "assistant", "content": "done " + canary})
	data, err := json.Marshal(map[string]any{"id": "private", "model": "gpt-4o", "messages": messages})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "session.jsonl")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// No report holds a word of the session.
func TestPrivacy_ReportsHoldNoContent(t *testing.T) {
	t.Parallel()
	path := canarySession(t, true)
	for name, args := range map[string][]string{
		"text": {"replay"}, "JSON": {"replay", "--json"}, "Markdown": {"replay", "--markdown"}, "explain": {"explain"},
		"the panel": {"replay", "--model", "claude-opus-5"},
	} {
		code, out, errs := tt(t, "", append(args, path)...)
		require.Equal(t, exitDone, code, errs)
		require.NotContains(t, out+errs, canary, name)
		require.NotContains(t, out+errs, "node-7", name)
		require.NotContains(t, out+errs, "kubectl", name)
	}
	page := filepath.Join(t.TempDir(), "report.html")
	code, _, errs := tt(t, "", "replay", "--html", page, path)
	require.Equal(t, exitDone, code, errs)
	data, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, word := range []string{canary, "node-7", "kubectl"} {
		require.NotContains(t, string(data), word)
	}
}

// The vault keeps results and the arguments of their calls, no words of others; the
// dump is private, the vault in it too.
func TestPrivacy_TheVaultHoldsResultsOnlyAndADumpIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dump")
	code, _, errs := tt(t, "", "replay", "--dump", dir, canarySession(t, false))
	require.Equal(t, exitDone, code, errs)
	file := filepath.Join(dir, "vault", vault.FileName)
	for _, name := range []string{file, file + "-wal"} {
		data, err := os.ReadFile(name)
		if err == nil {
			require.NotContains(t, string(data), canary)
		}
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(data), "node-7", "the result is there")
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	}))
}
