package reduce

import "strings"

// Bounds of a value, in bytes. Shorter runs stand in every text, longer ones are data.
const (
	minValue = 4
	maxValue = 200
)

// Values visits the runs of a text that name something: identifiers, paths, numbers,
// versions, addresses. A run is made of ASCII letters, digits and any of "_-./@",
// without punctuation at its ends; it is a value when it has a digit, one of "_./@"
// inside, or a capital behind a small letter. Plain words are none. A value may be
// visited more than once.
func Values(text string, visit func(value string)) {
	for i := 0; i < len(text); {
		if valueClass[text[i]] == 0 {
			i++
			continue
		}
		start := i
		for i < len(text) && valueClass[text[i]] != 0 {
			i++
		}
		run := strings.Trim(text[start:i], "-./@")
		if len(run) >= minValue && len(run) <= maxValue && isValue(run) {
			visit(run)
		}
	}
}

func isValue(run string) bool {
	for i := range len(run) {
		switch c := valueClass[run[i]]; {
		case c == digitByte, c == joinByte && run[i] != '-':
			return true
		case c == upperByte && i > 0 && valueClass[run[i-1]] == lowerByte:
			return true
		}
	}
	return false
}

const (
	lowerByte = 1 + iota
	upperByte
	digitByte
	joinByte
)

var valueClass = func() (class [256]uint8) {
	for c := range class {
		switch b := byte(c); {
		case b >= 'a' && b <= 'z':
			class[c] = lowerByte
		case b >= 'A' && b <= 'Z':
			class[c] = upperByte
		case b >= '0' && b <= '9':
			class[c] = digitByte
		case strings.IndexByte("_-./@", b) >= 0:
			class[c] = joinByte
		}
	}
	return class
}()

// Paths visits the runs of a text that may be a path or the name of a file: ASCII
// letters, digits and any of "_-./@" and what is no ASCII, with a "." or a "/" inside.
func Paths(text string, visit func(path string)) {
	for i := 0; i < len(text); {
		if !pathByte(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && pathByte(text[i]) {
			i++
		}
		if run := strings.TrimRight(text[start:i], "-.@"); strings.ContainsAny(run, "./") {
			visit(run)
		}
	}
}

func pathByte(b byte) bool { return valueClass[b] != 0 || b >= 0x80 }
