package reduce

import (
	"encoding/json"
	"io"
	"sort"
	"strconv"
	"strings"
)

// argumentText is one string of a call's arguments.
type argumentText struct {
	pointer string // RFC 6901
	text    string
}

// argumentTexts decodes every string of args, keys too, in order. Arguments that
// are no JSON, or JSON without a string, are one text.
func argumentTexts(args string) []argumentText {
	whole := []argumentText{{"", args}}
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	var walk jsonWalk
	var out []argumentText
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return whole
		}
		text, isString := token.(string)
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			walk = walk[:len(walk)-1]
			continue
		}
		walk.next(text)
		if isString {
			out = append(out, argumentText{walk.pointer(), text})
		}
		if delim, ok := token.(json.Delim); ok {
			walk = append(walk, jsonLevel{object: delim == '{', index: -1})
		}
	}
	if len(out) == 0 || len(walk) > 0 {
		return whole
	}
	return out
}

// jsonWalk is where a decoder stands: one level for each open array or object.
type jsonWalk []jsonLevel

type jsonLevel struct {
	object bool
	index  int    // of the element, in an array
	key    string // of the member, in an object
	valued bool   // the key's value was read: a key comes next
}

// next moves to the token that was read; text is that of a string. In an object
// keys and values take turns.
func (w jsonWalk) next(text string) {
	if len(w) == 0 {
		return
	}
	level := &w[len(w)-1]
	switch {
	case !level.object:
		level.index++
	case level.index < 0 || level.valued:
		level.index, level.key, level.valued = 0, text, false
	default:
		level.valued = true
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func (w jsonWalk) pointer() string {
	var b strings.Builder
	for _, level := range w {
		b.WriteByte('/')
		if level.object {
			b.WriteString(pointerEscapes.Replace(level.key))
		} else {
			b.WriteString(strconv.Itoa(level.index))
		}
	}
	return b.String()
}

// squeezed is what of texts can be part of an id or a tag: letters in lower case,
// digits and underscores. What wraps, quotes, escapes or breaks a marker is gone.
type squeezed struct {
	bytes  []byte
	texts  []argumentText
	starts []int   // of each text among bytes
	at     []int32 // where each byte stood in its text
}

// place is the string and the place in it that byte i comes from.
func (s squeezed) place(i int) (pointer string, at int) {
	n := sort.Search(len(s.starts), func(n int) bool { return s.starts[n] > i }) - 1
	return s.texts[n].pointer, int(s.at[i])
}

// squeeze puts all texts behind each other. With numbered, a number that starts a
// line and is set off from the rest is taken for the line's.
func squeeze(texts []argumentText, numbered bool) squeezed {
	size := 0
	for _, t := range texts {
		size += len(t.text)
	}
	s := squeezed{texts: texts, bytes: make([]byte, 0, size), at: make([]int32, 0, size), starts: make([]int, 0, len(texts))}
	for _, t := range texts {
		s.starts = append(s.starts, len(s.bytes))
		s.add(t.text, numbered)
	}
	return s
}

// squeezeByte is what a byte becomes: itself or its lower case, 0 when it goes, 1
// for a line break and 2 for a backslash.
var squeezeByte = func() (table [256]byte) {
	for c := range table {
		switch b := byte(c); {
		case b >= 'A' && b <= 'Z':
			table[c] = b + 'a' - 'A'
		case isWordByte(b):
			table[c] = b
		}
	}
	table['\n'], table['\r'], table['\\'] = 1, 1, 2
	return table
}()

func (s *squeezed) add(text string, numbered bool) {
	i := 0
	if numbered {
		i = lineNumber(text, 0)
	}
	// There is room for every byte of every text, so the slices are written by index.
	n := len(s.bytes)
	bytes, places := s.bytes[:n+len(text)], s.at[:n+len(text)]
	for i < len(text) {
		at := i
		c := squeezeByte[text[i]]
		i++
		if c > 2 {
			bytes[n], places[n] = c, int32(at)
			n++
			continue
		}
		if c == 2 {
			c, i = escaped(text, i)
			c = squeezeByte[c]
		}
		switch {
		case c == 1 && numbered:
			i = lineNumber(text, i)
		case c > 2:
			bytes[n], places[n] = c, int32(at)
			n++
		}
	}
	s.bytes, s.at = bytes[:n], places[:n]
}

// escaped reads what follows a backslash, however often it was escaped: the
// character that is meant, 0 for one that is dropped, and where the text goes on.
func escaped(text string, i int) (c byte, next int) {
	for i < len(text) && text[i] == '\\' {
		i++
	}
	if i == len(text) {
		return 0, i
	}
	switch text[i] {
	case 'n', 'r':
		return '\n', i + 1
	case 't':
		return 0, i + 1
	case 'u':
		if i+5 <= len(text) {
			if v, err := strconv.ParseUint(text[i+1:i+5], 16, 16); err == nil {
				if v < 0x80 {
					return byte(v), i + 5
				}
				return 0, i + 5
			}
		}
	}
	return 0, i
}

const maxLineDigits = 7

// lineNumber is the end of a line's number at i, with what sets it off; i itself
// when no number stands there.
func lineNumber(text string, i int) int {
	k := i
	for k < len(text) && (text[k] == ' ' || text[k] == '\t' || text[k] == 'L') {
		k++
	}
	digits := k
	for k < len(text) && k-digits < maxLineDigits && text[k] >= '0' && text[k] <= '9' {
		k++
	}
	if k == digits || k == len(text) || isWordByte(text[k]) {
		return i
	}
	return k
}
