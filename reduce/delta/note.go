package delta

import (
	"strconv"
	"strings"
)

const (
	noteOpen  = "[same "
	noteClose = "]"
)

// note is what one bracketed line says.
type note struct {
	whole    bool
	label    string // "" means the base of the note before
	from, to int    // positions from 1, or shown line numbers, both included; last: 1 to count
	place    place
	unit     unit
	change   change
	anchor   string // start of the first line, "" none; only helps a reader
	sample   string // prefix of the first line in number mode
}

// place is how a note finds the base's lines.
type place uint8

const (
	position   place = iota // counted from the top of the base's visible text
	shown                   // by the line numbers the base shows
	fromTheEnd              // the last lines of the base
)

// looksLikeNote says whether a line may be mistaken for a note.
func looksLikeNote(content string) bool {
	return strings.HasPrefix(content, noteOpen) && strings.HasSuffix(content, noteClose)
}

func (n note) String() string {
	var b strings.Builder
	b.WriteString(noteOpen)
	if n.label != "" {
		b.WriteString("as ")
	}
	if n.whole {
		b.WriteString(n.label + noteClose)
		return b.String()
	}
	n.writeRange(&b)
	if n.label != "" {
		b.WriteString(" of " + n.label)
	}
	if n.anchor != "" {
		b.WriteString(`, from "` + n.anchor + `"`)
	}
	n.writeChange(&b)
	b.WriteString(noteClose)
	return b.String()
}

func (n note) writeRange(b *strings.Builder) {
	name := unitNames[n.unit]
	switch n.place {
	case shown:
		b.WriteString("numbered ")
	case fromTheEnd:
		b.WriteString("last ")
		if n.to > 1 {
			b.WriteString(strconv.Itoa(n.to) + " " + name + "s")
		} else {
			b.WriteString(name)
		}
		return
	}
	if n.to == n.from {
		b.WriteString(name + " " + strconv.Itoa(n.from))
		return
	}
	b.WriteString(name + "s " + strconv.Itoa(n.from) + "-" + strconv.Itoa(n.to))
}

func (n note) writeChange(b *strings.Builder) {
	c := n.change
	switch {
	case c.mode == strip:
		b.WriteString(", without numbers")
	case c.mode == number:
		b.WriteString(`, numbered from "` + n.sample + `"`)
	case c.numShift != 0:
		b.WriteString(", numbers " + signed(c.numShift))
	}
	if c.idShift != 0 {
		b.WriteString(", ids " + signed(c.idShift))
	}
	switch c.eol {
	case toCRLF:
		b.WriteString(", CRLF")
	case toLF:
		b.WriteString(", LF")
	}
}

func signed(n int32) string {
	if n > 0 {
		return "+" + strconv.Itoa(int(n))
	}
	return strconv.Itoa(int(n))
}

// parseNote reads a note about units u; labels are the names it may use, and index
// says which one it did (-1: none, the base of the note before).
func parseNote(content string, labels []string, u unit) (n note, index int, ok bool) {
	if !looksLikeNote(content) {
		return note{}, -1, false
	}
	rest := content[len(noteOpen) : len(content)-len(noteClose)]
	rest, named := strings.CutPrefix(rest, "as ")
	if n, tail, ok := parseRange(rest, unitNames[u]); ok {
		if !named {
			return n, -1, n.parseChange(tail)
		}
		if tail, ok = strings.CutPrefix(tail, " of "); ok {
			for i, label := range labels {
				m := n
				m.label = label
				if after, ok := strings.CutPrefix(tail, label); ok && label != "" && m.parseChange(after) {
					return m, i, true
				}
			}
		}
	}
	for i, label := range labels {
		if named && rest == label && label != "" && u == byLine {
			return note{whole: true, label: label}, i, true
		}
	}
	return note{}, -1, false
}

// parseRange reads, for name "line", "[numbered ]line A", "[numbered ]lines A-B",
// "last line" or "last N lines".
func parseRange(s, name string) (n note, tail string, ok bool) {
	if rest, last := strings.CutPrefix(s, "last "); last {
		n.place, n.from, n.to = fromTheEnd, 1, 1
		if tail, ok = strings.CutPrefix(rest, name); ok {
			return n, tail, true
		}
		if n.to, rest, ok = cutNumber(rest); !ok || n.to < 2 {
			return n, s, false
		}
		tail, ok = strings.CutPrefix(rest, " "+name+"s")
		return n, tail, ok
	}
	if rest, byNumber := strings.CutPrefix(s, "numbered "); byNumber {
		n.place, s = shown, rest
	}
	if rest, one := strings.CutPrefix(s, name+" "); one {
		n.from, tail, ok = cutNumber(rest)
		n.to = n.from
		return n, tail, ok
	}
	if s, ok = strings.CutPrefix(s, name+"s "); !ok {
		return n, s, false
	}
	if n.from, s, ok = cutNumber(s); !ok {
		return n, s, false
	}
	if s, ok = strings.CutPrefix(s, "-"); !ok {
		return n, s, false
	}
	n.to, tail, ok = cutNumber(s)
	return n, tail, ok && n.to > n.from
}

func cutNumber(s string) (int, string, bool) {
	num, digits := parseNumber(s)
	return int(num), s[digits:], digits > 0
}

// parseChange reads what follows the range and label; false when anything is left.
func (n *note) parseChange(s string) bool {
	if rest, ok := strings.CutPrefix(s, `, from "`); ok {
		if n.anchor, s, ok = strings.Cut(rest, `"`); !ok {
			return false
		}
	}
	if s == "" {
		return true
	}
	if s, ok := strings.CutPrefix(s, ", without numbers"); ok {
		n.change.mode = strip
		return n.parseIDs(s)
	}
	if s, ok := strings.CutPrefix(s, `, numbered from "`); ok {
		n.change.mode = number
		n.sample, s, ok = strings.Cut(s, `"`)
		return ok && n.parseIDs(s)
	}
	if rest, ok := strings.CutPrefix(s, ", numbers "); ok {
		if n.change.numShift, s, ok = cutSigned(rest); !ok {
			return false
		}
	}
	return n.parseIDs(s)
}

func (n *note) parseIDs(s string) bool {
	if rest, ok := strings.CutPrefix(s, ", ids "); ok {
		if n.change.idShift, s, ok = cutSigned(rest); !ok {
			return false
		}
	}
	switch s {
	case ", CRLF":
		n.change.eol = toCRLF
	case ", LF":
		n.change.eol = toLF
	case "":
	default:
		return false
	}
	return true
}

func cutSigned(s string) (int32, string, bool) {
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0, s, false
	}
	num, digits := parseNumber(s[1:])
	if s[0] == '-' {
		num = -num
	}
	return num, s[1+digits:], digits > 0
}
