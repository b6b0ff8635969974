package structured

import (
	"token-terminator/reduce/jsonscan"
)

// Bounds of the rule; each is a count or a share of the values of one slot.
const (
	leastValues  = 8    // a slot with fewer values has no rare ones
	severeCap    = 40   // values of one shape that are kept for a severity word
	fewDistinct  = 0.30 // a slot with at most this share of distinct values has rare values
	rareShare    = 0.02 // a key, type or lone value as rare as this is evidence
	singlesShare = 0.05 // more lone values than this mean the slot holds names, not states
	maxDistinct  = 4096 // more distinct values than this are never few
	showcase     = 6    // slots of at most so many distinct values show one of each
)

// verdict collects what the rules of one container found.
type verdict struct {
	t     *tree
	pins  []int32 // nodes that are evidence
	shown []int32 // nodes shown as examples: their record stays, nothing is promised
}

func (v *verdict) pin(node int32) { v.pins = append(v.pins, node) }

// rare is the largest count that is still rare among n.
func rare(n int) int { return 1 + int(float64(n)*rareShare/2) }

// judge runs the rules over all slots of a container.
func judge(c *collector) *verdict {
	v := &verdict{t: c.t}
	for i := range c.slots {
		s := &c.slots[i]
		if s.parent >= 0 && !s.data {
			v.presence(s, &c.slots[s.parent])
		}
		v.kinds(s)
		v.severity(s)
		v.strings(s)
		v.numbers(s)
	}
	return v
}

// presence: a key few records have, or few records lack.
func (v *verdict) presence(s, parent *slot) {
	n := int(parent.records)
	if n < leastValues {
		return
	}
	if int(s.records) <= rare(n) {
		for _, x := range s.seen {
			v.pin(x.node)
		}
		return
	}
	if n-int(s.records) > rare(n) {
		return
	}
	at := 0
	for _, p := range parent.seen {
		for at < len(s.seen) && s.seen[at].record < p.record {
			at++
		}
		if at == len(s.seen) || s.seen[at].record != p.record {
			v.pin(p.node)
		}
	}
}

// kinds: a value of a type the slot seldom has.
func (v *verdict) kinds(s *slot) {
	if len(s.seen) < leastValues {
		return
	}
	var counts [rawLine + 1]int
	for _, x := range s.seen {
		counts[v.t.nodes[x.node].Kind]++
	}
	few := rare(len(s.seen))
	for kind, n := range counts {
		if n == 0 || n > few {
			continue
		}
		for _, x := range s.seen {
			if int(v.t.nodes[x.node].Kind) == kind {
				v.pin(x.node)
			}
		}
	}
}

// severity: a severity word in a text, or a value that means failure under its key.
func (v *verdict) severity(s *slot) {
	means := meaningOf(s.key)
	var perShape map[uint64]int
	for _, x := range s.seen {
		n := &v.t.nodes[x.node]
		if n.Kind == rawLine {
			v.pin(x.node)
			continue
		}
		if !v.failing(n, x.node, means) && (n.Kind != jsonscan.String || !severe(v.t.body(x.node))) {
			continue
		}
		if perShape == nil {
			perShape = map[uint64]int{}
		}
		shape := uint64(n.Kind)
		if !isContainer(n.Kind) {
			shape = hashShape(v.t.value(x.node))
		}
		if perShape[shape]++; perShape[shape] <= severeCap {
			v.pin(x.node)
		}
	}
}

func (v *verdict) failing(n *jsonscan.Node, node int32, means meaning) bool {
	switch means {
	case troubles:
		return v.truthy(n, node)
	case success:
		return n.Kind == jsonscan.Bool && v.t.value(node) == "false"
	case exits:
		return n.Kind == jsonscan.Number && v.t.value(node) != "0"
	case httpish:
		return n.Kind == jsonscan.Number && n.End-n.Start == 3 && (v.t.text[n.Start] == '4' || v.t.text[n.Start] == '5')
	}
	return false
}

func (v *verdict) truthy(n *jsonscan.Node, node int32) bool {
	switch n.Kind {
	case jsonscan.Null:
		return false
	case jsonscan.Array, jsonscan.Object:
		return n.Count > 0
	}
	switch v.t.value(node) {
	case "false", "0", "0.0", `""`, `"0"`, `"none"`, `"None"`, `"null"`, `"no"`, `"false"`, `"N/A"`, `"-"`:
		return false
	}
	return true
}

// strings: a text seen once where few texts are usual, or a text of a shape seen
// once where few shapes are usual, or an odd number inside texts of one shape.
// Numbers written as texts go to the rule for numbers.
func (v *verdict) strings(s *slot) {
	texts := v.ofKind(s, jsonscan.String, jsonscan.Bool)
	if len(texts) < leastValues {
		return
	}
	numeric := 0
	for _, x := range texts {
		if _, ok := number64(v.t.value(x.node)); ok {
			numeric++
		}
	}
	if numeric*10 >= len(texts)*9 {
		v.spread(texts)
		for _, x := range texts {
			if _, ok := number64(v.t.value(x.node)); !ok && (len(texts)-numeric) <= rare(len(texts)) {
				v.pin(x.node)
			}
		}
		return
	}
	if v.lone(texts, func(i int) uint64 { return hashText(v.t.value(texts[i].node)) }) {
		return
	}
	shapes := make([]uint64, len(texts))
	for i, x := range texts {
		shapes[i] = hashShape(v.t.value(x.node))
	}
	if v.lone(texts, func(i int) uint64 { return shapes[i] }) {
		v.columns(texts, shapes)
	}
}

// ofKind returns the values of one or two kinds; the slice is the slot's own when
// all are.
func (v *verdict) ofKind(s *slot, a, b jsonscan.Kind) []seen {
	n := 0
	for _, x := range s.seen {
		if k := v.t.nodes[x.node].Kind; k == a || k == b {
			n++
		}
	}
	if n == len(s.seen) {
		return s.seen
	}
	if n < leastValues {
		return nil
	}
	out := make([]seen, 0, n)
	for _, x := range s.seen {
		if k := v.t.nodes[x.node].Kind; k == a || k == b {
			out = append(out, x)
		}
	}
	return out
}

// lone pins values whose hash occurs once, when the distinct ones are few. It says
// whether they were.
func (v *verdict) lone(values []seen, hash func(i int) uint64) bool {
	counts := newTally()
	few := min(maxDistinct, int(fewDistinct*float64(len(values))))
	most := max(showcase, few)
	hashes := make([]uint64, len(values))
	for i := range values {
		hashes[i] = hash(i)
		counts.add(hashes[i])
		if counts.n > most {
			return false
		}
	}
	if counts.n > few {
		return false
	}
	singles := 0
	for _, h := range hashes {
		if counts.count(h) == 1 {
			singles++
		}
	}
	pin := singles <= max(2, int(singlesShare*float64(len(values))))
	shown := make(map[uint64]bool, showcase)
	for i, h := range hashes {
		switch {
		case pin && counts.count(h) == 1:
			v.pin(values[i].node)
		case counts.n <= showcase && !shown[h]:
			v.shown = append(v.shown, values[i].node)
			shown[h] = true
		}
	}
	return true
}

// numbers: outliers of number slots, and of array lengths.
func (v *verdict) numbers(s *slot) {
	v.spread(v.ofKind(s, jsonscan.Number, jsonscan.Number))
	v.spread(v.ofKind(s, jsonscan.Array, jsonscan.Array))
}
