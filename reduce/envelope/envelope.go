package envelope

import "token-terminator/reduce/form"

// Field is one string of an envelope that may be shown smaller.
type Field struct {
	Pointer string // RFC 6901 inside the result's JSON, e.g. "/output", "/content/0/text"
	Key     string // the member's key
	Value   string // decoded text
}

// Change gives field number Field (an index of Fields) a new text.
type Change struct {
	Field int
	Text  string
}

// Envelope is an opened result. The zero value has no fields.
type Envelope struct{ fields []Field }

// Open finds the envelope of text.
func Open(text string) (Envelope, bool) { return Envelope{}, false }

// Fields are the envelope's text fields in source order.
func (e Envelope) Fields() []Field { return e.fields }

// Replace returns the whole result with the given fields replaced and nothing hidden.
func (e Envelope) Replace(changes []Change) (string, error) { return "", nil }

// Hide is Replace with room for a marker: a sibling key after field number at.
func (e Envelope) Hide(changes []Change, at int) (form.View, error) { return form.View{}, nil }
