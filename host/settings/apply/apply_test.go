package apply

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/actors"
	"token-terminator/host/settings"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/vault"
)

func load(t *testing.T, flags map[string]string) settings.Settings {
	t.Helper()
	s, err := settings.Load(settings.Sources{Flags: flags})
	require.NoError(t, err)
	return s
}

// The defaults of settings and of the packages they set are the same numbers.
func TestDefaultsAgree(t *testing.T) {
	t.Parallel()
	s := load(t, nil)
	want := plan.Settings{}.WithDefaults()
	require.Equal(t, want, Plan(s).WithDefaults())
	var c actors.Config
	Actors(s, &c)
	require.Equal(t, actors.DefaultTurnTimeout, c.TurnTimeout)
	require.Equal(t, actors.DefaultMaxTurns, c.MaxTurns)
	require.EqualValues(t, actors.DefaultMaxBytes, c.MaxBytes)
	o := Vault(s)
	require.Equal(t, vault.Options{CapacityBytes: vault.DefaultCapacity, HighWaterPct: vault.DefaultHighWater, LowWaterPct: vault.DefaultLowWater, MaxArtifactRunes: vault.DefaultMaxRunes, Synchronous: "FULL"}, o)
	require.Equal(t, 400*24*time.Hour, Ledger(s).Keep)
}

func TestEverySettingReachesItsPackage(t *testing.T) {
	t.Parallel()
	s := load(t, map[string]string{
		"HEAD_LINES": "3", "TAIL_LINES": "4", "CONTEXT_LINES": "5", "MAX_TOKENS": "900", "PRESET": "tight", "EXCLUDE_TOOLS": "a,b",
		"LAYOUT": "no", "TEMPORAL_DELTA": "no", "COMPRESSED": "no", "RECOVERY_PCT": "0", "TIKTOKEN_ENCODING": "o200k_base", "SYNCHRONOUS": "normal",
	})
	c := Compile(s, plan.Study())
	require.Equal(t, []any{3, 4, 5, 900, true, []string{"a", "b"}}, []any{c.Reduce.Form.Head, c.Reduce.Form.Tail, c.Reduce.Form.Context, c.Reduce.Form.MaxTokens, c.Reduce.Form.Tight, c.Reduce.Excluded})
	require.True(t, c.NoLayout && c.NoDelta && c.NoHiding && !c.Off)
	require.Zero(t, c.Plan.WithDefaults().RecoveryPct, "a user's 0 stays 0")
	_, err := compile.New(c, bytes.Repeat([]byte{1}, 32), nil)
	require.NoError(t, err)
	v, err := vault.Open(filepath.Join(t.TempDir(), "v"), Vault(s))
	require.NoError(t, err)
	require.NoError(t, v.Close())
	for _, off := range []map[string]string{{"MODE": "off"}, {"ENABLED": "false"}, {"TOKEN_BUDGET": "false"}} {
		require.True(t, Compile(load(t, off), plan.Study()).Off)
	}
}

func TestRowIsTheNamedOneThenTheModels(t *testing.T) {
	t.Parallel()
	prices, err := plan.EmbeddedPrices()
	require.NoError(t, err)
	rows := prices.Rows(prices.AsOf())
	require.NotEmpty(t, rows)
	known := rows[0].Name
	require.Equal(t, known, Row(load(t, nil), prices, known).Name)
	require.Equal(t, plan.StudyName, Row(load(t, nil), prices, "nobody-knows-me").Name)
	require.Equal(t, plan.StudyName, Row(load(t, map[string]string{"PRICE_ROW": "study"}), prices, known).Name)
	require.Equal(t, known, Row(load(t, map[string]string{"PRICE_ROW": known}), prices, "nobody-knows-me").Name)
}
