package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"token-terminator/internal/amount"
)

// Options is what a rendered report says beside the figures.
type Options struct {
	Title       string   // "" is "Token Terminator replay"
	Command     string   // the command that gave the figures, "" none
	RecoveryPct float64  // the rate of the recovery debit, in percent
	Cache       string   // the cache model, "" none
	Notes       []string // what readers left out, calibrations, problems
	// Limits are the lines of "What a replay cannot show"; nil means ReplayLimits.
	Limits []string
}

// ReplayLimits is what no figure of a replay shows.
func ReplayLimits() []string {
	return []string{
		"Behaviour: the recorded agent saw everything. Whether it would take more or fewer calls with these forms is not in the data; one extra call costs about 4 % of a typical bill.",
		"Recoveries are assumed at one rate for every hidden block; a fact missed costs more than a page.",
		"Retries, hidden thinking, parallel agents and hits across sessions are not recorded.",
		"Tokens of models without a public tokenizer are a panel's or a stand-in's, not the provider's.",
	}
}

// nameWidth is the widest first column of a table; sessionWidth that of the table
// of sessions, which has the most columns.
const (
	nameWidth    = 40
	sessionWidth = 26
)

// style is one way to render headings, tables and lines.
type style interface {
	title(b *strings.Builder, text string)
	heading(b *strings.Builder, text string)
	table(b *strings.Builder, t table)
	pair(b *strings.Builder, name, value string)
	item(b *strings.Builder, text string)
	caption(b *strings.Builder, text string)
}

// WriteText renders the report for a terminal of 100 columns.
func (r Report) WriteText(w io.Writer, o Options) error { return r.write(w, o, plain{}) }

// WriteMarkdown renders the report as Markdown.
func (r Report) WriteMarkdown(w io.Writer, o Options) error { return r.write(w, o, markdown{}) }

func (r Report) write(w io.Writer, o Options, s style) error {
	var b strings.Builder
	s.title(&b, cmp.Or(o.Title, "Token Terminator replay"))
	r.intro(&b, o, s)
	r.perSession(&b, s)
	for _, t := range r.totals() {
		summary(&b, s, t)
	}
	r.spread(&b, s)
	r.arms(&b, s)
	r.epochs(&b, s)
	for _, t := range r.totals() {
		groups(&b, s, "By form"+r.measureOf(t), "form", t.ByForm)
		groups(&b, s, "By tool"+r.measureOf(t), "tool", t.ByTool)
	}
	reasons(&b, s, r.Total.Reasons)
	r.dearer(&b, s)
	list(&b, s, "Notes", o.Notes)
	limits := o.Limits
	if limits == nil {
		limits = ReplayLimits()
	}
	list(&b, s, "What a replay cannot show", limits)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (r Report) intro(b *strings.Builder, o Options, s style) {
	t := r.Total
	if o.Command != "" {
		s.pair(b, "Command", o.Command)
	}
	s.pair(b, "Sessions", fmt.Sprintf("%s with %s", count(len(r.Sessions)), amount.Of(t.Turns, "turn")))
	s.pair(b, "Measure", fmt.Sprintf("%s, tokenizer %s", cmp.Or(t.Tokens.Measure, "none"), cmp.Or(t.Tokenizer, "none")))
	s.pair(b, "Prices", priceLine(t.Cost))
	if o.Cache != "" {
		s.pair(b, "Cache model", o.Cache)
	}
	s.pair(b, "Recoveries", fmt.Sprintf("%s of hidden blocks are charged a fetch (one call, a page of up to 2,000 tokens); net figures include it", pct(o.RecoveryPct)))
}

func priceLine(c Cost) string {
	p := c.PriceRow
	if p.Name == Mixed || p.Name == "" {
		return cmp.Or(p.Name, "none") + ", unit " + cmp.Or(c.Unit, "ite")
	}
	per, unit := 1.0, cmp.Or(c.Unit, "ite")
	if unit != "ite" {
		per, unit = 1e6, unit+" (prices per million tokens)"
	}
	line := fmt.Sprintf("row %s: input %s, read %s, write %s, output %s, unit %s", p.Name, rate(p.Input*per), rate(p.Read*per), rate(p.Write*per), rate(p.Output*per), unit)
	if c.Assumed {
		line += " (assumed)"
	}
	return line
}

// perSession is the table that shows savings and evidence side by side.
func (r Report) perSession(b *strings.Builder, s style) {
	t := table{head: []string{"session", "turns", "tokens", "saved", "bill", "net", "hidden", "read back", "failed", "needed"}}
	row := func(x Session, name string) []string {
		return []string{
			name, count(x.Turns), short(float64(x.Tokens.Raw)), share(ratio(x.Tokens.Saved, x.Tokens.Raw)), shortMoney(x.Cost.Raw, x.Cost.Unit),
			share(x.Cost.SavedPct), count(x.HiddenBlocks()), count(x.RecoveriesChecked), count(x.RecoveriesFailed), count(x.NeededLater.Count),
		}
	}
	for _, x := range r.Sessions {
		t.rows = append(t.rows, row(x, shorten(x.ID, sessionWidth)))
	}
	if len(r.Sessions) != 1 {
		for _, x := range r.totals() {
			t.foot = append(t.foot, row(x, strings.TrimSuffix("total "+x.Tokens.Measure, " ")))
		}
	}
	s.heading(b, "Sessions")
	s.table(b, t)
	s.caption(b, "tokens, bill: as recorded. saved: of the tokens sent. net: of the bill, recoveries charged. "+
		"hidden: blocks shown in part. read back, failed: originals fetched from the vault again, equal byte for byte or not. "+
		"needed: hidden blocks that a later recorded call would have had to fetch.")
}

// totals is the total, apart for each measure when there are several: panel figures
// are never added to exact ones.
func (r Report) totals() []Session {
	if r.Total.Tokens.Measure != Mixed {
		return []Session{r.Total}
	}
	var out []Session
	for _, measure := range []string{Exact, Panel} {
		var with []Session
		for _, s := range r.Sessions {
			if s.Tokens.Measure == measure {
				with = append(with, s)
			}
		}
		if len(with) > 0 {
			out = append(out, Total(with))
		}
	}
	return out
}

// measureOf is ", exact" or ", panel" where a report has both.
func (r Report) measureOf(t Session) string {
	if r.Total.Tokens.Measure != Mixed {
		return ""
	}
	return ", " + t.Tokens.Measure
}

func summary(b *strings.Builder, s style, t Session) {
	c, d := t.Cost, t.Denominators
	s.heading(b, "Total ("+cmp.Or(t.Tokens.Measure, "no measure")+")")
	s.pair(b, "Tokens sent", fmt.Sprintf("%s -> %s: %s saved (%s); %s removed when each block is counted once", count(t.Tokens.Raw), count(t.Tokens.Final),
		count(t.Tokens.Saved), share(ratio(t.Tokens.Saved, t.Tokens.Raw)), count(t.UniqueTokensRemoved)))
	s.pair(b, "Bill", fmt.Sprintf("%s -> %s, plus %s for recoveries: %s saved net", money(c.Raw, c.Unit), money(c.Final, c.Unit),
		money(c.RecoveryDebit, c.Unit), share(c.SavedPct)))
	s.pair(b, "Other arms", fmt.Sprintf("birth %s, always rewrite %s, masking %s, optimum %s", arm(c.Birth, c.Unit),
		arm(c.AlwaysRewrite, c.Unit), arm(c.Masking, c.Unit), arm(c.Optimum, c.Unit)))
	if share := t.Cost.ShareOfOptimum; share != nil && c.Optimum != nil && *c.Optimum > 0 {
		s.pair(b, "Against optimum", fmt.Sprintf("%.3f times its cost; %s of what it gains over birth", c.Net()/(*c.Optimum), pct(100**share)))
	}
	s.pair(b, "Saved of", fmt.Sprintf("%s touchable, %s new input, %s whole requests, %s the bill", share(ratio(t.UniqueTokensRemoved, d.Touchable)),
		share(ratio(t.UniqueTokensRemoved, d.NewInput)), share(ratio(t.Tokens.Saved, d.Request)), share(c.SavedPct)))
	s.pair(b, "Evidence", fmt.Sprintf("%s hidden; %s kept, %s read back, %s failed", amount.Of(t.HiddenBlocks(), "block"), amount.Of(t.Artifacts, "original"),
		count(t.RecoveriesChecked), count(t.RecoveriesFailed)))
	s.pair(b, "Needed later", fmt.Sprintf("%s of %s; fetching a page of each would cost %s more", count(t.NeededLater.Count), amount.Of(t.HiddenBlocks(), "hidden block"), money(t.NeededLater.Debit, c.Unit)))
	s.pair(b, "Safety", fmt.Sprintf("%s enlarged, %s passed through; %s prefix and %s pairing violations", amount.Of(t.EnlargedTurns, "turn"),
		count(t.PassthroughTurns), count(t.PrefixViolations), count(t.PairingViolations)))
	if l := t.Latency; l.P50 != nil {
		s.pair(b, "Time a turn", fmt.Sprintf("%.1f ms median, %.1f ms p99, %.1f ms at most", *l.P50, *l.P99, *l.Max))
	}
}

func arm(v *float64, unit string) string {
	if v == nil {
		return "not run"
	}
	return money(*v, unit)
}

func (r Report) spread(b *strings.Builder, s style) {
	if len(r.Sessions) < 2 {
		return
	}
	t := table{head: []string{"net saving of the bill", "n", "q1", "median", "q3", "volume", "no largest", "worst", "dearer"}}
	for _, set := range []struct {
		name string
		min  int
	}{{"all sessions", 0}, {fmt.Sprintf("%d messages and more", LongSession), LongSession}} {
		if x, ok := SpreadOf(r.Sessions, set.min); ok {
			t.rows = append(t.rows, []string{
				set.name, count(x.Sessions), pct(x.Q1), pct(x.Median), pct(x.Q3), pct(x.Volume), share(x.WithoutLargest), pct(x.Worst), count(x.Dearer),
			})
		}
	}
	if len(t.rows) > 0 {
		s.heading(b, "Spread over sessions")
		s.table(b, t)
	}
}

func groups(b *strings.Builder, s style, heading, first string, by map[string]Group) {
	if len(by) == 0 {
		return
	}
	t := table{head: []string{first, "blocks", "before", "after", "removed", "of them"}}
	names := keysBy(by, func(g Group) int { return g.Saved })
	var sum Group
	for _, name := range names {
		g := by[name]
		sum = sum.Plus(g)
		t.rows = append(t.rows, groupRow(cmp.Or(shorten(name, nameWidth), "(none)"), g))
	}
	if len(names) > 1 {
		t.foot = [][]string{groupRow("together", sum)}
	}
	s.heading(b, heading+" (tokens, each block counted once)")
	s.table(b, t)
}

func groupRow(name string, g Group) []string {
	return []string{name, count(g.Blocks), count(g.TokensBefore), count(g.TokensAfter), count(g.Saved), share(ratio(g.Saved, g.TokensBefore))}
}

func reasons(b *strings.Builder, s style, by map[string]int) {
	if len(by) == 0 {
		return
	}
	t := table{head: []string{"reason", "count"}}
	for _, name := range keysBy(by, func(n int) int { return n }) {
		t.rows = append(t.rows, []string{name, count(by[name])})
	}
	s.heading(b, "Reasons (blocks and turns)")
	s.table(b, t)
}

// dearer names the sessions that cost more than before.
func (r Report) dearer(b *strings.Builder, s style) {
	s.heading(b, "Sessions that became dearer")
	dearer := false
	for _, x := range r.Sessions {
		if p := x.Cost.SavedPct; p != nil && *p < 0 {
			dearer = true
			s.item(b, fmt.Sprintf("%s: %s net, %s more", x.ID, pct(*p), money(x.Cost.Net()-x.Cost.Raw, x.Cost.Unit)))
		}
	}
	if !dearer {
		s.item(b, "none")
	}
}

func list(b *strings.Builder, s style, heading string, items []string) {
	if len(items) == 0 {
		return
	}
	s.heading(b, heading)
	for _, text := range items {
		s.item(b, text)
	}
}

// keysBy gives the keys with the largest weight first, then by name.
func keysBy[V any](m map[string]V, weight func(V) int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(m[b]), weight(m[a])), cmp.Compare(a, b))
	})
	return keys
}
