package delta

import "slices"

// search holds one text while runs for it are looked for.
type search struct {
	ix   *Index
	text string
	o    Options
	pieces
	hashes []uint64
	heads  []int32 // newest posting of each line, -1 none
	sum    []int32 // estimated tokens of all lines before i; 0 for lines of no base
	cands  []int32 // bases worth a look
	tries  int     // places looked at by one cover
	steps  int     // lines compared by all covers: the work done
	first  []int32 // for line i and candidate c at i*len(cands)+c: first place in that base, -1 none
}

const (
	maxCandidates = 8
	minVoteBytes  = 4  // shorter lines say nothing about where a text comes from
	triesPerLine  = 12 // of places, on average; beyond it one place a base is tried
	weakVote      = 16 // candidates with less than this part of the best one's votes are dropped
)

func newSearch(ix *Index, text string, o Options) *search {
	s := &search{ix: ix, text: text, o: o, pieces: cut(text)}
	if s.unit != byLine {
		s.o.MinRunLines = 1
	}
	s.hashes = make([]uint64, len(s.lines))
	s.heads = make([]int32, len(s.lines))
	s.sum = make([]int32, len(s.lines)+1)
	for i, l := range s.lines {
		s.hashes[i] = hashPiece(ix.seed, text, l, s.unit)
		s.heads[i] = ix.lines.find(s.hashes[i])
		s.sum[i+1] = s.sum[i]
		if s.heads[i] >= 0 {
			s.sum[i+1] += int32(estimate(text[l.start:l.end])) + 1
		}
	}
	return s
}

// weight is the estimated tokens of lines [from,to).
func (s *search) weight(from, to int32) int { return int(s.sum[to] - s.sum[from]) }

// usable says whether a base may be leaned on under the options.
func (s *search) usable(base int32) bool {
	b := s.ix.bases[base]
	return b.unit == s.unit && b.sep == s.sep && (s.o.SamePathOnly == "" || b.Path == s.o.SamePathOnly)
}

// each calls f for the newest bases that hold line i, with the first place.
func (s *search) each(i int, f func(base, place int32)) {
	at := s.heads[i]
	for n := 0; at >= 0 && n < maxPostings; n++ {
		p := s.ix.postings[at]
		f(p.base, p.line)
		at = p.next
	}
}

// vote adds up, for every base, the estimated tokens of the text's lines it holds.
// A line of more bases than are looked at tells nothing.
func (s *search) vote() []int64 {
	votes := make([]int64, len(s.ix.bases))
	for i, l := range s.lines {
		if l.end-l.core < minVoteBytes {
			continue
		}
		var found [maxPostings]int32
		n, at := 0, s.heads[i]
		for ; at >= 0 && n < maxPostings; n++ {
			found[n] = s.ix.postings[at].base
			at = s.ix.postings[at].next
		}
		if at >= 0 {
			continue
		}
		w := int64(s.weight(int32(i), int32(i)+1))
		for _, base := range found[:n] {
			votes[base] += w
		}
	}
	return votes
}

// nominate picks the bases that hold most of the text; of equal ones the newest.
func (s *search) nominate() {
	votes := s.vote()
	for base := len(votes) - 1; base >= 0; base-- {
		if votes[base] < int64(s.o.MinRunTokens) || !s.usable(int32(base)) {
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
	for n := len(s.cands); n > 0 && votes[s.cands[n-1]]*weakVote < votes[s.cands[0]]; n-- {
		s.cands = s.cands[:n-1]
	}
	if len(s.cands) > 0 {
		s.locate()
	}
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
	s.tries = 0
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

// worth says whether the run pays for its note, by estimate. A run that goes on in
// the base of the run before needs less than one that makes the reader look
// elsewhere.
func (s *search) worth(r, last run) bool {
	least := s.o.MinRunTokens
	if r.base != last.base || r.from < last.from+last.n {
		least += least / 2
	}
	return s.pay(r.n, s.gain(r, last), least)
}

// pay says whether n lines that save gain tokens are a run; few lines must save
// twice as much.
func (s *search) pay(n int32, gain, least int) bool {
	return gain >= least && (n >= int32(s.o.MinRunLines) || s.o.SamePathOnly == "" && gain >= 2*least)
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
	best, weight := run{base: -1}, 0
	places := maxPlaces
	if s.tries > int(i)*triesPerLine+4096 {
		places = 1
	}
	alone := s.weight(i, i+1) >= s.o.MinRunTokens // one line may be a run
	for _, c := range cands {
		place := s.first[int(i)*len(s.cands)+c]
		if place < 0 {
			continue
		}
		b := s.ix.bases[s.cands[c]]
		try := func(place int32) {
			s.tries++
			if !alone && !s.goesOn(b, i, place) {
				return
			}
			r := s.extend(b, run{at: i, from: place, base: int32(c)})
			w := s.weight(i, i+r.n)
			if w > weight || w == weight && w > 0 && r.base == last.base && best.base != last.base {
				best, weight = r, w
			}
		}
		if last.base == int32(c) { // where the run before would go on
			for _, next := range [2]int32{last.from + last.n, last.from + i - last.at} {
				if int(next) < len(b.lines) && b.hashes[next] == s.hashes[i] {
					try(next)
				}
			}
		}
		for n := 0; place >= 0 && n < places; n++ {
			try(place)
			place = b.again[place]
		}
	}
	return best
}

// goesOn says whether the line after place is also the line after i, or the line
// before is also the one before.
func (s *search) goesOn(b *indexed, i, place int32) bool {
	if int(i)+1 < len(s.hashes) && int(place)+1 < len(b.hashes) && s.hashes[i+1] == b.hashes[place+1] {
		return true
	}
	return i > 0 && place > 0 && s.hashes[i-1] == b.hashes[place-1]
}

// extend lengthens r, of base b, forwards from its start as far as lines and change
// agree.
func (s *search) extend(b *indexed, r run) run {
	hashes, theirs := s.hashes[r.at:], b.hashes[r.from:]
	lines, others := s.lines[r.at:], b.lines[r.from:]
	limit := min(len(hashes), len(theirs))
	s.steps++
	for n := range limit {
		s.steps++
		if hashes[n] != theirs[n] {
			break
		}
		t, o := &lines[n], &others[n]
		plainPair := t.style|o.style == plain && t.cr == o.cr
		if !plainPair || n == 0 || r.change.eol != sameEOL || r.change.mode == number {
			c, ok := r.change.pair(*t, *o, n == 0, s.o.ShiftIDs)
			if !ok || c.mode == number && n > 0 && !consecutive(lines[n-1], *t) {
				break
			}
			r.change = c
		}
		r.n++
	}
	return r
}

// extendBack lengthens r backwards, not below line limit.
func (s *search) extendBack(r run, limit int32) run {
	b := s.ix.bases[s.cands[r.base]]
	for r.at > limit && r.from > 0 && s.hashes[r.at-1] == b.hashes[r.from-1] {
		s.steps++
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
		best, value := -1, s.o.MinBaseTokens-1
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
			if v := s.weight(from, to) - note; s.pay(to-from, v, s.o.MinRunTokens) {
				value += v
				note = nextNoteTokens
			}
			from = to
		}
	}
	return value
}
