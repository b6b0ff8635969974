package view

import (
	"fmt"
	"strings"
)

// Diff says how the second text differs from the first, by lines.
type Diff struct {
	Same       bool     `json:"same"` // byte for byte
	Added      int      `json:"added"`
	Removed    int      `json:"removed"`
	EOLChanged int      `json:"eol_changed"` // lines that differ in their end only
	Notes      []string `json:"notes,omitempty"`
	Text       string   `json:"diff"` // hunks with three lines around each change
	Coarse     bool     `json:"coarse,omitempty"`
	Truncated  bool     `json:"truncated,omitempty"`
	Lossy      bool     `json:"lossy"`
}

const (
	diffContext  = 3
	diffWidth    = 500        // code points of one line in a hunk
	diffMaxWork  = 40_000_000 // line comparisons
	eolLF        = "LF"
	eolCRLF      = "CRLF"
	eolNone      = "none"
	maxDiffNotes = 4
)

// op is a run of lines: kept (' '), removed ('-') or added ('+'). a and b are line
// indexes in the two texts where the run begins.
type op struct {
	kind byte
	a, b int
	n    int
}

// DiffOf compares by lines, line ends set aside and stated. limit bounds the code
// points of Text; 0 means DefaultPage. When more than MaxDiffEdits lines differ, the
// middle counts as replaced as a whole and Coarse is true.
func DiffOf(first, second string, limit int) (Diff, error) {
	if limit < 0 || limit > MaxPage {
		return Diff{}, fmt.Errorf("%w: limit %d, want 1 to %d", ErrRange, limit, MaxPage)
	}
	if limit == 0 {
		limit = DefaultPage
	}
	d := Diff{Same: first == second, Lossy: true}
	if d.Same {
		return d, nil
	}
	a, b := splitLines(first), splitLines(second)
	ops, coarse := edits(a, b)
	d.Coarse = coarse
	d.count(ops, a, b)
	d.Text, d.Truncated = renderHunks(ops, a, b, limit)
	return d, nil
}

// line is its text and its end.
type line struct{ text, eol string }

func splitLines(s string) []line {
	lines := make([]line, 0, CountLines(s))
	for s != "" {
		n := lineLen(s)
		raw, eol := s[:n], eolNone
		if t, ok := strings.CutSuffix(raw, "\r\n"); ok {
			raw, eol = t, eolCRLF
		} else if t, ok := strings.CutSuffix(raw, "\n"); ok {
			raw, eol = t, eolLF
		}
		lines = append(lines, line{raw, eol})
		s = s[n:]
	}
	return lines
}

// count sums the edits and states what the hunks cannot show: line ends.
func (d *Diff) count(ops []op, a, b []line) {
	changes := map[string]int{}
	var order []string
	for _, o := range ops {
		switch o.kind {
		case '-':
			d.Removed += o.n
		case '+':
			d.Added += o.n
		default:
			for i := range o.n {
				from, to := a[o.a+i].eol, b[o.b+i].eol
				if from == to {
					continue
				}
				d.EOLChanged++
				change := from + " to " + to
				if changes[change] == 0 {
					order = append(order, change)
				}
				changes[change]++
			}
		}
	}
	for _, change := range order[:min(len(order), maxDiffNotes)] {
		d.Notes = append(d.Notes, fmt.Sprintf("line end changes from %s on %d lines", change, changes[change]))
	}
	for i, lines := range [2][]line{a, b} {
		if n := len(lines); n > 0 && lines[n-1].eol == eolNone {
			d.Notes = append(d.Notes, "no line end after the last line of the "+[2]string{"first", "second"}[i]+" text")
		}
	}
}

// edits finds a short edit script: equal head and tail aside, the greedy algorithm
// of Myers (An O(ND) Difference Algorithm, 1986) within bounds.
func edits(a, b []line) (ops []op, coarse bool) {
	head := 0
	for head < len(a) && head < len(b) && a[head].text == b[head].text {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail].text == b[len(b)-1-tail].text {
		tail++
	}
	x, y := intern(a[head:len(a)-tail], b[head:len(b)-tail])
	ops = appendOp(ops, op{' ', 0, 0, head})
	middle, ok := myers(x, y)
	if !ok {
		middle = []op{{'-', 0, 0, len(x)}, {'+', len(x), 0, len(y)}}
	}
	for _, o := range middle {
		ops = appendOp(ops, op{o.kind, o.a + head, o.b + head, o.n})
	}
	return appendOp(ops, op{' ', len(a) - tail, len(b) - tail, tail}), !ok
}

func appendOp(ops []op, o op) []op {
	if o.n == 0 {
		return ops
	}
	if n := len(ops); n > 0 && ops[n-1].kind == o.kind {
		ops[n-1].n += o.n
		return ops
	}
	return append(ops, o)
}

// intern gives equal lines equal numbers.
func intern(a, b []line) (x, y []int32) {
	ids := make(map[string]int32, len(a))
	number := func(lines []line) []int32 {
		out := make([]int32, len(lines))
		for i, l := range lines {
			id, ok := ids[l.text]
			if !ok {
				id = int32(len(ids))
				ids[l.text] = id
			}
			out[i] = id
		}
		return out
	}
	return number(a), number(b)
}

// myers gives the shortest edit script, or false when it is over the bounds.
func myers(x, y []int32) ([]op, bool) {
	if len(x) == 0 || len(y) == 0 {
		return appendOp(appendOp(nil, op{'-', 0, 0, len(x)}), op{'+', len(x), 0, len(y)}), true
	}
	bound := min(len(x)+len(y), MaxDiffEdits)
	v := make([]int32, 2*bound+2) // furthest x on diagonal k, at index k+bound
	var trace [][]int32
	work := 0
	for d := 0; d <= bound; d++ {
		trace = append(trace, append([]int32(nil), v[bound-d:bound+d+2]...))
		for k := -d; k <= d; k += 2 {
			i := furthest(v, bound, k, d)
			j := i - k
			for i < len(x) && j < len(y) && x[i] == y[j] {
				i, j = i+1, j+1
				work++
			}
			v[bound+k] = int32(i)
			if i >= len(x) && j >= len(y) {
				return backtrack(trace, len(x), len(y)), true
			}
		}
		if work > diffMaxWork {
			return nil, false
		}
	}
	return nil, false
}

func furthest(v []int32, bound, k, d int) int {
	if d == 0 {
		return 0
	}
	if k == -d || (k != d && v[bound+k-1] < v[bound+k+1]) {
		return int(v[bound+k+1])
	}
	return int(v[bound+k-1]) + 1
}

// backtrack walks the trace from the end. trace[d] holds the diagonals -d to d+1 as
// they stood before step d.
func backtrack(trace [][]int32, i, j int) []op {
	var back []op
	for d := len(trace) - 1; d > 0; d-- {
		v, k := trace[d], i-j
		at := func(k int) int { return int(v[k+d]) }
		var prev int
		down := k == -d || (k != d && at(k-1) < at(k+1))
		if down {
			prev = k + 1
		} else {
			prev = k - 1
		}
		pi := at(prev)
		pj := pi - prev
		si, sj := pi+1, pj // where the snake after the edit begins
		if down {
			si, sj = pi, pj+1
		}
		for i > si && j > sj {
			i, j = i-1, j-1
			back = append(back, op{' ', i, j, 1})
		}
		if down {
			back = append(back, op{'+', i, pj, 1})
		} else {
			back = append(back, op{'-', pi, j, 1})
		}
		i, j = pi, pj
	}
	for i > 0 {
		i, j = i-1, j-1
		back = append(back, op{' ', i, j, 1})
	}
	var ops []op
	for n := len(back) - 1; n >= 0; n-- {
		ops = appendOp(ops, back[n])
	}
	return ops
}
