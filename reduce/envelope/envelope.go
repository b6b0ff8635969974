package envelope

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"token-terminator/reduce/jsonscan"
)

const (
	maxBytes   = 16 << 20 // longest result, bytes
	maxDepth   = 200      // nesting
	maxMembers = 64       // members of an envelope; more is data
	maxBlocks  = 256      // text blocks of a list
	longText   = 400      // bytes from which a text under any key is a field
	omittedKey = "[omitted]"
)

// Field is one string of an envelope that may be shown smaller.
type Field struct {
	Pointer string // RFC 6901 inside the result's JSON, e.g. "/output", "/content/0/text"
	Key     string // the member's key, decoded
	Value   string // the text, decoded
}

// Envelope is an opened result. The zero value has no fields.
type Envelope struct {
	text   string
	nodes  []jsonscan.Node
	fields []Field
	at     []int32 // node of each field
	owner  []int32 // object of each field
}

// textKeys are the keys under which tools put text, in lower case.
var textKeys = map[string]bool{
	"output": true, "stdout": true, "stderr": true, "content": true, "text": true, "result": true, "message": true,
	"error": true, "body": true, "data": true, "log": true, "logs": true, "diff": true, "response": true, "results": true,
	"observation": true, "tool_output": true, "terminal_output": true, "snapshot": true, "markdown": true, "page": true,
}

// placeKeys name things, never texts to reduce, however long they are.
var placeKeys = map[string]bool{
	"path": true, "full_output_path": true, "url": true, "uri": true, "id": true, "query": true, "cwd": true, "command": true,
	"hint": true, "truncation_note": true, "approval": true, "exit_code_meaning": true, "type": true, "artifact_id": true,
}

// Open finds the envelope of text: one object with text fields, or a list of text
// blocks, alone or followed by a plain-text hint. The fields must be at least half of the
// JSON, else it is data and no envelope.
func Open(text string) (Envelope, bool) {
	from := jsonscan.SkipSpace(text, 0)
	if len(text) > maxBytes || from == len(text) || text[from] != '{' && text[from] != '[' || !utf8.ValidString(text) {
		return Envelope{}, false
	}
	nodes, end, err := jsonscan.Scan(nil, text, from, maxDepth)
	if err != nil {
		return Envelope{}, false
	}
	e := Envelope{text: text, nodes: nodes}
	ok := false
	if nodes[0].Kind == jsonscan.Object {
		ok = e.object(0, "", true)
	} else {
		ok = e.blocks(0, "")
	}
	size := 0
	for _, f := range e.at {
		size += int(nodes[f].End - nodes[f].Start)
	}
	if !ok || len(e.fields) == 0 || 2*size < end-from {
		return Envelope{}, false
	}
	return e, true
}

// object gathers the fields of an envelope object; inner objects of outer ones may
// carry them too. false means that the object cannot be an envelope.
func (e *Envelope) object(i int32, pointer string, outer bool) bool {
	if e.nodes[i].Count > maxMembers {
		return false
	}
	seen := make(map[string]bool, e.nodes[i].Count)
	for c := i + 1; c < e.nodes[i].Next; c = e.nodes[c].Next {
		n := &e.nodes[c]
		key, ok := jsonscan.Decode(e.text[n.KeyStart:n.KeyEnd])
		if !ok || seen[key] {
			return false
		}
		seen[key] = true
		lower := strings.ToLower(key)
		below := pointer + "/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
		switch {
		case strings.HasPrefix(key, omittedKey): // a marker of ours
		case n.Kind == jsonscan.String && !placeKeys[lower] && (textKeys[lower] || n.End-n.Start > longText):
			e.add(c, i, below, key)
		case n.Kind == jsonscan.Array && textKeys[lower]:
			e.blocks(c, below)
		case n.Kind == jsonscan.Object && outer && textKeys[lower]:
			if !e.object(c, below, false) {
				return false
			}
		}
	}
	return true
}

// blocks gathers {"type":"text","text":…} elements; it says whether every element
// has a type.
func (e *Envelope) blocks(i int32, pointer string) bool {
	if e.nodes[i].Count > maxBlocks || e.nodes[i].Count == 0 {
		return false
	}
	ordinal := 0
	from := len(e.fields)
	for c := i + 1; c < e.nodes[i].Next; c = e.nodes[c].Next {
		kind, text, whole := e.block(c)
		if !whole {
			e.fields, e.at, e.owner = e.fields[:from], e.at[:from], e.owner[:from]
			return false
		}
		if kind == "text" && text > 0 {
			e.add(text, c, pointer+"/"+strconv.Itoa(ordinal)+"/text", "text")
		}
		ordinal++
	}
	return true
}

// block reads one element: its type and the node of its text, 0 when it has none.
func (e *Envelope) block(i int32) (kind string, text int32, whole bool) {
	if e.nodes[i].Kind != jsonscan.Object {
		return "", 0, false
	}
	seen := map[string]bool{}
	for c := i + 1; c < e.nodes[i].Next; c = e.nodes[c].Next {
		n := &e.nodes[c]
		key, ok := jsonscan.Decode(e.text[n.KeyStart:n.KeyEnd])
		if !ok || seen[key] {
			return "", 0, false
		}
		seen[key] = true
		if n.Kind != jsonscan.String {
			continue
		}
		switch key {
		case "type":
			kind, _ = jsonscan.Decode(e.text[n.Start:n.End])
		case "text":
			text = c
		}
	}
	return kind, text, kind != ""
}

// add takes a string as a field unless it is empty or no valid Unicode.
func (e *Envelope) add(node, owner int32, pointer, key string) {
	n := &e.nodes[node]
	if value, ok := jsonscan.Decode(e.text[n.Start:n.End]); ok && value != "" {
		e.fields = append(e.fields, Field{Pointer: pointer, Key: key, Value: value})
		e.at = append(e.at, node)
		e.owner = append(e.owner, owner)
	}
}

// Fields are the envelope's text fields in source order. The caller must not
// change the slice.
func (e Envelope) Fields() []Field { return e.fields }
