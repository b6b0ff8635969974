package tokens

// A scanner finds the end of the pre-token that starts at text[i], i < len(text):
// what the first matching alternative of the encoding's pattern takes. It always
// advances.
type scanner func(c *classes, text []byte, i int) int

// run is the end of the longest run from i on of code points that have one of
// the classes.
func (c *classes) run(text []byte, i int, any uint8) int {
	for i < len(text) {
		class, size := c.at(text, i)
		if class&any == 0 {
			break
		}
		i += size
	}
	return i
}

// symbols is the end of the run of symbols at i: [^\s\p{L}\p{N}]*.
func (c *classes) symbols(text []byte, i int) int {
	for i < len(text) {
		class := c.ascii[text[i]]
		size := 1
		if class == wide {
			class, size = c.at(text, i)
		}
		if class&notSymbol != 0 {
			break
		}
		i += size
	}
	return i
}

// digits is the end of up to three numbers: \p{N}{1,3}.
func (c *classes) digits(text []byte, i int) int {
	for n := 0; n < 3 && i < len(text); n++ {
		class, size := c.at(text, i)
		if class&number == 0 {
			break
		}
		i += size
	}
	return i
}

// blanks is the end of what `\s*[\r\n]+|\s+(?!\S)|\s+` takes at i: up to the last
// line break of the run; without one, all of the run at the end of the text, else
// all but its last code point when it has more than one.
func (c *classes) blanks(text []byte, i int) int {
	lastBreak, last, k := -1, i, i
	for k < len(text) {
		class, size := c.at(text, k)
		if class&space == 0 {
			break
		}
		last = k
		k += size
		if class&newline != 0 {
			lastBreak = k
		}
	}
	if lastBreak >= 0 {
		return lastBreak
	}
	return leaveOne(text, i, last, k)
}

// leaveOne is `\s+(?!\S)|\s+` for a run from i to end whose last code point starts at last.
func leaveOne(text []byte, i, last, end int) int {
	if end < len(text) && last > i {
		return last
	}
	return end
}

// contraction is the end of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at i, i itself when
// there is none. Folding takes U+017F, the long s, for an s.
func contraction(text []byte, i int) int {
	if i+1 >= len(text) || text[i] != '\'' {
		return i
	}
	switch text[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return i + 2
	}
	if i+2 >= len(text) {
		return i
	}
	first, second := text[i+1], text[i+2]
	if first == 0xc5 && second == 0xbf {
		return i + 3
	}
	switch [2]byte{first | 0x20, second | 0x20} {
	case [2]byte{'r', 'e'}, [2]byte{'v', 'e'}, [2]byte{'l', 'l'}:
		return i + 3
	}
	return i
}
