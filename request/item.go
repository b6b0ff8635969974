package request

import (
	"strconv"
	"strings"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// itemKind says what a Responses item is to us.
type itemKind byte

const (
	noItem           itemKind = iota // a message of another dialect
	itemMessage                      // words
	itemCall                         // function_call
	itemCustom                       // custom_tool_call, whose arguments are free text
	itemOutput                       // the output of the first
	itemCustomOutput                 // the output of the second
	itemOther                        // reasoning, hosted tools, whatever comes: never looked into
)

// itemScan is what one item says of itself.
type itemScan struct {
	kind, role, name, callID, id string
	typed, oddType               bool // "type" is there; it is no string
	hasRole, hasCall             bool
	args                         Call  // "arguments" or "input", where it is a string
	content, output              texts // of both lists, since the type may stand last
}

// texts is a string or a list of parts.
type texts struct {
	list       []Text
	given      bool
	mixed, odd bool
}

// item reads one element of "input".
func (p *parser) item(i int) error {
	if p.reuse(i) {
		return nil
	}
	if p.Peek() != '{' {
		return refuse(p.Data, turn.UnknownShape, p.Pos, "item %d of \"input\" is no object; send {\"type\":…}", i)
	}
	p.Lone, p.Duplicate = -1, -1
	m, it := Message{Span: Span{Start: p.Pos}}, itemScan{}
	err := p.Object(func(key strictjson.Str) error { return p.itemMember(&it, p.Text(key)) })
	if err != nil {
		return err
	}
	m.Span.End = p.Pos
	odd := p.classify(&m, &it)
	switch {
	case p.Duplicate >= 0:
		m.Locked = turn.DuplicateKey
	case p.Lone >= 0:
		m.Locked = turn.LoneSurrogate
	case odd:
		m.Locked = turn.UnknownShape
	}
	p.Duplicate = -1
	if p.doc.Messages == nil {
		p.doc.Messages = make([]Message, 0, 16+len(p.Data)/2048)
	}
	p.doc.Messages = append(p.doc.Messages, m)
	p.doc.seen = append(p.doc.seen, p.seen)
	return nil
}

// itemMember reads one member of an item.
func (p *parser) itemMember(it *itemScan, name []byte) (err error) {
	switch string(name) {
	case "type":
		null, ok := p.Peek() == 'n', false
		it.kind, ok, err = p.stringValue()
		it.typed, it.oddType = !null, !null && !ok
		return err
	case "role":
		it.role, it.hasRole, err = p.stringValue()
		return err
	case "id":
		it.id, _, err = p.stringValue()
		return err
	case "name":
		it.name, _, err = p.stringValue()
		return err
	case "call_id":
		it.callID, it.hasCall, err = p.stringValue()
		return err
	case "arguments", "input":
		if p.Peek() == '"' {
			return p.arguments(&it.args, "/"+string(name))
		}
	case "content":
		return p.words(&it.content, "/content")
	case "output":
		return p.words(&it.output, "/output")
	}
	return p.Strict()
}

// words reads a string or a list of parts that stands at pointer at.
func (p *parser) words(t *texts, at string) error {
	*t = texts{given: true}
	switch p.Peek() {
	case '"':
		str, err := p.String()
		t.list = p.texts.one(Text{Block: at, Span: Span{str.Start, str.End}})
		return err
	case 'n':
		return p.Skip()
	case '[':
		return p.Array(func(j int) error {
			text, ok, more, err := p.textPart(at + "/" + strconv.Itoa(j) + "/text")
			if ok {
				t.list = append(t.list, text)
			}
			t.mixed = t.mixed || !ok || more
			return err
		})
	}
	t.odd = true
	return p.Strict()
}

// classify fills m with what the item is; odd says that it is a message, a call or
// an output that is not whole.
func (p *parser) classify(m *Message, it *itemScan) (odd bool) {
	kind := it.kind
	if !it.typed && it.hasRole {
		kind = "message"
	}
	switch kind {
	case "message":
		m.item, m.Role, m.Name = itemMessage, it.role, it.name
		m.Texts, m.Mixed = it.content.list, it.content.mixed
		return it.content.odd || !itemRole(it.role)
	case "function_call", "custom_tool_call":
		m.item, m.Role = itemCall, "assistant"
		if kind == "custom_tool_call" {
			m.item = itemCustom
		}
		call := it.args
		call.ID, call.Name = it.callID, it.name
		m.Calls = p.calls.one(call)
		return it.callID == "" || it.name == "" || call.Args == (Text{})
	case "function_call_output", "custom_tool_call_output":
		m.item, m.Role, m.CallID = itemOutput, "tool", it.callID
		if kind == "custom_tool_call_output" {
			m.item = itemCustomOutput
		}
		m.Texts, m.Mixed = it.output.list, it.output.mixed
		return it.callID == "" || it.output.odd || !it.output.given
	}
	m.item, m.Role = itemOther, "assistant"
	if !it.typed {
		if it.id != "" && !it.hasCall && !it.content.given {
			p.seen.stateful = "item_reference" // an item of nothing but an id
		}
		m.Role = ""
		return true
	}
	if kind == "item_reference" {
		p.seen.stateful = kind
	}
	if strings.HasSuffix(kind, "_output") || strings.HasSuffix(kind, "_response") {
		m.Role = "tool" // given by the client, as results are
	}
	return it.oddType
}

// itemRole says whether a Responses message may have this role.
func itemRole(role string) bool {
	switch role {
	case "system", "developer", "user", "assistant":
		return true
	}
	return false
}
