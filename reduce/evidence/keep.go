package evidence

import (
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
)

// How many lines of one shape are shown in full.
const (
	rareLines      = 3  // a shape seen at most so often is rare: all of it stays
	rareMost       = 10 // what that grows to in long texts, one per rareScale lines
	rareScale      = 1000
	severeRepeats  = 40 // severity lines of one shape with different values
	sameRepeats    = 3  // severity lines of one shape that are equal byte for byte
	severeContext  = 4  // severity lines of one shape that get neighbours
	sampledHead    = 2  // ordinary lines of a shape shown from its start
	longShapeLines = 8  // a shape seen at least so often also shows its end
)

// grouped counts the lines of each shape and lists their numbers shape by shape.
// Foldable lines are left out, they are judged by other rules; so are repeats unless
// asked for.
func (s *source) grouped(repeats bool) (order, begin []int32) {
	apart := func(i int) bool {
		return !repeats && s.same[i] >= 0 || s.noise != nil && s.noise[i]
	}
	clear(s.count)
	for i, sh := range s.shape {
		if !apart(i) {
			s.count[sh]++
		}
	}
	begin = make([]int32, len(s.count)+1)
	for i, n := range s.count {
		begin[i+1] = begin[i] + n
	}
	at := make([]int32, len(s.count))
	copy(at, begin)
	order = make([]int32, begin[len(s.count)])
	for i, sh := range s.shape {
		if apart(i) {
			continue
		}
		order[at[sh]] = int32(i)
		at[sh]++
	}
	return order, begin
}

// judge marks every line that has to stay, by the rules all kinds share.
func (s *source) judge(k kind.Kind, set form.Settings) {
	if k != kind.Plain {
		s.mergeTemplates()
	}
	order, begin := s.grouped(false)
	rare := min(rareMost, max(rareLines, s.lines()/rareScale))
	for sh, n := range s.count {
		if n > 0 {
			s.judgeShape(order[begin[sh]:begin[sh+1]], rare, set.Tight)
		}
	}
	for _, like := range s.same {
		if like >= 0 && (s.noise == nil || !s.noise[like]) {
			s.mark(int(like), sampled) // notes point at it
		}
	}
	// A value is rare only if its repeats are counted too.
	s.judgeValues(s.grouped(true))
	s.edges(set)
}

func (s *source) judgeShape(lines []int32, rare int, tight bool) {
	n := len(lines)
	if n <= rare && !s.blank(int(lines[0])) {
		for _, l := range lines {
			s.mark(int(l), odd)
			if s.sev[l] != 0 {
				s.mark(int(l), severe)
			}
		}
		return
	}
	// Lines of one shape may differ in severity: "0 errors" and "3 errors".
	split := 0
	for _, l := range lines {
		if s.sev[l] != 0 {
			split++
		}
	}
	switch {
	case split == n:
		s.severeShape(lines)
	case split == 0:
		s.sample(lines, tight)
	default:
		loud, calm := make([]int32, 0, split), make([]int32, 0, n-split)
		for _, l := range lines {
			if s.sev[l] != 0 {
				loud = append(loud, l)
			} else {
				calm = append(calm, l)
			}
		}
		s.severeShape(loud)
		s.sample(calm, tight)
	}
}

// sample shows an ordinary shape by its first lines and its last one.
func (s *source) sample(lines []int32, tight bool) {
	if s.blank(int(lines[0])) {
		return
	}
	s.mark(int(lines[0]), sampled)
	if tight {
		return
	}
	for i := 1; i < min(sampledHead, len(lines)); i++ {
		s.mark(int(lines[i]), sampled)
	}
	if len(lines) >= longShapeLines {
		s.mark(int(lines[len(lines)-1]), sampled)
	}
}

// severeShape keeps the first lines of a severity shape and its last one; lines
// equal to one shown already count against a smaller bound.
func (s *source) severeShape(lines []int32) {
	var seen tally
	seen.reset(len(lines))
	shown := 0
	for i, l := range lines {
		times, _ := seen.add(s.full[l])
		if shown >= severeRepeats && i < len(lines)-1 {
			continue
		}
		if times <= sameRepeats || i == len(lines)-1 {
			s.mark(int(l), severe)
			shown++
		}
	}
}

func (s *source) blank(i int) bool {
	l := s.line(i)
	for k := 0; k < len(l); k++ {
		if class[l[k]] != isSpace {
			return false
		}
	}
	return true
}

func (s *source) edges(set form.Settings) {
	n := s.lines()
	for i := 0; i < min(set.Head, n); i++ {
		s.mark(i, edge)
	}
	for i := max(0, n-set.Tail); i < n; i++ {
		s.mark(i, edge)
	}
}

// surround marks the neighbours of evidence. Severity lines of one shape get them
// a few times, rare and odd lines always. A foldable line is a neighbour only right
// above, where it names the test that printed the evidence.
func (s *source) surround(context int) {
	given := make([]uint8, len(s.count))
	for i := range s.keep {
		w := s.keep[i]
		if w < odd {
			continue
		}
		if w == severe {
			if given[s.shape[i]] >= severeContext {
				continue
			}
			given[s.shape[i]]++
		}
		for k := max(0, i-context); k <= min(len(s.keep)-1, i+context); k++ {
			if s.noise == nil || !s.noise[k] || k == i-1 {
				s.mark(k, neighbour)
			}
		}
	}
}
