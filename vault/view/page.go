package view

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Errors of numbers that do not fit.
var (
	ErrRange = errors.New("offset, limit or line is out of range")
	ErrQuery = errors.New("query is empty or too long")
)

// Bounds of views, in code points unless said otherwise.
const (
	DefaultPage   = 8_000
	MaxPage       = 20_000
	MaxQuery      = 1_000
	MaxMatches    = 100
	MaxMatchText  = 1_000
	MaxFindText   = 20_000 // all matches of one find together
	MaxDiffEdits  = 1_000  // lines that may differ before the middle counts as replaced
	MinPeek       = 200
	maxStructure  = 250_000 // texts above it are not parsed for their structure
	maxSignals    = 8
	maxKeys       = 50
	signalsWithin = 8 << 20 // bytes that are searched for signals
)

// Page is an exact part of a text.
type Page struct {
	Content    string `json:"content"`
	Offset     int    `json:"offset"`
	NextOffset *int   `json:"next_offset"` // null at the end
	TotalChars int    `json:"total_chars"`
}

// PageOf cuts limit code points from offset on. limit 0 means DefaultPage, more than
// MaxPage means MaxPage. An offset past the end gives an empty page.
func PageOf(text string, offset, limit int) (Page, error) {
	if offset < 0 || limit < 0 {
		return Page{}, fmt.Errorf("%w: offset %d, limit %d", ErrRange, offset, limit)
	}
	if limit == 0 {
		limit = DefaultPage
	}
	limit = min(limit, MaxPage)
	p := Page{Offset: offset, TotalChars: utf8.RuneCountInString(text)}
	if offset >= p.TotalChars {
		return p, nil
	}
	rest := text[byteOffset(text, offset):]
	p.Content = rest[:byteOffset(rest, limit)]
	if next := offset + limit; next < p.TotalChars {
		p.NextOffset = &next
	}
	return p, nil
}

// byteOffset is where code point n begins, or the length of text.
func byteOffset(text string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// Lines is an exact range of whole lines, line ends included.
type Lines struct {
	Content    string `json:"content"`
	From       int    `json:"from"` // from 1
	To         int    `json:"to"`   // the last line given; From-1 when none
	NextLine   *int   `json:"next_line"`
	TotalLines int    `json:"total_lines"`
	Offset     int    `json:"offset"` // code point where line From begins, for a page
	Clipped    bool   `json:"clipped,omitempty"`
}

// LinesOf gives lines from to to, both included, as many as fit into MaxPage code
// points. A first line that is longer by itself is cut there and Clipped is true; the
// rest is a page from Offset on. A range past the end is empty.
func LinesOf(text string, from, to int) (Lines, error) {
	if from < 1 || to < from {
		return Lines{}, fmt.Errorf("%w: lines %d to %d", ErrRange, from, to)
	}
	out := Lines{From: from, To: from - 1, TotalLines: CountLines(text)}
	at := 0
	for range min(from-1, out.TotalLines) {
		at += lineLen(text[at:])
	}
	out.Offset = utf8.RuneCountInString(text[:at])
	start, room := at, MaxPage
	for line := from; line <= min(to, out.TotalLines); line++ {
		n := lineLen(text[at:])
		runes := utf8.RuneCountInString(text[at : at+n])
		if runes > room {
			if line == from {
				at += byteOffset(text[at:], room)
				out.To, out.Clipped = line, true
			}
			break
		}
		at, room, out.To = at+n, room-runes, line
	}
	out.Content = text[start:at]
	if next := out.To + 1; next <= out.TotalLines {
		out.NextLine = &next
	}
	return out, nil
}

// CountLines counts lines; a last line needs no line end.
func CountLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// lineLen is the length of the first line with its end.
func lineLen(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// ClipRunes cuts s to n code points.
func ClipRunes(s string, n int) string { return s[:byteOffset(s, n)] }

// runeStart moves i back to the beginning of a code point.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
