package plan

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Needed finds the hidden blocks a session would have had to fetch: those that are
// the only place of a word or number which a later recorded call uses. Feed it the
// session in order: what each call shows, what it hides, what the answer's tool
// calls use. A word is a run of letters, digits and "_" of two characters or more,
// case kept; text the model made up itself stands in no hidden block and does not
// count. It is linear in the text and keeps substrings of it alive. Not safe for
// concurrent use.
type Needed struct {
	seen   map[string]int    // word -> how often it stands in sight
	hidden map[string]string // word -> key of the first block that hides it
}

// NewNeeded starts with nothing shown and nothing hidden.
func NewNeeded() *Needed {
	return &Needed{seen: map[string]int{}, hidden: map[string]string{}}
}

// Show notes text the model sees from now on: message texts as sent, tool
// declarations, system text, arguments of earlier calls (ShowJSON).
func (n *Needed) Show(text string) {
	eachWord(text, func(w string) { n.seen[w]++ })
}

// Unshow takes back one Show of the same text: it stands in sight no more.
func (n *Needed) Unshow(text string) {
	eachWord(text, func(w string) {
		if n.seen[w]--; n.seen[w] <= 0 {
			delete(n.seen, w)
		}
	})
}

// ShowJSON notes the strings, keys and numbers of a JSON text; what does not parse
// is noted as plain text.
func (n *Needed) ShowJSON(raw string) {
	eachJSONWord(raw, func(w string) { n.seen[w]++ })
}

// Hide notes the whole text of a block that is shown in part; the shown part goes
// to Show. Words that stand elsewhere may be shown before or after. A block that was
// in sight until now goes to Unshow first.
func (n *Needed) Hide(key, text string) {
	eachWord(text, func(w string) {
		if _, seen := n.seen[w]; seen {
			return
		}
		if _, known := n.hidden[w]; !known {
			n.hidden[w] = key
		}
	})
}

// Use gives the keys of the hidden blocks that the arguments of a recorded call
// needed: each once, in the order of their first word. The words count as shown
// from then on, since the call itself stands in the next request.
func (n *Needed) Use(arguments string) []string {
	var keys []string
	listed := map[string]bool{}
	eachJSONWord(arguments, func(w string) {
		if _, seen := n.seen[w]; seen {
			return
		}
		n.seen[w]++
		if key, ok := n.hidden[w]; ok && !listed[key] {
			listed[key] = true
			keys = append(keys, key)
		}
	})
	return keys
}

func eachJSONWord(raw string, visit func(string)) {
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var texts []string
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case string:
			texts = append(texts, t)
		case json.Number:
			texts = append(texts, t.String())
		}
	}
	if !json.Valid([]byte(raw)) {
		texts = []string{raw}
	}
	for _, t := range texts {
		eachWord(t, visit)
	}
}

func eachWord(text string, visit func(string)) {
	start := -1
	for i, r := range text {
		if r == '_' || isWordRune(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			visitWord(text[start:i], visit)
			start = -1
		}
	}
	if start >= 0 {
		visitWord(text[start:], visit)
	}
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func visitWord(w string, visit func(string)) {
	if len(w) > 1 {
		visit(w)
	}
}
