package evidence

import (
	"strconv"
	"strings"

	"token-terminator/reduce/form"
)

// minGap is the number of bytes a gap must have before a note replaces it.
const minGap = 56

// render writes the kept lines and one note per gap.
func (s *source) render() form.View {
	var b strings.Builder
	b.Grow(len(s.text)/2 + 64)
	shown := 0
	n := s.lines()
	for i := 0; i < n; {
		if s.keep[i] != ordinary {
			b.WriteString(s.raw(i))
			shown++
			i++
			continue
		}
		j := i
		for j < n && s.keep[j] == ordinary {
			j++
		}
		if int(s.start[j]-s.start[i]) < minGap {
			b.WriteString(s.text[s.start[i]:s.start[j]])
			shown += j - i
		} else {
			b.WriteString(s.note(i, j))
		}
		i = j
	}
	out := b.String()
	if out != "" && out[len(out)-1] != '\n' {
		out += "\n"
	}
	return form.View{Head: out, Shown: shown, Total: n, Unit: "lines"}
}

// note says in words how many lines stand between i and j, and how many of them
// repeat a severity line shown above.
func (s *source) note(i, j int) string {
	severe, same := 0, i > 0
	for k := i; k < j; k++ {
		if s.sev[k] != 0 {
			severe++
		}
		same = same && s.shape[k] == s.shape[i-1]
	}
	num := strconv.Itoa(j - i)
	switch {
	case same:
		return "[" + num + " more like this]\n"
	case severe > 0:
		return "[" + num + " lines left out, " + strconv.Itoa(severe) + " repeat an error or warning above]\n"
	case j-i == 1:
		return "[1 line left out]\n"
	}
	return "[" + num + " lines left out]\n"
}

// holds checks that every protected line stands in the view, in order.
func (s *source) holds(view string) bool {
	for i, w := range s.keep {
		if !w.evidence() {
			continue
		}
		at := strings.Index(view, s.line(i))
		if at < 0 {
			return false
		}
		view = view[at+len(s.line(i)):]
	}
	return true
}
