package structured

import "token-terminator/reduce/jsonscan"

const (
	maxPasses    = 4  // passes that look for keys which are data
	fixedWidth   = 64 // widest row whose columns are told apart
	dynamicLeast = 8  // fewest distinct keys of an object whose keys are data
)

// seen is one value of a slot.
type seen struct{ record, node int32 }

// slot is one path inside the records of a container.
type slot struct {
	hash    uint64
	parent  int32
	next    int32 // slot that followed last time, a guess
	last    int32 // last record that had the slot
	records int32 // records that have it
	kids    int32 // distinct child slots by key
	members int32 // members seen below
	data    bool  // the slot stands for keys that are data, or for array elements
	key     string
	seen    []seen
}

// collector groups the values of a container's records by slot.
type collector struct {
	t       *tree
	slots   []slot
	byHash  map[uint64]int32
	dynamic map[uint64]bool // slots whose object keys are data
	rows    bool            // the records are arrays of one width: columns are slots
}

// collect walks the records. Keys that look like data (ids of a map inside a
// record) are found first and then share one slot.
func collect(t *tree, records []int32) *collector {
	c := &collector{t: t, dynamic: map[uint64]bool{}, rows: sameWidth(t, records)}
	for range maxPasses {
		c.slots = append(c.slots[:0], slot{parent: -1, last: -1})
		c.byHash = make(map[uint64]int32, 64)
		for r, node := range records {
			c.record(int32(r), node)
		}
		if !c.findDynamic() {
			break
		}
	}
	return c
}

func sameWidth(t *tree, records []int32) bool {
	for _, r := range records {
		n := &t.nodes[r]
		if n.Kind != jsonscan.Array || n.Count != t.nodes[records[0]].Count || n.Count > fixedWidth {
			return false
		}
	}
	return len(records) > 0
}

type level struct {
	end, slot, ordinal int32
	object             bool
}

func (c *collector) record(r, root int32) {
	nodes := c.t.nodes
	var levels [8]level
	stack := levels[:0]
	prev := int32(0)
	for i := root; i < nodes[root].Next; i++ {
		id := int32(0)
		if i != root {
			for i >= stack[len(stack)-1].end {
				stack = stack[:len(stack)-1]
			}
			top := &stack[len(stack)-1]
			id = c.find(top, i, prev)
			top.ordinal++
			prev = id
		}
		s := &c.slots[id]
		s.seen = append(s.seen, seen{record: r, node: i})
		if s.last != r {
			s.last = r
			s.records++
		}
		if k := nodes[i].Kind; isContainer(k) && nodes[i].Count > 0 {
			stack = append(stack, level{end: nodes[i].Next, slot: id, object: k == jsonscan.Object})
		}
	}
}

// find returns the slot of node i below the container on top.
func (c *collector) find(top *level, i, prev int32) int32 {
	parent := &c.slots[top.slot]
	h, data, key := mix(parent.hash, 1), true, ""
	switch {
	case top.object && !c.dynamic[parent.hash]:
		key, data = c.t.key(i), false
		h = mix(parent.hash, hashText(key))
	case !top.object && top.slot == 0 && c.rows:
		h, data = mix(parent.hash, uint64(top.ordinal)+2), false
	case top.object:
		h = mix(parent.hash, 2)
	}
	if !data {
		parent.members++
	}
	if hint := c.slots[prev].next; hint > 0 && int(hint) < len(c.slots) && c.slots[hint].hash == h {
		return hint
	}
	id, ok := c.byHash[h]
	if !ok {
		id = int32(len(c.slots))
		c.byHash[h] = id
		if !data {
			parent.kids++
		}
		c.slots = append(c.slots, slot{hash: h, parent: top.slot, last: -1, data: data, key: key})
	}
	c.slots[prev].next = id
	return id
}

// findDynamic marks objects whose keys are data; it says whether it found one.
func (c *collector) findDynamic() bool {
	found := false
	for i := range c.slots {
		s := &c.slots[i]
		if s.kids < dynamicLeast || c.dynamic[s.hash] || c.rows && i == 0 {
			continue
		}
		if s.members < 3*s.kids || s.kids >= 40 && s.members < 6*s.kids {
			c.dynamic[s.hash] = true
			found = true
		}
	}
	return found
}
