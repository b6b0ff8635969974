package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// serviceLog is a log whose ordinary lines are left out when it is shown.
func serviceLog(lines int) string {
	var b strings.Builder
	for i := range lines {
		if i == lines/2 {
			b.WriteString("ERROR the disk of node-7 is full\n")
		}
		fmt.Fprintf(&b, "10:%02d:%02d INFO request %d served in %d ms\n", i/60%60, i%60, 4000+i, 3+i%7)
	}
	return b.String()
}

func reduceJSON(t *testing.T, stdin string, args ...string) (got reduced) {
	t.Helper()
	code, out, errs := tt(t, stdin, append([]string{"reduce", "--json"}, args...)...)
	require.Equal(t, exitDone, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	return got
}

// What is left out comes back byte for byte, whatever bytes stand around it.
func TestPipe_TheOriginalComesBackByteForByte(t *testing.T) {
	t.Parallel()
	log := serviceLog(300)
	for name, text := range map[string]string{
		"plain":             log,
		"CRLF":              strings.ReplaceAll(log, "\n", "\r\n"),
		"a byte order mark": "\ufeff" + log,
		"NUL bytes":         strings.Replace(log, "node-7", "node\x007", 1),
		"joined emoji":      strings.Replace(log, "node-7", "👩‍👩‍👧‍👦", 1) + "end without a line feed 👩🏽‍🚀",
		"separators":        strings.Replace(log, "node-7", "a\u2028b\u2029c\u0085d", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "v")
			got := reduceJSON(t, text, "--vault", dir, "--command", "kubectl logs api")
			require.Equal(t, turn.Compressed, got.Form, got.Reason)
			require.Less(t, *got.TokensOut, *got.TokensIn)
			require.Contains(t, got.Text, "ERROR the disk of")
			code, back, errs := tt(t, "", "recover", *got.ArtifactID, "--vault", dir)
			require.Equal(t, exitDone, code, errs)
			require.Equal(t, text, back)
		})
	}
}

func TestPipe_WhatStaysByteForByte(t *testing.T) {
	t.Parallel()
	log := serviceLog(300)
	for name, c := range map[string]struct {
		text string
		args []string
		want turn.Reason
	}{
		"a short result":          {"ok\r\n", nil, turn.BelowFloor},
		"an empty one":            {"", nil, turn.BelowFloor},
		"bytes that are no UTF-8": {log + "\xc4\xe3\xba\xc3", nil, turn.NotUTF8},
		"an excluded tool":        {log, []string{"--tool", "TodoWrite"}, turn.ExcludedTool},
		"a tool the user names":   {log, []string{"--tool", "ledger", "--exclude", "ledger"}, turn.ExcludedTool},
		"switched off":            {log, []string{"--off"}, turn.TurnedOff},
		"a page of ours":          {log, []string{"--tool", "token_terminator"}, turn.RecoveredText},
		"a limit too small":       {log, []string{"--max-tokens", "20"}, turn.NoForcedFit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "v")
			code, out, errs := tt(t, c.text, append([]string{"reduce", "--vault", dir}, c.args...)...)
			require.Equal(t, exitDone, code, errs)
			require.Equal(t, c.text, out)
			if name != "bytes that are no UTF-8" { // JSON cannot carry them
				got := reduceJSON(t, c.text, append([]string{"--vault", dir}, c.args...)...)
				require.Equal(t, c.want, got.Reason)
				require.Nil(t, got.ArtifactID)
				require.Equal(t, c.text, got.Text)
			}
		})
	}
}

// Without a place for the original nothing is left out, and the exit code says so.
func TestPipe_FailingRetentionGivesTheOriginal(t *testing.T) {
	t.Parallel()
	log := serviceLog(300)
	base := t.TempDir()
	file := filepath.Join(base, "file")
	require.NoError(t, os.WriteFile(file, []byte("keep me"), 0o600))
	damaged := filepath.Join(base, "damaged")
	require.NoError(t, os.Mkdir(damaged, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(damaged, "vault.sqlite3"), []byte(strings.Repeat("no database ", 999)), 0o600))
	link := filepath.Join(base, "link")
	require.NoError(t, os.Symlink(base, link))
	for name, dir := range map[string]string{"a file in the way": file, "a damaged vault": damaged, "a symbolic link": link} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := tt(t, log, "reduce", "--vault", dir, "--command", "kubectl logs api")
			require.Equal(t, exitStorage, code)
			require.Equal(t, log, out)
			require.Contains(t, errs, dir, "the error names the place")
			require.Contains(t, errs, "Try: ", "and what to do")
			require.NotContains(t, errs, "node-7", "no content in an error")
		})
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "keep me", string(data))
}

func TestPipe_SettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"an unknown preset":    {"--preset", "wild"},
		"no head":              {"--head", "0"},
		"no tail":              {"--tail", "-1"},
		"negative context":     {"--context", "-1"},
		"a negative limit":     {"--max-tokens", "-5"},
		"a limit of words":     {"--max-tokens", "many"},
		"an unknown flag":      {"--retain-original=false"},
		"an argument too many": {"file.log"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "v")
			code, out, errs := tt(t, serviceLog(300), append([]string{"reduce", "--vault", dir}, args...)...)
			require.Equal(t, exitUsage, code)
			require.Equal(t, serviceLog(300), out, "a wrong setting does not eat what a pipe carries")
			require.NotEmpty(t, errs)
			require.NoDirExists(t, dir, "nothing is opened for a wrong setting")
		})
	}
	wide := reduceJSON(t, serviceLog(300), "--vault", filepath.Join(t.TempDir(), "v"), "--head", "40", "--tail", "40", "--context", "5")
	lines := strings.Split(serviceLog(300), "\n")
	require.Contains(t, wide.Text, strings.Join(lines[:40], "\n"))
	require.Contains(t, wide.Text, strings.Join(lines[145:156], "\n"))
	require.Contains(t, wide.Text, strings.Join(lines[261:301], "\n"))
}

// Every way an id can fail has words of its own; another session's id is refused.
func TestPipe_LookUpsThatFailSayWhy(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "v")
	got := reduceJSON(t, serviceLog(300), "--vault", dir, "--session", "mine", "--command", "kubectl logs api")
	id := *got.ArtifactID
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"mine":                  {[]string{id, "--session", "mine"}, exitDone, ""},
		"the operator's":        {[]string{id}, exitDone, ""},
		"of another session":    {[]string{id, "--session", "other"}, exitRefused, "session"},
		"unknown":               {[]string{"a_0000000000"}, exitRefused, ""},
		"too short":             {[]string{"a_00"}, exitUsage, ""},
		"a path":                {[]string{"../../etc/passwd"}, exitUsage, ""},
		"a statement":           {[]string{"a_00000000' OR 1=1 --x"}, exitUsage, ""},
		"a page before 0":       {[]string{id, "--json", "--offset", "-1"}, exitUsage, ""},
		"a page without --json": {[]string{id, "--offset", "5"}, exitUsage, "--json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := tt(t, "", append([]string{"recover", "--vault", dir}, c.args...)...)
			require.Equal(t, c.code, code, errs)
			require.Contains(t, errs, c.says)
			if c.code != exitDone {
				require.Empty(t, out)
				require.NotEmpty(t, errs)
			}
		})
	}
	code, out, errs := tt(t, "", "recover", id, "--vault", dir, "--json", "--limit", "100")
	require.Equal(t, exitDone, code, errs)
	var page recovered
	require.NoError(t, json.Unmarshal([]byte(out), &page))
	require.Equal(t, serviceLog(300)[:100], page.Content)
	require.Equal(t, 100, *page.NextOffset)
}

func TestPipe_HelpIsDataAndAWrongFlagIsWords(t *testing.T) {
	t.Parallel()
	for _, v := range verbs() {
		code, out, errs := tt(t, "", v.name, "--help")
		require.Equal(t, exitDone, code, v.name)
		require.Contains(t, out, "Usage: tt "+v.name)
		require.Empty(t, errs, v.name)
		code, out, errs = tt(t, "", v.name, "--no-such-flag")
		require.Equal(t, exitUsage, code, v.name)
		require.Empty(t, out, v.name)
		require.Contains(t, errs, "no-such-flag", v.name)
	}
}

// A result over the bound goes through whole, also when everything is switched off.
func TestPipe_HugeResultsLoseNothing(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("0123456789abcde\n", maxInput/16+10)
	for name, c := range map[string]struct {
		args []string
		code int
		out  string
	}{
		"as it is":     {nil, exitUsage, huge},
		"switched off": {[]string{"--off"}, exitDone, huge},
		"as JSON":      {[]string{"--json"}, exitUsage, ""},
		"both":         {[]string{"--json", "--off"}, exitUsage, ""},
	} {
		t.Run(name, func(t *testing.T) { // one after the other: each holds the bytes a few times
			code, out, errs := tt(t, huge, append([]string{"reduce"}, c.args...)...)
			require.Equal(t, c.code, code, errs)
			require.True(t, c.out == out, "%d bytes instead of %d", len(out), len(c.out))
		})
	}
}
