package strictjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Str is where a string literal stands and what is known of it.
type Str struct {
	Start, End int  // byte offsets, quotes included
	Escaped    bool // holds a backslash
	Shortest   bool // spelled in the shortest way: AppendQuoted would write the same bytes
	Lone       bool // holds the escape of a lone surrogate, so it is no Unicode text
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, in the high bit of each byte of x, quotes, backslashes and
// control bytes. Marks above the lowest one may be false.
func special(x uint64) uint64 {
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*0x20)&^x) & highs
}

// String reads the string literal at the scanner's place, which must be a quote.
func (s *Scanner) String() (Str, error) {
	str := Str{Start: s.Pos, Shortest: true}
	data, i, high := s.Data, s.Pos+1, uint64(0)
	for {
		for i+8 <= len(data) {
			x := binary.LittleEndian.Uint64(data[i:])
			if m := special(x); m != 0 {
				n := bits.TrailingZeros64(m) &^ 7
				high |= x & (1<<n - 1)
				i += n >> 3
				break
			}
			high |= x
			i += 8
		}
		for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= 0x20 {
			high |= uint64(data[i])
			i++
		}
		if i >= len(data) {
			return str, s.fault(Ended, len(data), "the text ends inside the string that starts at byte %d", str.Start)
		}
		if data[i] == '"' {
			break
		}
		if data[i] != '\\' {
			return str, s.fault(Syntax, i, "control byte 0x%02x inside a string: it must be escaped", data[i])
		}
		n, err := s.escape(i, &str)
		if err != nil {
			return str, err
		}
		i += n
	}
	str.End = i + 1
	s.Pos = str.End
	if high&highs != 0 && !utf8.Valid(data[str.Start:str.End]) {
		return str, s.badUTF8(str)
	}
	return str, nil
}

// escape reads the escape at offset i and returns its length: 2, 6 or, for a
// pair of surrogates, 12 bytes.
func (s *Scanner) escape(i int, str *Str) (int, error) {
	str.Escaped = true
	if i+1 >= len(s.Data) {
		return 0, s.fault(Ended, len(s.Data), "the text ends inside an escape")
	}
	switch s.Data[i+1] {
	case '"', '\\', 'n', 'r', 't', 'b', 'f':
		return 2, nil
	case '/':
		str.Shortest = false
		return 2, nil
	case 'u':
		return s.unicode(i, str)
	}
	return 0, s.fault(Syntax, i, "unknown escape: after a backslash only \" \\ / b f n r t u may stand")
}

func (s *Scanner) unicode(i int, str *Str) (int, error) {
	unit, ok := hex4(s.Data, i+2)
	if !ok {
		if i+6 > len(s.Data) {
			return 0, s.fault(Ended, len(s.Data), "the text ends inside an escape")
		}
		return 0, s.fault(Syntax, i, "\\u needs four hex digits")
	}
	switch {
	case unit >= 0xd800 && unit < 0xdc00 && lowSurrogate(s.Data, i+6):
		str.Shortest = false
		return 12, nil
	case unit >= 0xd800 && unit < 0xe000:
		str.Lone = true
		if s.Lone < 0 {
			s.Lone = i
		}
	case !shortestControl(unit, s.Data[i+4:i+6]):
		str.Shortest = false
	}
	return 6, nil
}

func lowSurrogate(data []byte, i int) bool {
	if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
		return false
	}
	unit, ok := hex4(data, i+2)
	return ok && unit >= 0xdc00 && unit < 0xe000
}

// shortestControl says whether \u00.. with these last two digits is how quoting
// writes the control character unit.
func shortestControl(unit rune, digits []byte) bool {
	if unit >= 0x20 || shortEscape(byte(unit)) != 0 {
		return false
	}
	return digits[0] == lowerHex[unit>>4] && digits[1] == lowerHex[unit&15]
}

func hex4(data []byte, i int) (rune, bool) {
	if i+4 > len(data) {
		return 0, false
	}
	var unit rune
	for _, c := range data[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			unit = unit<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			unit = unit<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			unit = unit<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return unit, true
}

func (s *Scanner) badUTF8(str Str) error {
	at := str.Start
	for at < str.End {
		r, n := utf8.DecodeRune(s.Data[at:str.End])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return s.fault(UTF8, at, "byte 0x%02x is no UTF-8", s.Data[min(at, len(s.Data)-1)])
}

// Text is the decoded text of a literal of this scan. Without escapes it is a
// part of Data; the caller must not change it.
func (s *Scanner) Text(str Str) []byte {
	inner := s.Data[str.Start+1 : str.End-1]
	if !str.Escaped {
		return inner
	}
	return AppendUnquoted(nil, s.Data[str.Start:str.End])
}

// AppendUnquoted decodes a literal that the scanner accepted, quotes included. A
// lone surrogate becomes its three-byte form, which is no UTF-8: byte order of
// decoded texts is therefore code point order, always.
func AppendUnquoted(dst, literal []byte) []byte {
	if len(literal) < 2 {
		return dst
	}
	rest := literal[1 : len(literal)-1]
	for {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 >= len(rest) {
			return append(dst, rest...)
		}
		dst = append(dst, rest[:i]...)
		if rest[i+1] != 'u' {
			dst = append(dst, plainEscape(rest[i+1]))
			rest = rest[i+2:]
			continue
		}
		unit, ok := hex4(rest, i+2)
		if !ok {
			return append(dst, rest[i:]...)
		}
		n := 6
		if unit >= 0xd800 && unit < 0xdc00 && lowSurrogate(rest, i+6) {
			low, _ := hex4(rest, i+8)
			unit, n = 0x10000+(unit-0xd800)<<10+(low-0xdc00), 12
		}
		dst = appendCodePoint(dst, unit)
		rest = rest[i+n:]
	}
}

func appendCodePoint(dst []byte, r rune) []byte {
	if r >= 0xd800 && r < 0xe000 {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, r)
}

func plainEscape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c
}
