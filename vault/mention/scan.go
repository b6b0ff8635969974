package mention

import (
	"errors"
	"io"
)

// Bounds of a token, in hex digits after "a_".
const (
	MinHex = 8
	MaxHex = 64
)

// Scanner finds tokens in what is written to it. The zero value is not usable.
type Scanner struct {
	emit  func(hex string)
	state state
	hex   [MaxHex]byte
	n     int
}

type state byte

const (
	outside state = iota
	sawA          // the byte before was an a
	inside        // after "a_", collecting digits
)

// NewScanner makes a scanner that calls emit for every token, with its lower-case hex
// digits only, at most MaxHex of them.
func NewScanner(emit func(hex string)) *Scanner { return &Scanner{emit: emit} }

// Write scans the next part of the stream. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	for _, c := range p {
		s.step(c)
	}
	return len(p), nil
}

func (s *Scanner) step(c byte) {
	digit, ok := hexDigit(c)
	switch s.state {
	case inside:
		if ok {
			if s.n < MaxHex {
				s.hex[s.n] = digit
			}
			s.n++
			return
		}
		again := c == '_' && s.n > 0 && s.n <= MaxHex && s.hex[s.n-1] == 'a'
		s.End()
		if again {
			s.state = inside
			return
		}
	case sawA:
		if c == '_' {
			s.state, s.n = inside, 0
			return
		}
	}
	s.state = outside
	if digit == 'a' {
		s.state = sawA
	}
}

// End closes the stream: what follows stands apart from what came before.
func (s *Scanner) End() {
	if s.state == inside && s.n >= MinHex {
		s.emit(string(s.hex[:min(s.n, MaxHex)]))
	}
	s.state, s.n = outside, 0
}

func hexDigit(c byte) (digit byte, ok bool) {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'f':
		return c, true
	case 'A' <= c && c <= 'F':
		return c + 'a' - 'A', true
	}
	return 0, false
}

// Scan reads r to its end and emits every token. bytes is how much was read.
func Scan(r io.Reader, emit func(hex string)) (bytes int64, err error) {
	s := NewScanner(emit)
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		bytes += int64(n)
		_, _ = s.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			s.End()
			return bytes, nil
		}
		if err != nil {
			return bytes, err
		}
	}
}
