package structured

import "math"

const (
	maxShapes  = 32 // shapes of one slot whose numbers are compared
	maxColumns = 8  // numbers of one text that are compared
)

// columns compares the numbers inside texts of one shape, place by place: the
// third number of "GET /a 200 in 15 ms" with the third of its likes.
func (v *verdict) columns(texts []seen, shapes []uint64) {
	groups := map[uint64]int{}
	var members [][]seen
	for i, x := range texts {
		g, ok := groups[shapes[i]]
		if !ok {
			if len(members) == maxShapes {
				continue
			}
			g = len(members)
			groups[shapes[i]] = g
			members = append(members, nil)
		}
		members[g] = append(members[g], x)
	}
	for _, group := range members {
		if len(group) >= leastValues {
			v.table(group)
		}
	}
}

// table judges every column of texts of one shape. Texts whose count of plain
// numbers differs from the first one's (an id that has only digits) are left aside.
func (v *verdict) table(group []seen) {
	width := len(plainNumbers(v.t.body(group[0].node), nil))
	if width == 0 {
		return
	}
	columns := make([][]float64, width)
	kept := make([]seen, 0, len(group))
	var row []float64
	for _, x := range group {
		if row = plainNumbers(v.t.body(x.node), row[:0]); len(row) != width {
			continue
		}
		kept = append(kept, x)
		for c, f := range row {
			columns[c] = append(columns[c], f)
		}
	}
	for _, numbers := range columns {
		v.odd(kept, numbers, func(i int) uint64 { return math.Float64bits(numbers[i]) })
	}
}

// plainNumbers appends the digit runs of s that touch no letter, at most
// maxColumns of at most 15 digits.
func plainNumbers(s string, dst []float64) []float64 {
	for i := 0; i < len(s) && len(dst) < maxColumns; {
		if class[s[i]] == other {
			i++
			continue
		}
		from, plain, n := i, true, 0.0
		for i < len(s) && class[s[i]] != other {
			plain = plain && class[s[i]] == number
			n = n*10 + float64(s[i]-'0')
			i++
		}
		if plain && i-from <= 15 {
			dst = append(dst, n)
		}
	}
	return dst
}
