package request

import (
	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// ToolIn spells a declaration of a chat ({"type":"function","function":{"name",
// "description","parameters",…}}) as the dialect does: flat for Responses; name,
// description and input_schema for the Messages API. Any other object comes back as
// it is.
func ToolIn(dialect Dialect, tool []byte) ([]byte, error) {
	if err := checkTool(tool); err != nil {
		return nil, err
	}
	function, err := wrapped(tool)
	if err != nil {
		return nil, scanError(tool, err)
	}
	if function == nil || dialect != Responses && dialect != Anthropic {
		return tool, nil
	}
	out := []byte(`{`)
	if dialect == Responses {
		out = append(out, `"type":"function"`...)
	}
	s := strictjson.New(function, MaxDepth)
	err = s.Object(func(key strictjson.Str) error {
		name, start := string(s.Text(key)), s.Pos
		if err := s.Skip(); err != nil {
			return err
		}
		if dialect == Anthropic {
			switch name {
			case "parameters":
				name = "input_schema"
			case "name", "description":
			default:
				return nil // strict and others, which this API need not know
			}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(EscapeString(out, name), ':')
		out = append(out, function[start:s.Pos]...)
		return nil
	})
	return append(out, '}'), err
}

// wrapped is the object at "function" of a declaration, nil when there is none.
func wrapped(tool []byte) (function []byte, err error) {
	s := strictjson.New(tool, MaxDepth)
	err = s.Object(func(key strictjson.Str) error {
		named := string(s.Text(key)) == "function" && s.Peek() == '{'
		start := s.Pos
		err := s.Skip()
		if named {
			function = tool[start:s.Pos]
		}
		return err
	})
	return function, err
}

// WithTool returns a copy of the request with one more element, the JSON object
// tool, at the end of "tools"; a declaration of a chat is spelled as the dialect of
// the request does (ToolIn). Without "tools", or with null there, the list is made:
// after the last member, or in the place of null. All other bytes stay.
//
// A request that shows nothing of its dialect counts as a chat. A caller that knows
// better spells the declaration itself.
func WithTool(raw []byte, tool []byte) ([]byte, error) {
	if err := checkTool(tool); err != nil {
		return nil, err
	}
	if err := checkBytes(raw); err != nil {
		return nil, err
	}
	if doc, _ := Parse(raw); doc != nil {
		var err error
		if tool, err = ToolIn(doc.Dialect, tool); err != nil {
			return nil, err
		}
	}
	s := strictjson.New(raw, MaxDepth)
	if s.Peek() != '{' {
		return nil, refuse(raw, turn.UnknownShape, 0, "the request is no JSON object, so it has no tools; send an object")
	}
	place := toolPlace{at: s.Pos + 1, end: s.Pos + 1, before: `"tools":[`, after: `]`}
	err := scanOuter(s, func(name []byte) error { return place.member(s, string(name)) })
	if err != nil {
		return nil, scanError(raw, err)
	}
	size := len(raw) + len(place.before) + len(tool) + len(place.after)
	if size > MaxBytes {
		return nil, refuse(raw, turn.TooLarge, place.at, "%d bytes with the tool, at most %d are read; send a shorter history", size, MaxBytes)
	}
	out := make([]byte, 0, size)
	out = append(out, raw[:place.at]...)
	out = append(out, place.before...)
	out = append(out, tool...)
	out = append(out, place.after...)
	return append(out, raw[place.end:]...), nil
}

func checkTool(tool []byte) error {
	s := strictjson.New(tool, MaxDepth-2)
	if s.Peek() != '{' {
		return refuse(tool, turn.UnknownShape, 0, "the tool declaration is no JSON object")
	}
	if err := scanWhole(s); err != nil {
		return scanError(tool, err)
	}
	return nil
}

// toolPlace is where the new declaration goes: raw[at:end] is replaced by
// before + tool + after.
type toolPlace struct {
	at, end       int
	before, after string
	found         bool
}

func (t *toolPlace) member(s *strictjson.Scanner, name string) error {
	start := s.Pos
	if name != "tools" {
		err := s.Skip()
		if !t.found {
			*t = toolPlace{at: s.Pos, end: s.Pos, before: `,"tools":[`, after: `]`}
		}
		return err
	}
	switch s.Peek() {
	case 'n':
		err := s.Skip()
		*t = toolPlace{at: start, end: s.Pos, before: "[", after: "]", found: true}
		return err
	case '[':
	default:
		return refuse(s.Data, turn.UnknownShape, start, "\"tools\" is no list; send a list of tools")
	}
	*t = toolPlace{at: start + 1, end: start + 1, found: true}
	return s.Array(func(int) error {
		err := s.Skip()
		*t = toolPlace{at: s.Pos, end: s.Pos, before: ",", found: true}
		return err
	})
}
