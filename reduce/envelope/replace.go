package envelope

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"token-terminator/reduce/form"
	"token-terminator/reduce/jsonscan"
)

// ErrBadChange says that a change names no field, names one twice, or has a text
// that is no UTF-8.
var ErrBadChange = errors.New("change envelope: bad change")

// Change gives field number Field (an index of Fields) a new text.
type Change struct {
	Field int
	Text  string
}

// Exact says whether field i (an index of Fields) is spelled as Replace spells texts,
// so that its old text, put back, gives the source's bytes.
func (e Envelope) Exact(i int) bool {
	n := &e.nodes[e.at[i]]
	return e.text[n.Start:n.End] == string(jsonscan.AppendString(nil, e.fields[i].Value))
}

// Replace returns the whole result with the given fields replaced and nothing
// hidden. All other bytes are those of the source.
func (e Envelope) Replace(changes []Change) (string, error) {
	head, tail, err := e.splice(changes, -1)
	return string(head) + string(tail), err
}

// Hide is Replace for changes that leave something out: the view has room for the
// marker in a key "[omitted]" directly after field number at. The caller fills
// the counts.
func (e Envelope) Hide(changes []Change, at int) (form.View, error) {
	if at < 0 || at >= len(e.fields) {
		return form.View{}, fmt.Errorf("%w: marker after field %d of %d", ErrBadChange, at, len(e.fields))
	}
	head, tail, err := e.splice(changes, at)
	if err != nil {
		return form.View{}, err
	}
	return form.View{Head: string(head), Tail: string(tail), InJSON: true}, nil
}

// splice copies the source around the new literals. With marker >= 0 the output
// is cut inside the value of the key that follows this field.
func (e Envelope) splice(changes []Change, marker int) (head, tail []byte, err error) {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b Change) int { return a.Field - b.Field })
	out := make([]byte, 0, len(e.text))
	from, next := int32(0), 0
	for f := range e.fields {
		n := &e.nodes[e.at[f]]
		if next < len(changes) && changes[next].Field == f {
			if !utf8.ValidString(changes[next].Text) {
				return nil, nil, fmt.Errorf("%w: field %d is no UTF-8", ErrBadChange, f)
			}
			out = append(out, e.text[from:n.Start]...)
			out = jsonscan.AppendString(out, changes[next].Text)
			from = n.End
			next++
		}
		if f == marker {
			out = append(out, e.text[from:n.End]...)
			out = append(jsonscan.AppendString(append(out, ','), e.freeKey(e.owner[f])), `:"`...)
			from = n.End
			head, out = out, []byte{'"'}
		}
	}
	if next < len(changes) {
		return nil, nil, fmt.Errorf("%w: field %d", ErrBadChange, changes[next].Field)
	}
	return head, append(out, e.text[from:]...), nil
}

// freeKey is "[omitted]", with a number when the object has such a member.
func (e Envelope) freeKey(owner int32) string {
	taken := map[string]bool{}
	for c := owner + 1; c < e.nodes[owner].Next; c = e.nodes[c].Next {
		key, _ := jsonscan.Decode(e.text[e.nodes[c].KeyStart:e.nodes[c].KeyEnd])
		taken[key] = true
	}
	key := omittedKey
	for n := 2; taken[key]; n++ {
		key = omittedKey + " " + strconv.Itoa(n)
	}
	return key
}
