package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Absent evidence is 3, an id that is none is 2, a file that is missing is 2, and a
// user's own file is not told to be moved away.
func TestExit_AbsentEvidenceAndWrongInput(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	code, _, errs := tt(t, serverLog(1, 400), "reduce", "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	text := filepath.Join(t.TempDir(), "notjson.jsonl")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database\n", 400)), 0o600))
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitRefused, []string{"recover", "a_deadbeef"}},
		{exitRefused, []string{"vault", "get", "a_deadbeef"}},
		{exitRefused, []string{"vault", "peek", "a_deadbeef"}},
		{exitUsage, []string{"recover", "nonsense"}},
		{exitUsage, []string{"vault", "import", text + ".gone"}},
		{exitUsage, []string{"vault", "restore", text + ".gone"}},
		{exitUsage, []string{"vault", "import", text}},
		{exitUsage, []string{"vault", "restore", text}},
	} {
		code, _, errs := tt(t, "", append(c.args, "--vault", folder)...)
		require.Equal(t, c.code, code, "%v: %s", c.args, errs)
		require.NotContains(t, errs, "move the file away", c.args)
		require.Contains(t, errs, "Try: ", c.args)
	}
}

func TestExit_AnInterruptIsSaid(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var words bytes.Buffer
	require.Equal(t, exitUnexpected, report(&stage{ctx: ctx, stderr: &words}, "tt", storage(context.Canceled)))
	require.Equal(t, "tt: interrupted\n", words.String())
}

// A folder that is none says so, and not that a daemon does not answer.
func TestExit_StatusOfAFolderThatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	code, _, errs := tt(t, "", "status", "--vault", filepath.Join(file, "x"))
	require.NotEqual(t, exitDone, code)
	require.NotContains(t, errs, "does not answer")
}

func TestExit_SmallWords(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	code, out, errs := tt(t, serverLog(1, 900), "reduce", "--json", "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	id := out[strings.Index(out, `"a_`)+1:][:34]
	code, out, errs = tt(t, "", "vault", "lines", id, "999999", "1000000", "--vault", folder)
	require.Equal(t, exitUsage, code)
	require.Empty(t, out)
	require.Contains(t, errs, "the original has 900 lines")
	code, _, errs = tt(t, "", "vault", "get", id, "--json", "--limit", "50000", "--vault", folder)
	require.Equal(t, exitDone, code)
	require.Contains(t, errs, "a page is at most 20000 code points; the next one begins at --offset 20000")
	_, _, errs = tt(t, "", "replay", "--gaps", "many")
	require.Contains(t, errs, "--gaps")
	require.NotContains(t, errs, " -gaps")
	_, out, _ = tt(t, "", "replay", "--help")
	require.Contains(t, out, "\n  --gaps")
}
