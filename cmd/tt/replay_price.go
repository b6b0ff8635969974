package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"token-terminator/actors"
	"token-terminator/datasets"
	"token-terminator/internal/amount"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/reports"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// Units of a bill.
const (
	unitITE = "ite"
	unitUSD = "usd"
)

// listRows is the word of --price-row that lists the table instead of replaying.
const listRows = "list"

// pricing picks the price row of each session. The zero pricing is the study's.
type pricing struct {
	prices plan.Prices
	day    string
	fixed  plan.Row // the row named by --price-row; no name: each model's own
	usd    bool
}

// pricing reads the tables and checks the words about prices.
func (f *replayFlags) pricing() (pricing, error) {
	return pricingOf(f.row, f.prices, f.asOf, f.unit)
}

// pricingOf reads the tables: row is a row's name or "", file a table laid over ours
// or "", day the day or "" for the table's own.
func pricingOf(row, file, day, unit string) (pricing, error) {
	p := pricing{usd: unit == unitUSD}
	if unit != unitITE && unit != unitUSD {
		return p, usagef("there is no unit %q", unit).try("--unit ite or --unit usd")
	}
	var err error
	if p.prices, err = plan.EmbeddedPrices(); err != nil {
		return p, err
	}
	if file != "" {
		own, err := readPrices(file)
		if err != nil {
			return p, err
		}
		p.prices = own.Over(p.prices)
	}
	p.day = p.prices.AsOf()
	if day != "" {
		if !plan.IsDay(day) {
			return p, usagef("--as-of %q is no day", day).try("--as-of " + p.day)
		}
		p.day = day
	}
	switch row {
	case "", listRows:
	case plan.StudyName:
		p.fixed = plan.Study()
	default:
		if p.fixed, err = p.prices.Pick(row, p.day); err != nil {
			return p, usagef("%w", err).try("tt replay --price-row list shows the rows; --price-row study always works")
		}
	}
	return p, nil
}

func readPrices(path string) (plan.Prices, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return plan.Prices{}, usagef("%w", err).try("docs/prices.md shows a table")
	}
	p, err := plan.ReadPrices(data)
	if err != nil {
		return plan.Prices{}, usagef("%s: %w", path, err).try("docs/prices.md explains the columns")
	}
	return p, nil
}

// listed is the row of a model before any unit: the named one, the model's, else the
// study's.
func (p pricing) listed(model string) plan.Row {
	if p.fixed.Name != "" {
		return p.fixed
	}
	if row, ok := p.prices.Find(model, p.day); ok {
		return row
	}
	return plan.Study()
}

// row is the row a session is billed by, in the unit asked for.
func (p pricing) row(model string) plan.Row {
	row := p.listed(model)
	if p.usd {
		return row.Scaled(1e-6) // the table is in USD per million tokens
	}
	return row.InITE()
}

// check refuses a currency where a session has no real price.
func (p pricing) check(sessions []datasets.Session) error {
	for _, s := range sessions {
		if row := p.listed(s.Model); p.usd && !row.Priced {
			why := "the row " + row.Name + " does not know: " + row.Unknown
			if row.Name == plan.StudyName {
				why = "the study's prices are no currency"
				if p.fixed.Name == "" {
					why = fmt.Sprintf("no row names the model %q on %s", s.Model, p.day)
				}
			}
			return usagef("session %s has no price in USD: %s", s.ID, why).try("--unit ite, --price-row NAME, or a table of yours with --prices FILE")
		}
	}
	return nil
}

// notes says which rows were used and what of them is not known; nothing where the
// study was asked for.
func (p pricing) notes(sessions []datasets.Session) []string {
	if p.fixed.Name == plan.StudyName {
		return nil
	}
	var rows []plan.Row
	used := map[string]int{}
	for _, s := range sessions {
		row := p.listed(s.Model)
		if used[row.Name] == 0 {
			rows = append(rows, row)
		}
		used[row.Name]++
	}
	var notes []string
	for _, row := range rows {
		what := describeRow(row)
		if row.Name == plan.StudyName {
			what = "study (assumed, no money), because no row names " + strings.Join(p.without(sessions), ", ")
		}
		notes = append(notes, fmt.Sprintf("price row of %s: %s", amount.Of(used[row.Name], "session"), what))
	}
	return notes
}

// without lists the models that no row names, the first six.
func (p pricing) without(sessions []datasets.Session) []string {
	var models []string
	for _, s := range sessions {
		name := cmp.Or(s.Model, "(no model)")
		if p.listed(s.Model).Name == plan.StudyName && !slices.Contains(models, name) {
			models = append(models, name)
		}
	}
	if n := len(models) - 6; n > 0 {
		models = append(models[:6], fmt.Sprintf("and %d more", n))
	}
	return models
}

func describeRow(row plan.Row) string {
	text := fmt.Sprintf("%s on %s: input %g, read %g, write %g, output %g USD per million tokens (%s)",
		row.Name, row.AsOf, row.Input, row.Read, row.Write, row.Output, row.Source)
	if row.Tier.Over > 0 {
		text += fmt.Sprintf("; over %d tokens input %g, output %g", row.Tier.Over, row.Tier.Input, row.Tier.Output)
	}
	if row.Unknown != "" {
		text += "; assumed as in the study: " + row.Unknown
	}
	if row.Control == plan.ExplicitMarks {
		text += "; it caches marked prefixes only, --cache marks prices three moving marks"
	}
	return text
}

// list prints the rows of the day, or the one that a model gets.
func (f *replayFlags) list(w io.Writer, p pricing) error {
	rows := p.prices.Rows(p.day)
	if f.model != "" {
		rows = []plan.Row{p.listed(f.model)}
	}
	if f.json {
		return printJSON(w, map[string]any{"as_of": p.day, "unit": "usd_per_million_tokens", "rows": rows})
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Price rows on %s, USD per million tokens. ~: not known, the study's value stands in. docs/prices.md explains them.\n\n", p.day)
	fmt.Fprintln(t, "row\tinput\tread\twrite\toutput\tlong context\tttl\tmin prefix\tcached by\tsource")
	for _, row := range rows {
		fmt.Fprintln(t, listLine(row))
	}
	return t.Flush()
}

func listLine(row plan.Row) string {
	cell := func(name string, v any) string {
		if strings.Contains(", "+row.Unknown+",", ", "+name+",") {
			return fmt.Sprintf("~%v", v)
		}
		return fmt.Sprint(v)
	}
	tier := "-"
	switch {
	case row.Tier.Over > 0:
		tier = fmt.Sprintf(">%dk: %g/%g/%g/%g", row.Tier.Over/1000, row.Tier.Input, row.Tier.Read, row.Tier.Write, row.Tier.Output)
		if strings.Contains(row.Unknown, "tier_") {
			tier = "~" + tier
		}
	case strings.Contains(row.Unknown, "tier"):
		tier = "~none"
	}
	return strings.Join([]string{
		strings.ReplaceAll(row.Name, "|", " | "), fmt.Sprint(row.Input), cell("read", row.Read), cell("write", row.Write), cell("output", row.Output),
		tier, cell("ttl", fmt.Sprintf("%ds", row.TTL)), cell("min_prefix", row.MinPrefix), cell("control", row.Control), row.Source,
	}, "\t")
}

// priceRow is the row as a report shows it: prices of one token in the bill's unit.
func priceRow(row plan.Row) reports.PriceRow {
	return reports.PriceRow{
		Name: row.Name, AsOf: row.AsOf, Source: row.Source, Input: row.Input, Read: row.Read, Write: row.Write, Output: row.Output,
		MinPrefix: row.MinPrefix, TTL: row.TTL,
	}
}

// rowCompilers compiles the turns of each session under that session's price row.
type rowCompilers struct {
	ofSession map[string]*compile.Compiler // by the session's id
	otherwise *compile.Compiler            // under the settings' own row
}

// compilers makes one compiler for each price row of the sessions, under settings
// that are equal in all else. They share the memo: counts do not depend on prices.
func (p pricing) compilers(settings compile.Settings, sessions []datasets.Session, key []byte, memo *tokens.Memo) (c rowCompilers, err error) {
	if c.otherwise, err = compile.New(settings, key, memo); err != nil {
		return c, err
	}
	c.ofSession = map[string]*compile.Compiler{}
	made := map[plan.Row]*compile.Compiler{settings.Row: c.otherwise}
	for _, s := range sessions {
		settings.Row = p.listed(s.Model).InITE() // decisions are the same in every unit
		if made[settings.Row] == nil {
			if made[settings.Row], err = compile.New(settings, key, memo); err != nil {
				return c, err
			}
		}
		c.ofSession[s.ID] = made[settings.Row]
	}
	return c, nil
}

// of gives the compiler of a session.
func (c rowCompilers) of(session string) *compile.Compiler {
	if compiler := c.ofSession[session]; compiler != nil {
		return compiler
	}
	return c.otherwise
}

// Begin compiles the turn of one session.
func (c rowCompilers) Begin(snap actors.Snapshot, cmd actors.ReduceTurn) (actors.Draft, turn.Reason) {
	return turnCompiler{c.of(cmd.Binding.Session)}.Begin(snap, cmd)
}

// openPipeline compiles under the sessions' price rows over an open vault, in this
// process or, with --daemon, in one that is started for it.
func (r *replay) openPipeline(ctx context.Context, sessions []datasets.Session, v *vault.Vault, memoBytes int) error {
	memo := tokens.NewMemo(memoBytes)
	key := bytes.Clone(v.MarkerKey())
	c, err := r.pricing.compilers(r.settings, sessions, key, memo)
	births := r.settings
	births.NoEpochs = true
	if err == nil {
		r.births, err = r.pricing.compilers(births, sessions, key, memo)
	}
	if err != nil {
		return errors.Join(err, v.Close())
	}
	r.compiler = c.otherwise
	if r.flags.daemon {
		if err := v.Close(); err != nil {
			return storage(err)
		}
		d, err := r.startRemote(ctx)
		if err != nil {
			return err
		}
		r.pipeline = d
		return nil
	}
	local, err := startCompiling(c, v)
	if err != nil {
		return errors.Join(err, v.Close())
	}
	r.pipeline = local
	return nil
}

// tierNote says what staying under the lines of long context saved.
func (r *replay) tierNote(runs []*sessionRun) []string {
	turns, saved, unit := 0, 0.0, r.flags.unit
	for _, run := range runs {
		turns += run.underLine.turns
		saved += run.underLine.saved
	}
	if turns == 0 {
		return nil
	}
	sum := fmt.Sprintf("%.0f %s", saved, unit)
	if unit == unitUSD {
		sum = fmt.Sprintf("%.4f %s", saved, unit)
	}
	return []string{fmt.Sprintf("%s stayed under the line over which the provider reprices a whole request: %s of the saving", amount.Of(turns, "turn"), sum)}
}

// underLine counts turns that were over a tier's line as recorded and are not as
// sent, and what the line alone would have cost them.
type underLine struct {
	turns int
	saved float64
}

func (u *underLine) add(row plan.Row, raw, sent plan.Charge) {
	if !row.OverTier(raw.Input()) || row.OverTier(sent.Input()) {
		return
	}
	u.turns++
	over := row.At(raw.Input())
	over.Tier = plan.Tier{}
	u.saved += over.Cost(sent) - sent.Cost
}
