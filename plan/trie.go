package plan

import (
	"math/bits"
	"slices"

	"token-terminator/turn"
)

// find gives the index of a digit's slot, or where it would stand.
func (b *branch) find(d uint) (index int, ok bool) {
	below := b.used & (1<<d - 1)
	return bits.OnesCount16(below), b.used&(1<<d) != 0
}

// put gives a branch that holds leaf as well; b is not written. added is false
// when the leaf took the place of one with the same hash. Recursion ends after
// digits steps, since two different hashes differ in one of their digits.
func (b *branch) put(leaf *turn.Node, depth int) (out *branch, added bool) {
	if b == nil {
		b = &branch{}
	}
	d := digit(leaf.Hash, depth)
	i, ok := b.find(d)
	if !ok {
		return &branch{used: b.used | 1<<d, slots: slices.Insert(slices.Clone(b.slots), i, slot{leaf: leaf})}, true
	}
	next := slot{}
	switch old := b.slots[i]; {
	case old.down != nil:
		next.down, added = old.down.put(leaf, depth+1)
	case old.leaf.Hash == leaf.Hash:
		next.leaf = leaf
	default:
		deeper, _ := (*branch)(nil).put(old.leaf, depth+1)
		next.down, added = deeper.put(leaf, depth+1)
	}
	slots := slices.Clone(b.slots)
	slots[i] = next
	return &branch{used: b.used, slots: slots}, added
}
