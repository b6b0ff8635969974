package reports

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"token-terminator/internal/amount"
)

// Geometry of a plot, in its own units.
const (
	plotWidth, plotHeight = 360.0, 190.0
	plotLeft, plotRight   = 46.0, 16.0
	plotTop, plotBottom   = 14.0, 24.0
)

// Bounds of what one session adds to a page.
const (
	maxPoints   = 240 // of a line
	maxTurnRows = 24  // of the table of turns
)

// plot is one small picture: lines over turns, marks for epochs.
type plot struct {
	ID, Title, Desc string
	Lines           []plotLine
	Dots            []plotDot // lines of one turn
	YTicks, XTicks  []tick
	Marks           []mark
	Legend          []legend
}

type plotLine struct{ Class, Points string }

type plotDot struct{ Class, X, Y string }

type tick struct{ X, Y, Text string }

type mark struct{ X, Class, Letter, Text string }

type legend struct{ Class, Name, Value string }

// armClass is the arm's name in the style sheet; names come from callers of ours.
func armClass(arm string) string {
	switch arm {
	case ArmRaw, ArmOurs, ArmBirth, ArmMasking, ArmOptimum:
		return "arm-" + arm
	case ArmAlwaysRewrite:
		return "arm-always"
	}
	return "arm-other"
}

func detail(s Session, i int, open bool) sessionView {
	v := sessionView{
		Anchor: anchor(i), Name: sessionName(s), Open: open, Saving: share(s.Cost.SavedPct) + " net", Beside: beside(s),
		Meta: clean(fmt.Sprintf("%s, model %s, tokenizer %s, price row %s; %s, %s; %s kept, %s read back, %s failed",
			cmp.Or(s.Source, "no source"), cmp.Or(s.Model, "not named"), cmp.Or(s.Tokenizer, "none"), cmp.Or(s.Cost.PriceRow.Name, "none"), amount.Of(s.Messages, "message"),
			amount.Of(s.Turns, "turn"), amount.Of(s.Artifacts, "original"), count(s.RecoveriesChecked), count(s.RecoveriesFailed))),
	}
	for _, e := range s.Epochs {
		v.Epochs = append(v.Epochs, clean(fmt.Sprintf("%s at turn %d, %s: %s", epochLetter(e.Kind), e.Turn, e.Kind, e.Reason)))
	}
	unit := clean(cmp.Or(s.Cost.Unit, "ite"))
	tokens := picture{id: v.Anchor + "t", title: "Tokens sent in each turn", scale: short, epochs: s.Epochs}
	bill := picture{id: v.Anchor + "b", title: "Bill so far, " + unit, scale: func(f float64) string { return axisMoney(f, s.Cost.Unit) }, epochs: s.Epochs}
	for _, x := range s.series {
		line := make([]float64, len(x.Tokens))
		for k, n := range x.Tokens {
			line[k] = float64(n)
		}
		tokens.add(x.Arm, line)
		bill.add(x.Arm, sums(x.Cost))
	}
	if tokens.turns() > 0 {
		v.Plots = []plot{tokens.draw(), bill.draw()}
		v.Turns = turnTable(s, v.Anchor, unit)
	}
	return v
}

func sums(costs []float64) []float64 {
	out := make([]float64, len(costs))
	sum := 0.0
	for i, c := range costs {
		sum += c
		out[i] = sum
	}
	return out
}

// axisMoney is money in few characters: dollars with three digits.
func axisMoney(v float64, unit string) string {
	if unit == "ite" || unit == "" {
		return short(v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// picture collects the lines of a plot.
type picture struct {
	id, title string
	scale     func(float64) string
	epochs    []Epoch
	arms      []string
	values    [][]float64
}

func (p *picture) add(arm string, values []float64) {
	p.arms, p.values = append(p.arms, arm), append(p.values, values)
}

func (p *picture) turns() int {
	n := 0
	for _, v := range p.values {
		n = max(n, len(v))
	}
	return n
}

func (p *picture) draw() plot {
	n, top := p.turns(), 0.0
	for _, line := range p.values {
		for _, v := range line {
			top = max(top, v)
		}
	}
	top = niceAbove(top)
	x := func(i int) string {
		span := plotWidth - plotLeft - plotRight
		if n == 1 {
			return fixed(plotLeft + span/2)
		}
		return fixed(plotLeft + span*float64(i)/float64(n-1))
	}
	y := func(v float64) string {
		return fixed(plotHeight - plotBottom - (plotHeight-plotTop-plotBottom)*max(v, 0)/top)
	}
	out := plot{ID: p.id, Title: clean(p.title)}
	for _, part := range []float64{0, 0.5, 1} {
		out.YTicks = append(out.YTicks, tick{X: fixed(plotLeft - 4), Y: y(part * top), Text: p.scale(part * top)})
	}
	for _, i := range ticksOf(n) {
		out.XTicks = append(out.XTicks, tick{X: x(i), Y: fixed(plotHeight - 8), Text: count(i + 1)})
	}
	var words []string
	for k, line := range p.values {
		if len(line) == 0 {
			continue
		}
		name, class, last := clean(p.arms[k]), armClass(p.arms[k]), line[len(line)-1]
		if len(line) == 1 {
			out.Dots = append(out.Dots, plotDot{class, x(0), y(line[0])})
		} else {
			out.Lines = append(out.Lines, plotLine{class, polyline(line, x, y)})
		}
		out.Legend = append(out.Legend, legend{class, name, p.scale(last)})
		words = append(words, name+" "+p.scale(line[0])+" to "+p.scale(last))
	}
	for _, e := range p.epochs {
		if e.Turn >= 1 && e.Turn <= n {
			out.Marks = append(out.Marks, mark{x(e.Turn - 1), epochClass(e.Kind), epochLetter(e.Kind), clean(fmt.Sprintf("turn %d, %s: %s", e.Turn, e.Kind, e.Reason))})
		}
	}
	out.Desc = fmt.Sprintf("Lines over %s: %s. %s.", turnsOf(n), strings.Join(words, "; "), epochsOf(len(out.Marks)))
	return out
}

func turnsOf(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return count(n) + " turns"
}

func epochsOf(n int) string {
	switch n {
	case 0:
		return "No epoch"
	case 1:
		return "1 epoch is marked"
	}
	return count(n) + " epochs are marked"
}

func epochClass(kind string) string {
	switch kind {
	case "cold", "warm", "window":
		return "epoch-" + kind
	}
	return "epoch-other"
}

// epochLetter stands above an epoch's line.
func epochLetter(kind string) string {
	switch kind {
	case "cold":
		return "c"
	case "warm":
		return "w"
	case "window":
		return "o"
	}
	return "?"
}

// polyline takes at most maxPoints of a line, evenly, the first and last always.
func polyline(line []float64, x func(int) string, y func(float64) string) string {
	var b strings.Builder
	for k, i := range evenly(len(line), maxPoints) {
		if k > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(x(i) + "," + y(line[i]))
	}
	return b.String()
}

// evenly gives at most most indexes of n, the first and last among them.
func evenly(n, most int) []int {
	out := make([]int, 0, min(n, most))
	for k := range min(n, most) {
		if n <= most {
			out = append(out, k)
		} else {
			out = append(out, k*(n-1)/(most-1))
		}
	}
	return out
}

func ticksOf(n int) []int {
	switch {
	case n <= 0:
		return nil
	case n < 5:
		return evenly(n, n)
	}
	return []int{0, (n - 1) / 2, n - 1}
}

// niceAbove is the next of 1, 2, 4, 5, 6, 8 times a power of ten; 1 for nothing.
func niceAbove(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 2, 3, 4, 5, 6, 8, 10} {
		if v <= step*power {
			return step * power
		}
	}
	return 10 * power
}

// turnTable shows the same figures as the plots, for those who cannot see them.
func turnTable(s Session, id, unit string) tableView {
	n := 0
	for _, x := range s.series {
		n = max(n, len(x.Tokens))
	}
	v := tableView{ID: id + "turns", Caption: "Turn by turn", Head: []string{"turn"}}
	if n > maxTurnRows {
		v.Lead = fmt.Sprintf("%d of %s turns, evenly picked; bills are of all turns so far, without recoveries.", maxTurnRows, count(n))
	} else {
		v.Lead = "Bills are of all turns so far, without recoveries."
	}
	bills := make([][]float64, len(s.series))
	for k, x := range s.series {
		bills[k] = sums(x.Cost)
		v.Head = append(v.Head, clean(x.Arm)+", tokens", clean(x.Arm)+", bill ("+unit+")")
	}
	for _, i := range evenly(n, maxTurnRows) {
		row := []cellView{text(strconv.Itoa(i + 1))}
		for k, x := range s.series {
			if i >= len(x.Tokens) {
				row = append(row, text("-"), text("-"))
				continue
			}
			row = append(row, number(x.Tokens[i]), cellView{Text: money(bills[k][i], s.Cost.Unit), Value: bare(bills[k][i])})
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
