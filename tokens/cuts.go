package tokens

// SafeCut says whether the tokens of before and of after add up to those of the
// two joined, whatever stands further left and right, for every encoding here.
// It looks at two bytes before the cut and one after it. True is a proof; false
// only says that these three bytes prove nothing.
//
// A token never crosses a pre-token boundary, so it is enough that the cut is one:
//   - After an ASCII letter, before an ASCII byte that is neither letter nor
//     apostrophe: no pre-token holds a letter followed by such a byte (only a
//     contraction holds a letter followed by anything but a letter or mark).
//   - After an ASCII digit, before another ASCII byte: digits stand only in
//     pre-tokens of digits.
//   - After two ASCII symbols, before an ASCII letter: the second symbol could be
//     the prefix of a word only if the first ended a pre-token, and a symbol's
//     run of symbols ends there only when it is a slash swallowed after a line
//     break. So a slash before another symbol proves nothing.
func SafeCut(before, after []byte) bool {
	if len(before) == 0 || len(after) == 0 {
		return true
	}
	next := after[0]
	if next >= 0x80 {
		return false
	}
	last := before[len(before)-1]
	switch {
	case isLetter(last):
		return !isLetter(next) && next != '\''
	case isDigit(last):
		return !isDigit(next)
	}
	if len(before) < 2 || !isLetter(next) || !isSymbol(last) {
		return false
	}
	first := before[len(before)-2]
	return isSymbol(first) && (first != '/' || last == '/')
}

// chunkSize is where long texts are split, in bytes: a text that grows at its
// end is counted again only from its last cut on.
const chunkSize = 16 << 10

// chunkEnd is the first safe cut of text at chunkSize or later, len(text) when
// there is none. Where it cuts depends on the bytes before the cut and the one
// after it only, so a longer text is cut at the same places.
func chunkEnd(text []byte) int { return cutFrom(text, chunkSize) }

// cutFrom is the first safe cut at byte from or later.
func cutFrom(text []byte, from int) int {
	for p := from; p < len(text); p++ {
		if SafeCut(text[:p], text[p:]) {
			return p
		}
	}
	return len(text)
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isSymbol says whether b is ASCII and neither letter, digit nor white space.
// Control bytes that are no white space are symbols to every pattern here.
func isSymbol(b byte) bool {
	return b < 0x80 && !isLetter(b) && !isDigit(b) && b != ' ' && (b < '\t' || b > '\r')
}
