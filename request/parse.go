package request

import (
	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// Parse finds the spans of a request. It keeps raw and does not copy it.
//
// Every error is an *Error. For Responses requests whose input is one string
// (DialectPassed) and for stateful requests (StatefulRequest) the Doc is not nil: it
// has Raw, Dialect, Model, Tools and no messages. For all others it is nil.
func Parse(raw []byte) (*Doc, error) { return ParseAfter(raw, nil) }

// ParseAfter is Parse for a request that may begin like an earlier one: the messages
// both have in common are not scanned again. The result is the same, whatever past is.
func ParseAfter(raw []byte, past *Past) (*Doc, error) {
	if err := checkBytes(raw); err != nil {
		return nil, err
	}
	p := parser{Scanner: strictjson.New(raw, MaxDepth), doc: &Doc{Raw: raw, past: past}, past: past, common: past.common(raw)}
	if c := p.Peek(); c != '{' {
		if err := scanWhole(p.Scanner); err != nil {
			return nil, scanError(raw, err)
		}
		return nil, refuse(raw, turn.UnknownShape, 0, "the request is JSON but no object; send {\"model\":…,\"messages\":[…]}")
	}
	if err := scanOuter(p.Scanner, p.member); err != nil {
		return nil, scanError(raw, err)
	}
	return p.finish()
}

func scanWhole(s *strictjson.Scanner) error {
	if err := s.Skip(); err != nil {
		return err
	}
	return s.End()
}

// scanOuter reads a whole request object and refuses a repeated key.
func scanOuter(s *strictjson.Scanner, member func(name []byte) error) error {
	s.Duplicate = -1
	err := s.Object(func(key strictjson.Str) error {
		if s.Duplicate >= 0 {
			return refuse(s.Data, turn.DuplicateKey, s.Duplicate,
				"the key %.60q stands twice at the top level; send each key once", s.Text(key))
		}
		err := member(s.Text(key))
		s.Duplicate = -1
		return err
	})
	if err != nil {
		return err
	}
	return s.End()
}

// parser is one scan in progress.
type parser struct {
	*strictjson.Scanner
	doc  *Doc
	seen evidence
	args *strictjson.Scanner // checks call arguments
	text []byte              // decoded call arguments

	names names
	texts slab[Text]
	calls slab[Call]

	past   *Past
	common int // leading bytes that are those of past
}

// member reads one top-level member.
func (p *parser) member(name []byte) (err error) {
	start, first := p.Pos, p.Peek()
	present := first != 'n' // anything but null
	switch string(name) {
	case "model":
		p.doc.Model, _, err = p.stringValue()
	case "messages":
		p.seen.messages = present
		if first != '[' {
			p.seen.oddMessages, p.seen.offset = present, start
			err = p.Skip()
			break
		}
		err = p.Array(p.message)
		p.doc.list = Span{start, p.Pos}
	case "input":
		p.seen.input, p.seen.inputText = present, first == '"'
		if first != '[' {
			if p.seen.oddInput = present && first != '"'; p.seen.oddInput {
				p.seen.offset = start
			}
			err = p.Skip()
			break
		}
		err = p.Array(p.item)
		p.doc.list = Span{start, p.Pos}
	case "tools":
		if first != '[' {
			err = p.Skip()
			break
		}
		err = p.Array(p.tool)
		p.doc.tools = Span{start, p.Pos}
	case "tool_choice":
		p.doc.ToolChoice, err = p.toolChoice()
	default:
		p.seen.topLevel(string(name), first)
		err = p.Skip()
	}
	return err
}

// finish decides on the dialect and closes the Doc.
func (p *parser) finish() (*Doc, error) {
	d := p.doc
	reason, detail := p.seen.judge(d)
	if d.reused > 0 && d.past.dialect != d.Dialect {
		return Parse(d.Raw) // what stands behind the messages makes them another dialect's
	}
	switch reason {
	case "":
		d.ToolChoice = d.ToolChoice.in(d.Dialect)
		d.pairUp()
		return d, nil
	case turn.DialectPassed, turn.StatefulRequest:
		d.Messages = nil
		return d, refuse(d.Raw, reason, 0, "%s", detail)
	}
	return nil, refuse(d.Raw, reason, p.seen.offset, "%s", detail)
}

// stringValue reads any value and returns its text when it is a string.
func (p *parser) stringValue() (string, bool, error) {
	if p.Peek() != '"' {
		return "", false, p.Strict()
	}
	str, err := p.String()
	if err != nil {
		return "", false, err
	}
	return p.names.of(p.Text(str)), true, nil
}
