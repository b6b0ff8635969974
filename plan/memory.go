package plan

import (
	"slices"

	"token-terminator/turn"
)

// Memory is the form memory of a session chain: what was decided for each message
// when it was first sent, keyed by chain hash. Forks of a session share their
// common part, because a chain hash names a message together with everything
// before it. A Memory is immutable and safe for concurrent use; the nil Memory is
// empty and ready for use.
//
// It is a persistent trie over the hash's 4-bit digits: With copies only the path
// to what it adds (about log16 of the size), so that a fork of a long session
// costs as much as an extension of it.
type Memory struct {
	root *branch
	size int
}

// branch is an inner node; bit d of used says that digit d has a slot. Slots stand
// in digit order. A branch is never written after it was linked.
type branch struct {
	used  uint16
	slots []slot
}

// slot is either a leaf or a deeper branch.
type slot struct {
	leaf *turn.Node
	down *branch
}

// digits is how many 4-bit digits a hash has: the depth bound of the trie.
const digits = 2 * len(turn.Digest{})

// Len is how many messages are remembered.
func (m *Memory) Len() int {
	if m == nil {
		return 0
	}
	return m.size
}

// Lookup gives the node of a chain hash. The node's slices belong to the memory
// and must not be written.
func (m *Memory) Lookup(hash turn.Digest) (turn.Node, bool) {
	if m == nil {
		return turn.Node{}, false
	}
	at := m.root
	for depth := 0; at != nil && depth < digits; depth++ {
		i, ok := at.find(digit(hash, depth))
		if !ok {
			return turn.Node{}, false
		}
		s := at.slots[i]
		if s.leaf != nil {
			if s.leaf.Hash != hash {
				return turn.Node{}, false
			}
			return *s.leaf, true
		}
		at = s.down
	}
	return turn.Node{}, false
}

// With gives a memory that also holds nodes; a node whose hash is already known
// replaces the old one, a later node an earlier one. m itself stays as it was. The
// nodes' decisions are copied, so the caller may go on using its slices.
func (m *Memory) With(nodes []turn.Node) *Memory {
	next := &Memory{}
	if m != nil {
		*next = *m
	}
	for _, n := range nodes {
		leaf := cloneNode(n)
		var added bool
		next.root, added = next.root.put(leaf, 0)
		if added {
			next.size++
		}
	}
	return next
}

// LongestPrefix is how many leading hashes of a chain are remembered without a
// hole: 0 for a new session, len(chain) for a request sent before.
func (m *Memory) LongestPrefix(chain []turn.Digest) int {
	for i, hash := range chain {
		if _, ok := m.Lookup(hash); !ok {
			return i
		}
	}
	return len(chain)
}

// Path gives the remembered nodes from the first message to hash, following
// parents; ok is false when a parent on the way is not remembered.
func (m *Memory) Path(hash turn.Digest) (path []turn.Node, ok bool) {
	for steps := 0; steps <= m.Len(); steps++ {
		n, known := m.Lookup(hash)
		if !known {
			return nil, false
		}
		path = append(path, n)
		if n.Parent.IsZero() {
			slices.Reverse(path)
			return path, true
		}
		hash = n.Parent
	}
	return nil, false
}

func cloneNode(n turn.Node) *turn.Node {
	n.Decisions = slices.Clone(n.Decisions)
	for i := range n.Decisions {
		n.Decisions[i].Bases = slices.Clone(n.Decisions[i].Bases)
	}
	return &n
}

func digit(hash turn.Digest, depth int) uint {
	b := hash[depth/2]
	if depth%2 == 0 {
		return uint(b >> 4)
	}
	return uint(b & 15)
}
