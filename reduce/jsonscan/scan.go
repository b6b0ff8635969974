package jsonscan

import (
	"errors"
	"fmt"
)

// MaxBytes is the longest text Scan takes: offsets are 32 bits.
const MaxBytes = 1 << 30

// Sentinels of Scan. The error returned also names the byte offset.
var (
	ErrSyntax = errors.New("scan json: not valid JSON")
	ErrDepth  = errors.New("scan json: nested deeper than the bound")
	ErrSize   = errors.New("scan json: text too long")
)

// Kind is the kind of a value.
type Kind uint8

// Kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Node is one value. Children follow their parent in pre-order, so the first
// child of a container at index i is i+1 and its sibling is that child's Next.
type Node struct {
	KeyStart, KeyEnd int32 // the key's literal, quotes included; 0,0 outside objects
	Start, End       int32 // the value's own bytes
	Next             int32 // index of the first node after this value
	Count            int32 // members or elements
	Kind             Kind
}

// HasKey says whether the node is a member of an object.
func (n Node) HasKey() bool { return n.KeyEnd > n.KeyStart }

type frame struct{ node int32 }

// Scan appends the nodes of the one value that starts at the first byte at or
// after from that is no white space, and returns them with the offset just after
// the value. Trailing bytes are not looked at. depth bounds nesting (1 = scalars
// and flat containers).
func Scan(dst []Node, text string, from, depth int) ([]Node, int, error) {
	if len(text) > MaxBytes {
		return dst, from, ErrSize
	}
	s := scanner{text: text, nodes: dst, pos: from, depth: depth}
	err := s.value()
	return s.nodes, s.pos, err
}

type scanner struct {
	text  string
	nodes []Node
	stack []frame
	pos   int
	depth int
}

func (s *scanner) fail(at int) error { return fmt.Errorf("%w: at byte %d", ErrSyntax, at) }

// value scans one value with an explicit stack.
func (s *scanner) value() error {
	var key [2]int32
	for {
		s.pos = SkipSpace(s.text, s.pos)
		opened, err := s.open(key)
		if err != nil {
			return err
		}
		key = [2]int32{}
		if opened {
			if key, err = s.first(); err != nil {
				return err
			}
			if s.nodes[s.stack[len(s.stack)-1].node].Count == 0 {
				s.close()
			} else {
				continue
			}
		}
		more := false
		for !more && len(s.stack) > 0 {
			if key, more, err = s.after(); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// open reads a scalar whole or the opening bracket of a container.
func (s *scanner) open(key [2]int32) (bool, error) {
	at := s.pos
	if at >= len(s.text) {
		return false, s.fail(at)
	}
	node := Node{KeyStart: key[0], KeyEnd: key[1], Start: int32(at)}
	end := -1
	switch c := s.text[at]; c {
	case '{', '[':
		if len(s.stack) >= s.depth {
			return false, fmt.Errorf("%w: at byte %d", ErrDepth, at)
		}
		node.Kind = Array
		if c == '{' {
			node.Kind = Object
		}
		s.stack = append(s.stack, frame{node: int32(len(s.nodes))})
		s.nodes = append(s.nodes, node)
		s.pos++
		return true, nil
	case '"':
		node.Kind, end = String, stringEnd(s.text, at)
	case 't':
		node.Kind, end = Bool, word(s.text, at, "true")
	case 'f':
		node.Kind, end = Bool, word(s.text, at, "false")
	case 'n':
		node.Kind, end = Null, word(s.text, at, "null")
	default:
		node.Kind, end = Number, numberEnd(s.text, at)
	}
	if end < 0 {
		return false, s.fail(at)
	}
	node.End, node.Next = int32(end), int32(len(s.nodes)+1)
	s.nodes = append(s.nodes, node)
	s.pos = end
	return false, nil
}

// first looks behind an opening bracket: an empty container keeps Count 0, else
// Count becomes 1 and the first key of an object is read.
func (s *scanner) first() ([2]int32, error) {
	top := &s.nodes[s.stack[len(s.stack)-1].node]
	s.pos = SkipSpace(s.text, s.pos)
	if s.pos < len(s.text) && s.text[s.pos] == closer(top.Kind) {
		s.pos++
		return [2]int32{}, nil
	}
	top.Count = 1
	if top.Kind == Object {
		return s.key()
	}
	return [2]int32{}, nil
}

// after looks behind a finished value: a comma (more) or the closing bracket.
func (s *scanner) after() (key [2]int32, more bool, err error) {
	top := &s.nodes[s.stack[len(s.stack)-1].node]
	s.pos = SkipSpace(s.text, s.pos)
	if s.pos >= len(s.text) {
		return key, false, s.fail(s.pos)
	}
	switch s.text[s.pos] {
	case ',':
		s.pos++
		top.Count++
		if top.Kind == Object {
			s.pos = SkipSpace(s.text, s.pos)
			key, err = s.key()
		}
		return key, true, err
	case closer(top.Kind):
		s.pos++
		s.close()
		return key, false, nil
	}
	return key, false, s.fail(s.pos)
}

func (s *scanner) close() {
	top := &s.nodes[s.stack[len(s.stack)-1].node]
	top.End, top.Next = int32(s.pos), int32(len(s.nodes))
	s.stack = s.stack[:len(s.stack)-1]
}

func (s *scanner) key() ([2]int32, error) {
	if s.pos >= len(s.text) || s.text[s.pos] != '"' {
		return [2]int32{}, s.fail(s.pos)
	}
	end := stringEnd(s.text, s.pos)
	if end < 0 {
		return [2]int32{}, s.fail(s.pos)
	}
	key := [2]int32{int32(s.pos), int32(end)}
	s.pos = SkipSpace(s.text, end)
	if s.pos >= len(s.text) || s.text[s.pos] != ':' {
		return key, s.fail(s.pos)
	}
	s.pos++
	return key, nil
}

func closer(k Kind) byte {
	if k == Object {
		return '}'
	}
	return ']'
}

// SkipSpace returns the offset of the first byte at or after i that is no JSON
// white space, len(text) when there is none.
func SkipSpace(text string, i int) int {
	for i < len(text) {
		switch text[i] {
		case ' ', '\n', '\r', '\t':
			i++
		default:
			return i
		}
	}
	return i
}

func word(text string, at int, want string) int {
	if len(text)-at < len(want) || text[at:at+len(want)] != want {
		return -1
	}
	return at + len(want)
}

// stops marks the bytes a string literal cannot hold as they are.
var stops = func() (t [256]bool) {
	for c := range ' ' {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// stringEnd returns the offset after the closing quote of the literal at `at`,
// or -1. Control bytes and unknown escapes are errors; UTF-8 is not checked.
func stringEnd(text string, at int) int {
	for i := at + 1; i < len(text); i++ {
		for i < len(text) && !stops[text[i]] {
			i++
		}
		if i == len(text) {
			return -1
		}
		c := text[i]
		if c == '"' {
			return i + 1
		}
		if c < 0x20 {
			return -1
		}
		i++
		if i >= len(text) {
			return -1
		}
		switch text[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			if _, ok := hex4(text, i+1); !ok {
				return -1
			}
			i += 4
		default:
			return -1
		}
	}
	return -1
}

func digits(text string, i int) int {
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return i
}

// numberEnd returns the offset after the number at `at`, or -1.
func numberEnd(text string, at int) int {
	i := at
	if i < len(text) && text[i] == '-' {
		i++
	}
	first := i
	i = digits(text, i)
	if i == first || text[first] == '0' && i > first+1 {
		return -1
	}
	if i < len(text) && text[i] == '.' {
		from := i + 1
		if i = digits(text, from); i == from {
			return -1
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		from := i
		if i = digits(text, from); i == from {
			return -1
		}
	}
	return i
}

func hex4(text string, at int) (rune, bool) {
	if at+4 > len(text) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(text[at : at+4]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
