package view

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// renderHunks writes edits with their neighbours until limit code points are reached;
// cut says that something was left out.
func renderHunks(ops []op, a, b []line, limit int) (text string, cut bool) {
	w := hunkWriter{limit: limit}
	for _, hunk := range hunks(ops) {
		w.header(hunk)
		for _, o := range hunk {
			for i := range o.n {
				if o.kind == '+' {
					w.put("+" + clipLine(b[o.b+i].text, diffWidth))
				} else {
					w.put(string(o.kind) + clipLine(a[o.a+i].text, diffWidth))
				}
				if w.full {
					return w.b.String(), true
				}
			}
		}
	}
	return w.b.String(), w.full
}

// hunks groups edits whose distance is at most two contexts, each group with its
// context before and after.
func hunks(ops []op) [][]op {
	var all [][]op
	var open []op
	for i, o := range ops {
		if o.kind != ' ' {
			open = append(open, o)
			continue
		}
		first, last := i == 0, i == len(ops)-1
		if !first && !last && o.n <= 2*diffContext {
			open = append(open, o)
			continue
		}
		if !first {
			n := min(o.n, diffContext)
			all = append(all, append(open, op{' ', o.a, o.b, n}))
			open = nil
		}
		if !last {
			n := min(o.n, diffContext)
			open = append(open, op{' ', o.a + o.n - n, o.b + o.n - n, n})
		}
	}
	if hasEdit(open) {
		all = append(all, open)
	}
	return all
}

func hasEdit(ops []op) bool {
	for _, o := range ops {
		if o.kind != ' ' {
			return true
		}
	}
	return false
}

type hunkWriter struct {
	b     strings.Builder
	limit int
	used  int
	full  bool
}

func (w *hunkWriter) header(hunk []op) {
	from, to := 0, 0
	for _, o := range hunk {
		if o.kind != '+' {
			from += o.n
		}
		if o.kind != '-' {
			to += o.n
		}
	}
	w.put(fmt.Sprintf("@@ -%d,%d +%d,%d @@", hunk[0].a+1, from, hunk[0].b+1, to))
}

func (w *hunkWriter) put(text string) {
	if w.full {
		return
	}
	n := utf8.RuneCountInString(text) + 1
	if w.used+n > w.limit {
		w.full = true
		return
	}
	w.used += n
	w.b.WriteString(text)
	w.b.WriteByte('\n')
}
