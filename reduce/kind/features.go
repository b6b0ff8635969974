package kind

import "strings"

// features counts, over the sampled lines, what each line looks like. A line may
// count for several.
type features struct {
	lines, hits, logs, frames, tests, builds, diffs, html int
	listing, code, numbered, metrics, testStrong          int
	columns, paths, commas, blames                        int
	firstLog                                              bool // the first line is a log record
	commaRows                                             int  // lines with the first row's number of commas
}

func look(lines []string) features {
	var f features
	for _, raw := range lines {
		l := plainLine(raw)
		if strings.TrimSpace(l) == "" {
			continue
		}
		f.lines++
		f.line(l)
	}
	return f
}

// plainLine drops terminal control sequences and a carriage return.
func plainLine(l string) string {
	l = strings.TrimSuffix(l, "\r")
	if strings.IndexByte(l, 0x1b) < 0 {
		return l
	}
	out := make([]byte, 0, len(l))
	for i := 0; i < len(l); i++ {
		if l[i] != 0x1b {
			out = append(out, l[i])
			continue
		}
		if i+1 < len(l) && l[i+1] == '[' {
			for i += 2; i < len(l) && (l[i] < 0x40 || l[i] > 0x7e); i++ {
			}
		}
	}
	return string(out)
}

func (f *features) line(l string) {
	t := strings.TrimLeft(l, " \t")
	indent := len(l) - len(t)
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	_, _, hit := Hit(l)
	count(&f.hits, hit)
	blame := blameLine(l)
	record := !blame && logLine(t)
	count(&f.logs, record)
	count(&f.blames, blame)
	f.firstLog = f.firstLog || f.lines == 1 && record
	count(&f.frames, Frame(l))
	weak, strong := testLine(l, t)
	count(&f.tests, weak || strong)
	count(&f.testStrong, strong)
	count(&f.builds, buildLine(t))
	count(&f.diffs, strings.HasPrefix(l, "@@ -") || strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "+++ ") || strings.HasPrefix(l, "--- a/"))
	count(&f.html, len(t) > 2 && t[0] == '<' && strings.IndexByte(t, '>') > 0)
	count(&f.listing, listingLine(l))
	count(&f.code, blame || codeLine(t, indent))
	count(&f.numbered, numberedLine(t))
	count(&f.metrics, strings.HasPrefix(t, "# HELP ") || strings.HasPrefix(t, "# TYPE "))
	count(&f.columns, strings.Contains(t, "   "))
	count(&f.paths, strings.IndexByte(t, '/') >= 0 && strings.IndexByte(t, ' ') < 0)
	n := strings.Count(l, ",")
	if f.lines == 1 {
		f.commas = n
	}
	count(&f.commaRows, n >= 2 && n == f.commas)
}

// clear gives a kind whose lines cannot be mistaken.
func (f features) clear(hint Kind) Kind {
	n := max(f.lines, 1)
	switch {
	case f.diffs >= 3 && f.diffs*20 >= n && hint != Log && !f.firstLog:
		return Diff
	case f.metrics*10 > n:
		return Metrics
	case f.testStrong >= 1 && (hint == Test || f.tests*5 > n):
		return Test
	case f.hits*10 >= n*7 && f.logs*2 < n && f.frames*4 < n && hint != Build && hint != Test:
		return Search
	case f.frames*3 >= n && f.logs*4 < n && hint != Search:
		return Stack
	case f.blames*2 > n:
		return Code
	case f.numbered*10 >= n*9 && n > 4:
		return Read
	case f.listing*2 > n:
		return Listing
	}
	return ""
}

// likely weighs what is left, the hint first.
func (f features) likely(hint Kind) Kind {
	n := max(f.lines, 1)
	switch hint {
	case Test:
		return Test
	case Search:
		if f.hits*3 >= n {
			return Search
		}
	case Build, Log, Listing, Table, Diff:
		if hint != Log && f.logs*2 > n {
			return Log
		}
		return hint
	}
	switch {
	case f.testStrong >= 2 || f.tests*3 > n:
		return Test
	case f.builds*5 >= n:
		return Build
	case f.logs*4 >= n || f.firstLog && f.logs >= 3 && f.logs*50 >= n:
		return Log
	case f.hits*2 >= n:
		return Search
	case f.frames*4 >= n:
		return Stack
	case f.html*2 > n:
		return HTML
	case f.commaRows*10 >= n*9 && n > 4:
		return CSV
	case f.paths*10 >= n*8:
		return Listing
	case f.code*2 > n:
		return Code
	case f.columns*10 >= n*8 && n > 4:
		return Table
	}
	return Plain
}
