package tokens

// o200kEnd scans by the pattern of o200k_base, with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}],
// L = [\p{Ll}\p{Lm}\p{Lo}\p{M}], P = [^\r\n\p{L}\p{N}] and C the contraction:
//
//	P?U*L+C? | P?U+L*C? | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
func o200kEnd(c *classes, text []byte, i int) int {
	class := c.ascii[text[i]]
	switch {
	case class&letter != 0:
		return c.caseWord(text, i)
	case class&number != 0:
		return c.digits(text, i)
	case class == wide:
		return c.o200kWide(text, i)
	}
	// ASCII that is no letter: no mark, so a word can only start behind it.
	if i+1 < len(text) && class&newline == 0 {
		next := c.ascii[text[i+1]]
		if next == wide {
			next, _ = c.at(text, i+1)
		}
		if next&(inU|inL) != 0 {
			return c.caseWord(text, i+1)
		}
		if class&space == 0 || text[i] == ' ' && next&notSymbol == 0 {
			return c.o200kSymbols(text, i+1)
		}
		return c.blanks(text, i)
	}
	if class&space == 0 {
		return i + 1 // the text's last symbol
	}
	return c.blanks(text, i)
}

// o200kSymbols ends the symbols that go on at i, and the line breaks and slashes after them.
func (c *classes) o200kSymbols(text []byte, i int) int {
	i = c.symbols(text, i)
	for i < len(text) && (text[i] == '\n' || text[i] == '\r' || text[i] == '/') {
		i++
	}
	return i
}

// caseWord ends the word, with its contraction, that starts at i with a letter or mark.
func (c *classes) caseWord(text []byte, i int) int {
	k := i
	for k < len(text) && c.ascii[text[k]]&inU != 0 {
		k++
	}
	upper := k
	for k < len(text) && c.ascii[text[k]]&inL != 0 {
		k++
	}
	if k < len(text) && c.ascii[text[k]] == wide {
		// Inside a word that goes on beyond ASCII, or only may: decide code point by code point.
		if k == upper {
			k, _ = c.wideWord(text, i)
		} else {
			k = c.run(text, k, inL)
		}
	}
	if k < len(text) && text[k] == '\'' {
		return contraction(text, k)
	}
	return k
}

// wideWord is the end of U*L+ at i, or of U+ when no L can end it; ok says that
// it was the former. i itself when neither matches.
func (c *classes) wideWord(text []byte, i int) (end int, ok bool) {
	k, lastL := i, -1
	for k < len(text) {
		class, size := c.at(text, k)
		if class&inU == 0 {
			if class&inL != 0 {
				return c.run(text, k, inL), true
			}
			break
		}
		k += size
		if class&inL != 0 {
			lastL = k
		}
	}
	if lastL >= 0 {
		return lastL, true
	}
	return k, false
}

// o200kWide is o200kEnd for a code point beyond ASCII.
func (c *classes) o200kWide(text []byte, i int) int {
	class, size := c.at(text, i)
	switch {
	case class&letter != 0:
		end, _ := c.wideWord(text, i)
		return contraction(text, end)
	case class&number != 0:
		return c.digits(text, i)
	}
	behind := i + size
	end, ok := behind, false
	if behind < len(text) {
		end, ok = c.wideWord(text, behind)
	}
	if !ok && isMark(class) {
		// A mark ends a word of its own before capitals behind it make one.
		end, ok = c.wideWord(text, i)
	}
	if ok || end > behind {
		return contraction(text, end)
	}
	if class&space != 0 {
		return c.blanks(text, i)
	}
	return c.o200kSymbols(text, behind)
}
