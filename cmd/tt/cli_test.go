package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/vault"
)

func plainLog(n int) string {
	var b strings.Builder
	for i := range n {
		if i == n/2 {
			b.WriteString("10:00:00 ERROR payment 77 was refused: card expired\n")
		}
		fmt.Fprintf(&b, "10:%02d:%02d INFO request served in %d ms\n", i/60%60, i%60, 3+i%7)
	}
	return b.String()
}

func TestReduceAndRecover_AreAPipeThatLosesNothing(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TOKEN_TERMINATOR_HOME": t.TempDir()}
	log := plainLog(500)
	code, shown, errs := ttEnv(t, env, log, "reduce", "--command", "kubectl logs api")
	require.Equal(t, exitDone, code, errs)
	require.Less(t, len(shown), len(log)/2)
	require.Contains(t, shown, "payment 77 was refused")
	id := regexp.MustCompile(`artifact_id=(a_[0-9a-f]{8,})`).FindStringSubmatch(shown)
	require.NotNil(t, id)
	code, back, errs := ttEnv(t, env, "", "recover", id[1])
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, log, back)

	code, page, errs := ttEnv(t, env, "", "recover", id[1], "--json", "--offset", "10", "--limit", "20")
	require.Equal(t, exitDone, code, errs)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(page), &got))
	require.Equal(t, log[10:30], got["content"])
	require.EqualValues(t, 30, got["next_offset"])
	require.EqualValues(t, len(log), got["total_chars"])
	for _, key := range []string{"artifact_id", "content", "offset", "next_offset", "total_chars", "sha256"} {
		require.Contains(t, got, key)
	}
	require.Len(t, got, 6)
}

func TestReduce_JSONHasTheContractsFields(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		stdin string
		args  []string
		form  string
	}{
		"a log":         {plainLog(500), []string{"--tool", "bash", "--command", "tail log"}, "compressed"},
		"a short text":  {"ok\n", nil, "original"},
		"lossless only": {plainLog(500), []string{"--preset", "lossless"}, ""},
		"switched off":  {plainLog(500), []string{"--off"}, "original"},
		"excluded":      {plainLog(500), []string{"--tool", "mine", "--exclude", "mine"}, "original"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := tt(t, test.stdin, append([]string{"reduce", "--json"}, test.args...)...)
			require.Equal(t, exitDone, code, errs)
			var got map[string]any
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			for _, key := range []string{"kind", "form", "reason", "tokens_in", "tokens_out", "measure", "artifact_id", "text"} {
				require.Contains(t, got, key)
			}
			require.Len(t, got, 8)
			if test.form != "" {
				require.Equal(t, test.form, got["form"])
			}
			if got["form"] == "original" {
				require.Equal(t, test.stdin, got["text"])
				require.Nil(t, got["artifact_id"])
			}
		})
	}
}

func TestReduce_WithoutAWorkingVaultTheOriginalComesOut(t *testing.T) {
	t.Parallel()
	log := plainLog(500)
	cases := map[string]func(t *testing.T, home string){
		"a file stands where the folder should": func(t *testing.T, home string) {
			require.NoError(t, os.WriteFile(filepath.Join(home, folderName), []byte("x"), 0o600))
		},
		"the vault is not a database": func(t *testing.T, home string) {
			require.NoError(t, os.MkdirAll(filepath.Join(home, folderName), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(home, folderName, vault.FileName), []byte(strings.Repeat("junk ", 400)), 0o600))
		},
		"the folder is a symbolic link": func(t *testing.T, home string) {
			target := t.TempDir()
			require.NoError(t, os.Symlink(target, filepath.Join(home, folderName)))
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			prepare(t, home)
			code, out, errs := ttEnv(t, map[string]string{"TOKEN_TERMINATOR_HOME": home}, log, "reduce", "--command", "tail log")
			require.Equal(t, exitStorage, code)
			require.Equal(t, log, out)
			require.Contains(t, errs, folderName, "the error names the file")
		})
	}
}

func TestReduce_NotUTF8GoesThroughUnchanged(t *testing.T) {
	t.Parallel()
	text := plainLog(500) + "\xff\xfe"
	code, out, errs := tt(t, text, "reduce")
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, text, out)
	code, _, errs = tt(t, text, "reduce", "--json")
	require.Equal(t, exitUsage, code, "JSON cannot hold the exact text")
	require.Contains(t, errs, "UTF-8")
}

func TestVault_ActionsOnACopiedFolder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := map[string]string{"TOKEN_TERMINATOR_HOME": home}
	log := plainLog(500)
	code, out, errs := ttEnv(t, env, log, "reduce", "--json", "--command", "tail log")
	require.Equal(t, exitDone, code, errs)
	var reduced struct {
		ID string `json:"artifact_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &reduced))

	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(home, folderName))))
	cases := map[string]struct {
		args []string
		want string
	}{
		"path":   {[]string{"path"}, filepath.Join(copied, vault.FileName)},
		"status": {[]string{"status"}, "artifacts  1"},
		"get":    {[]string{"get", reduced.ID}, log},
		"peek":   {[]string{"peek", reduced.ID}, "line_count"},
		"find":   {[]string{"find", reduced.ID, "REFUSED"}, "251:10:00:00 ERROR payment 77"},
		"search": {[]string{"search", "card expired"}, reduced.ID},
		"lines":  {[]string{"lines", reduced.ID, "251", "251"}, "payment 77 was refused"},
		"diff":   {[]string{"diff", "--json", reduced.ID, reduced.ID}, `"same": true`},
		"list":   {[]string{"list"}, reduced.ID},
		"verify": {[]string{"verify"}, "1 artifacts read, 0 damaged, 0 lost"},
	}
	for _, bad := range []string{"a_12", "a_1234567z", strings.Repeat("a", 70), ""} {
		code, _, errs := tt(t, "", "recover", bad, "--vault", copied)
		require.Equal(t, exitUsage, code, errs)
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"vault"}, test.args...)
			code, out, errs := tt(t, "", append(args, "--vault", copied)...)
			require.Equal(t, exitDone, code, errs)
			require.Contains(t, out, test.want)
			code, out, errs = tt(t, "", append(args, "--json", "--vault", copied)...)
			require.Equal(t, exitDone, code, errs)
			require.True(t, json.Valid([]byte(out)), out)
		})
	}
}

func TestCommands_BadUseIsToldWithAHint(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		code int
		says string
	}{
		"no verb":               {nil, exitUsage, ""},
		"unknown verb":          {[]string{"frobnicate"}, exitUsage, "Try:"},
		"unknown flag":          {[]string{"replay", "--frob"}, exitUsage, "Try:"},
		"unknown preset":        {[]string{"reduce", "--preset", "extreme"}, exitUsage, "--preset"},
		"unknown cache":         {[]string{"replay", "--cache", "none"}, exitUsage, "--cache prefix"},
		"unknown encoding":      {[]string{"replay", "--assume-tokenizer", "klingon"}, exitUsage, "o200k_base"},
		"unknown price row":     {[]string{"replay", "--price-row", "gpt-9"}, exitUsage, "study"},
		"missing file":          {[]string{"replay", "/does/not/exist.jsonl"}, exitUsage, "/does/not/exist.jsonl"},
		"recover without id":    {[]string{"recover"}, exitUsage, "id"},
		"no vault yet":          {[]string{"recover", "a_12345678"}, exitStorage, "there is no vault at"},
		"an unknown action":     {[]string{"vault", "burn"}, exitUsage, "burn"},
		"a vault that is empty": {[]string{"vault", "list", "--vault", "/does/not/exist"}, exitStorage, "/does/not/exist"},
		"a bench without name":  {[]string{"bench"}, exitUsage, "evidence"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, errs := tt(t, "", test.args...)
			require.Equal(t, test.code, code, errs)
			require.Contains(t, errs, test.says)
			require.NotContains(t, errs, "goroutine")
		})
	}
}

func TestHelp_EveryVerbExplainsItself(t *testing.T) {
	t.Parallel()
	for _, v := range verbs() {
		code, out, errs := tt(t, "", v.name, "--help")
		require.Equal(t, exitDone, code, errs)
		require.Contains(t, out, "Usage: tt "+v.name)
		require.Contains(t, out, "Exit codes:")
	}
	code, out, _ := tt(t, "", "help", "replay")
	require.Equal(t, exitDone, code)
	require.Contains(t, out, "Usage: tt replay")
}

func TestExplain_ListsEveryChangedResult(t *testing.T) {
	t.Parallel()
	code, out, errs := tt(t, "", "explain", "--json", sessionFile(t, "holmesgpt/001"))
	require.Equal(t, exitDone, code, errs)
	var got struct {
		Blocks []explained `json:"blocks"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	changed := 0
	for _, b := range got.Blocks {
		if b.ID != "" {
			changed++
			require.Less(t, b.After, b.Before)
			require.NotEmpty(t, b.Reason)
		}
	}
	require.Positive(t, changed)
}

func TestBenchEvidence_NothingIsOutOfSight(t *testing.T) {
	t.Parallel()
	code, out, errs := tt(t, "", "bench", "evidence", "--json")
	require.Equal(t, exitDone, code, errs+out)
}

func TestBenchEvidence_FailsWhenEvidenceIsAbsent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scenario, err := json.Marshal(map[string]any{
		"about": "a line nobody could know to be needed", "tool": "bash", "command": "tail log", "exit_code": 0,
		"text": plainLog(500), "expect": "smaller", "evidence": []string{"10:03:20 INFO request served in 7 ms"},
	})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine.json"), scenario, 0o600))
	code, out, errs := tt(t, "", "bench", "evidence", "--scenarios", dir)
	require.Equal(t, exitRefused, code, errs)
	require.Contains(t, out, "MISSING: 10:03:20")
}

func TestReduce_AShownTextIsNotReducedAgainAndItsMarkerCanBePasted(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TOKEN_TERMINATOR_HOME": t.TempDir()}
	log := plainLog(500)
	code, shown, errs := ttEnv(t, env, log, "reduce", "--command", "tail log")
	require.Equal(t, exitDone, code, errs)
	again := strings.Repeat("10:00:00 INFO request served in 3 ms\n", 300) + shown
	code, out, errs := ttEnv(t, env, again, "reduce", "--json", "--command", "cat shown")
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, out, `"reason":"own_marker"`)

	marker := shown[strings.LastIndex(shown, "[Token Terminator"):]
	code, back, errs := ttEnv(t, env, "", "recover", strings.TrimSpace(marker))
	require.Equal(t, exitDone, code, errs)
	require.Equal(t, log, back)
}

func TestReduce_AWrongFlagDoesNotEatThePipe(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--comand", "x"}, {"--preset", "none"}, {"file.txt"}} {
		code, out, errs := tt(t, "precious\n", append([]string{"reduce"}, args...)...)
		require.Equal(t, exitUsage, code, errs)
		require.Equal(t, "precious\n", out)
	}
}
