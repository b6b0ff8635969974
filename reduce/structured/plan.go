package structured

import (
	"slices"

	"token-terminator/reduce/form"
	"token-terminator/reduce/jsonscan"
)

const (
	minRecords   = 24  // fewest records of a container that may lose some: a short list is read whole
	minScalarMap = 24  // fewest members of a map of scalars that may lose some
	maxNested    = 6   // containers that lose records inside one another
	minBytes     = 240 // a container shorter than this loses nothing
	minRunBytes  = 100 // a run of records shorter than this is shown
)

// selection says which nodes are shown and which are evidence.
type selection struct {
	t      *tree
	cut    []bool  // the node and all below it is left out of its container
	isPin  []bool  // the node is evidence
	pins   []int32 // evidence nodes, ascending, distinct; filled at the end
	Shown  int     // records of containers that lost some
	Total  int
	losers int // containers that lost records
}

// choose decides for every container, outside in. What an outer container holds
// as evidence is kept by the inner ones.
func choose(t *tree, s form.Settings) *selection {
	sel := &selection{t: t, cut: make([]bool, len(t.nodes)), isPin: make([]bool, len(t.nodes))}
	var open []int32 // ends of the containers around that lost records
	for i := int32(0); int(i) < len(t.nodes); i++ {
		for len(open) > 0 && i >= open[len(open)-1] {
			open = open[:len(open)-1]
		}
		if sel.cut[i] {
			i = t.nodes[i].Next - 1
			continue
		}
		n := &t.nodes[i]
		if !isContainer(n.Kind) || int(n.Count) < minRecords || n.End-n.Start < minBytes || len(open) >= maxNested {
			continue
		}
		if sel.container(i, s) {
			open = append(open, t.nodes[i].Next)
		}
	}
	for i, pin := range sel.isPin {
		if pin {
			sel.pins = append(sel.pins, int32(i))
		}
	}
	return sel
}

// container chooses among the children of node i; it says whether some are cut.
func (sel *selection) container(i int32, s form.Settings) bool {
	t := sel.t
	records := make([]int32, 0, t.nodes[i].Count)
	for c := i + 1; c < t.nodes[i].Next; c = t.nodes[c].Next {
		records = append(records, c)
	}
	keep := make([]bool, len(records))
	if t.nodes[i].Kind == jsonscan.Object && !t.isMap(records, keep) {
		return false
	}
	head, tail := ends(len(records), s)
	for r := range records {
		keep[r] = keep[r] || r < head || r >= len(records)-tail
	}
	verdict := judge(collect(t, records))
	if t.nodes[i].Kind == jsonscan.Object {
		for _, r := range records {
			if severe(t.key(r)) {
				verdict.pin(r)
			}
		}
	}
	for _, pin := range verdict.pins {
		sel.isPin[pin] = true
	}
	mark(records, keep, verdict.shown)
	for r, node := range records {
		for n := node; n < t.nodes[node].Next && !keep[r]; n++ {
			keep[r] = sel.isPin[n]
		}
	}
	if t.nodes[i].Kind == jsonscan.Array {
		t.fillRuns(records, keep)
	}
	kept := 0
	for r, k := range keep {
		if k {
			kept++
		} else {
			sel.cut[records[r]] = true
		}
	}
	if kept == len(records) {
		return false
	}
	sel.Shown += kept
	sel.Total += len(records)
	sel.losers++
	return true
}

// mark keeps the records that hold one of the nodes.
func mark(records []int32, keep []bool, nodes []int32) {
	for _, n := range nodes {
		if n < records[0] {
			continue
		}
		r, found := slices.BinarySearch(records, n)
		if !found {
			r--
		}
		keep[r] = true
	}
}

// ends is how many records stay at both ends: a record is worth several lines, so
// a quarter of the settings' lines.
func ends(n int, s form.Settings) (head, tail int) {
	if s.Tight || n < 2*minRecords {
		return 1, 1
	}
	return (s.Head + 3) / 4, (s.Tail + 3) / 4
}

// fillRuns shows runs that cost no more than the note that would stand for them.
func (t *tree) fillRuns(records []int32, keep []bool) {
	for from := 0; from < len(keep); from++ {
		if keep[from] {
			continue
		}
		end, size := from, int32(0)
		for end < len(keep) && !keep[end] {
			size += t.nodes[records[end]].End - t.nodes[records[end]].Start
			end++
		}
		for r := from; r < end && size < minRunBytes; r++ {
			keep[r] = true
		}
		from = end
	}
}

// isMap says whether an object with these members is a map: keys are data and
// values are alike. Members of a map of scalars whose key is a name among
// numbered keys are kept.
func (t *tree) isMap(members []int32, keep []bool) bool {
	keys, names, shapes := map[uint64]int{}, map[uint64]int{}, map[uint64]int{}
	inner, containers := 0, 0
	for _, m := range members {
		n := &t.nodes[m]
		if !isContainer(n.Kind) {
			shapes[hashShape(t.value(m))]++
			names[hashShape(t.key(m))]++
			continue
		}
		containers++
		for c := m + 1; c < n.Next; c = t.nodes[c].Next {
			keys[hashText(t.key(c))]++
			inner++
		}
	}
	if 10*containers >= 9*len(members) {
		return inner == 0 || inner >= 3*len(keys)
	}
	if len(members) < minScalarMap || 10*containers > len(members) {
		return false
	}
	for _, m := range members {
		if 10*names[hashShape(t.key(m))] >= 6*len(members) {
			for r, other := range members {
				keep[r] = names[hashShape(t.key(other))]*10 < 6*len(members)
			}
			return true
		}
	}
	most := 0
	for _, n := range shapes {
		most = max(most, n)
	}
	return 10*most >= 6*len(members)
}
