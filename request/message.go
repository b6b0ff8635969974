package request

import (
	"slices"
	"strconv"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// message reads one element of "messages".
func (p *parser) message(i int) error {
	if p.reuse(i) {
		return nil
	}
	if p.Peek() != '{' {
		return refuse(p.Data, turn.UnknownShape, p.Pos, "message %d is no object; send {\"role\":…,\"content\":…}", i)
	}
	p.Lone, p.Duplicate = -1, -1
	m := Message{Span: Span{Start: p.Pos}}
	odd := false // a shape we do not know
	err := p.Object(func(key strictjson.Str) error {
		known, err := p.messageMember(&m, p.Text(key))
		odd = odd || !known
		return err
	})
	if err != nil {
		return err
	}
	m.Span.End = p.Pos
	m.Locked = p.lock(&m, odd)
	p.Duplicate = -1
	p.seen.role(m.Role)
	if p.doc.Messages == nil {
		p.doc.Messages = make([]Message, 0, 16+len(p.Data)/2048)
		p.doc.seen = make([]evidence, 0, cap(p.doc.Messages))
	}
	p.doc.Messages = append(p.doc.Messages, m)
	p.doc.seen = append(p.doc.seen, p.seen)
	return nil
}

// lock says why no string of m may be edited, "" when they may.
func (p *parser) lock(m *Message, odd bool) turn.Reason {
	switch {
	case p.Duplicate >= 0:
		return turn.DuplicateKey
	case p.Lone >= 0:
		return turn.LoneSurrogate
	case odd, !knownRole(m.Role), m.Role == "function":
		return turn.UnknownShape
	}
	for _, c := range m.Calls {
		if c.Legacy {
			return turn.UnknownShape
		}
	}
	return ""
}

// knownRole says whether chat.completions has this role.
func knownRole(role string) bool {
	switch role {
	case "system", "developer", "user", "assistant", "tool", "function":
		return true
	}
	return false
}

// messageMember reads one member of a message; known is false for a value of a
// type that this member does not have.
func (p *parser) messageMember(m *Message, name []byte) (known bool, err error) {
	switch string(name) {
	case "role":
		m.Role, known, err = p.stringValue()
		return known, err
	case "name":
		m.Name, _, err = p.stringValue()
		return true, err
	case "content":
		return p.content(m)
	case "tool_call_id":
		null := p.Peek() == 'n'
		m.CallID, known, err = p.stringValue()
		return known || null, err
	case "tool_calls":
		return p.toolCalls(m)
	case "function_call":
		return p.legacyCall(m)
	}
	return true, p.Strict()
}

// content reads a message's content: a string, null or a list of parts.
func (p *parser) content(m *Message) (known bool, err error) {
	m.Texts, m.Mixed, m.results = nil, false, nil
	switch p.Peek() {
	case '"':
		str, err := p.String()
		m.Texts = p.texts.one(Text{Block: "/content", Span: Span{str.Start, str.End}})
		return true, err
	case 'n':
		return true, p.Skip()
	case '[':
		known = true
		err = p.Array(func(i int) error {
			ok, err := p.part(m, i)
			known = known && ok
			return err
		})
		return known, err
	}
	return false, p.Strict()
}

// toolCalls reads "tool_calls".
func (p *parser) toolCalls(m *Message) (known bool, err error) {
	switch p.Peek() {
	case 'n':
		return true, p.Skip()
	case '[':
	default:
		return false, p.Strict()
	}
	known = true
	m.Calls = slices.DeleteFunc(m.Calls, func(c Call) bool { return !c.Legacy }) // of a repeated key
	err = p.Array(func(i int) error {
		c, ok, err := p.call("/tool_calls/" + strconv.Itoa(i))
		known = known && ok
		if m.Calls == nil {
			m.Calls = p.calls.one(c)
		} else {
			m.Calls = append(m.Calls, c)
		}
		return err
	})
	p.seen.chat = p.seen.chat || len(m.Calls) > 0
	return known, err
}

// call reads one element of "tool_calls" that stands at pointer at.
func (p *parser) call(at string) (c Call, known bool, err error) {
	if p.Peek() != '{' {
		return c, false, p.Strict()
	}
	hasID, hasBody := false, false
	err = p.Object(func(key strictjson.Str) (err error) {
		switch name := string(p.Text(key)); name {
		case "id":
			c.ID, hasID, err = p.stringValue()
			return err
		case "function", "custom":
			hasBody, err = p.callBody(&c, at+"/"+name)
			return err
		}
		return p.Strict()
	})
	return c, hasID && hasBody, err
}

// callBody reads the function object of a call, or the custom one.
func (p *parser) callBody(c *Call, at string) (known bool, err error) {
	if p.Peek() != '{' {
		return false, p.Strict()
	}
	named, given := false, false
	err = p.Object(func(key strictjson.Str) (err error) {
		switch name := string(p.Text(key)); name {
		case "name":
			c.Name, named, err = p.stringValue()
			return err
		case "arguments", "input":
			if given = p.Peek() == '"'; given {
				return p.arguments(c, at+"/"+name)
			}
		}
		return p.Strict()
	})
	return named && given, err
}

// arguments reads a call's argument string and notes whether it is JSON.
func (p *parser) arguments(c *Call, block string) error {
	str, err := p.String()
	if err != nil {
		return err
	}
	c.Args = Text{Block: p.names.pointer(block), Span: Span{str.Start, str.End}}
	text := p.Data[str.Start+1 : str.End-1]
	if str.Escaped {
		p.text = strictjson.AppendUnquoted(p.text[:0], p.Data[str.Start:str.End])
		text = p.text
	}
	if p.args == nil {
		p.args = strictjson.New(nil, MaxDepth)
	}
	p.args.Reset(text)
	c.Valid = !str.Lone && scanWhole(p.args) == nil
	return nil
}

// legacyCall reads "function_call".
func (p *parser) legacyCall(m *Message) (known bool, err error) {
	if p.Peek() == 'n' {
		return true, p.Skip()
	}
	c := Call{Legacy: true}
	known, err = p.callBody(&c, "/function_call")
	m.Calls = append(m.Calls, c)
	p.seen.chat = true
	return known, err
}
