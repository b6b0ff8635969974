package delta

import (
	"strings"
	"unicode/utf8"

	"token-terminator/turn"
)

// Options bound a proposal. Zero values mean the defaults.
type Options struct {
	// MaxBases is how many bases a delta may lean on, at most turn.MaxBases.
	MaxBases int
	// SamePathOnly, when set, allows only bases with this Path and at most one of
	// them: the rule for reads. A byte-identical text may stand anywhere. A read whose
	// path is unknown should not be proposed at all, since "" means any path.
	SamePathOnly string
	// MinRunLines is the least lines of a run; except for reads, fewer are taken when
	// they save twice as much. Members of a JSON text are runs from one on.
	MinRunLines int
	// MinRunTokens is what a run must save beyond its note; half as much again when
	// it does not go on in the base of the run before.
	MinRunTokens int
	// MinBaseTokens is what every base must save: it has to stay visible as long as
	// the delta does.
	MinBaseTokens int
	// ShiftIDs lets lines match whose bracketed ids all differ by one number.
	ShiftIDs bool
	// Count gives the tokens of a text; nil means an estimate.
	Count func(string) int
}

// Defaults. Recorded sessions save the same within a few tenths of a percent for
// 2 to 4 lines and 4 to 24 tokens; reads, meant for editing, are cut up less.
const (
	DefaultMinRunLines   = 3
	DefaultMinRunTokens  = 16
	ReadMinRunLines      = 8
	ReadMinRunTokens     = 40
	DefaultMinBaseTokens = 48
)

func (o Options) withDefaults() Options {
	if o.MaxBases <= 0 || o.MaxBases > turn.MaxBases {
		o.MaxBases = turn.MaxBases
	}
	lines, tokens := DefaultMinRunLines, DefaultMinRunTokens
	if o.SamePathOnly != "" {
		o.MaxBases, lines, tokens = 1, ReadMinRunLines, ReadMinRunTokens
	}
	if o.MinRunLines <= 0 {
		o.MinRunLines = lines
	}
	if o.MinRunTokens <= 0 {
		o.MinRunTokens = tokens
	}
	if o.MinBaseTokens <= 0 {
		o.MinBaseTokens = DefaultMinBaseTokens
	}
	if o.Count == nil {
		o.Count = estimate
	}
	return o
}

// Result is a smaller way to show a text.
type Result struct {
	Text  string
	Whole bool  // the text is byte-identical to one base: a reference
	Bases []int // numbers in the order of adding; notes name them first in this order
	Runs  int   // notes in Text
	Lines int   // lines, or members of a JSON text, that stand under notes
}

// Propose shows text through the bases added so far. ok is false when no form is
// smaller in bytes and in tokens, or when the notes would not be unambiguous.
func (ix *Index) Propose(text string, o Options) (Result, bool) {
	o = o.withDefaults()
	if len(text) < minBaseBytes || len(text) > maxTextBytes {
		return Result{}, false
	}
	if base := ix.same(text, o.SamePathOnly); base >= 0 {
		n := note{whole: true, label: ix.bases[base].Label}
		r := Result{Text: n.String(), Whole: true, Bases: []int{base}, Runs: 1}
		r.Lines = strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
		return r, o.pays(text, r.Text) && ix.holds(r, text)
	}
	s := newSearch(ix, text, o)
	s.nominate()
	chosen := s.choose(o.MaxBases)
	if len(chosen) == 0 {
		return Result{}, false
	}
	r, ok := s.write(s.cover(chosen))
	return r, ok && ix.holds(r, text)
}

// holds checks that a result is smaller and gives the text back.
func (ix *Index) holds(r Result, text string) bool {
	if len(r.Text) >= len(text) {
		return false
	}
	bases := make([]*indexed, len(r.Bases))
	for i, b := range r.Bases {
		bases[i] = ix.bases[b]
	}
	back, err := expand(r.Text, bases)
	return err == nil && back == text
}

// write renders the text with notes for runs. false: a literal line looks like a
// note, or no run pays.
func (s *search) write(runs []run) (Result, bool) {
	if s.unit != byLine {
		return s.writeMembers(runs)
	}
	w := writer{search: s, named: make([]bool, len(s.cands)), last: -1}
	for _, r := range runs {
		for _, part := range s.parts(r) {
			if !w.run(part) {
				return w.result, false
			}
		}
	}
	if !w.literal(int32(len(s.lines))) {
		return w.result, false
	}
	w.result.Text = w.out.String()
	return w.result, w.result.Runs > 0
}

// writer holds a text half written.
type writer struct {
	*search
	out    strings.Builder
	named  []bool // candidates whose full label stands in out
	at     int32  // first line not yet written
	last   int32  // candidate of the note before, -1 none
	next   int32  // the line of that base that follows its run
	result Result
}

// run writes a run as a note if that pays.
func (w *writer) run(r run) bool {
	n, ok := w.note(r)
	if !ok || !w.o.pays(w.text[w.lines[r.at].start:w.lines[r.at+r.n-1].end], n.String()) {
		return true
	}
	if !w.literal(r.at) {
		return false
	}
	w.out.WriteString(n.String())
	w.at = r.at + r.n
	w.out.WriteString(w.ending(w.at - 1))
	w.use(r)
	return true
}

// use notes that a note for r was written.
func (w *writer) use(r run) {
	if !w.named[r.base] {
		w.named[r.base] = true
		w.result.Bases = append(w.result.Bases, int(w.cands[r.base]))
	}
	w.last, w.next = r.base, r.from+r.n
	w.result.Runs++
	w.result.Lines += int(r.n)
}

// note words one run. false: nobody could find its place in the base.
func (w *writer) note(r run) (note, bool) {
	b := w.ix.bases[w.cands[r.base]]
	n := note{from: int(r.from) + 1, to: int(r.from + r.n), unit: b.unit, change: r.change}
	if r.base != w.last {
		n.label = b.Label
		if w.named[r.base] && !w.ambiguous(r.base) {
			n.label = b.short
		}
	}
	if n.change.mode == number {
		n.sample = w.lines[r.at].prefix(w.text)
	}
	head, tail := b.lines[r.from], b.lines[r.from+r.n-1]
	switch {
	case !b.renumbered(r.from, r.from+r.n):
		if b.listing && r.from > 0 { // an unnumbered part of a numbered listing
			n.place, n.from, n.to = fromTheEnd, 1, int(r.n)
			return n, int(r.from+r.n) == len(b.lines)
		}
	case tail.num-head.num == r.n-1 && b.find(int(head.num)) == int(r.from):
		n.place, n.from, n.to = shown, int(head.num), int(tail.num)
	}
	if n.place == position && b.unit == byLine && w.faraway(r) && !head.style.numbered() {
		n.anchor = anchor(b.Text[head.start:head.end])
	}
	return n, true
}

// faraway says whether a reader would have to count lines to find r: it starts
// neither near the top of its base nor just after the run before.
func (w *writer) faraway(r run) bool {
	const near = 10 // lines
	if r.base == w.last && r.from >= w.next && r.from < w.next+near {
		return false
	}
	return r.from >= near
}

// anchor is the start of a line that helps to find it, "" when it says too little.
func anchor(content string) string {
	const most, least = 24, 8 // bytes
	content = strings.TrimSpace(content)
	if i := strings.IndexByte(content, '"'); i >= 0 {
		content = content[:i]
	}
	if len(content) > most {
		content = content[:most]
		for len(content) > 0 && !utf8.ValidString(content) {
			content = content[:len(content)-1]
		}
	}
	if len(content) < least {
		return ""
	}
	return content
}

// ambiguous says whether another candidate has the short label of this one.
func (s *search) ambiguous(cand int32) bool {
	short := s.ix.bases[s.cands[cand]].short
	for c, base := range s.cands {
		if b := s.ix.bases[base]; int32(c) != cand && (b.short == short || b.Label == short) {
			return true
		}
	}
	return false
}

// parts cuts a run where the base's lines change between numbered and not, when
// the numbers shown differ from positions: a note then names one or the other.
func (s *search) parts(r run) []run {
	b := s.ix.bases[s.cands[r.base]]
	if !b.renumbered(r.from, r.from+r.n) {
		return []run{r}
	}
	var parts []run
	for r.n > 0 {
		part := r
		numbered := b.lines[r.from].style.numbered()
		for part.n = 1; part.n < r.n && b.lines[r.from+part.n].style.numbered() == numbered; {
			part.n++
		}
		r.at, r.from, r.n = r.at+part.n, r.from+part.n, r.n-part.n
		if !numbered {
			part.change = part.change.unnumbered()
		}
		parts = append(parts, part)
	}
	return parts
}

// pays says whether the counted tokens of the replaced text exceed those of its note
// by what a run must save. Text that is sure to is not counted.
func (o Options) pays(replaced, note string) bool {
	const surely = 4096 // bytes
	return len(replaced) > surely || o.Count(replaced)-o.Count(note) >= o.MinRunTokens
}

// ending is the line feed after line i, or "" at the end of a text without one.
func (s *search) ending(i int32) string {
	end := s.lines[i].end
	if s.lines[i].cr {
		end++
	}
	if int(end) < len(s.text) {
		return "\n"
	}
	return ""
}

// literal writes the lines before line to as they are.
func (w *writer) literal(to int32) bool {
	from := w.at
	if from >= to {
		return true
	}
	for _, l := range w.lines[from:to] {
		if looksLikeNote(w.text[l.start:l.end]) {
			return false
		}
	}
	w.out.WriteString(w.text[w.lines[from].start:w.lines[to-1].end])
	if w.lines[to-1].cr {
		w.out.WriteByte('\r')
	}
	w.out.WriteString(w.ending(to - 1))
	return true
}
