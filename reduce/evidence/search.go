package evidence

import (
	"strconv"
	"strings"

	"token-terminator/reduce/kind"
)

// Search hits: the first hit of every file stays, so that each file is named, and
// notes count the others; a hit of a rare shape stays.

// hitText gives where the found text of a hit starts: paths and line numbers are
// no part of a hit's shape.
func hitText(l string) int {
	_, text, _ := kind.Hit(l)
	return min(text, len(l))
}

// judgeSearch finds the file of each hit.
func (s *source) judgeSearch() {
	s.file = make([]string, s.lines())
	for i := range s.file {
		l := s.line(i)
		path, _, ok := kind.Hit(l)
		if !ok {
			if l != "" && l != "--" && class[l[0]]&isSpace == 0 {
				s.mark(i, structure) // a heading, a total, a message
			}
			continue
		}
		s.file[i] = l[:path]
	}
	above := ""
	for i, f := range s.file {
		if f != "" && f != above {
			s.mark(i, structure)
			above = f
		}
	}
}

// searchNote lists the hits left out between i and j by file.
func (s *source) searchNote(i, j int) string {
	var b strings.Builder
	above := ""
	if i > 0 {
		above = s.file[i-1]
	}
	hits, parts := 0, 0
	for k := i; k < j; {
		f, n := s.file[k], 0
		for k < j && (s.file[k] == f || s.file[k] == "") {
			if s.file[k] != "" || f == "" {
				n++
			}
			k++
		}
		if f == "" {
			continue
		}
		hits += n
		if parts > 0 {
			b.WriteString(", ")
		}
		parts++
		if f == above {
			f = "same file"
		}
		b.WriteString(f + " " + strconv.Itoa(n))
	}
	num := strconv.Itoa(hits)
	word := " hits"
	if hits == 1 {
		word = " hit"
	}
	switch {
	case hits == 0:
		return "[" + strconv.Itoa(j-i) + " lines left out]\n"
	case parts == 1 && strings.HasPrefix(b.String(), "same file"):
		return "[" + num + " more" + word + " in this file left out" + s.others(j-i-hits) + "]\n"
	}
	return "[" + num + word + " left out" + s.others(j-i-hits) + ": " + b.String() + "]\n"
}

// others counts lines of a gap that are no hits.
func (s *source) others(n int) string {
	if n == 0 {
		return ""
	}
	return " and " + strconv.Itoa(n) + " other lines"
}
