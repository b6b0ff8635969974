package strictjson

import "bytes"

// MaxDepth is the greatest depth bound: open containers are kept in 64 bits.
const MaxDepth = 64

// Scanner walks one JSON text from front to back.
type Scanner struct {
	Data []byte
	Pos  int // the next byte to read

	// Lone and Duplicate are the offsets of the first lone surrogate escape and
	// of the first repeated key met since the caller last set them to -1.
	Lone      int
	Duplicate int

	bound int
	depth int
	keys  []Str
}

// New starts a scan of data. bound is the greatest nesting allowed, 1 for a flat
// object or list; it is at most MaxDepth. data must not change during the scan.
func New(data []byte, bound int) *Scanner {
	return &Scanner{Data: data, Lone: -1, Duplicate: -1, bound: min(bound, MaxDepth)}
}

// Reset starts a scan of other data and keeps the scanner's memory.
func (s *Scanner) Reset(data []byte) {
	s.Data, s.Pos, s.Lone, s.Duplicate, s.depth, s.keys = data, 0, -1, -1, 0, s.keys[:0]
}

// Space skips white space.
func (s *Scanner) Space() {
	if s.Pos < len(s.Data) && s.Data[s.Pos] > ' ' {
		return // what nearly every request has
	}
	s.space()
}

func (s *Scanner) space() {
	for s.Pos < len(s.Data) {
		switch s.Data[s.Pos] {
		case ' ', '\n', '\r', '\t':
			s.Pos++
		default:
			return
		}
	}
}

// Peek skips white space and returns the next byte without reading it, 0 at the end.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Data) && s.Data[s.Pos] > ' ' {
		return s.Data[s.Pos]
	}
	s.space()
	if s.Pos < len(s.Data) {
		return s.Data[s.Pos]
	}
	return 0
}

// End checks that nothing but white space is left.
func (s *Scanner) End() error {
	if s.Space(); s.Pos < len(s.Data) {
		return s.fault(Trailing, s.Pos, "%d bytes follow after the end of the value", len(s.Data)-s.Pos)
	}
	return nil
}

// expect reads one byte after white space.
func (s *Scanner) expect(c byte, wanted string) error {
	if s.Peek() != c || s.Pos >= len(s.Data) {
		return s.unexpected(wanted)
	}
	s.Pos++
	return nil
}

// enter counts the container whose first byte stands at offset.
func (s *Scanner) enter(offset int) error {
	if s.depth++; s.depth > s.bound {
		return s.fault(Deep, offset, "nested deeper than %d levels", s.bound)
	}
	return nil
}

// Object reads an object. For each member it calls member with the key, placed
// at the value's first byte; member must read exactly that value. A repeated key
// is noted in Duplicate before member is called.
func (s *Scanner) Object(member func(key Str) error) error {
	if err := s.expect('{', "an object"); err != nil {
		return err
	}
	if err := s.enter(s.Pos - 1); err != nil {
		return err
	}
	seen := keySet{base: len(s.keys)}
	if s.Peek() != '}' {
		for more := true; more; {
			key, err := s.key()
			if err != nil {
				return err
			}
			if seen.add(s, key) && s.Duplicate < 0 {
				s.Duplicate = key.Start
			}
			s.Space()
			if err := member(key); err != nil {
				return err
			}
			if more, err = s.more('}'); err != nil {
				return err
			}
		}
	} else {
		s.Pos++
	}
	s.keys = s.keys[:seen.base]
	s.depth--
	return nil
}

// Array reads a list and calls element with each index, placed at the element's
// first byte; element must read exactly that value.
func (s *Scanner) Array(element func(i int) error) error {
	if err := s.expect('[', "a list"); err != nil {
		return err
	}
	if err := s.enter(s.Pos - 1); err != nil {
		return err
	}
	if s.Peek() == ']' {
		s.Pos++
		s.depth--
		return nil
	}
	for i, more := 0, true; more; i++ {
		s.Space()
		if err := element(i); err != nil {
			return err
		}
		var err error
		if more, err = s.more(']'); err != nil {
			return err
		}
	}
	s.depth--
	return nil
}

// more reads the comma or the end of a container and says whether it goes on.
func (s *Scanner) more(closing byte) (bool, error) {
	switch s.Peek() {
	case ',':
		s.Pos++
		return true, nil
	case closing:
		s.Pos++
		return false, nil
	}
	if closing == '}' {
		return false, s.unexpected("a comma or the end of the object")
	}
	return false, s.unexpected("a comma or the end of the list")
}

func (s *Scanner) key() (Str, error) {
	if s.Peek() != '"' {
		return Str{}, s.unexpected("a key in double quotes")
	}
	key, err := s.String()
	if err != nil {
		return Str{}, err
	}
	if s.at(':') {
		s.Pos++
		return key, nil
	}
	return key, s.expect(':', "a colon after the key")
}

// Strict reads any value and notes repeated keys at every level.
func (s *Scanner) Strict() error {
	switch s.Peek() {
	case '{':
		return s.Object(func(Str) error { return s.Strict() })
	case '[':
		return s.Array(func(int) error { return s.Strict() })
	}
	return s.Skip()
}

// Skip reads any value as fast as possible; repeated keys are not looked for.
func (s *Scanner) Skip() error {
	var objects uint64 // bit n: the container at depth n is an object
	for open := s.depth; ; {
		s.Space()
		opened, err := s.step(&objects)
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		for { // a value ended
			if s.depth == open {
				return nil
			}
			goes, err := s.next(objects>>(s.depth-1)&1 == 1)
			if err != nil {
				return err
			}
			if goes {
				break
			}
			s.depth--
		}
	}
}

// step reads a scalar, an empty container, or the start of a container up to its
// first value; it says whether a container was opened.
func (s *Scanner) step(objects *uint64) (bool, error) {
	if s.Pos >= len(s.Data) {
		return false, s.unexpected("a value")
	}
	c := s.Data[s.Pos]
	if c == '"' {
		_, err := s.String()
		return false, err
	}
	if c != '{' && c != '[' {
		return false, s.scalar(c)
	}
	if err := s.enter(s.Pos); err != nil {
		return false, err
	}
	s.Pos++
	if s.Peek() == c+2 { // '{'+2 is '}', '['+2 is ']'
		s.Pos++
		s.depth--
		return false, nil
	}
	bit := uint64(1) << (s.depth - 1)
	if c == '[' {
		*objects &^= bit
		return true, nil
	}
	*objects |= bit
	_, err := s.key()
	return true, err
}

// next reads what follows a value inside a container and says whether another
// value follows.
func (s *Scanner) next(object bool) (bool, error) {
	if !object {
		return s.more(']')
	}
	goes, err := s.more('}')
	if err != nil || !goes {
		return false, err
	}
	_, err = s.key()
	return true, err
}

func (s *Scanner) scalar(c byte) error {
	switch c {
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	if c == '-' || c >= '0' && c <= '9' {
		return s.number()
	}
	return s.unexpected("a value")
}

func (s *Scanner) word(w string) error {
	if rest := s.Data[s.Pos:]; len(rest) < len(w) && bytes.HasPrefix([]byte(w), rest) {
		return s.fault(Ended, len(s.Data), "the text ends inside %q", w)
	} else if !bytes.HasPrefix(rest, []byte(w)) {
		return s.unexpected("a value")
	}
	s.Pos += len(w)
	return nil
}

func (s *Scanner) number() error {
	if s.Data[s.Pos] == '-' {
		s.Pos++
	}
	if s.at('0') {
		s.Pos++
	} else if !s.digits() {
		return s.unexpected("a digit")
	}
	if s.at('.') {
		if s.Pos++; !s.digits() {
			return s.unexpected("a digit after the point")
		}
	}
	if s.at('e') || s.at('E') {
		s.Pos++
		if s.at('+') || s.at('-') {
			s.Pos++
		}
		if !s.digits() {
			return s.unexpected("a digit of the exponent")
		}
	}
	return nil
}

func (s *Scanner) at(c byte) bool { return s.Pos < len(s.Data) && s.Data[s.Pos] == c }

func (s *Scanner) digits() bool {
	start := s.Pos
	for s.Pos < len(s.Data) && s.Data[s.Pos] >= '0' && s.Data[s.Pos] <= '9' {
		s.Pos++
	}
	return s.Pos > start
}

// Valid checks one whole text: one value within the depth bound, nothing after it.
func Valid(data []byte, bound int) error {
	s := New(data, bound)
	if err := s.Skip(); err != nil {
		return err
	}
	return s.End()
}
