package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"token-terminator/internal/amount"
)

// table is rows under a head; the first column is left-aligned, the others right.
type table struct {
	head []string
	rows [][]string
	foot [][]string // last rows set apart
}

// writeText renders aligned columns with two spaces between them.
func (t table) writeText(b *strings.Builder) {
	widths := make([]int, len(t.head))
	for _, row := range t.all() {
		for i, cell := range row {
			row[i] = clean(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	line := func(row []string) {
		var l strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				l.WriteString(cell + pad)
			} else {
				l.WriteString("  " + pad + cell)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	rule := strings.Repeat("-", total) + "\n"
	line(t.head)
	b.WriteString(rule)
	for _, row := range t.rows {
		line(row)
	}
	if len(t.foot) > 0 {
		b.WriteString(rule)
	}
	for _, row := range t.foot {
		line(row)
	}
}

// writeMarkdown renders a GitHub table.
func (t table) writeMarkdown(b *strings.Builder) {
	line := func(row []string) {
		b.WriteString("|")
		for _, cell := range row {
			b.WriteString(" " + strings.ReplaceAll(clean(cell), "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	line(t.head)
	b.WriteString("|---|" + strings.Repeat("---:|", len(t.head)-1) + "\n")
	for _, row := range t.rows {
		line(row)
	}
	for _, row := range t.foot {
		bold := make([]string, len(row))
		for i, cell := range row {
			bold[i] = "**" + cell + "**"
		}
		line(bold)
	}
}

func (t table) all() [][]string {
	return slices.Concat([][]string{t.head}, t.rows, t.foot)
}

// count writes an integer with thousands separators.
func count(n int) string { return amount.Number(n) }

// money writes an amount: whole input-token equivalents, or four digits after the
// point for a currency.
func money(v float64, unit string) string {
	if unit == "ite" || unit == "" {
		return count(int(roundHalf(v)))
	}
	return fmt.Sprintf("%.4f", v)
}

// shortMoney is money in few characters.
func shortMoney(v float64, unit string) string {
	if unit == "ite" || unit == "" {
		return short(v)
	}
	return money(v, unit)
}

// rate writes a price without the noise of its last binary digits.
func rate(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

func roundHalf(v float64) float64 {
	if v < 0 {
		return -roundHalf(-v)
	}
	return float64(int64(v + 0.5))
}

// share writes a percentage, "n/a" when unknown.
func share(p *float64) string {
	if p == nil {
		return "n/a"
	}
	return pct(*p)
}

func pct(p float64) string {
	s := fmt.Sprintf("%.1f %%", p)
	if s == "-0.0 %" {
		return "0.0 %"
	}
	return s
}

func ratio(part, whole int) *float64 { return percent(float64(part), float64(whole)) }

// shorten keeps both ends of a long name.
func shorten(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	tail := (width - 1) / 2
	return string(runes[:width-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// short writes a figure in at most six characters: 99,999 · 123k · 12.3M · 1.23G.
func short(v float64) string {
	abs := max(v, -v)
	switch {
	case abs < 99_999.5:
		return count(int(roundHalf(v)))
	case abs < 999_500:
		return fmt.Sprintf("%.0fk", v/1e3)
	case abs < 99_950_000:
		return fmt.Sprintf("%.2fM", v/1e6)
	case abs < 999_500_000:
		return fmt.Sprintf("%.0fM", v/1e6)
	}
	return fmt.Sprintf("%.2fG", v/1e9)
}

// clean takes away what could steer a terminal or turn a line around: names of
// tools and sessions come from files of others.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '?'
		}
		return r
	}, s)
}
