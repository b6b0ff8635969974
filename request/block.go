package request

import (
	"bytes"
	"strconv"

	"token-terminator/internal/strictjson"
)

// block is one element of a content list while it is read, and, of a tool_result
// block, what is kept of it.
type block struct {
	part     int    // its place in the content list
	id       string // of the call a result answers
	from, to int    // its texts are Texts[from:to] of the message
	mixed    bool   // it holds something that is not text, or says more of a text
	caller   calling
}

// partScan is what one element of a content list says of itself.
type partScan struct {
	kind             string
	text             strictjson.Str
	isText           bool
	id, name, answer string // "id", "name", "tool_use_id"
	input            Span   // of an object
	mixed, odd       bool   // of its own content: parts that are not text; a type content does not have
	more             bool   // it has members that may speak of its text
}

// part reads one element of a content list. known is false for a call or a result
// that is not whole.
func (p *parser) part(m *Message, i int) (known bool, err error) {
	if p.Peek() != '{' {
		m.Mixed = true
		return true, p.Strict()
	}
	from, b := len(m.Texts), partScan{}
	err = p.Object(func(key strictjson.Str) error { return p.partMember(m, &b, i, p.Text(key)) })
	if err != nil {
		return true, err
	}
	p.seen.part(b.kind)
	if b.kind != "tool_result" {
		m.Texts = m.Texts[:from]
	}
	if b.kind == "text" && b.isText {
		m.Texts = append(m.Texts, Text{Block: p.names.pointer("/content/" + strconv.Itoa(i) + "/text"), Span: Span{b.text.Start, b.text.End}})
		m.Mixed = m.Mixed || b.more
		return true, nil
	}
	m.Mixed = true
	switch b.kind {
	case "tool_use":
		call := Call{ID: b.id, Name: b.name}
		if whole := b.input != (Span{}); whole {
			call.Args, call.Valid = Text{Block: p.names.pointer("/content/" + strconv.Itoa(i) + "/input"), Span: b.input}, true
		}
		m.Calls = append(m.Calls, call)
		return b.id != "" && b.name != "" && call.Valid, nil
	case "tool_result":
		m.results = append(m.results, block{part: i, id: b.answer, from: from, to: len(m.Texts), mixed: b.mixed, caller: calling{message: -1}})
		return b.answer != "" && !b.odd, nil
	}
	return true, nil
}

// partMember reads one member of a part.
func (p *parser) partMember(m *Message, b *partScan, i int, name []byte) (err error) {
	switch string(name) {
	case "type":
		b.kind, _, err = p.stringValue()
		return err
	case "text":
		if b.isText = p.Peek() == '"'; b.isText {
			b.text, err = p.String()
			return err
		}
	case "id":
		b.id, _, err = p.stringValue()
		return err
	case "name":
		b.name, _, err = p.stringValue()
		return err
	case "tool_use_id":
		b.answer, _, err = p.stringValue()
		return err
	case "input":
		if start := p.Pos; p.Peek() == '{' {
			err = p.Strict()
			b.input = Span{start, p.Pos}
			return err
		}
	case "content":
		return p.partContent(m, b, "/content/"+strconv.Itoa(i)+"/content")
	}
	more, err := p.more(name)
	b.more = b.more || more
	return err
}

// more reads a member of a part that is no text of it. It says whether the member may
// speak of the text, as citations do, which give places in it: such a text must not change.
// Cache marks and members that are empty say nothing.
func (p *parser) more(name []byte) (bool, error) {
	mark := isMark(string(name))
	p.Space()
	start := p.Pos
	if err := p.Strict(); err != nil || mark {
		return false, err
	}
	value := p.Data[start:p.Pos]
	switch value[0] {
	case 'n', 'f':
		return false, nil
	case '[', '{', '"':
		return len(bytes.TrimSpace(value[1:len(value)-1])) > 0, nil
	}
	return true, nil
}

// partContent reads the content of a result, which stands at pointer at.
func (p *parser) partContent(m *Message, b *partScan, at string) error {
	switch p.Peek() {
	case '"':
		str, err := p.String()
		m.Texts = append(m.Texts, Text{Block: p.names.pointer(at), Span: Span{str.Start, str.End}})
		return err
	case 'n':
		return p.Skip()
	case '[':
		return p.Array(func(j int) error {
			text, ok, more, err := p.textPart(at + "/" + strconv.Itoa(j) + "/text")
			if ok {
				m.Texts = append(m.Texts, text)
			}
			b.mixed = b.mixed || !ok || more
			return err
		})
	}
	b.odd = true
	return p.Strict()
}

// textPart reads one element of a list of parts. ok says that it is a text, which
// then stands at pointer at; more that it has members which may speak of it.
func (p *parser) textPart(at string) (t Text, ok, more bool, err error) {
	if p.Peek() != '{' {
		return t, false, false, p.Strict()
	}
	kind, isText := "", false
	err = p.Object(func(key strictjson.Str) (err error) {
		name := p.Text(key)
		switch string(name) {
		case "type":
			kind, _, err = p.stringValue()
			return err
		case "text":
			if isText = p.Peek() == '"'; isText {
				str, err := p.String()
				t = Text{Block: p.names.pointer(at), Span: Span{str.Start, str.End}}
				return err
			}
		}
		told, err := p.more(name)
		more = more || told
		return err
	})
	switch kind {
	case "text", "input_text", "output_text":
		return t, isText, more, err
	}
	return t, false, more, err
}
