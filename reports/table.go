package reports

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// table is rows under a head; the first column is left-aligned, the others right.
type table struct {
	head []string
	rows [][]string
	foot []string // a last row set apart, nil none
}

// writeText renders aligned columns with two spaces between them.
func (t table) writeText(b *strings.Builder) {
	widths := make([]int, len(t.head))
	for _, row := range t.all() {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
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
	if t.foot != nil {
		b.WriteString(rule)
		line(t.foot)
	}
}

// writeMarkdown renders a GitHub table.
func (t table) writeMarkdown(b *strings.Builder) {
	line := func(row []string) {
		b.WriteString("|")
		for _, cell := range row {
			b.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	line(t.head)
	b.WriteString("|---|" + strings.Repeat("---:|", len(t.head)-1) + "\n")
	for _, row := range t.rows {
		line(row)
	}
	if t.foot != nil {
		bold := make([]string, len(t.foot))
		for i, cell := range t.foot {
			bold[i] = "**" + cell + "**"
		}
		line(bold)
	}
}

func (t table) all() [][]string {
	rows := append([][]string{t.head}, t.rows...)
	if t.foot != nil {
		rows = append(rows, t.foot)
	}
	return rows
}

// count writes an integer with thousands separators.
func count(n int) string {
	digits := fmt.Sprintf("%d", n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// money writes an amount: whole input-token equivalents, or four digits after the
// point for a currency.
func money(v float64, unit string) string {
	if unit == "ite" || unit == "" {
		return count(int(roundHalf(v)))
	}
	return fmt.Sprintf("%.4f", v)
}

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
