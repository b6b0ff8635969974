package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// A pipe takes its settings as a session does: flag, environment, config.toml, default;
// with a daemon and without.
func TestReduce_TakesEnvironmentAndConfig(t *testing.T) {
	t.Parallel()
	log := serverLog(3, 400)
	for name, c := range map[string]struct {
		env    map[string]string
		config string
		flags  []string
		reason turn.Reason
		head   string
	}{
		"nothing said":             {reason: turn.CompressedLog},
		"not enabled":              {env: map[string]string{"ENABLED": "false"}, reason: turn.TurnedOff},
		"off":                      {env: map[string]string{"MODE": "off"}, reason: turn.TurnedOff},
		"off in the file":          {config: "mode = \"off\"", reason: turn.TurnedOff},
		"the environment wins":     {config: "mode = \"off\"", env: map[string]string{"MODE": "balanced"}, reason: turn.CompressedLog},
		"lines of the environment": {env: map[string]string{"HEAD_LINES": "40"}, reason: turn.CompressedLog, head: "40"},
		"lines of the file":        {config: "head_lines = 40", reason: turn.CompressedLog, head: "40"},
		"the flag wins":            {config: "head_lines = 50", env: map[string]string{"HEAD_LINES": "60"}, flags: []string{"--head", "40"}, reason: turn.CompressedLog, head: "40"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reduceWith := func(folder string, env map[string]string, flags ...string) reduced {
				all := map[string]string{"TOKEN_TERMINATOR_HOME": t.TempDir()}
				for k, v := range env {
					all["TOKEN_TERMINATOR_"+k] = v
				}
				code, out, errs := ttEnv(t, all, log, append([]string{"reduce", "--command", "kubectl logs api", "--json", "--vault", folder}, flags...)...)
				require.Equal(t, exitDone, code, errs)
				var got reduced
				require.NoError(t, json.Unmarshal([]byte(out), &got))
				return got
			}
			folder := filepath.Join(t.TempDir(), "vault")
			require.NoError(t, os.MkdirAll(folder, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "config.toml"), []byte(c.config), 0o600))
			got := reduceWith(folder, maps.Clone(c.env), c.flags...)
			require.Equal(t, c.reason, got.Reason)
			if c.head != "" {
				plain := filepath.Join(t.TempDir(), "plain")
				require.InDelta(t, *reduceWith(plain, nil, "--head", c.head).TokensOut, *got.TokensOut, 5, "two vaults, two marker keys")
				require.Greater(t, *got.TokensOut, *reduceWith(plain, nil).TokensOut+100)
			}
			startDaemon(t, folder, nil)
			again := reduceWith(folder, maps.Clone(c.env), c.flags...)
			require.Equal(t, got.Reason, again.Reason)
			if got.TokensOut != nil {
				require.InDelta(t, *got.TokensOut, *again.TokensOut, 5)
			}
		})
	}
}

func TestReduce_ABrokenConfigIsSaidAndTheDataGoesThrough(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	id := ""
	code, out, errs := tt(t, serverLog(3, 400), "reduce", "--json", "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	var got reduced
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	id = *got.ArtifactID
	require.NoError(t, os.WriteFile(filepath.Join(folder, "config.toml"), []byte("mode = 3\n"), 0o600))
	code, out, errs = tt(t, "some data", "reduce", "--vault", folder)
	require.Equal(t, exitUsage, code)
	require.Equal(t, "some data", out)
	require.Contains(t, errs, "config.toml line 1: key mode: want one of")
	code, out, errs = tt(t, "", "recover", id, "--vault", folder)
	require.Equal(t, exitDone, code)
	require.Equal(t, serverLog(3, 400), out)
	require.Contains(t, errs, "config.toml is not taken")
	require.NoError(t, os.Remove(filepath.Join(folder, "config.toml")))
	code, out, errs = tt(t, serverLog(3, 400), "reduce", "--max-tokens", "10", "--vault", folder)
	require.Equal(t, exitDone, code)
	require.Equal(t, serverLog(3, 400), out)
	require.Contains(t, errs, "unchanged: ")
}
