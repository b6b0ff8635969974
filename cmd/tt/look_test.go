package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/host/doctor"
	"token-terminator/host/settings"
	"token-terminator/host/watch"
	"token-terminator/vault"
)

func statusJSON(t *testing.T, env map[string]string, args ...string) watch.Status {
	t.Helper()
	code, out, errs := ttEnv(t, env, "", append([]string{"status", "--json"}, args...)...)
	require.Equal(t, exitDone, code, errs)
	var s watch.Status
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Equal(t, watch.Schema, s.Schema)
	return s
}

func doctorJSON(t *testing.T, want int, args ...string) map[string]doctor.Finding {
	t.Helper()
	code, out, errs := tt(t, "", append([]string{"doctor", "--json"}, args...)...)
	require.Equal(t, want, code, out+errs)
	var r doctor.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	found := map[string]doctor.Finding{}
	for _, f := range r.Findings {
		if known, ok := found[f.Check]; !ok || known.Status == doctor.OK {
			found[f.Check] = f
		}
	}
	return found
}

func TestStatus_WithoutADaemonTellsWhatTheFilesSay(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TOKEN_TERMINATOR_HOME": t.TempDir()}
	s := statusJSON(t, env)
	require.Nil(t, s.Daemon)
	require.Nil(t, s.Vault)
	require.Equal(t, []string{errNoDaemon.Error()}, s.Warnings)
	require.NoDirExists(t, filepath.Join(env["TOKEN_TERMINATOR_HOME"], folderName), "looking makes nothing")
	code, _, errs := ttEnv(t, env, plainLog(500), "reduce", "--command", "kubectl logs api")
	require.Equal(t, exitDone, code, errs)
	s = statusJSON(t, env)
	require.Equal(t, 1, s.Vault.Artifacts)
	require.Nil(t, s.Turns, "there is no ledger: unknown, not 0")
	code, out, _ := ttEnv(t, env, "", "status")
	require.Equal(t, exitDone, code)
	require.Contains(t, out, "none is running")
}

// The whole path: a daemon in a process of its own, asked over its socket, killed, and
// looked at again.
func TestStatusAndDoctor_AskTheRunningDaemonAndTellADeadOne(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	p := startProcess(t, folder)
	s := statusJSON(t, nil, "--vault", folder)
	require.NotNil(t, s.Daemon)
	require.Equal(t, p.ready.PID, s.Daemon.PID)
	require.Equal(t, version, s.Daemon.Version)
	require.NotContains(t, s.Warnings, errNoDaemon.Error())
	found := doctorJSON(t, exitDone, "--vault", folder)
	require.Equal(t, doctor.OK, found["daemon"].Status, found["daemon"])
	require.Contains(t, found["daemon"].What, "runs and answers")

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGSTOP))
	require.Equal(t, doctor.Fail, doctorJSON(t, exitUnexpected, "--vault", folder)["daemon"].Status, "it stands still")
	require.NoError(t, p.cmd.Process.Kill())
	p.ended(t)
	require.Equal(t, doctor.Warn, doctorJSON(t, exitDone, "--vault", folder)["daemon"].Status, "it left its files")
	require.Nil(t, statusJSON(t, nil, "--vault", folder).Daemon)
}

func TestDoctor_ExitsOneWhenSomethingFailed(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	v, err := vault.Open(folder, vault.Options{})
	require.NoError(t, err)
	require.NoError(t, v.Close())
	require.Equal(t, doctor.OK, doctorJSON(t, exitDone, "--vault", folder)["vault"].Status)
	require.NoError(t, os.WriteFile(filepath.Join(folder, settings.FileName), []byte("no_such = 1\n"), 0o600))
	found := doctorJSON(t, exitUnexpected, "--vault", folder)
	require.Contains(t, found["settings"].What, "config.toml line 1: key no_such")
	code, out, errs := tt(t, "", "doctor", "--vault", folder)
	require.Equal(t, exitUnexpected, code)
	require.Contains(t, out, "1 checks failed")
	require.Contains(t, errs, "Try:")
}

func TestConfig_ShowsEveryValueAndWhereItComesFrom(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	folder := filepath.Join(home, folderName)
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, settings.FileName), []byte("head_lines = 7\n"), 0o600))
	env := map[string]string{"TOKEN_TERMINATOR_HOME": home, "TOKEN_TERMINATOR_MODE": "suggest", "TOKEN_TERMINATOR_INLINE_LEASES": "9", "OPENROUTER_API_KEY": canary}
	code, out, errs := ttEnv(t, env, "", "config", "show", "--json")
	require.Equal(t, exitDone, code, errs)
	require.NotContains(t, out+errs, canary)
	var shown struct {
		Settings []settings.Shown
		Notices  []string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &shown))
	origins := map[string]string{}
	for _, one := range shown.Settings {
		origins[one.Name] = one.Origin
	}
	require.Equal(t, "config.toml", origins["HEAD_LINES"])
	require.Equal(t, "environment", origins["MODE"])
	require.Equal(t, "TOKEN_TERMINATOR_INLINE_LEASES", origins["RECEIPT_AGE"])
	require.Len(t, shown.Notices, 1)
	code, out, _ = ttEnv(t, env, "", "config", "path")
	require.Equal(t, exitDone, code)
	require.Equal(t, filepath.Join(folder, settings.FileName)+"\n", out)
	require.NoError(t, os.WriteFile(filepath.Join(folder, settings.FileName), []byte("api_key = \""+canary+"\"\n"), 0o600))
	code, out, errs = ttEnv(t, env, "", "config", "show")
	require.Equal(t, exitUsage, code)
	require.NotContains(t, out+errs, canary)
	code, _, _ = ttEnv(t, env, "", "config")
	require.Equal(t, exitUsage, code)
}
