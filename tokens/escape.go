package tokens

const hexDigits = "0123456789abcdef"

// appendJSONString appends text as a string of canonical JSON: only the quote,
// the backslash and control characters are escaped, each in its shortest way.
func appendJSONString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}
