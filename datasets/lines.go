package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// line is one non-empty line of a file.
type line struct {
	no   int // from 1
	text []byte
}

// splitLines cuts at \n; a \r before it and empty lines go.
func splitLines(data []byte) []line {
	var out []line
	for no := 1; len(data) > 0; no++ {
		text, rest, _ := bytes.Cut(data, []byte{'\n'})
		if text = bytes.TrimSpace(text); len(text) > 0 {
			out = append(out, line{no: no, text: text})
		}
		data = rest
	}
	return out
}

// checkJSON says why a text is no JSON value, nil when it is one.
func checkJSON(text []byte) error {
	if !utf8.Valid(text) {
		return fmt.Errorf("%w: byte %d of the line", ErrNotUTF8, firstInvalid(text)+1)
	}
	if json.Valid(text) {
		return nil
	}
	var v json.RawMessage
	err := json.Unmarshal(text, &v)
	if at := new(json.SyntaxError); errors.As(err, &at) {
		return fmt.Errorf("%w: byte %d of the line: %v", ErrNotJSON, at.Offset, at)
	}
	return fmt.Errorf("%w: %v", ErrNotJSON, err)
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// trimMark takes a UTF-8 byte order mark away; a UTF-16 one is an error.
func trimMark(data []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return data[3:], nil
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, fmt.Errorf("%w: it looks like UTF-16", ErrNotUTF8)
	}
	return data, nil
}
