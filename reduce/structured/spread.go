package structured

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"token-terminator/reduce/jsonscan"
)

const (
	madFactor  = 12                  // median absolute deviations that make an outlier
	digitShare = 0.01                // a digit count as rare as this is evidence
	heavyShare = 0.03                // more outliers than this: judge by magnitude instead
	hugest     = math.MaxFloat64 / 4 // stands for numbers that no float64 holds
)

// spread pins the odd ones of a slot's numbers: values seen once when few are
// distinct, else outliers and rare digit counts, and always the two extremes of a
// heavy tail.
func (v *verdict) spread(values []seen) {
	if len(values) < leastValues {
		return
	}
	numbers := make([]float64, 0, len(values))
	kept := values[:0:0]
	for _, x := range values {
		if f, ok := v.number(x.node); ok {
			numbers = append(numbers, f)
			kept = append(kept, x)
		}
	}
	v.odd(kept, numbers, func(i int) uint64 { return v.magnitude(kept[i].node) })
}

// odd is the rule for the numbers of one slot; hash tells equal ones.
func (v *verdict) odd(values []seen, numbers []float64, hash func(i int) uint64) {
	if len(values) < leastValues {
		return
	}
	if v.lone(values, hash) {
		v.farOff(values, numbers)
		return
	}
	if steps := steps(numbers); steps != nil {
		for _, i := range oddOnes(steps) {
			v.pin(values[i].node)
		}
		return
	}
	v.digitCounts(values, numbers)
	for _, i := range oddOnes(numbers) {
		v.pin(values[i].node)
	}
}

// farOff pins outliers among few distinct numbers, where a value far off may occur
// more than once.
func (v *verdict) farOff(values []seen, numbers []float64) {
	far := outliers(numbers)
	if len(far) > max(3, int(heavyShare*float64(len(numbers)))) {
		return
	}
	for _, i := range far {
		v.pin(values[i].node)
	}
}

// steps returns the differences of neighbours when the numbers run one way
// (counters, times), with the median step in the first place; else nil. There the
// steps say what is odd, not the values.
func steps(numbers []float64) []float64 {
	up, down := 0, 0
	out := make([]float64, len(numbers))
	for i := 1; i < len(numbers); i++ {
		out[i] = numbers[i] - numbers[i-1]
		if out[i] >= 0 {
			up++
		}
		if out[i] <= 0 {
			down++
		}
	}
	if max(up, down)*100 < 98*(len(numbers)-1) {
		return nil
	}
	sorted := slices.Clone(out[1:])
	slices.Sort(sorted)
	out[0] = sorted[len(sorted)/2]
	return out
}

// oddOnes returns the indexes of outliers; of a heavy tail only those that are also
// far off by magnitude, or just the two extremes.
func oddOnes(numbers []float64) []int {
	odd := outliers(numbers)
	if len(odd) > max(3, int(heavyShare*float64(len(numbers)))) {
		odd = outliers(logs(numbers))
		lo, hi := extremes(numbers)
		odd = append(odd, lo, hi)
		if len(odd) > max(5, int(singlesShare*float64(len(numbers)))) {
			odd = []int{lo, hi}
		}
	}
	return odd
}

func (v *verdict) number(node int32) (float64, bool) {
	n := &v.t.nodes[node]
	if n.Kind == jsonscan.Array {
		return float64(n.Count), true
	}
	return number64(v.t.value(node))
}

func (v *verdict) magnitude(node int32) uint64 {
	n := &v.t.nodes[node]
	if n.Kind == jsonscan.Array {
		return uint64(n.Count) + 1
	}
	return hashText(v.t.value(node))
}

// digitCounts pins numbers with a rare count of digits before the point.
func (v *verdict) digitCounts(values []seen, numbers []float64) {
	var counts [32]int
	size := func(f float64) int {
		if f = math.Abs(f); f < 1 {
			return 0
		}
		return min(31, 1+int(math.Log10(f)))
	}
	for _, f := range numbers {
		counts[size(f)]++
	}
	few := max(1, int(digitShare*float64(len(numbers))))
	for i, f := range numbers {
		if counts[size(f)] <= few {
			v.pin(values[i].node)
		}
	}
}

func extremes(numbers []float64) (lo, hi int) {
	for i, f := range numbers {
		if f < numbers[lo] {
			lo = i
		}
		if f > numbers[hi] {
			hi = i
		}
	}
	return lo, hi
}

func logs(numbers []float64) []float64 {
	out := make([]float64, len(numbers))
	for i, f := range numbers {
		out[i] = math.Copysign(math.Log1p(math.Abs(f)), f)
	}
	return out
}

// outliers returns the indexes more than madFactor median absolute deviations off
// the median. When more than half of the numbers are equal, the deviations of the
// others are the measure.
func outliers(numbers []float64) []int {
	sorted := slices.Clone(numbers)
	slices.Sort(sorted)
	middle := sorted[len(sorted)/2]
	for i, f := range sorted {
		sorted[i] = math.Abs(f - middle)
	}
	slices.Sort(sorted)
	mad := sorted[len(sorted)/2]
	if mad == 0 {
		first, _ := slices.BinarySearch(sorted, math.SmallestNonzeroFloat64)
		if first == len(sorted) {
			return nil
		}
		if mad = sorted[first+(len(sorted)-first)/2]; len(sorted)-first <= max(2, rare(len(sorted))) { // one value out of place makes two odd steps
			mad = 0
		}
	}
	var odd []int
	for i, f := range numbers {
		if math.Abs(f-middle) > madFactor*mad {
			odd = append(odd, i)
		}
	}
	return odd
}

// number64 reads a number, or a text that is one ("1,234", "-3.5", "12").
func number64(lexeme string) (float64, bool) {
	if lexeme == "" {
		return 0, false
	}
	if lexeme[0] == '"' {
		lexeme = lexeme[1 : len(lexeme)-1]
		if lexeme == "" || len(lexeme) > 32 || lexeme[0] != '-' && class[lexeme[0]] != number {
			return 0, false
		}
	}
	whole, fast := int64(0), len(lexeme) < 18
	for i := 0; i < len(lexeme) && fast; i++ {
		if class[lexeme[i]] != number {
			fast = false
			break
		}
		whole = whole*10 + int64(lexeme[i]-'0')
	}
	if fast {
		return float64(whole), true
	}
	if strings.IndexByte(lexeme, ',') >= 0 {
		lexeme = strings.ReplaceAll(lexeme, ",", "")
	}
	for i := range len(lexeme) {
		if c := lexeme[i]; class[c] != number && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(lexeme, 64)
	if math.IsInf(f, 0) && errors.Is(err, strconv.ErrRange) {
		return math.Copysign(hugest, f), true
	}
	return f, err == nil && !math.IsInf(f, 0)
}
