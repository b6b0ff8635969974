package view

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold maps text to a form in which texts that differ only in case are equal: full
// Unicode case folding, so that "ß" equals "SS" and "ﬁ" equals "fi".
func Fold(s string) string {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf && (s[i] < 'A' || s[i] > 'Z') {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	b.WriteString(s[:i])
	for _, r := range s[i:] {
		switch {
		case 'A' <= r && r <= 'Z':
			b.WriteByte(byte(r) + 'a' - 'A')
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		default:
			foldRune(&b, r)
		}
	}
	return b.String()
}

func foldRune(b *strings.Builder, r rune) {
	if to, ok := fullFold(r); ok {
		for _, c := range to {
			b.WriteRune(orbit(c))
		}
		return
	}
	b.WriteRune(orbit(r))
}

func fullFold(r rune) (string, bool) {
	i := sort.Search(len(fullFolds), func(i int) bool { return fullFolds[i].from >= r })
	if i < len(fullFolds) && fullFolds[i].from == r {
		return fullFolds[i].to, true
	}
	return "", false
}

// orbit gives one fixed member of the set of characters that differ only in case.
func orbit(r rune) rune {
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// Contains says whether text holds query, case aside. folded is Fold(query).
func Contains(text, folded string) bool { return strings.Contains(Fold(text), folded) }
