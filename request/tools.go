package request

import (
	"slices"

	"token-terminator/internal/strictjson"
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

// Offer is how a request stands to a tool.
type Offer string

// The offers. Only Offered lets the model call the tool with all its parameters.
const (
	Offered    Offer = "offered"
	Undeclared Offer = "undeclared" // no tool has the name
	Incomplete Offer = "incomplete" // one has the name and lacks a parameter
	Forbidden  Offer = "forbidden"  // tool_choice does not let the model call it
)

// Offers says whether OfferOf is Offered.
func (d *Doc) Offers(tool string, params ...string) bool {
	return d.OfferOf(tool, params...) == Offered
}

// OfferOf says whether the request declares a tool of that name whose schema has
// all these parameters (others besides do no harm), and its tool_choice lets the model
// call it: absent, auto, required, naming this very tool or having it among the allowed
// ones. A choice we do not know forbids it.
func (d *Doc) OfferOf(tool string, params ...string) Offer {
	best := Undeclared
	for _, t := range d.Tools {
		if t.Name != tool || tool == "" {
			continue
		}
		if best = Incomplete; d.hasParams(t, params) {
			best = Offered
			break
		}
	}
	if best == Offered && !d.mayChoose(tool) {
		return Forbidden
	}
	return best
}

// mayChoose says whether tool_choice lets the model call the tool.
func (d *Doc) mayChoose(tool string) bool {
	switch d.ToolChoice.Mode {
	case "", "auto", "required":
		return true
	case "named":
		return d.ToolChoice.Name == tool
	case "allowed":
		return slices.Contains(d.ToolChoice.Names, tool)
	}
	return false
}

// hasParams looks into <tool>.function.parameters.properties, the same of a tool
// without the function wrapper, or <tool>.input_schema.properties.
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
			case "/function", "/parameters", "/function/parameters", "/parameters/properties", "/function/parameters/properties",
				"/input_schema", "/input_schema/properties":
				return walk(path + "/" + name)
			}
			if path == "/parameters/properties" || path == "/function/parameters/properties" || path == "/input_schema/properties" {
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
