package request

import (
	"strconv"

	"token-terminator/internal/strictjson"
)

// block is one element of a content list while it is read, and, of a tool_result
// block, what is kept of it.
type block struct {
	part     int    // its place in the content list
	id       string // of the call a result answers
	from, to int    // its texts are Texts[from:to] of the message
	mixed    bool   // it holds something that is not text
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
	return p.Strict()
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
			text, ok, err := p.textPart(at + "/" + strconv.Itoa(j) + "/text")
			if ok {
				m.Texts = append(m.Texts, text)
			}
			b.mixed = b.mixed || !ok
			return err
		})
	}
	b.odd = true
	return p.Strict()
}

// textPart reads one element of a list of parts. ok says that it is a text, which
// then stands at pointer at.
func (p *parser) textPart(at string) (t Text, ok bool, err error) {
	if p.Peek() != '{' {
		return t, false, p.Strict()
	}
	kind, isText := "", false
	err = p.Object(func(key strictjson.Str) (err error) {
		switch string(p.Text(key)) {
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
		return p.Strict()
	})
	switch kind {
	case "text", "input_text", "output_text":
		return t, isText, err
	}
	return t, false, err
}
