package reduce

import (
	"strings"
	"unicode/utf8"

	"token-terminator/reduce/delta"
	"token-terminator/reduce/envelope"
	"token-terminator/reduce/evidence"
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/reduce/layout"
	"token-terminator/reduce/structured"
	"token-terminator/turn"
)

// MaxResult is the largest result a form is proposed for, in bytes; larger ones
// stay as they are (CONTRACTS §9).
const MaxResult = 8_000_000

// Preset says how far a reduction may go.
type Preset string

// The presets.
const (
	Default    Preset = "default"    // every form
	Lossless   Preset = "lossless"   // the text alone gives the old bytes back
	Equivalent Preset = "equivalent" // and equal JSON values, or what a terminal ends up showing
	Tight      Preset = "tight"      // fewer repeats of ordinary shapes; evidence stays
)

// ParsePreset reads a preset's name.
func ParsePreset(name string) (Preset, bool) {
	switch p := Preset(name); p {
	case Default, Lossless, Equivalent, Tight:
		return p, true
	}
	return "", false
}

// Settings say what the stages may do.
type Settings struct {
	Preset   Preset
	Form     form.Settings
	Excluded []string // tool names never touched, besides the fixed ones
	Floor    int      // tokens under which no form is tried
	Hiding   int      // tokens under which nothing is hidden
	NoHiding bool     // nothing may be hidden, e.g. because the recovery tool is not declared
}

// Block is one string of a request that a form may replace.
type Block struct {
	Text string
	Call kind.Call // the call it answers; zero when unknown
	// Failed says that the call is known to have ended badly (a non-zero exit code
	// outside the text): more of both ends is kept then.
	Failed bool
	Kind   kind.Kind // what KindOf said of it, "" when nobody asked
}

// KindOf says what a block is.
func KindOf(b Block) kind.Kind {
	if b.Kind != "" {
		return b.Kind
	}
	if _, read := b.Call.ReadPath(); read {
		return kind.Read
	}
	return kind.Detect(b.Text, b.Call)
}

// Proposal is one smaller way to show a block.
type Proposal struct {
	Form   turn.Form
	Reason turn.Reason
	Kind   kind.Kind
	Text   string    // the whole new text of a form that hides nothing
	View   form.View // of a form that hides
	Bases  []int     // indexes into the delta index, for reference and delta
	// Synopsis is what a receipt says of the whole text; "" for every other form.
	Synopsis string
}

// Render gives the text as the model will see it, with the shown id's place
// (-1 when none is shown).
func (p Proposal) Render(id turn.ArtifactID, tag string) (text string, at, length int) {
	if !p.Form.Hides() {
		return p.Text, -1, 0
	}
	if p.Form == turn.Receipt {
		return markerFor(p.Synopsis, id, tag)
	}
	marker, at, length := Marker(p.View.Shown, p.View.Total, p.View.Unit, id, tag)
	return p.View.Head + marker + p.View.Tail, len(p.View.Head) + at, length
}

// Eligible says why a block takes no form at all, "" when it may.
func (s Settings) Eligible(b Block) turn.Reason {
	switch {
	case b.Call.Tool == RecoveryName:
		return turn.RecoveredText
	case kind.Excluded(b.Call.Tool, s.Excluded):
		return turn.ExcludedTool
	case len(b.Text) > MaxResult:
		return turn.TooLarge
	case !utf8.ValidString(b.Text):
		return turn.BadUnicode
	}
	return ""
}

// Propose lists the smaller ways to show a block, at most one per form; the reason
// says why there is none. ix may be nil (no earlier texts are visible).
func (s Settings) Propose(b Block, ix *delta.Index) ([]Proposal, turn.Reason) {
	if reason := s.Eligible(b); reason != "" {
		return nil, reason
	}
	size := s.Form.WithDefaults().Count(b.Text)
	if size < s.Floor {
		return nil, turn.BelowFloor
	}
	p := proposer{Settings: s, block: b, ix: ix, count: s.Form.WithDefaults().Count, size: size}
	_, p.read = b.Call.ReadPath()
	p.hide = s.MayHide() && !p.read && size >= s.Hiding && !s.NoHiding
	if env, ok := envelope.Open(b.Text); ok && s.worthOpening(env) {
		p.envelope(env)
	} else {
		p.text()
	}
	if len(p.out) == 0 && p.why == "" {
		p.why = turn.NoFormSmaller
	}
	return p.out, p.why
}

// MayHide says whether the preset takes text out of sight.
func (s Settings) MayHide() bool {
	return s.Preset == "" || s.Preset == Default || s.Preset == Tight
}

func (s Settings) worthOpening(env envelope.Envelope) bool {
	count := s.Form.WithDefaults().Count
	for _, field := range env.Fields() {
		if count(field.Value) >= s.Floor {
			return true
		}
	}
	return false
}

// proposer holds one block's proposals while they are made.
type proposer struct {
	Settings
	block Block
	ix    *delta.Index
	count func(string) int
	size  int // of the block, by count
	read  bool
	hide  bool
	clean cleaned
	out   []Proposal
	why   turn.Reason
}

// text proposes forms of a block that is no envelope.
func (p *proposer) text() {
	k := KindOf(p.block)
	var view form.View
	reason := turn.ReadExempt
	if p.hide {
		view, reason = p.compress(p.block.Text, k)
	} else if !p.read {
		reason = ""
	}
	compressed := p.hide && reason == ""
	if !compressed || p.layoutMayWin(view) {
		if l := p.layout(p.block.Text, k); l.Text != "" {
			p.out = append(p.out, l)
		}
	}
	if d, ok := p.delta(p.block.Text, k); ok {
		p.out = append(p.out, d)
	}
	if compressed {
		p.out = append(p.out, Proposal{Form: turn.Compressed, Reason: compressedReason(k), Kind: k, View: view})
		return
	}
	p.why = reason
}

// Where a view takes more than a quarter away, a layout wins only by repeats: it is
// tried when the text is short, or when few different lines make it up, each many times.
const (
	shortText    = 64 << 10 // bytes
	repeatsMin   = 8        // lines for each different one
	fewDifferent = 256      // lines
)

func (p *proposer) layoutMayWin(view form.View) bool {
	text := p.block.Text
	if len(text) <= shortText || 4*p.count(view.Head+view.Tail) > 3*p.size {
		return true
	}
	lines := Lines(text)
	different := map[string]bool{}
	for line := range strings.Lines(text) {
		different[line] = true
		if len(different) > fewDifferent || len(different)*repeatsMin > lines {
			return false
		}
	}
	return true
}

// layout picks the smaller of the lossless and the equivalent layout; Text is ""
// when neither is smaller than text.
func (p *proposer) layout(text string, k kind.Kind) Proposal {
	best := Proposal{Form: turn.Layout, Kind: k}
	size := p.count(text)
	if out, ok := layout.Lossless(text, k, p.count); ok {
		if n := p.count(out); n < size {
			best.Text, best.Reason, size = out, turn.LayoutLossless, n
		}
	}
	if p.Preset == Lossless {
		return best
	}
	if out, ok := p.equivalent(text, k); ok {
		if n := p.count(out); n < size {
			best.Text, best.Reason, size = out, turn.LayoutEquivalent, n
		}
	}
	return best
}

func (p *proposer) delta(text string, k kind.Kind) (Proposal, bool) {
	if p.ix == nil || p.ix.Len() == 0 {
		return Proposal{}, false
	}
	o := delta.Options{MaxBases: turn.MaxBases, Count: p.count}
	if path, read := p.block.Call.ReadPath(); read {
		if path == "" {
			return Proposal{}, false // of which file is not known
		}
		o.MaxBases, o.SamePathOnly = 1, path
	}
	found, ok := p.ix.Propose(text, o)
	if !ok {
		return Proposal{}, false
	}
	out := Proposal{Form: turn.Delta, Reason: turn.DeltaRuns, Kind: k, Text: found.Text, Bases: found.Bases}
	if found.Whole {
		out.Form, out.Reason = turn.Reference, turn.ReferenceSame
	}
	return out, true
}

// compress takes the smaller view of the text as it is and of the text without
// terminal control bytes.
func (p *proposer) compress(text string, k kind.Kind) (form.View, turn.Reason) {
	best, reason := p.view(text, k)
	clean, ok := p.equivalent(text, k)
	if !ok || k == kind.JSON || k == kind.NDJSON || Lines(clean) != Lines(text) { // counts are those of the source
		return best, reason
	}
	view, why := p.view(clean, k)
	if why != "" {
		return best, reason
	}
	if reason != "" || p.count(view.Head+view.Tail) < p.count(best.Head+best.Tail) {
		return view, ""
	}
	return best, reason
}

// failedEnds multiplies the lines kept at both ends of a call that failed: what went
// wrong is most often said first or last.
const failedEnds = 3

func (p *proposer) view(text string, k kind.Kind) (form.View, turn.Reason) {
	s := p.Form
	s.Tight = s.Tight || p.Preset == Tight
	if p.block.Failed {
		s = s.WithDefaults()
		s.Head, s.Tail = failedEnds*s.Head, failedEnds*s.Tail
	}
	if k == kind.JSON || k == kind.NDJSON {
		return structured.Compress(text, k, s)
	}
	return evidence.Compress(text, k, s)
}

func compressedReason(k kind.Kind) turn.Reason {
	switch k {
	case kind.Log:
		return turn.CompressedLog
	case kind.JSON:
		return turn.CompressedJSON
	case kind.NDJSON:
		return turn.CompressedNDJSON
	case kind.Search:
		return turn.CompressedSearch
	case kind.Test:
		return turn.CompressedTest
	case kind.Build:
		return turn.CompressedBuild
	case kind.Stack:
		return turn.CompressedStack
	}
	return turn.CompressedPlain
}

// fewLines is up to how many lines a text is counted in characters instead.
const fewLines = 3

// Repeat is the form of a block whose text equals that of an earlier block which
// is itself not shown as it was: where it stands, and the id.
func Repeat(label string, k kind.Kind, text string) Proposal {
	total, unit := Lines(text), "lines"
	if total <= fewLines {
		total, unit = utf8.RuneCountInString(text), "characters"
	}
	return Proposal{
		Form: turn.Compressed, Reason: turn.RepeatOfHidden, Kind: k,
		View: form.View{Head: "[same text as " + label + ", as it is shown there]\n", Total: total, Unit: unit},
	}
}

// Lines counts the lines of a text; a last line without an end counts.
func Lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
