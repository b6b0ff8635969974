package jsonscan

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"token-terminator/internal/strictjson"
)

// Minify appends text without the white space between tokens. It does not check
// grammar: call it on text that Scan accepted.
func Minify(dst []byte, text string) []byte {
	for i := 0; i < len(text); {
		i = SkipSpace(text, i)
		from := i
		for i < len(text) && text[i] > ' ' {
			if text[i] == '"' {
				if end := stringEnd(text, i); end > 0 {
					i = end
					continue
				}
			}
			i++
		}
		if i == from && i < len(text) {
			i++ // a control byte of text that is no JSON: keep it
		}
		dst = append(dst, text[from:i]...)
	}
	return dst
}

// Decode returns the text a string literal (quotes included) stands for. ok is
// false when the literal is malformed, holds a lone surrogate escape, or decodes
// to bytes that are no UTF-8.
func Decode(literal string) (text string, ok bool) {
	if len(literal) < 2 || stringEnd(literal, 0) != len(literal) || literal[0] != '"' {
		return "", false
	}
	body := literal[1 : len(literal)-1]
	if strings.IndexByte(body, '\\') < 0 {
		return body, utf8.ValidString(body)
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			out = append(out, body[i])
			continue
		}
		i++
		if body[i] != 'u' {
			out = append(out, plainEscape(body[i]))
			continue
		}
		r, _ := hex4(body, i+1)
		i += 4
		if utf16.IsSurrogate(r) {
			if !strings.HasPrefix(body[i+1:], `\u`) {
				return "", false
			}
			low, _ := hex4(body, i+3)
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return "", false
			}
			i += 6
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out), utf8.Valid(out)
}

func plainEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// AppendString appends s as a string literal in its shortest spelling, quotes
// included. s must be UTF-8.
func AppendString(dst []byte, s string) []byte { return strictjson.AppendQuoted(dst, s) }
