package delta

import "slices"

// search holds one text while runs for it are looked for.
type search struct {
	ix     *Index
	text   string
	o      Options
	lines  []line
	hashes []uint64
	sum    []int32 // estimated tokens of all lines before i
	cands  []int32 // bases worth a look
	first  []int32 // for line i and candidate c at i*len(cands)+c: first place in that base, -1 none
}

const (
	maxCandidates = 8
	minVoteBytes  = 4 // shorter lines say nothing about where a text comes from
)

func newSearch(ix *Index, text string, o Options) *search {
	s := &search{ix: ix, text: text, o: o, lines: splitLines(text)}
	s.hashes = make([]uint64, len(s.lines))
	s.sum = make([]int32, len(s.lines)+1)
	for i, l := range s.lines {
		s.hashes[i] = hashLine(ix.seed, text, l)
		s.sum[i+1] = s.sum[i] + int32(estimate(text[l.start:l.end])) + 1
	}
	return s
}

// weight is the estimated tokens of lines [from,to).
func (s *search) weight(from, to int32) int { return int(s.sum[to] - s.sum[from]) }

// usable says whether a base may be leaned on under the options.
func (s *search) usable(base int32) bool {
	return s.o.SamePathOnly == "" || s.ix.bases[base].Path == s.o.SamePathOnly
}

// each calls f for the newest bases that hold line i, with the first place.
func (s *search) each(i int, f func(base, place int32)) {
	at := s.ix.lines.find(s.hashes[i])
	for n := 0; at >= 0 && n < maxPostings; n++ {
		p := s.ix.postings[at]
		if s.usable(p.base) {
			f(p.base, p.line)
		}
		at = p.next
	}
}

// nominate picks the bases that hold most of the text by weight of lines.
func (s *search) nominate() {
	votes := make([]int64, len(s.ix.bases))
	for i, l := range s.lines {
		if l.end-l.core < minVoteBytes {
			continue
		}
		w := int64(s.weight(int32(i), int32(i)+1))
		s.each(i, func(base, _ int32) { votes[base] += w })
	}
	for base := len(votes) - 1; base >= 0; base-- {
		if votes[base] < int64(s.o.MinRunTokens) {
			continue
		}
		at := len(s.cands)
		for at > 0 && votes[s.cands[at-1]] < votes[base] {
			at--
		}
		if at < maxCandidates {
			s.cands = slices.Insert(s.cands, at, int32(base))
			s.cands = s.cands[:min(len(s.cands), maxCandidates)]
		}
	}
	s.locate()
}

// locate fills first for the candidates.
func (s *search) locate() {
	k := len(s.cands)
	number := make([]int32, len(s.ix.bases)) // candidate number + 1
	for c, base := range s.cands {
		number[base] = int32(c) + 1
	}
	s.first = slices.Repeat([]int32{-1}, len(s.lines)*k)
	for i := range s.lines {
		s.each(i, func(base, place int32) {
			if c := number[base]; c > 0 {
				s.first[i*k+int(c)-1] = place
			}
		})
	}
}

// cover finds runs from left to right, the longest among the given candidates at
// each line; a later run never overlaps an earlier one.
func (s *search) cover(cands []int) []run {
	var runs []run
	last := run{base: -1}
	done := int32(0) // lines before are under runs or given up
	for i := int32(0); int(i) < len(s.lines); {
		best := s.longest(i, cands, last)
		if best.n > 0 {
			best = s.extendBack(best, done)
		}
		if best.n == 0 || !s.worth(best, last) {
			i++
			continue
		}
		runs = append(runs, best)
		last = best
		i = best.at + best.n
		done = i
	}
	return runs
}

// worth says whether the run pays for its note, by estimate.
func (s *search) worth(r, last run) bool {
	return r.n >= int32(s.o.MinRunLines) && s.gain(r, last) >= s.o.MinRunTokens
}

// gain is the estimated tokens saved by a run after the run last.
func (s *search) gain(r, last run) int {
	note := nextNoteTokens
	if r.base != last.base {
		note = firstNoteTokens
	}
	return s.weight(r.at, r.at+r.n) - note
}

// Estimated tokens of a note that names its base and of one that does not.
const (
	firstNoteTokens = 18
	nextNoteTokens  = 8
)

// longest finds the run of most weight that starts at line i.
func (s *search) longest(i int32, cands []int, last run) run {
	best, weight := run{}, 0
	try := func(c int, place int32) {
		r := s.extend(run{at: i, from: place, base: int32(c)})
		if w := s.weight(i, i+r.n); r.n > 0 && (w > weight || w == weight && r.base == last.base && best.base != last.base) {
			best, weight = r, w
		}
	}
	for _, c := range cands {
		place := s.first[int(i)*len(s.cands)+c]
		if place < 0 {
			continue
		}
		b := s.ix.bases[s.cands[c]]
		if last.base == int32(c) { // where the run before would go on
			for _, next := range [2]int32{last.from + last.n, last.from + i - last.at} {
				if int(next) < len(b.lines) && b.hashes[next] == s.hashes[i] {
					try(c, next)
				}
			}
		}
		for n := 0; place >= 0 && n < maxPlaces; n++ {
			try(c, place)
			place = b.again[place]
		}
	}
	return best
}

// extend lengthens r forwards from its start as far as lines and change agree.
func (s *search) extend(r run) run {
	b := s.ix.bases[s.cands[r.base]]
	for int(r.at+r.n) < len(s.lines) && int(r.from+r.n) < len(b.lines) {
		t, o := r.at+r.n, r.from+r.n
		if s.hashes[t] != b.hashes[o] {
			break
		}
		c, ok := r.change.pair(s.lines[t], b.lines[o], r.n == 0, s.o.ShiftIDs)
		if !ok || c.mode == number && r.n > 0 && !consecutive(s.lines[t-1], s.lines[t]) {
			break
		}
		r.change = c
		r.n++
	}
	return r
}

// extendBack lengthens r backwards, not below line limit.
func (s *search) extendBack(r run, limit int32) run {
	b := s.ix.bases[s.cands[r.base]]
	for r.at > limit && r.from > 0 && s.hashes[r.at-1] == b.hashes[r.from-1] {
		t, o := r.at-1, r.from-1
		c, ok := r.change.pair(s.lines[t], b.lines[o], false, s.o.ShiftIDs)
		if !ok || c.mode != r.change.mode && r.change.mode == number {
			break
		}
		if c.mode == number && (!s.lines[t].style.numbered() || !consecutive(s.lines[t], s.lines[t+1])) {
			break
		}
		r.change = c
		r.at, r.from, r.n = t, o, r.n+1
	}
	return r
}

// choose picks up to limit candidates, each time the one that adds most.
func (s *search) choose(limit int) []int {
	alone := make([][]run, len(s.cands))
	for c := range s.cands {
		alone[c] = s.cover([]int{c})
	}
	covered := make([]bool, len(s.lines))
	var chosen []int
	for len(chosen) < limit {
		best, value := -1, 0
		for c, runs := range alone {
			if v := s.adds(runs, covered); v > value {
				best, value = c, v
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, best)
		for _, r := range alone[best] {
			for i := r.at; i < r.at+r.n; i++ {
				covered[i] = true
			}
		}
		alone[best] = nil
	}
	return chosen
}

// adds is the estimated tokens that runs save on lines not yet covered.
func (s *search) adds(runs []run, covered []bool) int {
	value, note := 0, firstNoteTokens
	for _, r := range runs {
		for from := r.at; from < r.at+r.n; from++ {
			if covered[from] {
				continue
			}
			to := from
			for to < r.at+r.n && !covered[to] {
				to++
			}
			if v := s.weight(from, to) - note; to-from >= int32(s.o.MinRunLines) && v >= s.o.MinRunTokens {
				value += v
				note = nextNoteTokens
			}
			from = to
		}
	}
	return value
}
