package delta

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// NamedString is a string value inside a call's arguments.
type NamedString struct {
	Key   string // "content", "edits[0].new_string"; no RFC 6901 pointer: the arguments stay one string
	Value string // decoded
}

const (
	minArgumentBytes = 64
	maxArgumentDepth = 8
	maxArguments     = 256
)

// Arguments lists the string values of a raw JSON arguments object that have at
// least 64 bytes and a line feed, in order. Values deeper than 8 levels are left
// out; so is every value whose visible form is not exactly its decoded one (invalid
// UTF-8, lone surrogates). Arguments that do not parse or name a key twice in one
// object give none.
func Arguments(args string) []NamedString {
	w := argumentWalk{dec: json.NewDecoder(bytes.NewReader([]byte(args)))}
	if len(args) < minArgumentBytes || !strings.Contains(args, `\n`) || len(args) > maxTextBytes {
		return nil
	}
	if !json.Valid([]byte(args)) || !w.value("", 0) {
		return nil
	}
	return w.found
}

type argumentWalk struct {
	dec   *json.Decoder
	found []NamedString
}

// value reads one value; false stops the walk. Values below the depth bound are
// skipped as raw bytes, so the recursion is bounded.
func (w *argumentWalk) value(key string, depth int) bool {
	if depth > maxArgumentDepth {
		var skipped json.RawMessage
		return w.dec.Decode(&skipped) == nil
	}
	token, err := w.dec.Token()
	if err != nil {
		return false
	}
	switch t := token.(type) {
	case string:
		w.take(key, t)
	case json.Delim:
		if t == '{' {
			return w.object(key, depth)
		}
		return w.array(key, depth)
	}
	return true
}

func (w *argumentWalk) take(key, value string) {
	if len(value) < minArgumentBytes || len(w.found) >= maxArguments {
		return
	}
	if strings.IndexByte(value, '\n') < 0 || strings.ContainsRune(value, '\uFFFD') {
		return
	}
	w.found = append(w.found, NamedString{Key: key, Value: value})
}

func (w *argumentWalk) object(key string, depth int) bool {
	seen := map[string]bool{}
	for w.dec.More() {
		token, err := w.dec.Token()
		name, ok := token.(string)
		if err != nil || !ok || seen[name] {
			return false
		}
		seen[name] = true
		inner := name
		if key != "" {
			inner = key + "." + name
		}
		if !w.value(inner, depth+1) {
			return false
		}
	}
	_, err := w.dec.Token()
	return err == nil
}

func (w *argumentWalk) array(key string, depth int) bool {
	for i := 0; w.dec.More(); i++ {
		if !w.value(key+"["+strconv.Itoa(i)+"]", depth+1) {
			return false
		}
	}
	_, err := w.dec.Token()
	return err == nil
}
