package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Peek is a first look at a text: what it is, how it begins and ends, which lines
// speak of trouble. Its JSON form is never longer than the limit it was made with.
type Peek struct {
	ArtifactID   string     `json:"artifact_id"`
	SHA256       string     `json:"sha256,omitempty"`
	Tool         string     `json:"tool_name,omitempty"`
	Kind         string     `json:"kind,omitempty"`
	Created      string     `json:"created_at,omitempty"`
	Observations int        `json:"observation_count,omitempty"`
	TotalChars   int        `json:"total_chars"`
	TotalBytes   int        `json:"total_bytes"`
	Lines        int        `json:"line_count"`
	Structure    *Structure `json:"structure,omitempty"`
	Head         []string   `json:"head,omitempty"`
	Tail         []string   `json:"tail,omitempty"`
	Signals      []Match    `json:"signals,omitempty"`
	Lossy        bool       `json:"lossy"`
	Exact        string     `json:"exact_recovery,omitempty"`
}

// Structure is the outer shape of a JSON text.
type Structure struct {
	Type      string   `json:"type"` // object, array, string, number, boolean, null
	Count     int      `json:"count,omitempty"`
	Keys      []string `json:"keys,omitempty"`       // of an object, at most 50
	ItemTypes []string `json:"item_types,omitempty"` // of an array's first 100 elements
	Truncated bool     `json:"truncated,omitempty"`
}

// detail is how much of the text a peek shows; the next one is tried when the
// rendered peek is over its limit.
type detail struct{ lines, width, signals, keys int }

var details = [...]detail{
	{6, 500, maxSignals, maxKeys}, {3, 240, maxSignals, maxKeys}, {3, 120, 4, 20}, {2, 80, 3, 10}, {1, 60, 2, 5}, {1, 30, 0, 0}, {0, 0, 0, 0},
}

// PeekOf fills meta (id, hash, names, counts that only the store knows) with a look
// at text. limit is in code points of the JSON form, MinPeek to MaxPage; 0 means
// DefaultPage.
func PeekOf(meta Peek, text string, limit int) (Peek, error) {
	if limit == 0 {
		limit = DefaultPage
	}
	if limit < MinPeek || limit > MaxPage {
		return Peek{}, fmt.Errorf("%w: limit %d, want %d to %d", ErrRange, limit, MinPeek, MaxPage)
	}
	meta.TotalChars, meta.TotalBytes, meta.Lines = utf8.RuneCountInString(text), len(text), CountLines(text)
	meta.Lossy = true
	meta.Exact = "artifact_get gives the exact text"
	shape := structureOf(text, meta.TotalChars)
	signals := signalsIn(text)
	for _, d := range details {
		p := meta
		p.Head, p.Tail = ends(text, meta.Lines, d)
		p.Structure = shape.cut(d.keys)
		for _, s := range signals[:min(len(signals), d.signals)] {
			p.Signals = append(p.Signals, clipMatch(s, d.width))
		}
		if rendered(p) <= limit {
			return p, nil
		}
	}
	return bare(meta, limit), nil
}

// bare drops names until the rest fits; ids and counts always do.
func bare(p Peek, limit int) Peek {
	drops := [...]func(){
		func() { p.Exact = "" }, func() { p.Created = "" }, func() { p.Tool = "" }, func() { p.Kind = "" },
		func() { p.SHA256 = "" }, func() { p.Observations = 0 },
	}
	for _, drop := range drops {
		if rendered(p) <= limit {
			break
		}
		drop()
	}
	return p
}

// rendered counts the code points of the JSON form, HTML escapes included, which is
// the longest way to write it on one line.
func rendered(p Peek) int {
	data, err := json.Marshal(p)
	if err != nil {
		return MaxPage + 1 // cannot happen: strings and numbers only
	}
	return utf8.RuneCount(data)
}

func clipMatch(m Match, width int) Match {
	if utf8.RuneCountInString(m.Text) > width {
		m.Text, m.Clipped = ClipRunes(m.Text, width), true
	}
	return m
}

// ends gives the first and last lines, without overlap.
func ends(text string, total int, d detail) (head, tail []string) {
	at := 0
	for len(head) < min(d.lines, total) {
		n := lineLen(text[at:])
		head = append(head, clipLine(text[at:at+n], d.width))
		at += n
	}
	rest := strings.TrimSuffix(text[at:], "\n")
	for len(tail) < min(d.lines, total-len(head)) {
		i := strings.LastIndexByte(rest, '\n')
		tail = append(tail, clipLine(rest[i+1:], d.width))
		rest = rest[:max(i, 0)]
	}
	slices.Reverse(tail)
	return head, tail
}

const cutMark = " [line cut]"

func clipLine(line string, width int) string {
	line = strings.TrimRight(line, "\r\n")
	if len(line) <= width || utf8.RuneCountInString(line) <= width {
		return line
	}
	return ClipRunes(line, width) + cutMark
}

// signalWords mark lines that a reader looks for first.
var signalWords = [...]string{"error", "warning", "failed", "failure", "exception", "traceback", "fatal", "panic", "assert"}

func signalsIn(text string) []Match {
	var found []Match
	text = text[:runeStart(text, min(len(text), signalsWithin))]
	for at, line := 0, 1; at < len(text) && len(found) < maxSignals; line++ {
		n := lineLen(text[at:])
		raw := strings.TrimRight(text[at:at+n], "\r\n")
		at += n
		folded := Fold(raw)
		for _, w := range signalWords {
			if hit := strings.Index(folded, w); hit >= 0 {
				m := around(raw, hit, 500)
				m.Line = line
				found = append(found, m)
				break
			}
		}
	}
	return found
}

func (s *Structure) cut(keys int) *Structure {
	if s == nil || len(s.Keys) <= keys {
		return s
	}
	c := *s
	c.Keys, c.Truncated = c.Keys[:keys], true
	return &c
}

// structureOf reads the outer shape of a JSON text, nil when it is none or too long.
func structureOf(text string, runes int) *Structure {
	if runes > maxStructure || !looksJSON(text) || !json.Valid([]byte(text)) {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	first, err := dec.Token()
	if err != nil {
		return nil
	}
	switch first {
	case json.Delim('{'):
		return objectShape(dec)
	case json.Delim('['):
		return arrayShape(dec)
	}
	return &Structure{Type: typeName(first)}
}

func looksJSON(text string) bool {
	t := strings.TrimLeft(text, " \t\r\n")
	return t != "" && strings.IndexByte(`{["-0123456789tfn`, t[0]) >= 0
}

func objectShape(dec *json.Decoder) *Structure {
	s := &Structure{Type: "object"}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		if s.Count++; len(s.Keys) < maxKeys {
			name, _ := key.(string)
			s.Keys = append(s.Keys, ClipRunes(name, 80))
		} else {
			s.Truncated = true
		}
		if skipValue(dec) != nil {
			return nil
		}
	}
	return s
}

func arrayShape(dec *json.Decoder) *Structure {
	s := &Structure{Type: "array"}
	for dec.More() {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return nil
		}
		if s.Count++; s.Count > 100 {
			s.Truncated = true
			continue
		}
		if name := rawType(raw); !slices.Contains(s.ItemTypes, name) {
			s.ItemTypes = append(s.ItemTypes, name)
		}
	}
	return s
}

func skipValue(dec *json.Decoder) error {
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func typeName(t json.Token) string {
	switch t.(type) {
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	}
	return "null"
}

func rawType(raw json.RawMessage) string {
	switch raw = bytes.TrimLeft(raw, " \t\r\n"); raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
