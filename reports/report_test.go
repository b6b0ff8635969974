package reports

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func options() Options {
	return Options{Command: "tt replay", RecoveryPct: 5, Cache: "prefix", Notes: []string{"sub-agent: 1 broken line left out: 7"}}
}

func TestRenderingIsAsInTheGoldenFiles(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		report Report
		write  func(Report, *bytes.Buffer) error
	}{
		"mixed.txt":  {New([]Session{saver(), loser(), panelled()}), func(r Report, b *bytes.Buffer) error { return r.WriteText(b, options()) }},
		"one.txt":    {New([]Session{saver()}), func(r Report, b *bytes.Buffer) error { return r.WriteText(b, Options{Limits: []string{}}) }},
		"empty.txt":  {New(nil), func(r Report, b *bytes.Buffer) error { return r.WriteText(b, Options{}) }},
		"mixed.md":   {New([]Session{saver(), loser()}), func(r Report, b *bytes.Buffer) error { return r.WriteMarkdown(b, options()) }},
		"mixed.json": {New([]Session{saver(), loser(), panelled()}), func(r Report, b *bytes.Buffer) error { return r.WriteJSON(b, options()) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first, second bytes.Buffer
			require.NoError(t, c.write(c.report, &first))
			require.NoError(t, c.write(c.report, &second))
			require.Equal(t, first.String(), second.String(), "the same figures give the same bytes")
			golden(t, name, first.Bytes())
		})
	}
}

// The names are the contract's, to the letter.
func TestJSONHasTheContractsNames(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, New([]Session{{ID: "bare"}}).WriteJSON(&b, Options{}))
	var got struct {
		Sessions []map[string]json.RawMessage
		Total    map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	top := strings.Fields(`id source model tokenizer messages turns prefix_added tokens unique_tokens_removed cost denominators by_form by_tool epochs
		prefix_violations enlarged_turns passthrough_turns artifacts recoveries_checked recoveries_failed pairing_violations needed_later latency_ms reasons hidden_blocks`)
	require.ElementsMatch(t, top, names(got.Sessions[0]))
	require.ElementsMatch(t, append([]string{"exact", "panel"}, top...), names(got.Total))
	inner := map[string]string{
		"tokens":       "raw final saved measure",
		"cost":         "unit price_row assumed raw final recovery_debit birth always_rewrite masking optimum saved_pct share_of_optimum",
		"denominators": "touchable new_input request bill",
		"needed_later": "count debit",
		"latency_ms":   "p50 p99 max",
	}
	for field, want := range inner {
		var v map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(got.Total[field], &v), field)
		require.ElementsMatch(t, strings.Fields(want), names(v), field)
	}
	var cost map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(got.Sessions[0]["cost"], &cost))
	var row map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(cost["price_row"], &row))
	require.ElementsMatch(t, strings.Fields("name as_of source input read write output min_prefix ttl"), names(row))
	for _, field := range []string{"always_rewrite", "masking", "optimum", "saved_pct", "share_of_optimum", "birth"} {
		require.Equal(t, "null", string(cost[field]), field)
	}
	require.Equal(t, "[]", string(got.Sessions[0]["epochs"]))
	for _, field := range []string{"by_form", "by_tool", "reasons"} {
		require.Equal(t, "{}", string(got.Sessions[0][field]), field)
	}
}

func names(m map[string]json.RawMessage) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// random is a session whose figures are consistent as the methods make them.
func random(rng *rand.Rand, id int) Session {
	forms := []turn.Form{turn.Layout, turn.Reference, turn.Delta, turn.Compressed}
	tools := []string{"Bash", "Read", "", "tool\x1b[2J|x"}
	s := Session{
		ID: fmt.Sprintf("session/%d", id), Messages: rng.IntN(100), Tokens: Tokens{Measure: []string{Exact, Panel}[rng.IntN(2)]},
		Cost: Cost{Unit: "ite", PriceRow: study(), Raw: float64(rng.IntN(1_000_000_000)), RecoveryDebit: rng.Float64() * 1e4},
	}
	s.Cost.Final = s.Cost.Raw * (0.5 + rng.Float64())
	if rng.IntN(2) == 0 {
		s.Cost.Birth, s.Cost.Optimum = ptr(s.Cost.Final+100), ptr(s.Cost.Final-100)
	}
	for range rng.IntN(30) {
		s.AddTurn(rng.IntN(1_000_000), rng.IntN(1_000_000), rng.Float64()*100)
	}
	for range rng.IntN(30) {
		before := rng.IntN(100_000)
		s.AddBlock(forms[rng.IntN(len(forms))], tools[rng.IntN(len(tools))], before, rng.IntN(before+1))
		s.AddReason(turn.Reasons()[rng.IntN(10)])
	}
	return s
}

func TestFiguresAddUpForRandomSessions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var sessions []Session
		for i := range rng.IntN(6) {
			sessions = append(sessions, random(rng, i))
		}
		r := New(sessions)
		require.NoError(t, r.Check(), "seed %d", seed)
		raw, unique, cost := 0, 0, 0.0
		for _, s := range r.Sessions {
			raw, unique, cost = raw+s.Tokens.Raw, unique+s.UniqueTokensRemoved, cost+s.Cost.Raw
		}
		require.Equal(t, raw, r.Total.Tokens.Raw, "seed %d", seed)
		require.Equal(t, unique, r.Total.UniqueTokensRemoved, "seed %d", seed)
		require.InDelta(t, cost, r.Total.Cost.Raw, 1e-6*cost, "seed %d", seed)
		var b bytes.Buffer
		require.NoError(t, r.WriteText(&b, options()))
		for _, line := range strings.Split(b.String(), "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), textWidth, "seed %d: %s", seed, line)
			require.False(t, strings.ContainsRune(line, 0x1b), "a name steers the terminal")
		}
	}
}

func TestCheckFindsFiguresThatContradict(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*Session){
		"a saving that is no difference":   func(s *Session) { s.Tokens.Saved++ },
		"a form nobody counted":            func(s *Session) { s.ByForm["delta"] = Group{} },
		"a tool nobody counted":            func(s *Session) { delete(s.ByTool, "Bash") },
		"more failures than checks":        func(s *Session) { s.RecoveriesFailed = 9 },
		"more enlarged turns than turns":   func(s *Session) { s.EnlargedTurns = 99 },
		"a percentage that is flattering":  func(s *Session) { s.Cost.SavedPct = ptr(99) },
		"a denominator of another request": func(s *Session) { s.Denominators.Request++ },
	}
	for name, breakIt := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New([]Session{saver()})
			require.NoError(t, r.Check())
			breakIt(&r.Sessions[0])
			require.ErrorIs(t, r.Check(), ErrAlgebra)
		})
	}
}

func TestTotalComputesFromSums(t *testing.T) {
	t.Parallel()
	a, b := Session{Cost: Cost{Raw: 1000, Final: 900, Birth: ptr(950), Optimum: ptr(850)}}, Session{Cost: Cost{Raw: 9000, Final: 9000, Birth: ptr(9000), Optimum: ptr(8900)}}
	a.AddTurn(10, 5, 1)
	b.AddTurn(10, 5, 3)
	b.AddTurn(10, 5, 2)
	r := New([]Session{a, b})
	require.InDelta(t, 1.0, *r.Total.Cost.SavedPct, 1e-9, "100 of 10,000, not the mean of 10 and 0")
	require.InDelta(t, 50.0/200, *r.Total.Cost.ShareOfOptimum, 1e-9)
	require.Equal(t, 2.0, *r.Total.Latency.P50)
	require.Equal(t, 3.0, *r.Total.Latency.Max)
	b.Cost.Optimum = nil
	require.Nil(t, New([]Session{a, b}).Total.Cost.Optimum)
	require.Nil(t, New([]Session{a, b}).Total.Cost.ShareOfOptimum)
}

func TestSpread(t *testing.T) {
	t.Parallel()
	var sessions []Session
	for i, saved := range []float64{10, -2, 30, 20, 0} {
		sessions = append(sessions, Session{ID: fmt.Sprint(i), Messages: 30 + i, Cost: Cost{Raw: 100 * float64(i+1), Final: float64(i+1) * (100 - saved)}})
	}
	r := New(sessions)
	x, ok := SpreadOf(r.Sessions, 30)
	require.True(t, ok)
	require.InDelta(t, 10, x.Median, 1e-9)
	require.InDelta(t, -2, x.Worst, 1e-9)
	require.Equal(t, "1", x.WorstID)
	require.Equal(t, 1, x.Dearer)
	require.Equal(t, 1, x.DearerThanTolerable)
	require.InDelta(t, (10.0-4+90+80)/1500*100, x.Volume, 1e-9)
	require.InDelta(t, (10.0-4+90+80)/1000*100, *x.WithoutLargest, 1e-9)
	_, ok = SpreadOf(r.Sessions, 99)
	require.False(t, ok)
	x, _ = SpreadOf(r.Sessions, 34)
	require.Nil(t, x.WithoutLargest)
}

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0": count(0), "999": count(999), "1,000": count(1000), "-12,345,678": count(-12345678),
		"99,999": short(99_999), "100k": short(100_000), "999k": short(999_499), "1.00M": short(999_500), "100M": short(99_960_000), "1.23G": short(1_230_000_000),
		"0.0 %": pct(-0.01), "-1.5 %": pct(-1.5), "n/a": share(nil), "ab…yz": shorten("abcdefxyz", 5), "abc": shorten("abc", 5),
		"-1": money(-0.6, "ite"), "0.1200": money(0.12, "usd"),
	} {
		require.Equal(t, want, got)
	}
	require.Equal(t, []string{"b", "a", "c"}, keysBy(map[string]int{"a": 1, "b": 2, "c": 1}, func(n int) int { return n }))
}

// Measures are never added, a mixed row is unknown, and a total has no epochs.
func TestJSONTotalSumsOnlyWhatCanBeSummed(t *testing.T) {
	t.Parallel()
	a, b := saver(), panelled()
	b.Cost.PriceRow.Name = "another"
	var buf bytes.Buffer
	require.NoError(t, New([]Session{a, b}).WriteJSON(&buf, Options{Notes: []string{"a note"}}))
	var got struct {
		Total map[string]json.RawMessage
		Notes []string
	}
	require.NoError(t, json.Unmarshal(buf.Bytes(), &got))
	require.JSONEq(t, `{"raw":null,"final":null,"saved":null,"measure":"mixed"}`, string(got.Total["tokens"]))
	for name, s := range map[string]Session{"exact": a, "panel": b} {
		want, err := json.Marshal(Sum{1, s.Tokens.Raw, s.Tokens.Final, s.Tokens.Raw - s.Tokens.Final})
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got.Total[name]))
	}
	require.Equal(t, "null", string(got.Total["epochs"]))
	require.Equal(t, "null", string(got.Total["unique_tokens_removed"]))
	require.Contains(t, string(got.Total["denominators"]), `"touchable": null`)
	for _, by := range []string{"by_form", "by_tool"} {
		var groups map[string]map[string]*int
		require.NoError(t, json.Unmarshal(got.Total[by], &groups))
		for name, g := range groups {
			require.Positive(t, *g["blocks"], name)
			require.Nil(t, g["saved"], name)
			require.Nil(t, g["tokens_before"], name)
		}
	}
	require.Contains(t, string(got.Total["cost"]), `"price_row": null`)
	require.Equal(t, []string{"a note"}, got.Notes)
}

// A block that is shown in another form is hidden once, under the form it has at the end.
func TestHiddenIsTheSameByFormByToolAndInAll(t *testing.T) {
	t.Parallel()
	var s Session
	s.AddBlock(turn.Compressed, "Bash", 900, 100)
	s.AddBlock(turn.Compressed, "Read", 800, 100)
	s.DropBlock(turn.Compressed, "Bash", 900, 100)
	s.AddBlock(turn.Receipt, "Bash", 900, 50)
	s.AddBlock(turn.Layout, "Bash", 500, 300)
	r := New([]Session{s})
	require.NoError(t, r.Check())
	require.Equal(t, 2, r.Total.Hidden)
	for _, by := range []map[string]Group{r.Total.ByForm, r.Total.ByTool} {
		sum := 0
		for _, g := range by {
			require.LessOrEqual(t, g.Hidden, g.Blocks)
			sum += g.Hidden
		}
		require.Equal(t, r.Total.HiddenBlocks(), sum)
	}
}
