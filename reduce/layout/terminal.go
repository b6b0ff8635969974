package layout

import (
	"strings"
	"unicode/utf8"
)

// screen is an endless terminal: what was printed stays, line under line.
type screen struct {
	lines  [][]rune
	row    int
	column int
	blank  int  // cells filled with spaces because the cursor moved past the end
	widest int  // longest line that stood here
	wide   bool // a rune that may take two columns or none was printed on this screen
	jumped bool // something was overwritten, so columns had to be right
}

const (
	escape   = 0x1b
	maxMove  = 4096
	maxLine  = 240     // columns; a longer line may wrap, and then the cursor is elsewhere
	maxBlank = 1 << 20 // cells that cursor movements may fill with spaces
)

// terminal returns what a terminal would end up showing for text. ok is false when
// text needs more than this screen: full-screen programs, unknown sequences, or
// overwritten text whose columns cannot be told. still refuses every text in which
// the cursor moves back.
func terminal(text string, still bool) (string, bool) {
	if !strings.ContainsAny(text, "\x1b\b\r") {
		return text, true
	}
	climbs := climbs(text)
	out := make([]byte, 0, len(text))
	for from := 0; from < len(text); {
		end := len(text)
		if line := strings.IndexByte(text[from:], '\n'); line >= 0 && !climbs {
			end = from + line + 1
		}
		block := text[from:end]
		from = end
		plain, moves, ok := strip(block)
		if !ok || moves && still {
			return "", false
		}
		if moves {
			if plain, ok = play(block); !ok {
				return "", false
			}
		}
		if out = append(out, plain...); len(out) > len(text) {
			return "", false // cursor movements made of spaces
		}
	}
	return string(out), true
}

// climbs says whether some sequence moves the cursor up, so that lines cannot be
// read one by one.
func climbs(text string) bool {
	for {
		at := strings.Index(text, "\x1b[")
		if at < 0 {
			return false
		}
		c, _, known := csi(text[at:])
		if known && (c.final == 'A' || c.final == 'F' || c.final == 'J') {
			return true
		}
		text = text[at+2:]
	}
}

// strip drops sequences that only colour or hide the cursor from one line. moves
// says that the line holds others.
func strip(line string) (plain string, moves, ok bool) {
	if !strings.ContainsAny(line, "\x1b\b\r") {
		return line, false, true
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == '\b':
			return "", true, true
		case c == '\r':
			if rest := line[i:]; rest != "\r\n" {
				return "", true, true
			}
			out = append(out, c)
			i++
		case c == escape:
			seq, n, known := sequence(line[i:])
			if !known {
				return "", false, false
			}
			if seq.final != 0 {
				return "", true, true
			}
			i += n
		default:
			out = append(out, c)
			i++
		}
	}
	return string(out), false, true
}

// control is a parsed control sequence; final is 0 for one without effect on text.
type control struct {
	final  byte
	number int // first parameter, -1 when absent
}

// sequence reads the control sequence at the start of s.
func sequence(s string) (c control, length int, known bool) {
	if len(s) < 2 {
		return c, 0, false
	}
	switch s[1] {
	case '[':
		return csi(s)
	case ']': // a title or a link target: up to BEL or ESC backslash
		for i := 2; i < len(s); i++ {
			if s[i] == 7 {
				return c, i + 1, true
			}
			if s[i] == escape && i+1 < len(s) && s[i+1] == '\\' {
				return c, i + 2, true
			}
		}
		return c, 0, false
	case '(', ')': // character set: only the plain ones
		if len(s) > 2 && s[2] == 'B' {
			return c, 3, true
		}
	case '=', '>', '7':
		return c, 2, s[1] != '7'
	}
	return c, 0, false
}

func csi(s string) (c control, length int, known bool) {
	i := 2
	private := i < len(s) && (s[i] == '?' || s[i] == '>')
	if private {
		i++
	}
	c.number = -1
	for parameter := 0; i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == ';' || s[i] == ':'); i++ {
		if s[i] == ';' || s[i] == ':' {
			parameter++
		} else if parameter == 0 {
			c.number = min(max(c.number, 0)*10+int(s[i]-'0'), maxMove+1)
		}
	}
	if i == len(s) {
		return c, 0, false
	}
	switch f := s[i]; {
	case f == 'm' && !private, private && (f == 'h' || f == 'l') && c.number != 1049 && c.number != 47 && c.number != 1047:
		return control{}, i + 1, true
	case !private && strings.IndexByte("KGCDABEFJ", f) >= 0 && c.number <= maxMove:
		c.final = f
		return c, i + 1, true
	}
	return c, 0, false
}

// play prints one block on a screen and reads the screen off.
func play(block string) (string, bool) {
	s := &screen{lines: [][]rune{nil}}
	for i := 0; i < len(block); {
		if block[i] == escape {
			c, n, known := sequence(block[i:])
			if !known || !s.control(c) {
				return "", false
			}
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(block[i:])
		i += n
		if !s.print(r) {
			return "", false
		}
	}
	if s.wide && s.jumped || s.widest > maxLine {
		return "", false
	}
	var out strings.Builder
	for i, line := range s.lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(string(line))
	}
	return out.String(), true
}

func (s *screen) print(r rune) bool {
	switch {
	case r == '\n':
		s.row++
		s.column = 0
		if s.row == len(s.lines) {
			s.lines = append(s.lines, nil)
		}
		return true
	case r == '\r':
		s.column = 0
		return true
	case r == '\b':
		s.column = max(0, s.column-1)
		return true
	case r == '\t':
		s.wide = true
	case r < ' ' || r == 0x7f:
		return false
	case !narrow(r):
		s.wide = true
	}
	line := s.lines[s.row]
	if s.blank += max(0, s.column-len(line)); s.blank > maxBlank {
		return false
	}
	for len(line) < s.column {
		line = append(line, ' ')
	}
	if s.column < len(line) {
		s.jumped = true
		line[s.column] = r
	} else {
		line = append(line, r)
	}
	s.lines[s.row] = line
	s.column++
	s.widest = max(s.widest, s.column)
	return true
}

// narrow says whether every terminal gives r one column: Latin, Greek, Cyrillic,
// punctuation, arrows, boxes, bars, Braille spinners and check marks.
func narrow(r rune) bool {
	switch {
	case r < 0x300, r >= 0x370 && r < 0x530, r >= 0x2010 && r < 0x2028, r >= 0x2190 && r < 0x231a:
		return true
	case r >= 0x2500 && r < 0x25fd, r >= 0x2800 && r < 0x2900, r >= 0x2713 && r <= 0x2718:
		return true
	}
	return false
}

// control carries out one sequence.
func (s *screen) control(c control) bool {
	n := max(c.number, 1)
	line := s.lines[s.row]
	switch c.final {
	case 0:
	case 'K':
		return s.erase(c.number)
	case 'G':
		s.column = n - 1
	case 'C':
		s.column += n
	case 'D':
		s.column = max(0, s.column-n)
	case 'A', 'F':
		if n > s.row {
			return false
		}
		s.row -= n
		s.jumped = true
		if c.final == 'F' {
			s.column = 0
		}
	case 'B', 'E':
		if s.row+n >= len(s.lines) {
			return false
		}
		s.row += n
		if c.final == 'E' {
			s.column = 0
		}
	case 'J':
		if c.number > 0 {
			return false
		}
		s.jumped = s.jumped || s.column > 0
		s.lines[s.row] = line[:min(s.column, len(line))]
		s.lines = s.lines[:s.row+1]
	}
	return true
}

// erase clears the line after, before or on both sides of the cursor.
func (s *screen) erase(what int) bool {
	line := s.lines[s.row]
	switch what {
	case -1, 0:
		if s.column < len(line) {
			s.jumped = s.jumped || s.column > 0
			s.lines[s.row] = line[:s.column]
		}
	case 1:
		for i := 0; i <= s.column && i < len(line); i++ {
			line[i] = ' '
		}
		s.jumped = true
	case 2:
		s.lines[s.row] = line[:0]
	default:
		return false
	}
	return true
}
