package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reports"
)

// The page is private, stands where it was asked for, and shows the numbers of --json.
func TestReplay_ThePageShowsTheNumbersOfJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	file := sessionFile(t, "tau-bench")
	for range 2 { // the second run replaces the first's page
		code, out, errs := tt(t, "", "replay", "--quiet", "--json", "--html", path, file)
		require.Equal(t, exitDone, code, errs)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1, "nothing half written is left")
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		page := string(data)
		require.True(t, strings.HasPrefix(page, reports.PageStart))
		var report struct {
			Sessions []struct {
				ID     string
				Turns  int
				Tokens struct{ Raw, Final int }
				Cost   struct {
					Raw      json.Number
					SavedPct json.Number `json:"saved_pct"`
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		s := report.Sessions[0]
		require.Contains(t, page, s.ID)
		for _, number := range []string{fmt.Sprint(s.Tokens.Raw), fmt.Sprint(s.Turns), string(s.Cost.Raw), string(s.Cost.SavedPct)} {
			require.Contains(t, page, `<data value="`+number+`">`)
		}
		require.Equal(t, 8, strings.Count(page, "<polyline"), "two plots of the recorded arm, ours, birth and masking")
	}
}

// The last bills of the turns are the bills of the session.
func TestReplay_TheSeriesEndAtTheBill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report.html")
	code, out, errs := tt(t, "", "replay", "--quiet", "--json", "--price-row", "study", "--html", path, sessionFile(t, "tau-bench"))
	require.Equal(t, exitDone, code, errs)
	var report struct {
		Sessions []struct{ Cost struct{ Raw, Final float64 } }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	rows := strings.Split(string(data[strings.Index(string(data), `id="t-s1turns"`):]), "<tr>")
	last := ""
	for _, row := range rows {
		if strings.Contains(row, `scope="row"`) && strings.Contains(row, "<data") {
			last = row
		}
		if strings.Contains(row, "</table>") {
			break
		}
	}
	var got []float64
	for _, part := range strings.Split(last, `<data value="`)[1:] {
		var v float64
		_, err := fmt.Sscanf(part, "%g", &v)
		require.NoError(t, err)
		got = append(got, v)
	}
	require.Len(t, got, 8, "tokens and bill of four arms")
	require.InDelta(t, report.Sessions[0].Cost.Raw, got[1], 1e-6*got[1])
	require.InDelta(t, report.Sessions[0].Cost.Final, got[3], 1e-6*got[3])
}

func TestReplay_ThePageOverwritesNothingOfTheUsers(t *testing.T) {
	t.Parallel()
	file := sessionFile(t, "tau-bench")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	code, out, errs := tt(t, "", "replay", "--html", file)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "no page of this program")
	require.Empty(t, out)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, before, after)
	code, _, errs = tt(t, "", "replay", "--html", filepath.Join(t.TempDir(), "none", "report.html"), file)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "folder is not there")
	code, _, errs = tt(t, "", "replay", "--html", t.TempDir(), file)
	require.Equal(t, exitUsage, code, errs)
}
