package request

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// EscapeString appends s as the shortest JSON literal, quotes included: only the
// quote, the backslash and control characters are escaped, as in the canonical
// form. s must be valid UTF-8; other bytes are copied as they are.
func EscapeString(dst []byte, s string) []byte { return strictjson.AppendQuoted(dst, s) }

// splice is one literal of Raw and the text that takes its place.
type splice struct {
	span  Span
	value string
}

// Apply replaces strings of messages in one pass and returns a new request; with
// no edits a copy. All bytes outside the named literals are copied unchanged.
//
// It refuses the whole set, never a part of it: a pointer that names no text of a
// message (ErrNoString; calls and their arguments are never edited), a message
// that is locked, or whose words belong to the system, the developer, a legacy
// function or, outside of a chat, the user (ErrNotEditable), a string whose SHA-256 is not the edit's (ErrChanged),
// two edits of one string (ErrTwice), a value that is no UTF-8 (ErrBadValue).
func (d *Doc) Apply(edits []turn.Edit) ([]byte, error) { return d.apply(edits, nil, 0) }

// apply writes Raw from byte from on behind what is written already. The pieces are
// joined at the end, when the size is known, so that the request is copied once and
// its memory is not cleared before.
func (d *Doc) apply(edits []turn.Edit, written []byte, from int) ([]byte, error) {
	splices := make([]splice, 0, len(edits))
	size := 0
	var scratch []byte
	for _, e := range edits {
		span, err := d.target(e, &scratch)
		if err != nil {
			return nil, fmt.Errorf("edit %.120q: %w", e.Pointer, err)
		}
		splices = append(splices, splice{span, e.Value})
		size += len(e.Value) + len(e.Value)/8 + 2
	}
	slices.SortFunc(splices, func(a, b splice) int { return cmp.Compare(a.span.Start, b.span.Start) })
	pieces := append(make([][]byte, 0, 2*len(splices)+2), written)
	quoted := slices.Grow(scratch[:0], size)
	for i, s := range splices {
		if i > 0 && s.span.Start < splices[i-1].span.End {
			return nil, fmt.Errorf("edit string at byte %d: %w", s.span.Start, ErrTwice)
		}
		start := len(quoted)
		quoted = EscapeString(quoted, s.value) // pieces of a buffer that it outgrows stay valid
		pieces = append(pieces, d.Raw[from:s.span.Start], quoted[start:])
		from = s.span.End
	}
	return bytes.Join(append(pieces, d.Raw[from:]), nil), nil
}

// target finds the literal of an edit and checks that it may be replaced. The
// old text is decoded into scratch.
func (d *Doc) target(e turn.Edit, scratch *[]byte) (Span, error) {
	i, text, err := d.At(e.Pointer)
	if err != nil {
		return Span{}, ErrNoString
	}
	m := &d.Messages[i]
	k, ok := m.text(text.Block)
	if !ok {
		return Span{}, ErrNoString // arguments
	}
	if m.Locked != "" {
		return Span{}, fmt.Errorf("%w: %s", ErrNotEditable, m.Locked)
	}
	if !d.editable(m, k) {
		return Span{}, fmt.Errorf("%w: its role is %s", ErrNotEditable, m.Role)
	}
	*scratch = strictjson.AppendUnquoted((*scratch)[:0], d.Raw[text.Span.Start:text.Span.End])
	if turn.SumBytes(*scratch) != e.Before {
		return Span{}, ErrChanged
	}
	if !utf8.ValidString(e.Value) {
		return Span{}, ErrBadValue
	}
	return text.Span, nil
}

// editable says whether the words of text k may change: those of results and of
// assistant messages and, in a chat, of user messages.
func (d *Doc) editable(m *Message, k int) bool {
	switch m.Role {
	case "assistant", "tool":
		return true
	case "user":
		if d.Dialect == Chat {
			return true
		}
		_, ok := m.resultOf(k)
		return ok
	}
	return false
}
