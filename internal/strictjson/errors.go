package strictjson

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Fault says what kind of rule a text breaks.
type Fault string

// The kinds of fault.
const (
	Syntax   Fault = "syntax"   // not JSON at this offset
	Ended    Fault = "ended"    // the text stops inside a value
	Trailing Fault = "trailing" // data after the value
	UTF8     Fault = "utf8"     // bytes that are no UTF-8
	Deep     Fault = "deep"     // nested deeper than the bound
)

// Error is a fault with its place.
type Error struct {
	Fault  Fault
	Offset int    // bytes from the start of the text
	Detail string // what was met and what was wanted
}

func (e *Error) Error() string {
	return fmt.Sprintf("scan json: byte %d: %s", e.Offset, e.Detail)
}

// Position turns a byte offset into a line and a column, both from 1. Lines end
// at \n; the column counts code points. An offset past the end means the end.
func Position(data []byte, offset int) (line, column int) {
	offset = min(max(offset, 0), len(data))
	before := data[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

func (s *Scanner) fault(f Fault, offset int, format string, args ...any) error {
	return &Error{Fault: f, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}

// unexpected reports the byte at the scanner's place.
func (s *Scanner) unexpected(wanted string) error {
	if s.Pos >= len(s.Data) {
		return s.fault(Ended, len(s.Data), "the text ends where %s should stand", wanted)
	}
	c := s.Data[s.Pos]
	if c < 0x20 || c >= 0x7f {
		return s.fault(Syntax, s.Pos, "byte 0x%02x where %s should stand", c, wanted)
	}
	return s.fault(Syntax, s.Pos, "%q where %s should stand", rune(c), wanted)
}
