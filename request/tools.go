package request

import (
	"slices"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// tool reads one element of "tools".
func (p *parser) tool(int) error {
	t := Tool{Span: Span{Start: p.Pos}}
	if p.Peek() != '{' {
		p.doc.Tools = append(p.doc.Tools, Tool{Span: Span{p.Pos, p.Pos}})
		err := p.Skip()
		p.doc.Tools[len(p.doc.Tools)-1].Span.End = p.Pos
		return err
	}
	bare := ""
	err := p.Object(func(key strictjson.Str) (err error) {
		switch string(p.Text(key)) {
		case "function", "custom":
			if p.Peek() == '{' {
				p.seen.chat = true
				t.Name, err = p.nameIn()
				return err
			}
		case "name":
			bare, _, err = p.stringValue()
			return err
		case "input_schema":
			p.seen.anthropic = true
		}
		return p.Skip()
	})
	if t.Name == "" {
		t.Name = bare
	}
	t.Span.End = p.Pos
	p.doc.Tools = append(p.doc.Tools, t)
	return err
}

// nameIn reads an object and returns its "name".
func (p *parser) nameIn() (name string, err error) {
	err = p.Object(func(key strictjson.Str) (err error) {
		if string(p.Text(key)) == "name" {
			name, _, err = p.stringValue()
			return err
		}
		return p.Skip()
	})
	return name, err
}

// toolChoice reads "tool_choice".
func (p *parser) toolChoice() (ToolChoice, error) {
	switch p.Peek() {
	case 'n':
		return ToolChoice{}, p.Skip()
	case '"':
		mode, _, err := p.stringValue()
		if mode != "auto" && mode != "none" && mode != "required" {
			mode = "unknown"
		}
		return ToolChoice{Mode: mode}, err
	case '{':
	default:
		return ToolChoice{Mode: "unknown"}, p.Skip()
	}
	kind, name, bare := "", "", ""
	err := p.Object(func(key strictjson.Str) (err error) {
		switch string(p.Text(key)) {
		case "type":
			kind, _, err = p.stringValue()
			return err
		case "name":
			bare, _, err = p.stringValue()
			return err
		case "function", "custom":
			if p.Peek() == '{' {
				name, err = p.nameIn()
				return err
			}
		}
		return p.Skip()
	})
	if name == "" {
		name = bare
	}
	if name == "" || kind != "function" && kind != "custom" && kind != "tool" {
		return ToolChoice{Mode: "unknown"}, err
	}
	return ToolChoice{Mode: "named", Name: name}, err
}

// Offers says whether the request declares a tool of that name whose schema has
// all these parameters, and its tool_choice lets the model call it: absent, auto,
// required or naming this very tool. A choice we do not know forbids it.
func (d *Doc) Offers(tool string, params ...string) bool {
	switch d.ToolChoice.Mode {
	case "", "auto", "required":
	case "named":
		if d.ToolChoice.Name != tool {
			return false
		}
	default:
		return false
	}
	for _, t := range d.Tools {
		if t.Name == tool && tool != "" && d.hasParams(t, params) {
			return true
		}
	}
	return false
}

// hasParams looks into <tool>.function.parameters.properties, or the same of a
// tool without the function wrapper.
func (d *Doc) hasParams(t Tool, params []string) bool {
	s := strictjson.New(d.Raw[:t.Span.End], MaxDepth)
	s.Pos = t.Span.Start
	var have []string
	var walk func(path string) error
	walk = func(path string) error {
		if s.Peek() != '{' {
			return s.Skip()
		}
		return s.Object(func(key strictjson.Str) error {
			name := string(s.Text(key))
			switch path + "/" + name {
			case "/function", "/parameters", "/function/parameters", "/parameters/properties", "/function/parameters/properties":
				return walk(path + "/" + name)
			}
			if path == "/parameters/properties" || path == "/function/parameters/properties" {
				have = append(have, name)
			}
			return s.Skip()
		})
	}
	if walk("") != nil {
		return false
	}
	for _, want := range params {
		if !slices.Contains(have, want) {
			return false
		}
	}
	return true
}

// WithTool returns a copy of the request with one more element, the JSON object
// tool, at the end of "tools". Without "tools", or with null there, the list is
// made: after the last member, or in the place of null. All other bytes stay.
func WithTool(raw []byte, tool []byte) ([]byte, error) {
	if err := checkTool(tool); err != nil {
		return nil, err
	}
	if err := checkBytes(raw); err != nil {
		return nil, err
	}
	s := strictjson.New(raw, MaxDepth)
	if s.Peek() != '{' {
		return nil, refuse(raw, turn.UnknownShape, 0, "the request is no JSON object, so it has no tools; send an object")
	}
	place := toolPlace{at: s.Pos + 1, end: s.Pos + 1, before: `"tools":[`, after: `]`}
	err := scanOuter(s, func(name string, _ strictjson.Str) error { return place.member(s, name) })
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
