package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// storedVault is a vault folder that holds one original of session "s" and one of "t".
func storedVault(t *testing.T) (dir, mine, theirs string) {
	dir = filepath.Join(t.TempDir(), "vault")
	v, err := vault.Open(dir, vault.Options{})
	require.NoError(t, err)
	p := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "mine"))
	q := vaulttest.MustPut(t, v, vaulttest.Evidence("t", 1, "theirs"))
	require.NoError(t, v.Close())
	return dir, p.Proofs[turn.Sum("mine")].Shown, q.Proofs[turn.Sum("theirs")].Shown
}

// ttJSON runs a command with --json, demands the exit code and gives the object.
func ttJSON(t *testing.T, want int, args ...string) map[string]any {
	t.Helper()
	code, out, errs := tt(t, "", append(args, "--json")...)
	require.Equal(t, want, code, errs)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &got), out)
	return got
}

func TestVaultRelease_WantsAWordAndNamesWhatGoes(t *testing.T) {
	t.Parallel()
	dir, mine, theirs := storedVault(t)
	live := filepath.Join(t.TempDir(), "live.jsonl")
	require.NoError(t, os.WriteFile(live, []byte(`{"content":"[… artifact_id=`+mine+` …]"}`), 0o600))
	plan := ttJSON(t, exitDone, "vault", "release", "--session", "s", "--vault", dir, "--dry-run")
	require.EqualValues(t, 1, plan["artifacts"])
	require.Nil(t, plan["done"])
	require.Nil(t, plan["transcripts"])

	code, out, errs := tt(t, "", "vault", "release", "--session", "s", "--vault", dir)
	require.Equal(t, exitRefused, code)
	require.Contains(t, out, "would release: 1 original")
	require.Contains(t, errs, "--yes")
	named := ttJSON(t, exitRefused, "vault", "release", "--session", "s", "--vault", dir, "--yes", "--transcripts", live)
	require.Nil(t, named["done"])
	found := named["transcripts"].(map[string]any)["named"].([]any)
	require.Equal(t, live, found[0].(map[string]any)["path"])
	require.Equal(t, exitRefused, codeOf(t, "vault", "prune", "--unused", "0", "--unseen", "0", "--vault", dir), "nothing without --yes")

	code, out, errs = tt(t, "", "vault", "get", mine, "--vault", dir)
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, "mine", out)
	done := ttJSON(t, exitDone, "vault", "release", "--session", "s", "--vault", dir, "--yes", "--transcripts", live, "--lose-evidence", "--compact")
	require.EqualValues(t, 1, done["done"].(map[string]any)["artifacts"])
	_, _, errs = tt(t, "", "vault", "get", mine, "--vault", dir)
	require.Contains(t, errs, "released by the operator")
	_, _, errs = tt(t, "", "vault", "get", "a_00000000", "--vault", dir)
	require.Contains(t, errs, "unknown")

	_, _, errs = tt(t, "", "vault", "release", theirs, "--vault", dir, "--yes")
	require.Contains(t, errs, "no transcript was searched")
	require.Equal(t, exitDone, codeOf(t, "vault", "verify", "--vault", dir))
	require.Equal(t, exitUsage, codeOf(t, "vault", "release", "--session", "s", "--vault", dir, "--yes"), "nobody of that name any more")
	require.Equal(t, exitRefused, codeOf(t, "vault", "release", theirs, "--vault", dir), "it is released already")
	for _, wrong := range [][]string{{"release"}, {"release", "a", "b"}, {"release", mine, "--session", "s"}, {"prune", "x"}, {"prune", "--unseen", "-1"},
		{"backup"}, {"restore"}, {"import"}, {"prune", "--transcripts", dir + "/nowhere"}} {
		require.Equal(t, exitUsage, codeOf(t, append([]string{"vault", "--vault", dir}, wrong...)...), wrong)
	}
}

func codeOf(t *testing.T, args ...string) int {
	t.Helper()
	code, _, errs := tt(t, "", args...)
	if code != exitDone {
		require.Contains(t, errs, "tt", args)
	}
	return code
}

func TestVaultBackupAndRestore_AreThereAndBack(t *testing.T) {
	t.Parallel()
	dir, mine, _ := storedVault(t)
	away := filepath.Join(t.TempDir(), "away")
	plan := ttJSON(t, exitDone, "vault", "backup", away, "--vault", dir, "--dry-run")
	require.EqualValues(t, 2, plan["artifacts"])
	require.NoDirExists(t, away)
	code, out, errs := tt(t, "", "vault", "backup", away, "--vault", dir)
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, out, "2 originals, every hash checked")
	require.Equal(t, exitUsage, codeOf(t, "vault", "backup", away, "--vault", dir), "nothing is written over")
	code, out, _ = tt(t, "", "vault", "get", mine, "--vault", away)
	require.Equal(t, []any{exitDone, "mine"}, []any{code, out}, "a backup is a vault")
	file := filepath.Join(t.TempDir(), "one.sqlite3")
	require.Equal(t, exitDone, codeOf(t, "vault", "backup", file, "--vault", dir))
	require.FileExists(t, file+".key")

	require.Equal(t, exitDone, codeOf(t, "vault", "release", mine, "--vault", dir, "--yes"))
	require.Equal(t, exitDone, codeOf(t, "vault", "restore", file, "--vault", dir, "--dry-run"))
	code, _, errs = tt(t, "", "vault", "restore", file, "--vault", dir)
	require.Equal(t, exitRefused, code)
	require.Contains(t, errs, "--yes")
	got := ttJSON(t, exitDone, "vault", "restore", file, "--vault", dir, "--yes")
	require.Len(t, got["done"].(map[string]any)["aside"], 1)
	code, out, _ = tt(t, "", "vault", "get", mine, "--vault", dir)
	require.Equal(t, []any{exitDone, "mine"}, []any{code, out})

	v, err := vault.Open(dir, vault.Options{})
	require.NoError(t, err)
	vaulttest.MustPut(t, v, vaulttest.Evidence("u", 1, "newer than the backup"))
	require.Equal(t, exitRefused, codeOf(t, "vault", "restore", file, "--vault", dir, "--yes"), "it would lose one")
	code, _, errs = tt(t, "", "vault", "restore", file, "--vault", dir, "--yes", "--lose-evidence")
	require.Equal(t, exitStorage, code, "the vault is in use")
	require.Contains(t, errs, "Try:")
	require.NoError(t, v.Close())
	require.Equal(t, exitDone, codeOf(t, "vault", "restore", file, "--vault", dir, "--yes", "--lose-evidence"))
	require.Equal(t, exitUsage, codeOf(t, "vault", "restore", file+"x", "--vault", dir))
	require.Equal(t, exitStorage, codeOf(t, "vault", "backup", away, "--vault", file+"x"))
}

func TestVaultImport_TakesTheOldStore(t *testing.T) {
	t.Parallel()
	old, dir := filepath.Join(t.TempDir(), "artifacts.sqlite3"), filepath.Join(t.TempDir(), "vault")
	db, err := sqlitefile.OpenWriter(t.Context(), old, sqlitefile.Options{})
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE artifacts (artifact_id TEXT PRIMARY KEY, sha256 TEXT, content TEXT)`)
	require.NoError(t, err)
	for _, text := range []string{"one", "two"} {
		_, err = db.Exec(`INSERT INTO artifacts VALUES (?1, ?2, ?3)`, string(turn.Sum(text).ID()), turn.Sum(text).String(), text)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	plan := ttJSON(t, exitDone, "vault", "import", old, "--vault", dir, "--dry-run")
	require.EqualValues(t, 2, plan["new"])
	require.NoDirExists(t, dir)
	done := ttJSON(t, exitDone, "vault", "import", old, "--vault", dir)
	require.Equal(t, plan, done)
	code, out, _ := tt(t, "", "vault", "get", string(turn.Sum("two").ID()), "--vault", dir)
	require.Equal(t, []any{exitDone, "two"}, []any{code, out})
	again := ttJSON(t, exitDone, "vault", "import", old, "--vault", dir, "--dry-run")
	require.EqualValues(t, 2, again["known"])

	db, err = sqlitefile.OpenWriter(t.Context(), old, sqlitefile.Options{})
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE artifacts SET content = 'three' WHERE content = 'two'`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	code, _, errs := tt(t, "", "vault", "import", old, "--vault", dir)
	require.Equal(t, exitRefused, code, "what does not match is named")
	require.Contains(t, errs, string(turn.Sum("two").ID())+": its content does not match its hash")
	require.Equal(t, exitUsage, codeOf(t, "vault", "import", filepath.Join(dir, vault.FileName), "--vault", dir), "a vault is no old store")
	require.Equal(t, exitUsage, codeOf(t, "vault", "import", old+"x", "--vault", dir))
}

func TestVaultPruneAndStatus_SayWhatIsKnown(t *testing.T) {
	t.Parallel()
	dir, _, _ := storedVault(t)
	plan := ttJSON(t, exitDone, "vault", "prune", "--vault", dir, "--dry-run")
	require.EqualValues(t, 0, plan["artifacts"], "everything here was promised to a session")
	require.Equal(t, exitDone, codeOf(t, "vault", "prune", "--vault", dir, "--yes"))
	st := ttJSON(t, exitDone, "vault", "status", "--vault", dir)
	require.Equal(t, "ok", st["level"])
	forecast := st["forecast"].(map[string]any)
	for _, key := range []string{"bytes_per_day", "warn_at", "red_at"} {
		require.Contains(t, forecast, key)
		require.Nil(t, forecast[key], "unknown is null, not zero")
	}
	code, out, errs := tt(t, "", "vault", "status", "--vault", dir)
	require.Equal(t, exitDone, code, errs)
	require.True(t, strings.Contains(out, "forecast   unknown"), out)
}
