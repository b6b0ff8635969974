package delta

import (
	"strings"

	"token-terminator/turn"
)

// Options bound a proposal. Zero values mean the defaults.
type Options struct {
	// MaxBases is how many bases a delta may lean on, at most turn.MaxBases.
	MaxBases int
	// SamePathOnly, when set, allows only bases with this Path and at most one of
	// them: the rule for reads. A byte-identical text may stand anywhere.
	SamePathOnly string
	// MinRunLines and MinRunTokens are the least lines of a run and the least
	// estimated tokens it must save beyond its note.
	MinRunLines, MinRunTokens int
	// ShiftIDs lets lines match whose bracketed ids all differ by one number.
	ShiftIDs bool
	// Count gives the tokens of a text; nil means an estimate.
	Count func(string) int
}

// Defaults, tuned on recorded sessions.
const (
	DefaultMinRunLines  = 3
	DefaultMinRunTokens = 8
)

func (o Options) withDefaults() Options {
	if o.MaxBases <= 0 || o.MaxBases > turn.MaxBases {
		o.MaxBases = turn.MaxBases
	}
	if o.SamePathOnly != "" {
		o.MaxBases = 1
	}
	if o.MinRunLines <= 0 {
		o.MinRunLines = DefaultMinRunLines
	}
	if o.MinRunTokens <= 0 {
		o.MinRunTokens = DefaultMinRunTokens
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
	Lines int   // lines that stand under notes
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
		return r, ix.holds(r, text, o)
	}
	s := newSearch(ix, text, o)
	if len(s.lines) < o.MinRunLines {
		return Result{}, false
	}
	s.nominate()
	chosen := s.choose(o.MaxBases)
	if len(chosen) == 0 {
		return Result{}, false
	}
	r, ok := s.write(s.cover(chosen))
	return r, ok && ix.holds(r, text, o)
}

// holds checks a result: smaller, and it gives the text back.
func (ix *Index) holds(r Result, text string, o Options) bool {
	if len(r.Text) >= len(text) || o.Count(r.Text) >= o.Count(text) {
		return false
	}
	bases := make([]Base, len(r.Bases))
	for i, b := range r.Bases {
		bases[i] = ix.bases[b].Base
	}
	back, err := Expand(r.Text, bases)
	return err == nil && back == text
}

// write renders the text with notes for runs. false: a literal line looks like a
// note, or no run pays.
func (s *search) write(runs []run) (Result, bool) {
	var r Result
	var b strings.Builder
	named := map[int32]bool{}
	at, last := int32(0), int32(-1)
	for _, run := range runs {
		n := s.note(run, last, named)
		if !s.pays(run, n) {
			continue
		}
		if !s.literal(&b, at, run.at) {
			return r, false
		}
		b.WriteString(n.String())
		at = run.at + run.n
		b.WriteString(s.ending(at - 1))
		if !named[run.base] {
			named[run.base] = true
			r.Bases = append(r.Bases, int(s.cands[run.base]))
		}
		last = run.base
		r.Runs++
		r.Lines += int(run.n)
	}
	if !s.literal(&b, at, int32(len(s.lines))) {
		return r, false
	}
	r.Text = b.String()
	return r, r.Runs > 0
}

// note words one run after a run of base last.
func (s *search) note(r run, last int32, named map[int32]bool) note {
	b := s.ix.bases[s.cands[r.base]]
	n := note{from: int(r.from) + 1, to: int(r.from + r.n), change: r.change}
	if r.base != last {
		n.label = b.Label
		if named[r.base] {
			n.label = b.short
		}
	}
	if n.change.mode == number {
		n.sample = s.lines[r.at].prefix(s.text)
	}
	head, tail := b.lines[r.from], b.lines[r.from+r.n-1]
	if head.style.numbered() && head.num != r.from+1 && tail.style.numbered() && tail.num-head.num == r.n-1 &&
		findNumber(b.lines, int(head.num)) == int(r.from) {
		n.numbered, n.from, n.to = true, int(head.num), int(tail.num)
	}
	return n
}

// pays says whether the counted tokens of the run exceed those of its note.
func (s *search) pays(r run, n note) bool {
	const surely = 4096 // bytes that no note can cost
	from, to := s.lines[r.at].start, s.lines[r.at+r.n-1].end
	if to-from > surely {
		return true
	}
	return s.o.Count(s.text[from:to])-s.o.Count(n.String()) >= s.o.MinRunTokens
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

// literal writes lines [from,to) as they are.
func (s *search) literal(b *strings.Builder, from, to int32) bool {
	if from >= to {
		return true
	}
	for _, l := range s.lines[from:to] {
		if looksLikeNote(s.text[l.start:l.end]) {
			return false
		}
	}
	b.WriteString(s.text[s.lines[from].start:s.lines[to-1].end])
	if s.lines[to-1].cr {
		b.WriteByte('\r')
	}
	b.WriteString(s.ending(to - 1))
	return true
}
