package delta

import (
	"hash/maphash"
	"strings"
)

// style is how a line shows a number.
type style uint8

const (
	plain    style = iota
	arrow          // "     1→text"
	tab            // "     1\ttext"
	pipe           // "1|text"
	colon          // "1:text"
	idStyle        // "\t\t[12] text": an id in brackets, not a line number
	maxDigit = 9   // digits of a number that is still understood
)

var delimiters = [...]string{arrow: "→", tab: "\t", pipe: "|", colon: ":"}

func (s style) numbered() bool { return s >= arrow && s <= colon }

// line is one line of a text, in byte offsets. The content is [start,end), without
// the line end; the core is [core,end), the content without its number.
type line struct {
	start, core, end int32
	num              int32 // the number shown, when style is not plain
	width            int16 // width a padded number is printed in, 0 when not padded
	style            style
	cr               bool // the line end is CRLF, or the text ends with CR
}

// prefix is the content before the core.
func (l line) prefix(text string) string { return text[l.start:l.core] }

// splitLines cuts text at line feeds and finds line numbers. The part after the
// last line feed is a line unless it is empty.
func splitLines(text string) []line {
	lines := make([]line, 0, strings.Count(text, "\n")+1)
	for at := 0; at < len(text); {
		end := len(text)
		next := end
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end, next = at+n, at+n+1
		}
		l := line{start: int32(at), core: int32(at), end: int32(end)}
		if end > at && text[end-1] == '\r' {
			l.cr = true
			l.end--
		}
		lines = append(lines, parsePrefix(l, text))
		at = next
	}
	keepNumbered(lines)
	return lines
}

// parsePrefix notes a number at the start of the line's content.
func parsePrefix(l line, text string) line {
	content := text[l.start:l.end]
	at := 0
	for at < len(content) && (content[at] == ' ' || content[at] == '\t') {
		at++
	}
	if at < len(content) && content[at] == '[' {
		return parseID(l, content, at+1)
	}
	num, digits := parseNumber(content[at:])
	if digits == 0 || strings.IndexByte(content[:at], '\t') >= 0 {
		return l
	}
	rest := content[at+digits:]
	for s := arrow; s <= colon; s++ {
		if !strings.HasPrefix(rest, delimiters[s]) {
			continue
		}
		l.style, l.num = s, num
		l.core = l.start + int32(at+digits+len(delimiters[s]))
		if at > 0 && at+digits <= 32 {
			l.width = int16(at + digits)
		} else if at > 0 {
			return line{start: l.start, core: l.start, end: l.end, cr: l.cr}
		}
		return l
	}
	return l
}

func parseID(l line, content string, at int) line {
	num, digits := parseNumber(content[at:])
	if digits == 0 || at+digits >= len(content) || content[at+digits] != ']' {
		return l
	}
	l.style, l.num = idStyle, num
	l.core = l.start + int32(at+digits)
	return l
}

// parseNumber reads a canonical decimal number; digits is 0 when there is none.
func parseNumber(s string) (num int32, digits int) {
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		if digits == maxDigit {
			return 0, 0
		}
		num = num*10 + int32(s[digits]-'0')
		digits++
	}
	if digits > 1 && s[0] == '0' {
		return 0, 0
	}
	return num, digits
}

// keepNumbered leaves a line number only on lines with a neighbour that is numbered
// one lower or higher in the same style: one line alone is no listing.
func keepNumbered(lines []line) {
	linked := false // the line before is numbered one lower
	for i := range lines {
		l := &lines[i]
		if !l.style.numbered() {
			linked = false
			continue
		}
		follows := i+1 < len(lines) && lines[i+1].style == l.style && lines[i+1].num == l.num+1
		if !follows && !linked {
			l.style, l.core, l.width, l.num = plain, l.start, 0, 0
		}
		linked = follows
	}
}

// hashPiece hashes what a line shares with its like under another number or line
// end; members hash apart from lines.
func hashPiece(seed maphash.Seed, text string, l line, u unit) uint64 {
	h := maphash.String(seed, text[l.core:l.end])
	if l.style == idStyle {
		h ^= maphash.String(seed, text[l.start:l.core-int32(digitsOf(l.num))]) * 0x9e3779b97f4a7c15
	}
	return max(1, h+uint64(u)) // 0 marks an empty slot
}

func digitsOf(n int32) int {
	d := 1
	for n >= 10 {
		n /= 10
		d++
	}
	return d
}

// estimate guesses the tokens of s for planning, from runs of letters, digits,
// punctuation, spaces and other bytes. Proposals are checked with the real count.
func estimate(s string) int {
	sum, last := 0, letter
	if s != "" {
		last = letter + 1 + class[s[0]] // unlike the first
	}
	for i := range len(s) {
		c := class[s[i]]
		if c != last {
			sum += startCost[c]
			last = c
		}
		sum += byteCost[c]
	}
	return (sum + costUnit/2) / costUnit
}

// Classes of bytes, and what a run of one class costs in 1/64 tokens.
const (
	letter uint8 = iota
	digit
	space
	mark
	high
	costUnit = 64
)

var (
	class     = classes()
	startCost = [8]int{letter: 44, digit: 24, space: 10, mark: 40, high: 16}
	byteCost  = [8]int{letter: 5, digit: 22, space: 2, mark: 16, high: 24}
)

func classes() (t [256]uint8) {
	for b := range t {
		switch {
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			t[b] = letter
		case b >= '0' && b <= '9':
			t[b] = digit
		case b == ' ' || b == '\t':
			t[b] = space
		case b >= 0x80:
			t[b] = high
		default:
			t[b] = mark
		}
	}
	return t
}
