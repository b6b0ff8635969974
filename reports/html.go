package reports

import (
	"bytes"
	"cmp"
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"token-terminator/internal/amount"
)

//go:embed page.html.tmpl
var pageTemplate string

// PageStart is how every page of WriteHTML begins; a file that does not begin so is
// not one of them.
const PageStart = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta name=\"generator\" content=\"Token Terminator\">\n"

// WriteHTML renders the report as one page that needs nothing but itself: no script,
// no font, no picture, no request. The same figures give the same bytes. Names from
// files of others are escaped, and what could turn a line around is replaced.
func (r Report) WriteHTML(w io.Writer, o Options) error {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("read the page's template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, r.page(o)); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// page is everything the template shows. All texts are clean already.
type page struct {
	Title    string
	Facts    []fact
	Labels   []label
	Totals   []totalView
	Tables   []tableView // forms, tools
	Sessions tableView
	Spread   *tableView
	Dearer   []dearerView
	Tried    int // sessions with a bill
	Epochs   *tableView
	Details  []sessionView
	Reasons  tableView
	Notes    []string
	Limits   []string
}

type fact struct{ Name, Value string }

// label says of one kind of figure whether it was measured or assumed.
type label struct{ Kind, Text string }

type totalView struct {
	ID, Heading string
	Cards       []card
	Arms        tableView
}

// card is one figure with what stands beside it. Value is the bare number, "" none.
type card struct{ Name, Figure, Value, Note, Beside string }

type dearerView struct{ Anchor, Name, Text string }

// tableView is one table; the first cell of a row is its head.
type tableView struct {
	ID, Caption string
	Lead, Note  string // above and below it
	Head        []string
	Rows, Foot  [][]cellView
}

type cellView struct {
	Text, Link, Value string
	Bar               *bar
}

// bar is a part of a cell's width, in percent.
type bar struct {
	X, Width string
	Minus    bool
}

type sessionView struct {
	Anchor, Name, Meta, Saving, Beside string
	Open                               bool
	Plots                              []plot
	Epochs                             []string
	Turns                              tableView
}

func (r Report) page(o Options) page {
	p := page{Title: clean(cmp.Or(o.Title, "Token Terminator replay")), Facts: r.facts(o), Labels: r.labels(o)}
	for i, t := range r.totals() {
		p.Totals = append(p.Totals, totalOf(t, i, r.standIn() > 0))
	}
	p.Sessions = r.sessionTable()
	p.Spread = r.spreadTable()
	for i, t := range r.totals() {
		n := ""
		if i > 0 {
			n = strconv.Itoa(i)
		}
		p.Tables = append(p.Tables,
			groupTable("forms"+n, "By form"+r.measureOf(t), "form", t.ByForm, t.loss.byForm),
			groupTable("tools"+n, "By tool"+r.measureOf(t), "tool", t.ByTool, t.loss.byTool))
	}
	p.Dearer, p.Tried = r.dearerViews()
	p.Epochs = r.epochTable()
	for i, s := range r.Sessions {
		p.Details = append(p.Details, detail(s, i, len(r.Sessions) == 1))
	}
	p.Reasons = tableView{ID: "reasons", Caption: "Reasons (blocks and turns)", Head: []string{"reason", "count"}}
	for _, name := range keysBy(r.Total.Reasons, func(n int) int { return n }) {
		p.Reasons.Rows = append(p.Reasons.Rows, []cellView{text(name), text(count(r.Total.Reasons[name]))})
	}
	p.Notes = cleaned(o.Notes)
	p.Limits = cleaned(o.Limits)
	if o.Limits == nil {
		p.Limits = ReplayLimits()
	}
	return p
}

func cleaned(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		out = append(out, clean(line))
	}
	return out
}

func text(s string) cellView { return cellView{Text: clean(s)} }

func texts(all ...string) []cellView {
	out := make([]cellView, 0, len(all))
	for _, s := range all {
		out = append(out, text(s))
	}
	return out
}

// number is a figure with its bare value for machines.
func number(n int) cellView { return cellView{Text: count(n), Value: strconv.Itoa(n)} }

func bare(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func bareShare(p *float64) string {
	if p == nil {
		return ""
	}
	return bare(*p)
}

func (r Report) facts(o Options) []fact {
	t := r.Total
	facts := []fact{{"Sessions", fmt.Sprintf("%s with %s", count(len(r.Sessions)), amount.Of(t.Turns, "turn"))}}
	if o.Command != "" {
		facts = append(facts, fact{"Command", clean(o.Command)})
	}
	facts = append(facts, fact{"Prices", clean(priceLine(t.Cost))})
	if o.Cache != "" {
		facts = append(facts, fact{"Cache model", clean(o.Cache)})
	}
	if l := t.Latency; l.P50 != nil {
		facts = append(facts, fact{"Time a turn", fmt.Sprintf("%.1f ms median, %.1f ms p99, %.1f ms at most", *l.P50, *l.P99, *l.Max)})
	}
	return facts
}

// labels says which figures were measured and which rest on an assumption.
func (r Report) labels(o Options) []label {
	const measured, assumed = "measured", "assumed"
	t := r.Total
	tokens := label{measured, "tokens: exact counts, " + cmp.Or(t.Tokenizer, "no tokenizer")}
	switch {
	case t.Tokens.Measure == Panel:
		tokens = label{assumed, "tokens: a panel of four measures stands in for a tokenizer that is not public"}
	case t.Tokens.Measure == Mixed:
		tokens = label{assumed, "tokens: some sessions exact, some by a panel; never added up"}
	case r.standIn() > 0:
		tokens = label{assumed, fmt.Sprintf("tokens: exact counts, of a stand-in tokenizer for %s of %s", count(r.standIn()), amount.Of(len(r.Sessions), "session"))}
	}
	prices := label{measured, "prices: of " + t.Cost.PriceRow.AsOf + ", row " + t.Cost.PriceRow.Name}
	switch {
	case t.Cost.PriceRow.Name == Mixed && t.Cost.Assumed:
		prices = label{assumed, "prices: several rows, at least one with assumed cells (notes)"}
	case t.Cost.PriceRow.Name == Mixed:
		prices = label{measured, "prices: several rows (notes)"}
	case t.Cost.Assumed:
		prices = label{assumed, "prices: row " + t.Cost.PriceRow.Name + " has assumed cells"}
	}
	out := []label{tokens, prices}
	if t.PrefixAdded > 0 {
		out = append(out, label{assumed, "prompts that were not recorded: " + amount.Of(t.PrefixAdded, "token") + " added to the bill in all"})
	}
	out = append(out,
		label{assumed, "recoveries: " + pct(o.RecoveryPct) + " of hidden blocks are charged a fetch"},
		label{measured, "evidence: " + amount.Of(t.RecoveriesChecked, "original") + " read back and compared"})
	for i := range out {
		out[i].Text = clean(out[i].Text)
	}
	return out
}

// standIn is how many sessions were measured by a tokenizer not their model's own.
func (r Report) standIn() int {
	n := 0
	for _, s := range r.Sessions {
		if strings.Contains(s.Tokenizer, "(assumed)") {
			n++
		}
	}
	return n
}

// beside is what stands beside a saving: what it hides, and what of it was needed.
func beside(s Session) string {
	return fmt.Sprintf("%s hidden, %s needed later", count(s.HiddenBlocks()), count(s.NeededLater.Count))
}

func totalOf(t Session, i int, standIn bool) totalView {
	c, measure := t.Cost, cmp.Or(t.Tokens.Measure, "no measure")
	if standIn && measure == Exact {
		measure += ", partly by a stand-in tokenizer"
	}
	v := totalView{ID: "total" + strconv.Itoa(i), Heading: clean("Total (" + measure + ")")}
	v.Cards = []card{
		{"Bill, net", share(c.SavedPct), bareShare(c.SavedPct), fmt.Sprintf("saved: %s to %s %s, and %s for recoveries", money(c.Raw, c.Unit),
			money(c.Final, c.Unit), cmp.Or(c.Unit, "ite"), money(c.RecoveryDebit, c.Unit)), beside(t)},
		{"Tokens sent", share(ratio(t.Tokens.Saved, t.Tokens.Raw)), bareShare(ratio(t.Tokens.Saved, t.Tokens.Raw)),
			fmt.Sprintf("saved: %s to %s", count(t.Tokens.Raw), count(t.Tokens.Final)), beside(t)},
		{"Each block once", count(t.UniqueTokensRemoved), strconv.Itoa(t.UniqueTokensRemoved), fmt.Sprintf("tokens removed: %s of what may be touched, %s of new input",
			share(ratio(t.UniqueTokensRemoved, t.Denominators.Touchable)), share(ratio(t.UniqueTokensRemoved, t.Denominators.NewInput))), beside(t)},
		{"Needed later", fmt.Sprintf("%s of %s", count(t.NeededLater.Count), count(t.HiddenBlocks())), strconv.Itoa(t.NeededLater.Count),
			"hidden blocks a later recorded call needed; fetching a page of each would cost " + money(t.NeededLater.Debit, c.Unit) + " more", ""},
		{"Originals", fmt.Sprintf("%s failed", count(t.RecoveriesFailed)), strconv.Itoa(t.RecoveriesFailed),
			fmt.Sprintf("%s kept, %s read back and compared byte for byte", count(t.Artifacts), count(t.RecoveriesChecked)), ""},
		{"Turns", fmt.Sprintf("%s enlarged", count(t.EnlargedTurns)), strconv.Itoa(t.EnlargedTurns), fmt.Sprintf("%s passed through; %s prefix and %s pairing violations",
			count(t.PassthroughTurns), count(t.PrefixViolations), count(t.PairingViolations)), ""},
	}
	v.Arms = armTable(t, v.ID)
	return v
}

// armTable is the bill of every arm that was run.
func armTable(t Session, id string) tableView {
	c := t.Cost
	v := tableView{ID: id + "arms", Caption: "Bill by arm (" + clean(cmp.Or(c.Unit, "ite")) + ")", Head: []string{"arm", "bill", "of the recorded bill", "saved", "evidence"},
		Note: "Every arm but the recorded one is net of its recoveries. Arms that were not run are left out."}
	ours := c.Net()
	type armBill struct {
		name, beside string
		cost         *float64
	}
	arms := []armBill{
		{"recorded", "everything in sight", &c.Raw}, {"ours", beside(t), &ours}, {ArmBirth, "not counted apart", c.Birth},
		{ArmAlwaysRewrite, "not counted apart", c.AlwaysRewrite}, {ArmMasking, "not counted apart", c.Masking}, {ArmOptimum, "not counted apart", c.Optimum},
	}
	arms = slices.DeleteFunc(arms, func(a armBill) bool { return a.cost == nil })
	most := 0.0
	for _, a := range arms {
		most = max(most, *a.cost)
	}
	for _, a := range arms {
		of := percent(*a.cost, c.Raw)
		row := []cellView{text(a.name), {Text: money(*a.cost, c.Unit), Value: bare(*a.cost)}, {Text: share(of), Bar: barOf(percent(*a.cost, most))}, text(share(percent(c.Raw-*a.cost, c.Raw))), text(a.beside)}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// barOf draws a percentage from the left; nil where there is none.
func barOf(p *float64) *bar {
	if p == nil {
		return nil
	}
	return &bar{X: "0", Width: fixed(min(max(*p, 0), 100))}
}

// fixed writes a coordinate with one digit after the point.
func fixed(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	if s == "-0.0" {
		return "0.0"
	}
	return strings.TrimSuffix(s, ".0")
}
