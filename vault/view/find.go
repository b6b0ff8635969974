package view

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Match is one line that holds the query.
type Match struct {
	Line    int    `json:"line"` // from 1
	Text    string `json:"text"` // at most MaxMatchText code points around the first hit
	Clipped bool   `json:"clipped,omitempty"`
}

// Found is what a search inside one text gave.
type Found struct {
	Matches      []Match `json:"matches"`
	TotalMatches int     `json:"total_matches"` // lines
	Truncated    bool    `json:"truncated"`
	Lossy        bool    `json:"lossy"` // lines without their ends, perhaps cut
}

// FindIn lists the lines that hold query, case aside. limit 0 means MaxMatches. All
// texts together are at most MaxFindText code points.
func FindIn(text, query string, limit int) (Found, error) {
	folded, err := FoldQuery(query)
	if err != nil {
		return Found{}, err
	}
	if limit < 0 || limit > MaxMatches {
		return Found{}, fmt.Errorf("%w: limit %d, want 1 to %d", ErrRange, limit, MaxMatches)
	}
	if limit == 0 {
		limit = MaxMatches
	}
	out := Found{Matches: []Match{}, Lossy: true}
	room := MaxFindText
	for at, line := 0, 1; at < len(text); line++ {
		n := lineLen(text[at:])
		raw := strings.TrimRight(text[at:at+n], "\r\n")
		at += n
		hit := strings.Index(Fold(raw), folded)
		if hit < 0 {
			continue
		}
		out.TotalMatches++
		if len(out.Matches) == limit || room == 0 {
			out.Truncated = true
			continue
		}
		m := around(raw, hit, min(MaxMatchText, room))
		m.Line = line
		room -= utf8.RuneCountInString(m.Text)
		out.Matches = append(out.Matches, m)
	}
	return out, nil
}

// FoldQuery checks a query and folds it.
func FoldQuery(query string) (string, error) {
	if n := utf8.RuneCountInString(query); n == 0 || n > MaxQuery {
		return "", fmt.Errorf("%w: it has %d characters, want 1 to %d", ErrQuery, n, MaxQuery)
	}
	return Fold(query), nil
}

// around cuts a long line so that the hit, a byte offset in the folded line, stays
// inside with a quarter of the room before it.
func around(line string, hit, limit int) Match {
	total := utf8.RuneCountInString(line)
	if total <= limit {
		return Match{Text: line}
	}
	start := max(0, min(foldedPlace(line, hit)-limit/4, total-limit))
	return Match{Text: ClipRunes(line[byteOffset(line, start):], limit), Clipped: true}
}

// foldedPlace is the code point of line whose folding reaches byte hit of Fold(line).
func foldedPlace(line string, hit int) int {
	place, at := 0, 0
	for _, r := range line {
		if at += len(Fold(string(r))); at > hit {
			return place
		}
		place++
	}
	return place
}
