package plan

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func embedded(t *testing.T) Prices {
	t.Helper()
	p, err := EmbeddedPrices()
	require.NoError(t, err)
	return p
}

func TestEmbeddedPricesAreWhole(t *testing.T) {
	t.Parallel()
	p := embedded(t)
	require.Equal(t, "2026-11-30", p.AsOf())
	require.Len(t, p.entries, 101)
	rows := p.Rows(p.AsOf())
	require.Len(t, rows, 93, "five are over, two still to come, one has no price")
	names := map[string]bool{}
	for _, row := range rows {
		require.NoError(t, row.Validate(), row.Name)
		require.NoError(t, row.InITE().Validate(), row.Name)
		require.False(t, names[row.Name], row.Name)
		names[row.Name] = true
		require.Equal(t, row.Unknown != "", row.Assumed, row.Name)
		require.NotEmpty(t, row.Source, row.Name)
	}
	for _, e := range p.entries {
		for _, text := range []string{e.vendor, e.route, e.source, e.seen, e.derived} {
			require.NotEmpty(t, text, e.ids)
		}
	}
}

func TestARowIsFoundByTheRulesOfTheTable(t *testing.T) {
	t.Parallel()
	p := embedded(t)
	cases := map[string]struct {
		model, day string
		name       string // "" unknown
		input      float64
	}{
		"a name":                                   {"gpt-4o", "2026-11-30", "gpt-4o", 2.5},
		"a longer name wins":                       {"gpt-4o-mini", "2026-11-30", "gpt-4o-mini", 0.15},
		"a snapshot with dashes":                   {"gpt-4o-2024-05-13", "2026-11-30", "gpt-4o", 2.5},
		"a snapshot of a longer name":              {"gpt-4o-mini-2024-07-18", "2026-11-30", "gpt-4o-mini", 0.15},
		"a snapshot in eight digits":               {"claude-opus-4-20250514", "2026-11-30", "claude-opus-4", 15},
		"a second name of a row":                   {"claude-opus-4-5-20251101", "2026-11-30", "claude-opus-4-5", 5},
		"the spelling with dots":                   {"claude-opus-4.5", "2026-11-30", "claude-opus-4-5", 5},
		"the spelling with dashes":                 {"claude-fable-5-1", "2026-11-30", "claude-fable-5.1", 10},
		"the vendor's prefix":                      {"anthropic/claude-opus-4.5", "2026-11-30", "claude-opus-4-5", 5},
		"the vendor's prefix with a colon":         {"openai:gpt-4o", "2026-11-30", "gpt-4o", 2.5},
		"a route before the prefix":                {"openrouter/anthropic/claude-opus-5", "2026-11-30", "claude-opus-5", 5},
		"a row of another route":                   {"deepseek/deepseek-v4-flash", "2026-11-30", "deepseek/deepseek-v4-flash", 0.098},
		"without that route's prefix":              {"deepseek-v4-flash", "2026-11-30", "", 0},
		"case does not matter":                     {" GPT-4o ", "2026-11-30", "gpt-4o", 2.5},
		"another vendor's prefix":                  {"azure/gpt-4o", "2026-11-30", "", 0},
		"a name that only starts alike":            {"gpt-4o-audio", "2026-11-30", "", 0},
		"a shorter name":                           {"gpt-4", "2026-11-30", "", 0},
		"no date":                                  {"gpt-4o-2024-0513", "2026-11-30", "", 0},
		"a model nobody knows":                     {"doubao-pro-128k", "2026-11-30", "", 0},
		"nothing":                                  {"", "2026-11-30", "", 0},
		"a prefix alone":                           {"openai/", "2026-11-30", "", 0},
		"a model without a price":                  {"qwen3.8-flash", "2026-11-30", "", 0},
		"before the first day":                     {"gpt-6-astra", "2026-09-02", "", 0},
		"the first day":                            {"gpt-6-astra", "2026-09-03", "gpt-6-astra", 10},
		"the last day before a change":             {"gemini-4-argon", "2026-11-30", "gemini-4-argon", 2},
		"the day of a change":                      {"gemini-4-argon", "2026-12-01", "gemini-4-argon", 4},
		"a row with an end and none after it":      {"gemini-3.7-flash", "2027-01-01", "", 0},
		"of two hours of the day the cheaper":      {"deepseek-flash", "2026-11-30", "deepseek-flash", 0.15},
		"a row that replaced one of the same name": {"deepseek-v4-pro", "2026-08-16", "deepseek-v4-pro", 0.66},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row, ok := p.Find(c.model, c.day)
			require.Equal(t, c.name != "", ok)
			require.Equal(t, c.name, row.Name)
			require.Equal(t, c.input, row.Input)
		})
	}
}

func TestUnknownCellsAreTheStudys(t *testing.T) {
	t.Parallel()
	p := embedded(t)
	find := func(model string) Row {
		row, ok := p.Find(model, p.AsOf())
		require.True(t, ok, model)
		return row
	}
	whole := find("gpt-4o")
	require.Equal(t, Row{
		Name: "gpt-4o", AsOf: "2026-11-30", Source: "MD, seen 2026-07-02", Input: 2.5, Read: 1.25, Write: 2.5, Output: 10,
		MinPrefix: 1024, TTL: 300, Granularity: 128, Control: Automatic, Priced: true,
	}, whole)
	flash := find("gemini-3.8-flash")
	require.InDelta(t, 0.1*0.75, flash.Read, 1e-12)
	require.Equal(t, "read, ttl, min_prefix, granularity", flash.Unknown)
	require.True(t, flash.Assumed)
	require.False(t, flash.Priced, "a bill with a guessed price is no money")
	opus := find("claude-opus-5-5")
	require.Equal(t, "min_prefix", opus.Unknown)
	require.Equal(t, 1024, opus.MinPrefix)
	require.True(t, opus.Priced && opus.Assumed, "a guessed rule is flagged, the prices are real")
	require.Equal(t, ExplicitMarks, opus.Control)
	terra := find("gpt-5.6-terra")
	require.Equal(t, Tier{Over: 272_000, Input: 4, Read: 0.4, Write: 5, Output: 18}, terra.Tier, "unknown tier prices scale as input does")
	require.Equal(t, "tier_read, tier_write", terra.Unknown)
	require.Equal(t, Tier{}, find("gpt-6-sol").Tier, "a tier whose input price nobody knows")
	require.Equal(t, "tier", find("gpt-6-sol").Unknown)
	require.Contains(t, find("deepseek-flash").Unknown, "route", "the hour of the day is not known")
	require.Equal(t, "read, write, ttl, min_prefix, granularity, control", find("meta-llama/llama-4-scout").Unknown)
}

func TestPickTakesRoutesAndLongerWrites(t *testing.T) {
	t.Parallel()
	p := embedded(t)
	row, err := p.Pick("deepseek-flash@peak", p.AsOf())
	require.NoError(t, err)
	require.Equal(t, 0.3, row.Input)
	require.Equal(t, "deepseek-flash@peak", row.Name)
	require.NotContains(t, row.Unknown, "route")
	row, err = p.Pick("claude-opus-5+1h", p.AsOf())
	require.NoError(t, err)
	require.Equal(t, 10.0, row.Write)
	require.Equal(t, 3600, row.TTL)
	require.Equal(t, "claude-opus-5+1h", row.Name)
	row, err = p.Pick("claude-haiku-5-5@direct+1h", p.AsOf())
	require.NoError(t, err)
	require.Equal(t, 1.0, row.Tier.Write, "the tier's own long write")
	row, err = p.Pick("gpt-6.1-terra+12h", p.AsOf())
	require.NoError(t, err)
	require.InDelta(t, 5, row.Tier.Write, 1e-9, "an unknown one scales as the short one does")
	for name, want := range map[string]error{
		"gpt-9": ErrNoRow, "gpt-4o@openrouter": ErrNoRow, "gpt-4o@": ErrNoRow, "": ErrNoRow,
		"gpt-4o+1h": ErrNoLongWrite, "claude-opus-5+2h": ErrNoLongWrite, "claude-opus-5+": ErrNoLongWrite, "claude-opus-5+1d": ErrNoLongWrite,
	} {
		_, err := p.Pick(name, p.AsOf())
		require.ErrorIs(t, err, want, name)
	}
}

func TestATableOfTheUsersWins(t *testing.T) {
	t.Parallel()
	mine, err := ReadPrices([]byte("# as_of: 2027-02-03\nmodel_pattern,input,read,write,output\nmy-model|gpt-4o,7,0.7,8,70\n"))
	require.NoError(t, err)
	p := mine.Over(embedded(t))
	require.Equal(t, "2027-02-03", p.AsOf(), "the later date")
	row, ok := p.Find("gpt-4o", p.AsOf())
	require.True(t, ok)
	require.Equal(t, 7.0, row.Input)
	require.True(t, row.Priced)
	require.Equal(t, "ttl, min_prefix, granularity, control", row.Unknown)
	row, ok = p.Find("gpt-4o-mini", p.AsOf())
	require.True(t, ok)
	require.Equal(t, 0.15, row.Input, "what the user's table does not name")
	_, ok = p.Find("openai/my-model", p.AsOf())
	require.True(t, ok)
	require.Equal(t, "2026-11-30", Prices{}.Over(embedded(t)).AsOf())
	_, ok = Prices{}.Find("gpt-4o", "2026-11-30")
	require.False(t, ok)
}

// A bill over the line is repriced as a whole, output included.
func TestALongRequestIsRepricedWhole(t *testing.T) {
	t.Parallel()
	row, ok := embedded(t).Find("gpt-5.4", "2026-11-30")
	require.True(t, ok)
	at := func(tokens int) Charge {
		b := mustBill(t, row, Prefix)
		return b.Add(Call{Messages: parts(tokens), Output: 100})
	}
	require.InDelta(t, 272_000*2.5+100*15, at(272_000).Cost, 1e-6, "the line itself is under it")
	require.InDelta(t, 272_001*5.0+100*22.5, at(272_001).Cost, 1e-6)
	require.True(t, row.OverTier(272_001))
	require.False(t, row.OverTier(272_000))
	require.False(t, Study().OverTier(1<<40))
	ite := row.InITE()
	require.Equal(t, 1.0, ite.Input)
	require.InDelta(t, 0.1, ite.Read, 1e-12)
	require.InDelta(t, 2, ite.Tier.Input, 1e-12)
	require.InDelta(t, 9, ite.Tier.Output, 1e-12)
	require.InDelta(t, 2.5e-6, row.Scaled(1e-6).Input, 1e-18)
	require.Greater(t, Settings{}.FetchCost(row, Fetch{PrefixTokens: 300_000}), 2*Settings{}.FetchCost(row, Fetch{PrefixTokens: 150_000}))
}

func TestBadTablesAreRefusedByLineAndField(t *testing.T) {
	t.Parallel()
	head := "model_pattern,input,read,until,from,ttl,min_prefix,control,tier_over,tier_input\n"
	cases := map[string]struct {
		table, field string
		line         int
	}{
		"nothing":                       {"", "", 0},
		"no head":                       {"# only words\n", "", 0},
		"a column nobody knows":         {"model_pattern,input,price\n", "price", 1},
		"a column twice":                {"model_pattern,input,input\n", "input", 1},
		"no models":                     {"input\n", "model_pattern", 1},
		"no input":                      {"model_pattern\n", "input", 1},
		"a short line":                  {head + "a,1\n", "", 2},
		"a quote that does not end":     {head + "\"a,1\n", "", 2},
		"a negative price":              {head + "a,-1,,,,,,,,\n", "input", 2},
		"no number":                     {"# words\n" + head + "\na,1,,,,,,,,\nb,cheap,,,,,,,,\n", "input", 5},
		"an exponent":                   {head + "a,1e3,,,,,,,,\n", "input", 2},
		"infinite":                      {head + "a,Inf,,,,,,,,\n", "input", 2},
		"hexadecimal":                   {head + "a,0x1,,,,,,,,\n", "input", 2},
		"too dear":                      {head + "a,1000001,,,,,,,,\n", "input", 2},
		"free":                          {head + "a,0,,,,,,,,\n", "input", 2},
		"none where a price must be":    {head + "a,1,none,,,,,,,\n", "read", 2},
		"no day":                        {head + "a,1,,2026-02-30,,,,,,\n", "until", 2},
		"a day of another kind":         {head + "a,1,,,1.2.2026,,,,,\n", "from", 2},
		"days in the wrong order":       {head + "a,1,,2026-01-01,2026-01-01,,,,,\n", "until", 2},
		"no lifetime":                   {head + "a,1,,,,soon,,,,\n", "ttl", 2},
		"a lifetime of nothing":         {head + "a,1,,,,0m,,,,\n", "ttl", 2},
		"no count":                      {head + "a,1,,,,,1.5,,,\n", "min_prefix", 2},
		"no control":                    {head + "a,1,,,,,,magic,,\n", "control", 2},
		"a tier without a line":         {head + "a,1,,,,,,,,2\n", "tier_over", 2},
		"a tier from nothing":           {head + "a,1,,,,,,,0,2\n", "tier_over", 2},
		"a free tier":                   {head + "a,1,,,,,,,9,0\n", "tier_input", 2},
		"an empty id":                   {head + "a||b,1,,,,,,,,\n", "model_pattern", 2},
		"a wild card":                   {head + "gpt-*,1,,,,,,,,\n", "model_pattern", 2},
		"two rows for a model":          {head + "a.b,1,,,,,,,,\nc|A-B,1,,,,,,,,\n", "model_pattern", 3},
		"two rows that overlap in time": {head + "a,1,,2026-03-01,,,,,,\na,1,,,2026-02-01,,,,,\n", "model_pattern", 3},
		"a date that is none":           {"\n# as_of: today\n" + head, "as_of", 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadPrices([]byte(c.table))
			require.ErrorIs(t, err, ErrBadPrices)
			var bad *PricesError
			require.True(t, errors.As(err, &bad))
			require.Equal(t, c.field, bad.Field, err)
			require.Equal(t, c.line, bad.Line, err)
			if c.field != "" {
				require.Contains(t, err.Error(), fmt.Sprintf("line %d, field %s", c.line, c.field))
			}
		})
	}
	_, err := ReadPrices(bytes.Repeat([]byte("#"), maxPriceBytes+1))
	require.ErrorIs(t, err, ErrBadPrices)
	p, err := ReadPrices([]byte("\uFEFFmodel_pattern,input,until\r\na,1,2026-03-01\r\na,2,\r\n"))
	require.Error(t, err, "the second row has no first day: they overlap")
	require.Empty(t, p.AsOf())
}

// The page that explains the table names each of its columns and sources.
func TestThePageOfPricesExplainsTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "prices.md"))
	require.NoError(t, err)
	for _, c := range priceColumns() {
		require.Contains(t, string(page), "`"+c.name+"`", "docs/prices.md explains the column")
	}
	for _, e := range embedded(t).entries {
		for id := range strings.SplitSeq(e.source, ";") {
			word, _, _ := strings.Cut(strings.TrimSpace(id), " ")
			require.Contains(t, string(page), "| "+word+" |", "docs/prices.md names the source")
		}
	}
}

// Whatever a table says: it is refused by line, or every row of it can be used.
func FuzzReadPrices(f *testing.F) {
	f.Add(pricesCSV[:3000], "gpt-4o", "2026-11-30")
	f.Add([]byte("# as_of: 2026-01-01\nmodel_pattern,input,read,write,output,tier_over,tier_input\na|b.c,1,unknown,2,,200000,3\n"), "x/a-2026-01-01", "2026-01-01")
	f.Add([]byte("model_pattern,input,until,from,route,write_long,ttl_long\n\"a\",1,2026-05-05,2026-01-01,peak,3,1h\n"), "a", "2026-02-02")
	f.Fuzz(func(t *testing.T, table []byte, model, day string) {
		p, err := ReadPrices(table)
		if err != nil {
			require.ErrorIs(t, err, ErrBadPrices)
			return
		}
		rows := p.Rows(day)
		if row, ok := p.Find(model, day); ok {
			rows = append(rows, row)
		}
		for _, row := range rows {
			require.NoError(t, row.Validate())
			require.Equal(t, row.Unknown != "", row.Assumed)
			ite := row.InITE()
			require.Equal(t, 1.0, ite.Input)
			require.False(t, math.IsNaN(ite.Output))
		}
	})
}
