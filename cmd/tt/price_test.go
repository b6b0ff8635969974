package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/plan"
)

// priced is the bill of a replay's one session.
type priced struct {
	Unit    string
	Assumed bool
	Raw     float64
	Final   float64
	Row     struct {
		Name, Source               string
		AsOf                       string `json:"as_of"`
		Input, Read, Write, Output float64
		MinPrefix                  int `json:"min_prefix"`
		TTL                        int
	} `json:"price_row"`
}

func pricedReplay(t *testing.T, args ...string) (cost priced) {
	t.Helper()
	code, out, errs := tt(t, "", append([]string{"replay", "--json", "--quiet"}, args...)...)
	require.Equal(t, exitDone, code, errs)
	var report struct{ Sessions []struct{ Cost priced } }
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Sessions, 1)
	return report.Sessions[0].Cost
}

func TestPrices_EachSessionIsBilledByItsModelsRow(t *testing.T) {
	t.Parallel()
	file := sessionFile(t, "tau-bench") // gpt-4o
	own := pricedReplay(t, file)
	require.Equal(t, "gpt-4o", own.Row.Name)
	require.Equal(t, "2026-11-30", own.Row.AsOf)
	require.Equal(t, []float64{1, 0.5, 1, 4}, []float64{own.Row.Input, own.Row.Read, own.Row.Write, own.Row.Output}, "input-token equivalents")
	require.Equal(t, []int{1024, 300}, []int{own.Row.MinPrefix, own.Row.TTL})
	require.False(t, own.Assumed)
	require.Equal(t, "ite", own.Unit)

	money := pricedReplay(t, "--unit", "usd", file)
	require.Equal(t, "usd", money.Unit)
	require.InDelta(t, 2.5e-6, money.Row.Input, 1e-15, "of one token")
	require.InDelta(t, own.Raw*2.5e-6, money.Raw, 1e-9)
	require.InDelta(t, own.Final*2.5e-6, money.Final, 1e-9, "a unit decides nothing")

	study := pricedReplay(t, "--price-row", "study", file)
	require.Equal(t, plan.StudyName, study.Row.Name)
	require.True(t, study.Assumed)

	unknown := pricedReplay(t, "--model", "doubao-pro-128k", "--assume-tokenizer", "o200k_base", file)
	require.Equal(t, plan.StudyName, unknown.Row.Name)
	require.True(t, unknown.Assumed)

	named := pricedReplay(t, "--price-row", "claude-haiku-5-5+1h", file)
	require.Equal(t, "claude-haiku-5-5+1h", named.Row.Name)
	require.InDelta(t, 2, named.Row.Write, 1e-12)
	require.True(t, named.Assumed, "its smallest prefix is not known")

	day := pricedReplay(t, "--price-row", "gemini-4-argon", "--as-of", "2026-12-01", "--unit", "usd", file)
	require.Equal(t, "2026-12-01", day.Row.AsOf)
	require.InDelta(t, 4e-6, day.Row.Input, 1e-15)
}

func TestPrices_ATableOfTheUsersIsLaidOver(t *testing.T) {
	t.Parallel()
	table := filepath.Join(t.TempDir(), "prices.csv")
	require.NoError(t, os.WriteFile(table, []byte("# as_of: 2026-12-24\nmodel_pattern,input,read,write,output,source\ngpt-4o,10,1,10,20,the invoice\n"), 0o600))
	cost := pricedReplay(t, "--prices", table, "--unit", "usd", sessionFile(t, "tau-bench"))
	require.InDelta(t, 1e-5, cost.Row.Input, 1e-15)
	require.Equal(t, "2026-12-24", cost.Row.AsOf)
	require.Equal(t, "the invoice", cost.Row.Source)
	require.True(t, cost.Assumed, "its cache rules are not in the table")

	require.NoError(t, os.WriteFile(table, []byte("model_pattern,input\ngpt-4o,cheap\n"), 0o600))
	code, _, errs := tt(t, "", "replay", "--prices", table)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "line 2, field input")
}

func TestPrices_AreRefusedWithAHint(t *testing.T) {
	t.Parallel()
	file := sessionFile(t, "tau-bench")
	cases := map[string]struct {
		args []string
		says string
	}{
		"a row nobody knows":               {[]string{"--price-row", "gpt-9"}, "--price-row list"},
		"a row that is over":               {[]string{"--price-row", "gemini-3.7-flash", "--as-of", "2027-01-01"}, "2027-01-01"},
		"a lifetime nobody sells":          {[]string{"--price-row", "gpt-4o+1h"}, "lifetime"},
		"no day":                           {[]string{"--as-of", "yesterday"}, "--as-of 2026-11-30"},
		"another unit":                     {[]string{"--unit", "eur"}, "--unit ite"},
		"money of the study":               {[]string{"--unit", "usd", "--price-row", "study"}, "--unit ite"},
		"money of a model without a row":   {[]string{"--unit", "usd", "--model", "doubao"}, "doubao"},
		"money of a row with guessed ones": {[]string{"--unit", "usd", "--price-row", "qwen3-max"}, "read, write"},
		"a table that is not there":        {[]string{"--prices", filepath.Join(t.TempDir(), "none.csv")}, "docs/prices.md"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := tt(t, "", append(append([]string{"replay"}, c.args...), file)...)
			require.Equal(t, exitUsage, code, errs)
			require.Contains(t, errs, c.says)
			require.Contains(t, errs, "Try: ")
			require.Empty(t, out)
		})
	}
}

func TestPrices_TheListShowsWhatAModelGets(t *testing.T) {
	t.Parallel()
	code, out, errs := tt(t, "", "replay", "--price-row", "list")
	require.Equal(t, exitDone, code, errs)
	require.Contains(t, out, "2026-11-30")
	require.Contains(t, out, "deepseek-flash@peak")
	code, again, _ := tt(t, "", "replay", "--price-row", "list")
	require.Equal(t, exitDone, code)
	require.Equal(t, out, again)
	code, out, errs = tt(t, "", "replay", "--price-row", "list", "--json", "--model", "anthropic/claude-opus-4.5", "--as-of", "2026-12-31")
	require.Equal(t, exitDone, code, errs)
	var list struct {
		AsOf string `json:"as_of"`
		Rows []plan.Row
	}
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Equal(t, "2026-12-31", list.AsOf)
	require.Len(t, list.Rows, 1)
	require.Equal(t, 5.0, list.Rows[0].Input)
	require.Equal(t, plan.ExplicitMarks, list.Rows[0].Control)
}

// Reads at other prices stand beside the study's figures, and only there.
func TestPrices_OtherReadPricesStandBesideTheStudys(t *testing.T) {
	t.Parallel()
	file := sessionFile(t, "tau-bench")
	_, out, _ := tt(t, "", "replay", "--markdown", "--price-row", "study", file)
	require.Contains(t, out, "a cached token at 0.05 instead of 0.1")
	require.Contains(t, out, "a cached token at 0.025 instead of 0.1")
	require.NotContains(t, out, "price row of")
	_, out, _ = tt(t, "", "replay", "--markdown", file)
	require.NotContains(t, out, "instead of 0.1")
	require.Contains(t, out, "price row of 1 session: gpt-4o on 2026-11-30: input 2.5, read 1.25, write 2.5, output 10 USD per million tokens")
	_, out, _ = tt(t, "", "replay", "--markdown", "--unit", "usd", file)
	require.Contains(t, out, "row gpt-4o: input 2.5, read 1.25, write 2.5, output 10, unit usd (prices per million tokens)")
	require.Regexp(t, `\| 0\.\d{4} \|`, out, "a bill in dollars keeps its digits")
}

// What staying under a line of long context saves is the difference of two prices
// for the same tokens.
func TestPrices_TheLineOfLongContextIsNoted(t *testing.T) {
	t.Parallel()
	row := plan.Study()
	row.Tier = plan.Tier{Over: 1000, Input: 2, Read: 0.2, Write: 2.5, Output: 7.5}
	charge := func(read, write, output int) plan.Charge {
		c := plan.Charge{Read: read, Write: write, Output: output}
		c.Cost = row.Cost(c)
		return c
	}
	var u underLine
	u.add(row, charge(1000, 10, 4), charge(900, 10, 4))
	require.Equal(t, 1, u.turns)
	require.InDelta(t, 900*0.1+10*1.25+4*2.5, u.saved, 1e-9)
	u.add(row, charge(1000, 10, 4), charge(1000, 5, 4))
	u.add(row, charge(900, 10, 4), charge(800, 5, 4))
	require.Equal(t, 1, u.turns, "both over or both under the line")
	r := &replay{flags: &replayFlags{unit: unitITE}}
	require.Equal(t, []string{"1 turn stayed under the line over which the provider reprices a whole request: 112 ite of the saving"},
		r.tierNote([]*sessionRun{{underLine: u}}))
	require.Empty(t, r.tierNote([]*sessionRun{{}}))
}
