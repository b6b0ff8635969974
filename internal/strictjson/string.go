package strictjson

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Str is where a string literal stands and what is known of it.
type Str struct {
	Start, End int // byte offsets, quotes included
	Spelling
}

// Spelling is how a literal is written. It is a struct of its own because values of at
// most four fields travel in registers, and most literals are short.
type Spelling struct {
	Escaped  bool // holds a backslash
	Shortest bool // spelled in the shortest way: AppendQuoted would write the same bytes
	Lone     bool // holds the escape of a lone surrogate, so it is no Unicode text
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// String reads the string literal at the scanner's place, which must be a quote.
//
// Keys and other short strings end within the first few words. Longer ones are
// read in blocks of 64 bytes; what is left at the end of the text is read word by word.
func (s *Scanner) String() (Str, error) {
	start, i := s.Pos, s.Pos+1
	for range 4 {
		if i+8 > len(s.Data) {
			break
		}
		x := binary.LittleEndian.Uint64(s.Data[i:])
		m := ^plain(x) & highs
		if x&(m-1)&highs != 0 { // before the first stop, or anywhere without one
			break
		}
		if m == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(m) >> 3; s.Data[i] != '"' {
			break
		}
		s.Pos = i + 1
		return Str{start, i + 1, Spelling{Shortest: true}}, nil
	}
	return s.long(start, i)
}

// literal is a string literal while it is read.
type literal struct {
	Str
	from   int  // where the bytes begin of which it is open whether they are UTF-8, 0 for none
	broken bool // some bytes before are no UTF-8
}

// valid settles the bytes up to offset i, where no character may go on.
func (l *literal) valid(data []byte, i int) bool {
	l.broken = l.broken || l.from > 0 && !utf8.Valid(data[l.from:i])
	l.from = 0
	return !l.broken
}

// long reads on from offset i, up to which the literal is plain ASCII.
func (s *Scanner) long(start, i int) (Str, error) {
	str := literal{Str: Str{Start: start, Spelling: Spelling{Shortest: true}}}
	i, done, err := s.blocks(i, &str)
	if err == nil && !done {
		i, err = s.words(i, &str)
	}
	if err != nil {
		return str.Str, err
	}
	str.End = i + 1
	s.Pos = str.End
	if !str.valid(s.Data, i) {
		return str.Str, s.badUTF8(str.Str)
	}
	return str.Str, nil
}

// words reads on from offset i to the closing quote, eight bytes at a time.
func (s *Scanner) words(i int, str *literal) (int, error) {
	data := s.Data
	for {
		for i+8 <= len(data) {
			x := binary.LittleEndian.Uint64(data[i:])
			m := ^plain(x) & highs
			if x&(m-1)&highs != 0 && str.from == 0 {
				str.from = i
			}
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= 0x20 {
			if data[i] >= 0x80 && str.from == 0 {
				str.from = i
			}
			i++
		}
		n, err := s.stop(i, str)
		if err != nil || n == 0 {
			return i, err
		}
		i += n
	}
}

// shortest are the letters of the escapes that quoting writes.
var shortest = [256]bool{'"': true, '\\': true, 'n': true, 'r': true, 't': true, 'b': true, 'f': true}

// stop handles what ends a run of plain characters at offset i: 0 for the closing
// quote, else the length of an escape.
func (s *Scanner) stop(i int, str *literal) (int, error) {
	switch {
	case i >= len(s.Data):
		return 0, s.fault(Ended, len(s.Data), "the text ends inside the string that starts at byte %d", str.Start)
	case s.Data[i] == '"':
		return 0, nil
	case s.Data[i] != '\\':
		return 0, s.fault(Syntax, i, "control byte 0x%02x inside a string: it must be escaped", s.Data[i])
	}
	return s.escape(i, str)
}

// escape reads the escape at offset i and returns its length: 2, 6 or, for a
// pair of surrogates, 12 bytes.
func (s *Scanner) escape(i int, str *literal) (int, error) {
	str.Escaped = true
	if i+1 >= len(s.Data) {
		return 0, s.fault(Ended, len(s.Data), "the text ends inside an escape")
	}
	switch c := s.Data[i+1]; {
	case shortest[c]:
		return 2, nil
	case c == '/':
		str.Shortest = false
		return 2, nil
	case c == 'u':
		return s.unicode(i, str)
	}
	return 0, s.fault(Syntax, i, "unknown escape: after a backslash only \" \\ / b f n r t u may stand")
}

func (s *Scanner) unicode(i int, str *literal) (int, error) {
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
	if unit >= 0x20 || escapes[unit] != 'u' {
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
// decoded texts is therefore code point order, always. Spare capacity of dst may
// be overwritten beyond the result.
func AppendUnquoted(dst, literal []byte) []byte {
	if len(literal) < 2 {
		return dst
	}
	rest := literal[1 : len(literal)-1]
	dst = slices.Grow(dst, len(rest)+8)
	room, n := dst[:cap(dst)], len(dst) // no escape is shorter than what it stands for
	for i := 0; i < len(rest); {
		if i+8 <= len(rest) {
			x := binary.LittleEndian.Uint64(rest[i:])
			binary.LittleEndian.PutUint64(room[n:], x)
			slash := x ^ ones*'\\'
			m := (slash - ones) &^ slash & highs
			k := bits.TrailingZeros64(m) >> 3 // 8 without a backslash
			i, n = i+k, n+k
			if m == 0 {
				continue
			}
		} else if rest[i] != '\\' {
			room[n] = rest[i]
			i, n = i+1, n+1
			continue
		}
		if i+1 >= len(rest) {
			return append(room[:n], rest[i:]...)
		}
		if c := rest[i+1]; c != 'u' {
			room[n] = unescaped[c]
			i, n = i+2, n+1
			continue
		}
		unit, ok := hex4(rest, i+2)
		if !ok {
			return append(room[:n], rest[i:]...)
		}
		length := 6
		if unit >= 0xd800 && unit < 0xdc00 && lowSurrogate(rest, i+6) {
			low, _ := hex4(rest, i+8)
			unit, length = 0x10000+(unit-0xd800)<<10+(low-0xdc00), 12
		}
		n = len(appendCodePoint(room[:n], unit))
		i += length
	}
	return room[:n]
}

func appendCodePoint(dst []byte, r rune) []byte {
	if r >= 0xd800 && r < 0xe000 {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, r)
}

// unescaped is what each letter behind a backslash stands for, itself if nothing else.
var unescaped = func() (table [256]byte) {
	for c := range table {
		table[c] = byte(c)
	}
	for letter, c := range map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'} {
		table[letter] = c
	}
	return table
}()
