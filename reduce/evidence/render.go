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
		if note := s.note(i, j); int(s.start[j]-s.start[i]) < max(minGap, len(note)+8) {
			b.WriteString(s.text[s.start[i]:s.start[j]])
			shown += j - i
		} else {
			b.WriteString(note)
		}
		i = j
	}
	out := b.String()
	if out != "" && out[len(out)-1] != '\n' {
		out += "\n"
	}
	return form.View{Head: out, Shown: shown, Total: n, Unit: "lines"}
}

// note says in words how many lines stand between i and j: what they have in
// common when that is little to say, and how many repeat a severity line above.
func (s *source) note(i, j int) string {
	if s.file != nil {
		return s.searchNote(i, j)
	}
	severe, like, folded, run := 0, i > 0, true, true
	low, high := len(s.same), 0
	for k := i; k < j; k++ {
		noise := s.noise != nil && s.noise[k]
		if s.sev[k] != 0 && !noise {
			severe++
		}
		like = like && s.shape[k] == s.shape[i-1]
		folded = folded && noise
		run = run && s.same[k] >= 0
		low, high = min(low, int(s.same[k])), max(high, int(s.same[k]))
	}
	num := strconv.Itoa(j - i)
	what := " lines left out"
	if j-i == 1 {
		what = " line left out"
	}
	switch {
	case run && high-low < j-i && s.kept(low, high+1):
		return "[" + num + what + ", same as " + place(low, high+1) + "]\n"
	case like:
		return "[" + num + " more like this]\n"
	case folded:
		return "[" + num + what + ", " + s.fold + "]\n"
	case severe > 0:
		return "[" + num + what + ", " + strconv.Itoa(severe) + " repeat an error or warning above]\n"
	}
	return "[" + num + what + "]\n"
}

// kept says that all lines from i to j are shown.
func (s *source) kept(i, j int) bool {
	for ; i < j; i++ {
		if s.keep[i] == ordinary {
			return false
		}
	}
	return true
}

// place names source lines from 1; end is exclusive.
func place(i, end int) string {
	if end-i == 1 {
		return "line " + strconv.Itoa(end)
	}
	return "lines " + strconv.Itoa(i+1) + "-" + strconv.Itoa(end)
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
