package request

import (
	"bytes"
	"slices"

	"token-terminator/internal/strictjson"
)

// Canonical writes one JSON value in the canonical form: keys sorted by code
// point, no white space outside strings, strings in their shortest spelling
// (non-ASCII and U+2028 literal, nothing escaped but the quote, the backslash and
// control characters), numbers as they were spelled, escapes of lone surrogates
// as they were spelled. Repeated keys are kept in their order.
//
// The result may be raw itself when raw is canonical already: it must not be
// written to. Every error is an *Error.
func Canonical(raw []byte) ([]byte, error) {
	if err := checkBytes(raw); err != nil {
		return nil, err
	}
	w := writer{Scanner: strictjson.New(raw, MaxDepth)}
	out, err := w.whole()
	if err != nil {
		return nil, scanError(raw, err)
	}
	return out, nil
}

// writer emits the canonical form of what it scans. As long as the output equals
// the input nothing is copied: same is true and the output is Data[base:Pos].
type writer struct {
	*strictjson.Scanner
	base    int
	same    bool
	dst     []byte // the output, once it is not the input
	buffer  []byte // memory for dst, kept from one text to the next
	scratch []byte
	members []member // of all open objects
	track   string   // note where the elements of the root's list of this name stand, "" of none
	items   []Span   // these elements, in the output
}

// member is one key with its value in the output.
type member struct {
	key        []byte // decoded
	start, end int    // literal key, colon and value
}

// whole writes the text in hand, which holds one value and nothing else. The
// result is a part of Data or of buffer.
func (w *writer) whole() ([]byte, error) {
	w.Space()
	w.base, w.same, w.dst = w.Pos, true, nil
	if err := w.root(); err != nil {
		return nil, err
	}
	if w.same {
		w.dst = w.Data[w.base:w.Pos:w.Pos]
	} else {
		w.buffer = w.dst
	}
	return w.dst, w.End()
}

func (w *writer) root() error {
	if w.Peek() == '{' {
		return w.object(w.track != "")
	}
	return w.value()
}

// place is where the input offset, the next one to write, lands in the output.
func (w *writer) place(offset int) int {
	if w.same {
		return offset - w.base
	}
	return len(w.dst)
}

// differ says that the output is the input up to offset and leaves it there.
func (w *writer) differ(offset int) {
	if w.same {
		w.same = false
		w.buffer = slices.Grow(w.buffer[:0], len(w.Data)-w.base)
		w.dst = append(w.buffer, w.Data[w.base:offset]...)
	}
}

func (w *writer) put(c byte) {
	if !w.same {
		w.dst = append(w.dst, c)
	}
}

func (w *writer) value() error {
	switch w.Peek() {
	case '{':
		return w.object(false)
	case '[':
		return w.list(false)
	case '"':
		str, err := w.String()
		if err == nil {
			w.literal(str)
		}
		return err
	}
	start := w.Pos
	err := w.Skip()
	if err == nil && !w.same {
		w.dst = append(w.dst, w.Data[start:w.Pos]...)
	}
	return err
}

func (w *writer) literal(str strictjson.Str) {
	if !str.Shortest {
		w.differ(str.Start)
	}
	if !w.same {
		w.dst = w.AppendShortest(w.dst, str)
	}
}

// separate writes what stands between two elements, the first of which starts
// behind open: nothing or a comma. before is where the last token ended, next
// where the coming one starts.
func (w *writer) separate(first bool, before, next int) {
	if first {
		if next != before {
			w.differ(before)
		}
		return
	}
	if next != before+1 {
		w.differ(before)
	}
	w.put(',')
}

// finish writes the end of a container.
func (w *writer) finish(before int, c byte) {
	if w.Pos-1 != before {
		w.differ(before)
	}
	w.put(c)
}

func (w *writer) object(root bool) error {
	before, mine := w.Pos+1, len(w.members)
	w.put('{')
	listAt := -1
	err := w.Object(func(key strictjson.Str) error {
		w.separate(len(w.members) == mine, before, key.Start)
		m := member{key: w.Text(key), start: w.place(key.Start)}
		w.literal(key)
		if w.Pos != key.End+1 {
			w.differ(key.End)
		}
		w.put(':')
		at := len(w.members)
		w.members = append(w.members, m)
		if root && string(m.key) == w.track && w.Peek() == '[' {
			listAt = at
			if err := w.list(true); err != nil {
				return err
			}
		} else if err := w.value(); err != nil {
			return err
		}
		before = w.Pos
		w.members[at].end = w.place(w.Pos)
		return nil
	})
	if err != nil {
		return err
	}
	w.finish(before, '}')
	moved := w.sort(w.members[mine:], listAt-mine)
	for i := range w.items {
		if root {
			w.items[i].Start += moved
			w.items[i].End += moved
		}
	}
	w.members = w.members[:mine]
	return nil
}

func (w *writer) list(items bool) error {
	before := w.Pos + 1
	w.put('[')
	err := w.Array(func(i int) error {
		w.separate(i == 0, before, w.Pos)
		start := w.place(w.Pos)
		if err := w.value(); err != nil {
			return err
		}
		before = w.Pos
		if items {
			w.items = append(w.items, Span{start, w.place(w.Pos)})
		}
		return nil
	})
	if err == nil {
		w.finish(before, ']')
	}
	return err
}

// sort puts the members just written in the order of their keys and returns by
// how many bytes member watch moved.
func (w *writer) sort(members []member, watch int) int {
	if len(members) < 2 {
		return 0
	}
	byKey := func(a, b member) int { return bytes.Compare(a.key, b.key) }
	if slices.IsSortedFunc(members, byKey) {
		return 0
	}
	w.differ(w.Pos)
	start, end := members[0].start, members[len(members)-1].end
	watched := -1
	if watch >= 0 {
		watched = members[watch].start
	}
	slices.SortStableFunc(members, byKey)
	w.scratch = append(w.scratch[:0], w.dst[start:end]...)
	at, moved := start, 0
	for i, m := range members {
		if i > 0 {
			w.dst[at] = ','
			at++
		}
		if m.start == watched {
			moved = at - m.start
		}
		at += copy(w.dst[at:], w.scratch[m.start-start:m.end-start])
	}
	return moved
}
