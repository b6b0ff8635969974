package reduce

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"token-terminator/reduce/evidence"
	"token-terminator/reduce/kind"
	"token-terminator/reduce/layout"
)

// minWord is how many letters make a word that may not get lost, in code points.
const minWord = 2

// equivalent is layout.Equivalent, refused where a terminal would have written over
// words that stand nowhere else: what a progress bar counts may go, a message that
// was on the screen for a moment may not.
func (p *proposer) equivalent(text string, k kind.Kind) (string, bool) {
	if p.clean.known && p.clean.of == text && p.clean.kind == k {
		return p.clean.text, p.clean.ok
	}
	out, ok := layout.Equivalent(text, k, p.count)
	if ok && k != kind.JSON && k != kind.NDJSON && overwrites(text) {
		ok = keepsWords(text, out) && keepsSignals(text, out)
	}
	p.clean = cleaned{known: true, of: text, kind: k, text: out, ok: ok}
	return out, ok
}

// cleaned remembers the equivalent layout asked for last: a view and a layout of one
// text both want it.
type cleaned struct {
	known, ok bool
	of, text  string
	kind      kind.Kind
}

// keepsSignals says whether as many messages of each severity are left as the terminal
// ever showed.
func keepsSignals(from, to string) bool {
	was := evidence.Signals(strings.ReplaceAll(from, "\r", "\n"))
	is := evidence.Signals(to)
	return is.Errors >= was.Errors && is.Warnings >= was.Warnings && is.Failures >= was.Failures && is.Panics >= was.Panics
}

// overwrites says whether text holds a control byte that can put text over text: a
// carriage return that ends no line, a backspace, or an escape sequence that is not
// about colours.
func overwrites(text string) bool {
	if strings.IndexByte(text, '\r') < 0 && strings.IndexByte(text, '\b') < 0 && strings.IndexByte(text, 0x1b) < 0 {
		return false
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\b':
			return true
		case '\r':
			if i+1 < len(text) && text[i+1] != '\n' && text[i+1] != '\r' {
				return true
			}
		case 0x1b:
			if i = endOfSequence(text, i); i >= len(text) || text[i] != 'm' {
				return true
			}
		}
	}
	return false
}

// endOfSequence is the index of the byte that ends the control sequence at i, or
// len(text).
func endOfSequence(text string, i int) int {
	i++
	if i >= len(text) || text[i] != '[' {
		return len(text)
	}
	for i++; i < len(text); i++ {
		if text[i] >= 0x40 && text[i] <= 0x7e {
			return i
		}
	}
	return i
}

// keepsWords says whether every word of from stands as a word in to. Words are runs of
// letters; control sequences are no words.
func keepsWords(from, to string) bool {
	have := map[string]bool{}
	eachWord(to, func(w string) bool { have[w] = true; return true })
	return eachWord(from, func(w string) bool { return have[w] })
}

// eachWord calls f for every word until it says no; it says whether f always said yes.
func eachWord(text string, f func(string) bool) bool {
	start, letters := -1, 0
	for i := 0; i <= len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if i < len(text) && unicode.IsLetter(r) {
			if start < 0 {
				start, letters = i, 0
			}
			letters++
			i += size
			continue
		}
		if start >= 0 && letters >= minWord && !f(text[start:i]) {
			return false
		}
		start = -1
		if i < len(text) && text[i] == 0x1b {
			i = min(endOfSequence(text, i), len(text)-1) + 1
			continue
		}
		i += max(size, 1)
	}
	return true
}
