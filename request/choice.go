package request

import "token-terminator/internal/strictjson"

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
	var allowed []string
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
		case "tools":
			return p.namesIn(&allowed)
		case "allowed_tools":
			if p.Peek() == '{' {
				return p.Object(func(key strictjson.Str) error {
					if string(p.Text(key)) == "tools" {
						return p.namesIn(&allowed)
					}
					return p.Skip()
				})
			}
		}
		return p.Skip()
	})
	if name == "" {
		name = bare
	}
	switch {
	case name != "" && (kind == "function" || kind == "custom" || kind == "tool"):
		return ToolChoice{Mode: "named", Name: name}, err
	case kind == "allowed_tools":
		return ToolChoice{Mode: "allowed", Names: allowed}, err
	case kind == "auto" || kind == "any" || kind == "none":
		return ToolChoice{Mode: "unknown", kind: kind}, err // the Messages API spells it so, no other
	}
	return ToolChoice{Mode: "unknown"}, err
}

// namesIn reads a list of tools, wrapped or bare, and collects their names.
func (p *parser) namesIn(names *[]string) error {
	if p.Peek() != '[' {
		return p.Skip()
	}
	return p.Array(func(int) error {
		if p.Peek() != '{' {
			return p.Skip()
		}
		return p.Object(func(key strictjson.Str) error {
			switch string(p.Text(key)) {
			case "name":
				name, _, err := p.stringValue()
				*names = append(*names, name)
				return err
			case "function", "custom":
				if p.Peek() == '{' {
					name, err := p.nameIn()
					*names = append(*names, name)
					return err
				}
			}
			return p.Skip()
		})
	})
}

// in is the choice as the dialect means it. The Messages API knows objects only.
func (c ToolChoice) in(dialect Dialect) ToolChoice {
	mode := c.Mode
	if dialect == Anthropic {
		switch {
		case c.kind == "any":
			mode = "required"
		case c.kind != "":
			mode = c.kind
		case mode != "" && mode != "named":
			mode = "unknown"
		}
	}
	return ToolChoice{Mode: mode, Name: c.Name, Names: c.Names}
}
