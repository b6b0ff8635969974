package delta

import (
	"bytes"
	"encoding/json"
	"strings"
)

// unit is what a text is cut into.
type unit uint8

const (
	byLine unit = iota
	byItem      // elements of a JSON array that stands on one line
	byKey       // members of a JSON object that stands on one line
)

var unitNames = [...]string{byLine: "line", byItem: "item", byKey: "key"}

// pieces is a text cut into lines, items or members.
type pieces struct {
	unit  unit
	sep   string // between two pieces; for lines a line feed that the last one may lack
	lines []line
}

const minMemberBytes = 256 // shorter texts of one line stay lines

// cut takes a text apart: JSON arrays and objects on one line into their members,
// when these are at least three and equally separated, every other text into lines.
func cut(text string) pieces {
	if p, ok := cutMembers(text); ok {
		return p
	}
	return pieces{unit: byLine, sep: "\n", lines: splitLines(text)}
}

func cutMembers(text string) (pieces, bool) {
	if len(text) < minMemberBytes {
		return pieces{}, false
	}
	p, ok := memberSpans(text)
	if !ok || len(p.lines) < 3 {
		return p, false
	}
	for i := 1; i < len(p.lines); i++ {
		sep := text[p.lines[i-1].end:p.lines[i].start]
		if i > 1 && sep != p.sep {
			return p, false
		}
		p.sep = sep
	}
	return p, true
}

// memberSpans finds the members of a JSON array or object that stands on one line.
func memberSpans(text string) (pieces, bool) {
	body := strings.TrimRight(text, " \r\n\t")
	if len(body) < 2 || strings.IndexByte(body, '\n') >= 0 {
		return pieces{}, false
	}
	p := pieces{unit: byItem}
	switch {
	case body[0] == '{' && body[len(body)-1] == '}':
		p.unit = byKey
	case body[0] != '[' || body[len(body)-1] != ']':
		return p, false
	}
	if !json.Valid([]byte(body)) {
		return p, false
	}
	p.lines = topLevel(body)
	return p, true
}

// topLevel finds the members of a valid JSON array or object, without the white
// space around them.
func topLevel(body string) []line {
	var found []line
	depth, start, end := 0, -1, -1
	for i := 1; i < len(body)-1; i++ {
		switch c := body[i]; c {
		case ' ', '\t', '\r':
			continue
		case ',':
			if depth == 0 {
				found = append(found, line{start: int32(start), core: int32(start), end: int32(end)})
				start = -1
				continue
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if start < 0 {
			start = i
		}
		if body[i] == '"' {
			i = closingQuote(body, i)
		}
		end = i + 1
	}
	if start >= 0 {
		found = append(found, line{start: int32(start), core: int32(start), end: int32(end)})
	}
	return found
}

// closingQuote is where the string literal that opens at i ends.
func closingQuote(s string, i int) int {
	for i++; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i
}

// noteIn is the note text inside a member, if it looks like one.
func noteIn(member string) (string, bool) {
	if !strings.HasPrefix(member, `"`+noteOpen) {
		return "", false
	}
	var content string
	if json.Unmarshal([]byte(member[:closingQuote(member, 0)+1]), &content) != nil {
		return "", false
	}
	return content, looksLikeNote(content)
}

// writeMembers renders the text with notes for runs of members. false: a literal
// member looks like a note, or no run pays.
func (s *search) writeMembers(runs []run) (Result, bool) {
	w := writer{search: s, named: make([]bool, len(s.cands)), last: -1}
	written := int32(0) // bytes of the text
	for _, r := range runs {
		from, to := s.lines[r.at].start, s.lines[r.at+r.n-1].end
		n, ok := w.note(r)
		if !ok || !s.o.pays(s.text[from:to], s.member(n, r)) {
			continue
		}
		w.out.WriteString(s.text[written:from])
		w.out.WriteString(s.member(n, r))
		written = to
		if !w.plainMembers(r.at) {
			return w.result, false
		}
		w.at = r.at + r.n
		w.use(r)
	}
	w.out.WriteString(s.text[written:])
	w.result.Text = w.out.String()
	return w.result, w.plainMembers(int32(len(s.lines))) && w.result.Runs > 0
}

// plainMembers says whether no member from the last run up to member to looks like
// a note.
func (w *writer) plainMembers(to int32) bool {
	for _, l := range w.lines[w.at:to] {
		if _, isNote := noteIn(w.text[l.start:l.end]); isNote {
			return false
		}
	}
	return true
}

// member words a note as an array element, or as a member whose value names the
// first and last key.
func (s *search) member(n note, r run) string {
	if s.unit == byItem {
		return quoteJSON(n.String())
	}
	first, last := s.key(r.at), s.key(r.at+r.n-1)
	names := first
	if r.n > 1 {
		names = strings.TrimSuffix(first, `"`) + " to " + strings.TrimPrefix(last, `"`)
	}
	return quoteJSON(n.String()) + ": " + names
}

// key is the quoted key of member i.
func (s *search) key(i int32) string {
	member := s.text[s.lines[i].start:s.lines[i].end]
	return member[:closingQuote(member, 0)+1]
}

// quoteJSON writes s as a JSON string with the shortest escapes.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""` // not reached: a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// members expands a text cut into members; ok is false when none is a note.
func (x *expander) members(text string, p pieces) (ok bool, err error) {
	at := int32(0)
	for _, l := range p.lines {
		content, isNote := noteIn(text[l.start:l.end])
		if !isNote {
			continue
		}
		ok = true
		x.out.WriteString(text[at:l.start])
		if err := x.note(content, p.unit); err != nil {
			return true, err
		}
		at = l.end
	}
	x.out.WriteString(text[at:])
	return ok, nil
}
