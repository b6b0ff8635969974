package plan

import (
	_ "embed" // the table of prices
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed prices.csv
var pricesCSV []byte

// Prices is a dated table of price rows. It never changes once it was read and is
// safe for concurrent use; the zero Prices is empty.
type Prices struct {
	asOf    string
	entries []entry // those that win first
}

// entry is one line of a table, in USD per million tokens.
type entry struct {
	ids                        []string // as written
	vendor, route              string
	from, until                string // days, from included, until excluded; "" none
	input, read, write, output cell
	long                       cell
	ttl, longTTL               cell // seconds
	tier                       tierCells
	minPrefix, granularity     cell
	control                    Control
	source, seen, derived      string
}

// cell is a figure that may be unknown, or said to be none.
type cell struct {
	value float64
	known bool
	none  bool
}

type tierCells struct{ over, input, read, write, long, output cell }

// Errors of picking a row.
var (
	// ErrNoRow: no line of the table names the model at that day with a known price.
	ErrNoRow = errors.New("no price row")
	// ErrNoLongWrite: the row has no cache write of that lifetime.
	ErrNoLongWrite = errors.New("no cache write of that lifetime")
)

// EmbeddedPrices is the table this program was built with.
func EmbeddedPrices() (Prices, error) {
	p, err := ReadPrices(pricesCSV)
	if err != nil {
		return Prices{}, fmt.Errorf("read the built-in prices: %w", err)
	}
	return p, nil
}

// AsOf is the date of the table, YYYY-MM-DD: the day rows are picked for unless
// another is named. It is "" for a table without one.
func (p Prices) AsOf() string { return p.asOf }

// Over lays p over another table: where a row of p names a model at a day, no row of
// below is looked at. The date is the later one.
func (p Prices) Over(below Prices) Prices {
	return Prices{asOf: max(p.asOf, below.asOf), entries: slices.Concat(p.entries, []entry{{}}, below.entries)}
}

// Find gives the row of a model at a day (YYYY-MM-DD), in USD per million tokens,
// and false when the table does not know it. Of several that name the model the
// longest name wins, then the first in the table. Cells the table does not know are
// the study's (Row.Unknown).
func (p Prices) Find(model, day string) (Row, bool) {
	e, id, ambiguous := p.find(model, "", day)
	if id == "" {
		return Row{}, false
	}
	return e.row(id, day, ambiguous), true
}

// Pick gives the row a user named: NAME, NAME@ROUTE, or either with +TTL ("+1h") for
// the longer cache write, in USD per million tokens.
func (p Prices) Pick(name, day string) (Row, error) {
	model, life, long := strings.Cut(name, "+")
	model, route, routed := strings.Cut(model, "@")
	e, id, ambiguous := p.find(model, strings.ToLower(route), day)
	if id == "" || routed && route == "" {
		return Row{}, fmt.Errorf("%w: %q on %s", ErrNoRow, name, day)
	}
	row := e.row(id, day, ambiguous)
	if routed {
		row.Name += "@" + e.route
	}
	if !long {
		return row, nil
	}
	row, ok := e.longWrite(row, life)
	if !ok {
		return Row{}, fmt.Errorf("%w: %q", ErrNoLongWrite, name)
	}
	return row, nil
}

// Rows lists every row that is valid at a day and has a price, in table order, in
// USD per million tokens. A row of several names has them all, separated by "|".
func (p Prices) Rows(day string) []Row {
	var out []Row
	for _, e := range p.entries {
		if e.validAt(day) && e.input.known {
			row := e.row(strings.Join(e.ids, "|"), day, false)
			if e.route != "" && e.route != "direct" {
				row.Name += "@" + e.route
			}
			out = append(out, row)
		}
	}
	return out
}

// find gives the winning entry and its id that matched, "" for none; ambiguous says
// that another route of the same name was as good.
func (p Prices) find(model, route, day string) (won entry, id string, ambiguous bool) {
	for _, e := range p.entries {
		if len(e.ids) == 0 && id != "" {
			break // the end of a layer that knows the model
		}
		if !e.validAt(day) || !e.input.known || route != "" && route != e.route {
			continue
		}
		switch found := e.names(model); {
		case len(found) > len(id):
			won, id, ambiguous = e, found, false
		case found != "" && len(found) == len(id):
			ambiguous = true
		}
	}
	return won, id, ambiguous
}

func (e entry) validAt(day string) bool {
	return len(e.ids) > 0 && (e.from == "" || e.from <= day) && (e.until == "" || day < e.until)
}

// names gives the entry's longest id that names the model, "" for none: equal, or
// followed by a date, whatever the spelling of dots, with or without the vendor's
// prefix.
func (e entry) names(model string) string {
	name := spelled(model)
	if rest, ok := strings.CutPrefix(name, "openrouter/"); ok {
		name = rest
	}
	bare := name
	for _, prefix := range vendorPrefixes(e.vendor) {
		rest, ok := strings.CutPrefix(name, prefix)
		if ok && rest != "" && (rest[0] == '/' || rest[0] == ':') {
			bare = rest[1:]
		}
	}
	best := ""
	for _, id := range e.ids {
		if s := spelled(id); len(id) > len(best) && (isSnapshot(name, s) || isSnapshot(bare, s)) {
			best = id
		}
	}
	return best
}

// spelled folds case and the two spellings of a version: claude-opus-4.5 and
// claude-opus-4-5.
func spelled(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), ".", "-")
}

// isSnapshot says whether name is id, or id with -YYYYMMDD or -YYYY-MM-DD after it.
func isSnapshot(name, id string) bool {
	rest, ok := strings.CutPrefix(name, id)
	if !ok || rest == "" {
		return ok
	}
	digits := strings.ReplaceAll(rest, "-", "")
	if len(digits) != len("20060102") || rest != "-"+digits && rest != "-"+digits[:4]+"-"+digits[4:6]+"-"+digits[6:] {
		return false
	}
	return strings.Trim(digits, "0123456789") == ""
}

// vendorPrefixes are the provider prefixes under which a vendor's models are sold at
// the vendor's own price. A row without a vendor takes any of them.
func vendorPrefixes(vendor string) []string {
	table := []struct {
		vendor   string
		prefixes []string
	}{
		{"openai", []string{"openai", "openai-codex"}}, {"anthropic", []string{"anthropic"}},
		{"google", []string{"google", "gemini"}}, {"deepseek", []string{"deepseek"}},
		{"alibaba", []string{"qwen", "alibaba"}}, {"moonshot", []string{"moonshotai", "moonshot"}},
		{"z.ai", []string{"z-ai", "zai"}}, {"meta", []string{"meta-llama"}}, {"nous", []string{"nousresearch"}},
	}
	var out []string
	for _, t := range table {
		if t.vendor == vendor || vendor == "" {
			out = append(out, t.prefixes...)
		}
	}
	return out
}

// row fills the cells the table does not know with the study's: prices as multiples
// of input; those of a tier as the row's own, scaled like its input.
func (e entry) row(name, day string, ambiguous bool) Row {
	study := Study()
	var unknown []string
	fill := func(c cell, otherwise float64, name string) float64 {
		if c.known {
			return c.value
		}
		unknown = append(unknown, name)
		return otherwise
	}
	in := e.input.value
	r := Row{Name: name, AsOf: day, Source: e.source, Input: in, Control: e.control}
	r.Read = fill(e.read, study.Read*in, "read")
	r.Write = fill(e.write, study.Write*in, "write")
	r.Output = fill(e.output, study.Output*in, "output")
	r.Priced = len(unknown) == 0
	r.Tier = e.tier.row(r, fill)
	r.TTL = int(fill(e.ttl, float64(study.TTL), "ttl"))
	r.MinPrefix = int(fill(e.minPrefix, float64(study.MinPrefix), "min_prefix"))
	r.Granularity = int(fill(e.granularity, float64(study.Granularity), "granularity"))
	if e.control == UnknownControl {
		r.Control = study.Control
		unknown = append(unknown, "control")
	}
	if ambiguous {
		unknown = append(unknown, "route") // e.g. peak or off-peak: the first of the table stands in
	}
	r.Unknown = strings.Join(unknown, ", ")
	r.Assumed = r.Unknown != ""
	if e.seen != "" {
		r.Source = strings.TrimPrefix(r.Source+", seen "+e.seen, ", ")
	}
	return r
}

func (t tierCells) row(r Row, fill func(cell, float64, string) float64) Tier {
	if t.over.none || t.over == (cell{}) {
		return Tier{}
	}
	if !t.over.known || !t.input.known {
		fill(cell{}, 0, "tier") // the study has none
		return Tier{}
	}
	up := t.input.value / r.Input
	return Tier{
		Over: int(t.over.value), Input: t.input.value, Read: fill(t.read, r.Read*up, "tier_read"),
		Write: fill(t.write, r.Write*up, "tier_write"), Output: fill(t.output, r.Output*up, "tier_output"),
	}
}

// longWrite is the row with the longer cache write.
func (e entry) longWrite(r Row, life string) (Row, bool) {
	seconds, ok := lifetime(life)
	if !ok || !e.long.known || !e.longTTL.known || float64(seconds) != e.longTTL.value {
		return Row{}, false
	}
	if r.Tier.Over > 0 {
		r.Tier.Write *= e.long.value / r.Write
		if e.tier.long.known {
			r.Tier.Write = e.tier.long.value
		}
	}
	r.Name += "+" + life
	r.Write, r.TTL = e.long.value, seconds
	return r, true
}

// lifetime reads "5m", "1h" or "300s" in seconds.
func lifetime(text string) (seconds int, ok bool) {
	if text == "" {
		return 0, false
	}
	unit := map[byte]int{'s': 1, 'm': 60, 'h': 3600}[text[len(text)-1]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	return int(n) * unit, err == nil && unit > 0 && n > 0
}
