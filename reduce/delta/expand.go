package delta

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrBadNote says that a line looks like a note and does not hold: it names no
// given base, or lines the base does not have.
var ErrBadNote = errors.New("bad note")

// maxExpanded bounds what Expand gives back, in bytes.
const maxExpanded = 1 << 29

// Expand gives back the text a reference or delta stands for. bases are those the
// Result names, in that order. A text without notes comes back as it is.
func Expand(text string, bases []Base) (string, error) {
	in := make([]*indexed, len(bases))
	for i, b := range bases {
		b.Label = cleanLabel(b.Label)
		in[i] = &indexed{Base: b, short: shortLabel(b.Label)}
	}
	return expand(text, in)
}

func expand(text string, bases []*indexed) (string, error) {
	x := expander{last: -1, bases: bases}
	for _, b := range bases {
		x.labels = append(x.labels, b.Label, b.short)
	}
	if p, ok := memberSpans(text); ok {
		found, err := x.members(text, p)
		if err != nil {
			return "", fmt.Errorf("expand delta: %w", err)
		}
		if found {
			return x.out.String(), nil
		}
		x.out.Reset()
	}
	for at := 0; at < len(text); {
		end, next := len(text), len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end, next = at+n, at+n+1
		}
		if err := x.line(text[at:end]); err != nil {
			return "", fmt.Errorf("expand delta at byte %d: %w", at, err)
		}
		x.out.WriteString(text[end:next])
		if x.out.Len() > maxExpanded {
			return "", fmt.Errorf("expand delta: %w: more than %d bytes", ErrBadNote, maxExpanded)
		}
		at = next
	}
	return x.out.String(), nil
}

type expander struct {
	bases  []*indexed
	labels []string // full and short label of each base
	last   int      // base of the note before
	out    strings.Builder
}

// line writes one line without its line feed, or the lines a note stands for.
func (x *expander) line(content string) error {
	if !looksLikeNote(content) {
		x.out.WriteString(content)
		return nil
	}
	return x.note(content, byLine)
}

// note writes what a note about units u stands for.
func (x *expander) note(content string, u unit) error {
	n, label, ok := parseNote(content, x.labels, u)
	if !ok {
		return fmt.Errorf("%w: unknown base or wording", ErrBadNote)
	}
	if label >= 0 {
		x.last = label / 2
	}
	if x.last < 0 {
		return fmt.Errorf("%w: no base named before", ErrBadNote)
	}
	b := x.bases[x.last]
	if n.whole {
		x.out.WriteString(b.Text)
		return nil
	}
	if b.lines == nil {
		b.pieces = cut(b.Text)
		b.number()
	}
	if b.unit != u {
		return fmt.Errorf("%w: the base has no %ss", ErrBadNote, unitNames[u])
	}
	from := n.from - 1
	switch n.place {
	case shown:
		from = b.find(n.from)
	case fromTheEnd:
		from = len(b.lines) - n.to
	}
	to := from + n.to - n.from + 1
	if from < 0 || to > len(b.lines) {
		return fmt.Errorf("%w: the base has %d %ss", ErrBadNote, len(b.lines), unitNames[u])
	}
	if u != byLine {
		x.out.WriteString(b.Text[b.lines[from].start:b.lines[to-1].end])
		return nil
	}
	return x.render(n, b.Text, b.lines[from:to])
}

// render writes base lines under the note's change, joined by line feeds.
func (x *expander) render(n note, text string, lines []line) error {
	var own line
	if n.change.mode == number {
		own = parsePrefix(line{end: int32(len(n.sample))}, n.sample)
		if !own.style.numbered() || int(own.core) != len(n.sample) {
			return fmt.Errorf("%w: no line number in the sample", ErrBadNote)
		}
	}
	for i, l := range lines {
		cr := l.cr
		if i > 0 {
			x.out.WriteByte('\n')
		}
		switch {
		case n.change.mode == number:
			x.number(own.num+int32(i), own)
			x.out.WriteString(text[l.core:l.end])
			if l.style == idStyle {
				return fmt.Errorf("%w: a number before an id", ErrBadNote)
			}
		case l.style.numbered() && n.change.mode == strip:
			x.out.WriteString(text[l.core:l.end])
		case l.style.numbered():
			x.number(l.num+n.change.numShift, l)
			x.out.WriteString(text[l.core:l.end])
		case l.style == idStyle:
			x.out.WriteString(text[l.start : int(l.core)-digitsOf(l.num)])
			x.out.WriteString(strconv.Itoa(int(l.num + n.change.idShift)))
			x.out.WriteString(text[l.core:l.end])
		default:
			x.out.WriteString(text[l.start:l.end])
		}
		switch n.change.eol {
		case toCRLF:
			cr = true
		case toLF:
			cr = false
		}
		if cr {
			x.out.WriteByte('\r')
		}
	}
	return nil
}

// number writes a line number the way like does.
func (x *expander) number(num int32, like line) {
	digits := strconv.Itoa(int(num))
	for n := len(digits); n < int(like.width); n++ {
		x.out.WriteByte(' ')
	}
	x.out.WriteString(digits)
	x.out.WriteString(delimiters[like.style])
}
