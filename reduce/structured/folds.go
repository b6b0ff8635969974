package structured

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"token-terminator/reduce/jsonscan"
)

const (
	minSame     = 120  // bytes of keys and scalars from which a repeat is folded
	maxPointer  = 120  // longest pointer shown for a repeat, bytes
	minBlob     = 1200 // bytes of a literal from which an unreadable text is left out
	minTwins    = 3    // addresses an object must lose at least
	maxSiblings = 64   // addresses of one object that are compared
)

// folds are the parts left out inside shown records: repeats of a subtree, long
// texts nobody reads, addresses that continue another one.
type folds struct {
	t      *tree
	sel    *selection
	notes  map[int32]string
	twins  map[int32][]int32 // object -> members left out, ascending
	hidden int
}

func (f *folds) note(i int32) string { return f.notes[i] }

func (f *folds) addresses(object int32) map[int32]bool {
	members := f.twins[object]
	if len(members) == 0 {
		return nil
	}
	set := make(map[int32]bool, len(members))
	for _, m := range members {
		set[m] = true
	}
	return set
}

// pinned says whether an evidence node stands in [from, to).
func (sel *selection) pinned(from, to int32) bool {
	at, _ := slices.BinarySearch(sel.pins, from)
	return at < len(sel.pins) && sel.pins[at] < to
}

// fold looks through everything the selection shows.
func fold(t *tree, sel *selection) *folds {
	f := &folds{t: t, sel: sel, notes: map[int32]string{}, twins: map[int32][]int32{}}
	f.repeats()
	for i := int32(0); int(i) < len(t.nodes); i++ {
		n := &t.nodes[i]
		if sel.cut[i] || f.notes[i] != "" {
			i = n.Next - 1
			continue
		}
		switch n.Kind {
		case jsonscan.Object:
			f.objects(i)
		case jsonscan.String:
			if n.End-n.Start > minBlob && !sel.pinned(i, i+1) && unreadable(t.body(i)) {
				f.notes[i] = "[text of " + strconv.Itoa(utf8.RuneCountInString(t.body(i))) + " characters left out]"
				f.hidden++
			}
		}
	}
	return f
}

// unreadable says whether s looks like an encoded blob: letters, digits and few
// signs, hardly a space.
func unreadable(s string) bool {
	odd := 0
	for i := range len(s) {
		if class[s[i]] == other && s[i] != '+' && s[i] != '/' && s[i] != '=' && s[i] != '-' && s[i] != '_' || s[i] >= 0x80 {
			odd++
		}
	}
	return odd*50 < len(s)
}

// objects leaves out addresses that continue another address of the same object.
func (f *folds) objects(object int32) {
	t := f.t
	var found []int32
	for c := object + 1; c < t.nodes[object].Next && len(found) < maxSiblings; c = t.nodes[c].Next {
		if t.nodes[c].Kind == jsonscan.String && !f.sel.cut[c] && strings.HasPrefix(t.body(c), "http") && strings.Contains(t.body(c), "://") {
			found = append(found, c)
		}
	}
	var lost []int32
	for _, c := range found {
		if f.sel.pinned(c, c+1) {
			continue
		}
		for _, base := range found {
			if continues(t.body(c), t.body(base)) {
				lost = append(lost, c)
				break
			}
		}
	}
	if len(lost) >= minTwins {
		f.twins[object] = lost
		f.hidden += len(lost)
	}
}

// continues says whether address is base and something behind it.
func continues(address, base string) bool {
	if len(address) <= len(base) || !strings.HasPrefix(address, base) {
		return false
	}
	return strings.IndexByte("/?#{.", address[len(base)]) >= 0
}

// repeats replaces a container that is equal, token for token, to one shown before.
func (f *folds) repeats() {
	hashes, weights := f.subtrees()
	first := map[uint64]int32{}
	var places *places
	for i := int32(0); int(i) < len(f.t.nodes); i++ {
		n := &f.t.nodes[i]
		if f.sel.cut[i] {
			i = n.Next - 1
			continue
		}
		if !isContainer(n.Kind) || weights[i] < minSame || f.t.stream && i == 0 {
			continue
		}
		base, ok := first[hashes[i]]
		if !ok {
			first[hashes[i]] = i
			continue
		}
		if f.sel.pinned(i, n.Next) || !f.t.equal(base, i) {
			continue
		}
		if places == nil {
			places = f.t.places()
		}
		if pointer, ok := places.pointer(base); ok {
			f.notes[i] = "[same as " + pointer + "]"
			f.hidden++
			i = n.Next - 1
		}
	}
}

// subtrees hashes what is shown of every container, from the inside out, and
// weighs it: bytes of keys and scalars.
func (f *folds) subtrees() (hashes []uint64, weights []int32) {
	nodes := f.t.nodes
	hashes, weights = make([]uint64, len(nodes)), make([]int32, len(nodes))
	var shown []int32
	for i := int32(0); int(i) < len(nodes); i++ {
		if f.sel.cut[i] {
			i = nodes[i].Next - 1
			continue
		}
		shown = append(shown, i)
	}
	for at := len(shown) - 1; at >= 0; at-- {
		i := shown[at]
		n := &nodes[i]
		if !isContainer(n.Kind) {
			weights[i], hashes[i] = n.End-n.Start, hashText(f.t.value(i))
			continue
		}
		h := uint64(n.Kind) + 7
		for c := i + 1; c < n.Next; c = nodes[c].Next {
			if f.sel.cut[c] {
				continue
			}
			weights[i] += weights[c] + nodes[c].KeyEnd - nodes[c].KeyStart + 2
			h = mix(mix(h, hashText(f.t.key(c))), hashes[c])
		}
		hashes[i] = h
	}
	return hashes, weights
}

// equal compares two containers token for token.
func (t *tree) equal(a, b int32) bool {
	if t.nodes[a].Next-a != t.nodes[b].Next-b {
		return false
	}
	for d := int32(0); d < t.nodes[a].Next-a; d++ {
		x, y := &t.nodes[a+d], &t.nodes[b+d]
		if x.Kind != y.Kind || x.Count != y.Count || d > 0 && t.key(a+d) != t.key(b+d) {
			return false
		}
		if !isContainer(x.Kind) && t.value(a+d) != t.value(b+d) {
			return false
		}
	}
	return true
}

// places knows every node's parent and position.
type places struct {
	t       *tree
	parent  []int32
	ordinal []int32
}

func (t *tree) places() *places {
	p := &places{t: t, parent: make([]int32, len(t.nodes)), ordinal: make([]int32, len(t.nodes))}
	p.parent[0] = -1
	for i := range t.nodes {
		at := int32(0)
		for c := int32(i) + 1; isContainer(t.nodes[i].Kind) && c < t.nodes[i].Next; c = t.nodes[c].Next {
			p.parent[c], p.ordinal[c] = int32(i), at
			at++
		}
	}
	return p
}

// pointer is the RFC 6901 pointer of a node, written as the inside of a JSON
// string; in a stream its first part is the document's index. ok is false for one
// longer than maxPointer.
func (p *places) pointer(i int32) (pointer string, ok bool) {
	parts, size := []string{}, 0
	for ; i > 0; i = p.parent[i] {
		part := strconv.Itoa(int(p.ordinal[i]))
		if p.t.nodes[i].HasKey() {
			if part = p.t.key(i); len(part) > maxPointer {
				return "", false
			}
			part = strings.ReplaceAll(strings.ReplaceAll(part, "~", "~0"), "/", "~1")
		}
		if size += 1 + len(part); size > maxPointer {
			return "", false
		}
		parts = append(parts, "/"+part)
	}
	slices.Reverse(parts)
	return strings.Join(parts, ""), true
}
