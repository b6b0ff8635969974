//go:build unix

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/ledger"
)

// A dump has a ledger beside its vault: one row a turn, numbers only.
func TestReplay_ADumpHasALedgerOfNumbersOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dump")
	code, out, errs := tt(t, "", "replay", "--json", "--dump", dir, canarySession(t, true))
	require.Equal(t, exitDone, code, errs)
	var report struct {
		Total struct {
			Turns             int64
			PassthroughTurns  int64 `json:"passthrough_turns"`
			EnlargedTurns     int64 `json:"enlarged_turns"`
			RecoveriesChecked int64 `json:"recoveries_checked"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	path := filepath.Join(dir, "vault", ledger.FileName)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	r, err := ledger.OpenReading(context.Background(), path)
	require.NoError(t, err)
	defer r.Close()
	sum, err := r.Totals(context.Background(), ledger.Filter{Session: "private", Model: "gpt-4o"})
	require.NoError(t, err)
	require.Equal(t, report.Total.Turns, sum.Turns)
	require.Equal(t, report.Total.Turns-report.Total.PassthroughTurns, sum.Edited)
	require.Positive(t, sum.Edited)
	require.Positive(t, sum.Exact.Saved())
	require.Equal(t, sum.Turns, sum.Priced)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, word := range []string{canary, "kubectl", "node-7", "thinking of"} {
		require.NotContains(t, string(data), word)
	}
	code, _, errs = tt(t, "", "replay", canarySession(t, true))
	require.Equal(t, exitDone, code, errs)
}
