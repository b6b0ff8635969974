package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// field is one member of a JSON object: its decoded name and its value's bytes.
type field struct {
	name  string
	value json.RawMessage
}

// object is the members of one JSON object, in order.
type object []field

// get gives the value of a member, nil when there is none or it is null.
func (o object) get(name string) json.RawMessage {
	for _, f := range o {
		if f.name == name {
			if string(f.value) == "null" {
				return nil
			}
			return f.value
		}
	}
	return nil
}

func (o object) has(name string) bool {
	for _, f := range o {
		if f.name == name {
			return true
		}
	}
	return false
}

// text gives a member that is a JSON string, decoded; ok is false when it is there
// and is something else.
func (o object) text(name string) (s string, ok bool) {
	raw := o.get(name)
	if raw == nil {
		return "", true
	}
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// splitObject gives the members of a JSON object whose bytes are valid JSON; the
// values share raw's memory. It fails on other values and on a repeated key.
func splitObject(raw []byte) (object, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, fmt.Errorf("%w: want an object", ErrBadField)
	}
	var out object
	seen := map[string]bool{}
	i := skipSpace(raw, 1)
	for i < len(raw) && raw[i] != '}' {
		end := skipValue(raw, i)
		var name string
		if err := json.Unmarshal(raw[i:end], &name); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrNotJSON, err)
		}
		if seen[name] {
			return nil, fmt.Errorf("%w: %q", ErrDuplicateKey, name)
		}
		seen[name] = true
		i = skipSpace(raw, skipSpace(raw, end)+1) // past ':'
		end = skipValue(raw, i)
		out = append(out, field{name: name, value: raw[i:end:end]})
		i = skipComma(raw, end)
	}
	return out, nil
}

// splitArray gives the elements of a JSON array whose bytes are valid JSON.
func splitArray(raw []byte) ([]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return nil, fmt.Errorf("%w: want a list", ErrBadField)
	}
	var out []json.RawMessage
	i := skipSpace(raw, 1)
	for i < len(raw) && raw[i] != ']' {
		end := skipValue(raw, i)
		out = append(out, raw[i:end:end])
		i = skipComma(raw, end)
	}
	return out, nil
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

func skipComma(raw []byte, i int) int {
	i = skipSpace(raw, i)
	if i < len(raw) && raw[i] == ',' {
		i = skipSpace(raw, i+1)
	}
	return i
}

// skipValue gives the end of the JSON value that starts at i.
func skipValue(raw []byte, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			i = skipString(raw, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			if depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(raw)
}

func skipString(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}
