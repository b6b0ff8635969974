//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/host/watch"
	"token-terminator/ledger"
	"token-terminator/turn"
)

// A model whose reported usage contradicts the panel gets no new forms; others, and
// what was shown before, stay.
func TestDaemon_UsageThatContradictsThePanelSwitchesItOffForThatModel(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	body := func(model string, seed int) string {
		return strings.Replace(chatBody(toolCalls("a"), toolResult("a", serverLog(seed, 400))), `"model":"gpt-4o"`, `"model":"`+model+`"`, 1)
	}
	d := startDaemon(t, folder, nil)
	c := d.client(nil, nil)
	first := askTurn(t, c, "old", 1, body("claude-liar", 1))
	require.True(t, first.Edited)
	for n := range uint64(2 * panelEvery) {
		one := ledger.Turn{
			Binding: turn.Binding{Engine: engineName, Session: "past", Turn: n + 1}, Model: "claude-liar", Measure: ledger.Panel, Raw: 5000, Final: 5000,
			Reason: turn.NothingToReduce, Usage: &ledger.Usage{Fresh: 5000},
		}
		if n%2 == 0 { // said to be smaller, billed like the whole
			one.Edited, one.Reason, one.Final = true, turn.Reduced, 4000
		}
		d.engine.numbers.ledger.Record(one)
		require.NoError(t, d.engine.numbers.ledger.Flush(context.Background()))
		d.engine.numbers.panel.look(d.engine.numbers.ledger, one)
	}
	require.False(t, askTurn(t, c, "new", 1, body("claude-liar", 2)).Edited)
	require.Equal(t, string(first.Body), string(askTurn(t, c, "old", 2, body("claude-liar", 1)).Body), "the prefix stays as it was sent")
	require.True(t, askTurn(t, c, "honest", 1, body("claude-honest", 3)).Edited)
	require.True(t, askTurn(t, c, "exact", 1, body("gpt-4o", 4)).Edited)
	s, err := d.engine.numbers.live.Status(context.Background())
	require.NoError(t, err)
	require.Contains(t, strings.Join(s.Warnings, "\n"), "contradicts")

	var again panelWatch
	again.load(d.engine.numbers.ledger)
	require.True(t, again.contradicted("claude-liar"), "the next daemon knows")
	require.False(t, again.contradicted("claude-honest"))
}

// No file of a home but the vault holds a word of a request, and no page does.
func TestPrivacy_ADaemonsNumbersHoldNoContent(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "vault")
	p := startProcess(t, folder)
	d := &daemonRig{t: t, folder: folder}
	c := d.client(map[string]string{"TOKEN_TERMINATOR_HEAD_LINE": canary}, nil)
	out := askTurn(t, c, "s", 1, chatBody(toolCalls("a"), toolResult("a", canary+"\n"+serverLog(1, 400))))
	require.True(t, out.Edited)
	askTurn(t, c, "s", 2, strings.Replace(chatBody(toolCalls("a")), "why does it fail?", canary, 1)) // pairs with nothing
	s := statusJSON(t, nil, "--vault", folder)
	require.EqualValues(t, 2, *s.Turns)
	require.Positive(t, *s.Saved.Tokens.Exact)
	var page strings.Builder
	require.NoError(t, watch.WriteJSON(&page, s))
	require.NoError(t, watch.WriteText(&page, s))
	code, text, errs := tt(t, "", "doctor", "--vault", folder)
	require.Equal(t, exitDone, code, errs)
	require.NotContains(t, page.String()+text+errs, canary)
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	p.ended(t)
	require.NotContains(t, p.words.String(), canary)
	seen := 0
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), "vault.sqlite3") {
			return err
		}
		seen++
		data, err := os.ReadFile(path)
		require.NotContains(t, string(data), canary, entry.Name())
		return err
	}))
	require.GreaterOrEqual(t, seen, 3, "ledger, log and key were looked at")
}
