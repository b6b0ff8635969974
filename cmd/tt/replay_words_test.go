package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/reports"
)

const (
	transcriptUser   = `{"type":"user","uuid":"u","parentUuid":"","sessionId":"s","message":{"role":"user","content":"go"}}`
	transcriptAnswer = `{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","message":{"id":"m","model":"gpt-4o","role":"assistant","content":[{"type":"text","text":"done"}]}}`
)

// A broken line of a transcript is told as one of a log of requests is.
func TestReplay_ABrokenLineOfATranscriptIsNamed(t *testing.T) {
	t.Parallel()
	file := sessionLine(t, "t.jsonl", transcriptUser+"\n{\"type\":\"user\",\"uu\n"+transcriptAnswer)
	code, out, errs := tt(t, "", "replay", "--json", file)
	require.Equal(t, exitUsage, code, errs)
	require.Contains(t, errs, "t.jsonl:2: not JSON")
	require.Contains(t, errs, "1 problem in the inputs")
	var report struct {
		Sessions []struct{ Turns int }
		Notes    []string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Sessions, 1)
	require.Equal(t, 1, report.Sessions[0].Turns)
	require.Contains(t, report.Notes, "t: 1 broken line left out: 2")
	code, out, errs = tt(t, "", "explain", file)
	require.Equal(t, exitUsage, code, errs)
	require.Contains(t, errs, "t.jsonl:2: not JSON")
	require.Contains(t, out, "t (gpt-4o), 2 messages")
}

func TestExplain_NamesTheSessionsThatThereAre(t *testing.T) {
	t.Parallel()
	chat := func(id string) string {
		return `{"id":"` + id + `","model":"gpt-4o","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]}`
	}
	file := sessionLine(t, "two.jsonl", chat("one")+"\n"+chat("two"))
	code, _, errs := tt(t, "", "explain", "--session", "zz", file)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, `there is no session "zz"; there are: one, two`)
	code, _, errs = tt(t, "", "explain", file)
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, errs, "--session ID names another: two")
}

func TestExplain_GivesTokensOfWhatIsNeverTouched(t *testing.T) {
	t.Parallel()
	output, err := json.Marshal(strings.Repeat("written to the file\n", 2000))
	require.NoError(t, err)
	file := sessionLine(t, "excluded.jsonl", `{"id":"x","model":"gpt-4o","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[`+
		`{"id":"c1","type":"function","function":{"name":"write_file","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":`+string(output)+`},{"role":"assistant","content":"ok"}]}`)
	code, out, errs := tt(t, "", "explain", "--json", file)
	require.Equal(t, exitDone, code, errs)
	var got struct {
		Blocks []struct {
			Reason string
			Before int `json:"tokens_before"`
			After  int `json:"tokens_after"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Blocks, 1)
	require.Equal(t, "excluded_tool", got.Blocks[0].Reason)
	require.Greater(t, got.Blocks[0].Before, 400)
	require.Equal(t, got.Blocks[0].Before, got.Blocks[0].After)
}

// A page without a place is told before the work, under the user's name for it; one
// that loses its place while the replay runs costs no report.
func TestReplay_APageWithoutAPlaceCostsNoReport(t *testing.T) {
	t.Parallel()
	f := replayFlags{html: filepath.Join(t.TempDir(), "gone", "report.html"), json: true}
	var out bytes.Buffer
	err := f.print(&stage{stdout: &out}, reports.New(nil), []string{"a note"}, nil)
	require.ErrorContains(t, err, "--html "+f.html+" cannot be written")
	require.NotContains(t, err.Error(), ".tt-page-")
	require.True(t, json.Valid(out.Bytes()))
	require.Contains(t, out.String(), "a note")
	require.ErrorContains(t, f.checkFolder(), "--html "+f.html+" cannot be written")
	good := replayFlags{html: filepath.Join(t.TempDir(), "report.html")}
	require.NoError(t, good.checkPage())
	left, err := os.ReadDir(filepath.Dir(good.html))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestProgress_SaysTheTurnOfALongSession(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&stage{stderr: &errs}, false, 2)
	p.last, p.now = now, func() time.Time { return now }
	p.turn("s", 1, 9)
	require.Empty(t, errs.String())
	now = now.Add(progressEvery)
	p.turn("s", 2, 9)
	p.turn("s", 3, 9)
	require.Equal(t, "0 of 2 done; s turn 2 of 9\n", errs.String())
	p.quiet = true
	now = now.Add(progressEvery)
	p.turn("s", 4, 9)
	require.Equal(t, "0 of 2 done; s turn 2 of 9\n", errs.String())
}
