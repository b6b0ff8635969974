package structured

import (
	"strconv"
	"strings"

	"token-terminator/reduce/jsonscan"
)

const omittedKey = "[omitted]"

// writer prints what a selection shows, without white space between tokens.
type writer struct {
	t     *tree
	sel   *selection
	folds *folds
	out   []byte
	root  int32 // the node whose last place belongs to the marker, -1 none
}

// node prints a value; depth is bounded by the scanner.
func (w *writer) node(i int32) {
	n := &w.t.nodes[i]
	if note := w.folds.note(i); note != "" {
		w.out = append(append(append(w.out, '"'), note...), '"')
		return
	}
	switch n.Kind {
	case jsonscan.Array:
		w.out = append(w.out, '[')
		w.elements(i)
		w.out = append(w.out, ']')
	case jsonscan.Object:
		w.out = append(w.out, '{')
		w.members(i)
		w.out = append(w.out, '}')
	default:
		w.out = append(w.out, w.t.value(i)...)
	}
}

func (w *writer) comma() {
	switch w.out[len(w.out)-1] {
	case '[', '{', ',', ':':
		return
	}
	w.out = append(w.out, ',')
}

func (w *writer) elements(i int32) {
	t := w.t
	end := t.nodes[i].Next
	gone := 0
	for c := i + 1; c < end; c = t.nodes[c].Next {
		if w.sel.cut[c] {
			gone++
		}
	}
	first, at := true, 0
	for c := i + 1; c < end; c = t.nodes[c].Next {
		if !w.sel.cut[c] {
			w.comma()
			w.node(c)
			at++
			continue
		}
		from := at
		for c < end && w.sel.cut[c] {
			at++
			if t.nodes[c].Next >= end || !w.sel.cut[t.nodes[c].Next] {
				break
			}
			c = t.nodes[c].Next
		}
		w.comma()
		w.out = append(w.out, '"')
		w.gap(from, at, gone, int(t.nodes[i].Count), first)
		w.out = append(w.out, '"')
		first = false
	}
}

// gap prints the note for the records from..to-1; the first note of a container
// also gives the sum.
func (w *writer) gap(from, to, gone, total int, first bool) {
	note := where(from, to)
	switch {
	case !first:
		note = "[left out: " + note + "]"
	case to-from == gone:
		note = "[array summary] " + sum(gone, total) + ": index " + note
	default:
		note = "[array summary] " + sum(gone, total) + ", here index " + note
	}
	w.out = append(w.out, note...)
}

// lineGap is the same note between the lines of a stream, without its brackets.
func lineGap(from, to, gone, total int, first bool) string {
	if !first {
		return "left out: " + where(from, to)
	}
	return sum(gone, total) + ", here index " + where(from, to)
}

func where(from, to int) string {
	if to-1 > from {
		return strconv.Itoa(from) + "-" + strconv.Itoa(to-1)
	}
	return strconv.Itoa(from)
}

func sum(gone, total int) string {
	return strconv.Itoa(gone) + " of " + strconv.Itoa(total) + " records left out"
}

func (w *writer) members(i int32) {
	t := w.t
	gone, total, addresses := 0, int(t.nodes[i].Count), 0
	hidden := w.folds.addresses(i)
	for c := i + 1; c < t.nodes[i].Next; c = t.nodes[c].Next {
		switch {
		case w.sel.cut[c]:
			gone++
			continue
		case hidden[c]:
			addresses++
			continue
		}
		w.comma()
		w.out = append(append(w.out, t.text[t.nodes[c].KeyStart:t.nodes[c].KeyEnd]...), ':')
		w.node(c)
	}
	if gone+addresses == 0 {
		return
	}
	key := omittedKey
	if i == w.root {
		key = "[omitted members]"
	}
	w.comma()
	w.out = append(append(append(w.out, '"'), t.freeKey(i, key)...), `":"`...)
	if gone > 0 {
		w.out = append(w.out, strconv.Itoa(gone)+" of "+strconv.Itoa(total)+" members left out"...)
	}
	if addresses > 0 {
		if gone > 0 {
			w.out = append(w.out, "; "...)
		}
		w.out = append(w.out, strconv.Itoa(addresses)+" addresses that continue one shown here left out"...)
	}
	w.out = append(w.out, '"')
}

// freeKey is key, or key with a number when the object has a member of that name.
func (t *tree) freeKey(object int32, key string) string {
	taken := map[string]bool{}
	for c := object + 1; c < t.nodes[object].Next; c = t.nodes[c].Next {
		t.take(taken, c, key)
	}
	free := key
	for n := 2; taken[free]; n++ {
		free = key + " " + strconv.Itoa(n)
	}
	return free
}

// take notes the name of member c when it starts like key, escaped or not.
func (t *tree) take(taken map[string]bool, c int32, key string) {
	name := t.key(c)
	if strings.IndexByte(name, '\\') >= 0 {
		if decoded, ok := jsonscan.Decode(t.text[t.nodes[c].KeyStart:t.nodes[c].KeyEnd]); ok {
			name = decoded
		}
	}
	if strings.HasPrefix(name, key) {
		taken[name] = true
	}
}
