package strictjson

const lowerHex = "0123456789abcdef"

// escapes is the letter behind the backslash for each byte that is escaped: 'u' where
// there is no short escape, 0 for a byte that is written as it is.
var escapes = func() (table [256]byte) {
	for c := range byte(0x20) {
		table[c] = 'u'
	}
	for c, letter := range map[byte]byte{
		'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f',
	} {
		table[c] = letter
	}
	return table
}()

// AppendQuoted writes text as the shortest JSON literal: only quote, backslash
// and the control characters below U+0020 are escaped, these with \n \r \t \b \f
// or \u00xx in lower case. text must be UTF-8; other bytes are copied as they are.
func AppendQuoted[T string | []byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		letter := escapes[c]
		if letter == 0 {
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		if letter != 'u' {
			dst = append(dst, '\\', letter)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
		}
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}

// AppendShortest writes the literal str of this scan in its shortest spelling;
// escapes of lone surrogates stay as they are spelled.
func (s *Scanner) AppendShortest(dst []byte, str Str) []byte {
	literal := s.Data[str.Start:str.End]
	if str.Shortest {
		return append(dst, literal...)
	}
	if !str.Lone {
		return AppendQuoted(dst, AppendUnquoted(nil, literal))
	}
	dst = append(dst, '"')
	rest := literal[1 : len(literal)-1]
	for len(rest) > 0 {
		n := loneAt(rest)
		piece := AppendQuoted(nil, AppendUnquoted(nil, append(append([]byte{'"'}, rest[:n]...), '"')))
		dst = append(dst, piece[1:len(piece)-1]...)
		if rest = rest[n:]; len(rest) > 0 {
			dst = append(dst, rest[:6]...)
			rest = rest[6:]
		}
	}
	return append(dst, '"')
}

// loneAt is the offset of the first lone surrogate escape, len(inner) without one.
func loneAt(inner []byte) int {
	for i := 0; i < len(inner); {
		if inner[i] != '\\' {
			i++
			continue
		}
		if inner[i+1] != 'u' {
			i += 2
			continue
		}
		unit, _ := hex4(inner, i+2)
		switch {
		case unit < 0xd800 || unit >= 0xe000:
			i += 6
		case unit < 0xdc00 && lowSurrogate(inner, i+6):
			i += 12
		default:
			return i
		}
	}
	return len(inner)
}
