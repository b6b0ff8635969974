package tokens

// cl100kEnd scans by the pattern of cl100k_base, C being the contraction:
//
//	C | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
func cl100kEnd(c *classes, text []byte, i int) int {
	if text[i] == '\'' {
		if end := contraction(text, i); end > i {
			return end
		}
	}
	class, size := c.at(text, i)
	switch {
	case class&letter != 0:
		return c.letters(text, i)
	case class&number != 0:
		return c.digits(text, i)
	}
	behind := i + size
	if behind < len(text) && class&newline == 0 {
		next, _ := c.at(text, behind)
		if next&letter != 0 {
			return c.letters(text, behind)
		}
		if text[i] == ' ' && next&notSymbol == 0 {
			return c.cl100kSymbols(text, behind)
		}
	}
	if class&space != 0 {
		return c.blanks(text, i)
	}
	return c.cl100kSymbols(text, behind)
}

func (c *classes) cl100kSymbols(text []byte, i int) int {
	i = c.symbols(text, i)
	for i < len(text) && (text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// letters is the end of \p{L}* at i.
func (c *classes) letters(text []byte, i int) int {
	for i < len(text) && c.ascii[text[i]]&letter != 0 {
		i++
	}
	if i < len(text) && c.ascii[text[i]] == wide {
		return c.run(text, i, letter)
	}
	return i
}

// r50kEnd scans by the pattern that r50k_base, p50k_base and p50k_edit share, C
// being the contraction in lower case only:
//
//	C | ?\p{L}+ | ?\p{N}+ | ?[^\s\p{L}\p{N}]+ | \s+(?!\S) | \s+
func r50kEnd(c *classes, text []byte, i int) int {
	if text[i] == '\'' {
		if end := lowerContraction(text, i); end > i {
			return end
		}
	}
	start := i
	if text[i] == ' ' && i+1 < len(text) {
		start++
	}
	class, size := c.at(text, start)
	switch {
	case class&letter != 0:
		return c.letters(text, start)
	case class&number != 0:
		return c.run(text, start, number)
	case class&space == 0:
		return c.symbols(text, start+size)
	}
	last, k := i, i
	for k < len(text) {
		class, size := c.at(text, k)
		if class&space == 0 {
			break
		}
		last = k
		k += size
	}
	return leaveOne(text, i, last, k)
}

func lowerContraction(text []byte, i int) int {
	end := contraction(text, i)
	for _, b := range text[i:end] {
		if b != '\'' && (b < 'a' || b > 'z') {
			return i
		}
	}
	return end
}
