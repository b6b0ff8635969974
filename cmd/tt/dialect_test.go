package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/internal/testkit"
)

// logOf writes the requests of a bundled session, one a line, in one dialect. Cache
// logOf writes the requests of a bundled session, one a line, in one dialect.
func logOf(t *testing.T, session string, as func([]byte) ([]byte, error)) string {
	t.Helper()
	path := sessionFile(t, session)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	sessions, problems := datasets.Read(path, data, datasets.Auto)
	require.Empty(t, problems)
	var log strings.Builder
	for _, one := range sessions[0].Turns() {
		body, err := as(one.Request())
		require.NoError(t, err)
		log.WriteString(`{"id":"log",` + string(body[1:]) + "\n")
	}
	file := filepath.Join(t.TempDir(), "log.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(log.String()), 0o600))
	return file
}

// B5, B16: a log of requests in any dialect is one session, replayed in its dialect
// with the forms of the chat.
func TestB5ReplayReadsLogsOfEveryDialect(t *testing.T) {
	t.Parallel()
	type figures struct {
		Sessions []struct {
			ID      string         `json:"id"`
			Turns   int            `json:"turns"`
			ByForm  map[string]any `json:"by_form"`
			Checked int            `json:"recoveries_checked"`
			Failed  int            `json:"recoveries_failed"`
			Large   int            `json:"enlarged_turns"`
			Pairing int            `json:"pairing_violations"`
			Prefix  int            `json:"prefix_violations"`
			Passed  int            `json:"passthrough_turns"`
			Needed  struct {
				Count int `json:"count"`
			} `json:"needed_later"`
			Denominators struct {
				Touchable float64 `json:"touchable"`
			} `json:"denominators"`
		} `json:"sessions"`
	}
	for _, session := range []string{"treon", "tau-bench"} {
		var chat figures
		for n, dialect := range []struct {
			name string
			as   func([]byte) ([]byte, error)
		}{
			{"chat", func(b []byte) ([]byte, error) { return b, nil }}, {"anthropic", testkit.AsAnthropic}, {"responses", testkit.AsResponses},
		} {
			dir := filepath.Join(t.TempDir(), "dump")
			code, out, errs := tt(t, "", "replay", "--json", "--no-epochs", "--dump", dir, logOf(t, session, dialect.as))
			require.Equal(t, exitDone, code, errs)
			var f figures
			require.NoError(t, json.Unmarshal([]byte(out), &f))
			require.Len(t, f.Sessions, 1, dialect.name)
			s := f.Sessions[0]
			require.Zero(t, s.Failed+s.Large+s.Pairing+s.Prefix, dialect.name)
			changed := audit(t, filepath.Join(dir, "log"), nil, func(id string) string {
				code, text, errs := tt(t, "", "vault", "get", id, "--vault", filepath.Join(dir, "vault"))
				require.Equal(t, exitDone, code, errs)
				return text
			})
			require.Positive(t, changed, dialect.name)
			if n == 0 {
				chat = f
				continue
			}
			want := chat.Sessions[0]
			require.Equal(t, want.Turns, s.Turns, dialect.name)
			require.Equal(t, want.ByForm, s.ByForm, dialect.name)
			require.Equal(t, want.Checked, s.Checked, dialect.name)
			require.Equal(t, want.Needed, s.Needed, dialect.name)
			require.Equal(t, want.Passed, s.Passed, dialect.name)
			require.Equal(t, want.Denominators, s.Denominators, dialect.name)
		}
	}
}
