package plan

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of a table of prices.
const (
	maxPriceBytes = 4 << 20
	maxPriceLines = 2000
	maxPrice      = 1e6 // USD per million tokens
)

// ErrBadPrices says that a table of prices cannot be read.
var ErrBadPrices = errors.New("prices")

// PricesError names the line and the field of a table that cannot be read.
type PricesError struct {
	Line  int    // from 1, 0 for the whole table
	Field string // name of the column, "" for the whole line
	Why   string
}

func (e *PricesError) Error() string {
	text := "prices"
	if e.Line > 0 {
		text += " line " + strconv.Itoa(e.Line)
	}
	if e.Field != "" {
		text += ", field " + e.Field
	}
	return text + ": " + e.Why
}

// Is makes every PricesError an ErrBadPrices.
func (e *PricesError) Is(target error) bool { return target == ErrBadPrices }

// ReadPrices reads a table: CSV with a head line, "#" starts a comment line, and the
// comment "# as_of: YYYY-MM-DD" dates the table. The columns, their words and which
// may be left out: docs/prices.md. The error is a *PricesError.
func ReadPrices(data []byte) (Prices, error) {
	if len(data) > maxPriceBytes {
		return Prices{}, &PricesError{Why: fmt.Sprintf("more than %d bytes", maxPriceBytes)}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	p := Prices{}
	var err error
	if p.asOf, err = tableDate(data); err != nil {
		return Prices{}, err
	}
	lines := csv.NewReader(bytes.NewReader(data))
	lines.Comment = '#'
	head, err := lines.Read()
	if err != nil {
		return Prices{}, csvError(err)
	}
	columns, err := readHead(lines, head)
	if err != nil {
		return Prices{}, err
	}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return Prices{}, csvError(err)
		}
		line, _ := lines.FieldPos(0)
		e, err := readEntry(line, columns, fields)
		if err == nil {
			err = p.admit(line, e)
		}
		if err != nil {
			return Prices{}, err
		}
	}
}

// tableDate finds the comment that dates the table.
func tableDate(data []byte) (string, error) {
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		text, comment := strings.CutPrefix(line, "#")
		if !comment {
			continue
		}
		name, day, found := strings.Cut(text, ":")
		if !found || strings.TrimSpace(name) != "as_of" {
			continue
		}
		day = strings.TrimSpace(day)
		if !IsDay(day) {
			return "", &PricesError{number, "as_of", fmt.Sprintf("%q is no day; want YYYY-MM-DD", day)}
		}
		return day, nil
	}
	return "", nil
}

func csvError(err error) error {
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		return &PricesError{Line: bad.Line, Why: bad.Err.Error()}
	}
	if errors.Is(err, io.EOF) {
		return &PricesError{Why: "there is no head line"}
	}
	return &PricesError{Why: err.Error()}
}

// column is one column of a table: how its field is read into an entry.
type column struct {
	name   string
	needed bool
	read   func(e *entry, text string) string // why not, "" when it was read
}

// priceColumns are all columns, in the order the built-in table has them.
func priceColumns() []column {
	price := func(name string, at func(*entry) *cell) column { return figure(name, at, readPrice) }
	count := func(name string, at func(*entry) *cell) column { return figure(name, at, readCount) }
	life := func(name string, at func(*entry) *cell) column { return figure(name, at, readLifetime) }
	word := func(name string, at func(*entry) *string) column {
		return column{name, false, func(e *entry, text string) string { *at(e) = text; return "" }}
	}
	return []column{
		{"model_pattern", true, readIDs},
		word("vendor", func(e *entry) *string { return &e.vendor }),
		word("route", func(e *entry) *string { return &e.route }),
		{"from", false, func(e *entry, text string) string { return readDay(&e.from, text, "unknown") }},
		{"until", false, func(e *entry, text string) string { return readDay(&e.until, text, "open") }},
		price("input", func(e *entry) *cell { return &e.input }),
		price("read", func(e *entry) *cell { return &e.read }),
		price("write", func(e *entry) *cell { return &e.write }),
		life("ttl", func(e *entry) *cell { return &e.ttl }),
		price("write_long", func(e *entry) *cell { return &e.long }),
		life("ttl_long", func(e *entry) *cell { return &e.longTTL }),
		price("output", func(e *entry) *cell { return &e.output }),
		count("tier_over", func(e *entry) *cell { return &e.tier.over }),
		price("tier_input", func(e *entry) *cell { return &e.tier.input }),
		price("tier_read", func(e *entry) *cell { return &e.tier.read }),
		price("tier_write", func(e *entry) *cell { return &e.tier.write }),
		price("tier_write_long", func(e *entry) *cell { return &e.tier.long }),
		price("tier_output", func(e *entry) *cell { return &e.tier.output }),
		count("min_prefix", func(e *entry) *cell { return &e.minPrefix }),
		{"granularity", false, readGranularity},
		{"control", false, readControl},
		word("source", func(e *entry) *string { return &e.source }),
		word("seen", func(e *entry) *string { return &e.seen }),
		word("derived", func(e *entry) *string { return &e.derived }),
	}
}

// figure is a column of numbers that may be unknown (or empty); where a row need not
// have the thing at all, none says so.
func figure(name string, at func(*entry) *cell, read func(string) (float64, string)) column {
	mayBeNone := strings.HasPrefix(name, "tier_") || strings.HasSuffix(name, "_long")
	return column{name, name == "input", func(e *entry, text string) string {
		c := at(e)
		switch {
		case text == "unknown" || text == "":
			*c = cell{none: text == "" && mayBeNone}
			return ""
		case text == "none" && mayBeNone:
			*c = cell{none: true}
			return ""
		}
		v, why := read(text)
		*c = cell{value: v, known: why == ""}
		return why
	}}
}

func readHead(lines *csv.Reader, head []string) ([]column, error) {
	at, _ := lines.FieldPos(0)
	known := priceColumns()
	var out []column
	for i, name := range head {
		k := slices.IndexFunc(known, func(c column) bool { return c.name == name })
		if k < 0 {
			return nil, &PricesError{at, name, "there is no such column"}
		}
		if slices.Contains(head[:i], name) {
			return nil, &PricesError{at, name, "the column stands twice"}
		}
		out = append(out, known[k])
	}
	for _, c := range known {
		if c.needed && !slices.Contains(head, c.name) {
			return nil, &PricesError{at, c.name, "the column is missing"}
		}
	}
	return out, nil
}

func readEntry(line int, columns []column, fields []string) (entry, error) {
	e := entry{control: UnknownControl}
	for i, c := range columns {
		if why := c.read(&e, fields[i]); why != "" {
			return e, &PricesError{line, c.name, why}
		}
	}
	switch {
	case e.input.known && e.input.value == 0:
		return e, &PricesError{line, "input", "free input has no input-token equivalent"}
	case e.tier.over.known && e.tier.over.value == 0:
		return e, &PricesError{line, "tier_over", "want a positive number, none or unknown"}
	case e.tier.input.known && e.tier.input.value == 0:
		return e, &PricesError{line, "tier_input", "want a positive price, none or unknown"}
	case e.tier.input.known && !e.tier.over.known:
		return e, &PricesError{line, "tier_over", "a tier's price needs its threshold"}
	case e.from != "" && e.until != "" && e.from >= e.until:
		return e, &PricesError{line, "until", "the day is not after from"}
	}
	return e, nil
}

// admit adds a row unless it names a model that a row before names on the same route
// at the same time.
func (p *Prices) admit(line int, e entry) error {
	if len(p.entries) >= maxPriceLines {
		return &PricesError{line, "", fmt.Sprintf("more than %d rows", maxPriceLines)}
	}
	for _, before := range p.entries {
		apart := before.until != "" && e.from != "" && before.until <= e.from ||
			e.until != "" && before.from != "" && e.until <= before.from
		if apart || before.route != e.route {
			continue
		}
		for _, id := range e.ids {
			if slices.ContainsFunc(before.ids, func(other string) bool { return spelled(other) == spelled(id) }) {
				return &PricesError{line, "model_pattern", fmt.Sprintf("%q has two rows for one route and day", id)}
			}
		}
	}
	p.entries = append(p.entries, e)
	return nil
}

func readIDs(e *entry, text string) string {
	for id := range strings.SplitSeq(text, "|") {
		if id == "" || strings.ContainsAny(id, " \t@+*") {
			return fmt.Sprintf("%q is no model id", id)
		}
		e.ids = append(e.ids, id)
	}
	return ""
}

func readDay(day *string, text, open string) string {
	switch {
	case text == open || text == "":
		*day = ""
	case IsDay(text):
		*day = text
	default:
		return fmt.Sprintf("%q is no day; want YYYY-MM-DD or %s", text, open)
	}
	return ""
}

// IsDay says whether text is a day of the calendar, YYYY-MM-DD.
func IsDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

func readPrice(text string) (float64, string) {
	whole, part, _ := strings.Cut(text, ".")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || whole == "" || strings.Trim(whole+part, "0123456789") != "" || v > maxPrice {
		return 0, fmt.Sprintf("%q is no price; want a plain number from 0 to %.0f, or unknown", text, maxPrice)
	}
	return v, ""
}

func readCount(text string) (float64, string) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Sprintf("%q is no number of tokens; want digits, or unknown", text)
	}
	return float64(n), ""
}

func readLifetime(text string) (float64, string) {
	seconds, ok := lifetime(text)
	if !ok {
		return 0, fmt.Sprintf("%q is no lifetime; want e.g. 300s, 5m, 1h, or unknown", text)
	}
	return float64(seconds), ""
}

// readGranularity takes a step in tokens, or the words for reuse up to the end of a
// block, a stored unit or a mark: nothing is rounded there.
func readGranularity(e *entry, text string) string {
	switch text {
	case "exact", "block", "unit":
		e.granularity = cell{known: true}
		return ""
	}
	return figure("granularity", func(e *entry) *cell { return &e.granularity }, readCount).read(e, text)
}

func readControl(e *entry, text string) string {
	switch c := Control(text); c {
	case Automatic, ExplicitMarks, Both, UnknownControl:
		e.control = c
	case "":
		e.control = UnknownControl
	default:
		return fmt.Sprintf("%q: want automatic, marks, both or unknown", text)
	}
	return ""
}
