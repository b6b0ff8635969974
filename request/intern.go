package request

import "strings"

// names are strings that a scan met lately. Roles, names of tools, pointers and ids come
// up again and again, so most of them need no memory of their own. An entry is always
// compared, and one that falls in the place of another only costs its memory.
type names [64]string

// slot is where a text of these bytes would stand. length must not be 0.
func (n *names) slot(length int, first, middle, last byte) *string {
	return &n[(uint(length)+uint(first)+5*uint(middle)+11*uint(last))%uint(len(n))]
}

// of is text as a string that does not share its memory.
func (n *names) of(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	e := n.slot(len(text), text[0], text[len(text)/2], text[len(text)-1])
	if *e != string(text) {
		*e = string(text)
	}
	return *e
}

// pointer is of for a pointer that was put together.
func (n *names) pointer(text string) string {
	e := n.slot(len(text), text[0], text[len(text)/2], text[len(text)-1])
	if *e != text {
		*e = strings.Clone(text)
	}
	return *e
}

// slab hands out slices of one element, cut from larger ones.
type slab[T any] struct{ used []T }

// one is a slice with v alone, which an append copies elsewhere.
func (s *slab[T]) one(v T) []T {
	n := len(s.used)
	if n == cap(s.used) {
		n, s.used = 0, make([]T, 0, min(max(4, 2*n), 128))
	}
	s.used = append(s.used, v)
	return s.used[n : n+1 : n+1]
}
