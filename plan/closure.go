package plan

// Leaning is a block in sight that must be shown anew when any of its bases is put
// away, and what that costs at most.
type Leaning struct {
	Cost  int   // 0 or more
	Bases []int // indexes into the gains asked about
}

// Closure chooses what to put away: the set whose gains, less the costs of all that
// leans on it, are the largest. It says of each gain whether it is in; none below or
// equal to 0 is, and of two equal sets the smaller one wins. Gains and costs share one
// unit.
//
// It is the least cut between a source that feeds the gains and a sink that the costs
// drain into, found by shortest augmenting paths. A path saturates a gain or a cost or
// turns a flow around; the graphs of a session have a few hundred nodes.
func Closure(gains []int, leaning []Leaning) []bool {
	c := newCut(gains, leaning)
	for c.augment() {
		continue
	}
	chosen := make([]bool, len(gains))
	for k := range gains {
		chosen[k] = c.via[k] != unseen
	}
	return chosen
}

// cut is a flow from gains to costs. Nodes are the gains, then the costs.
type cut struct {
	left  []int // of each gain and each cost, what no flow uses yet
	flow  []map[int]int
	gains int
	costs [][]int // the costs each gain reaches
	bases [][]int // the gains each cost is reached from
	via   []int   // how the search came to each node
	queue []int
}

const (
	unseen = -2
	origin = -1
)

func newCut(gains []int, leaning []Leaning) *cut {
	c := &cut{gains: len(gains), costs: make([][]int, len(gains)), via: make([]int, len(gains)+len(leaning))}
	for _, g := range gains {
		c.left = append(c.left, max(g, 0))
	}
	for n, l := range leaning {
		c.left = append(c.left, max(l.Cost, 0))
		c.bases = append(c.bases, l.Bases)
		c.flow = append(c.flow, map[int]int{})
		for _, k := range l.Bases {
			c.costs[k] = append(c.costs[k], n)
		}
	}
	return c
}

// augment finds one more path and sends what it carries; false when there is none:
// then via names all that the source still reaches.
func (c *cut) augment() bool {
	c.queue = c.queue[:0]
	for n := range c.via {
		c.via[n] = unseen
		if n < c.gains && c.left[n] > 0 {
			c.via[n] = origin
			c.queue = append(c.queue, n)
		}
	}
	for at := 0; at < len(c.queue); at++ {
		n := c.queue[at]
		if n >= c.gains && c.left[n] > 0 {
			c.send(n)
			return true
		}
		if n < c.gains {
			for _, cost := range c.costs[n] {
				c.visit(c.gains+cost, n)
			}
			continue
		}
		for _, k := range c.bases[n-c.gains] {
			if c.flow[n-c.gains][k] > 0 {
				c.visit(k, n)
			}
		}
	}
	return false
}

func (c *cut) visit(node, from int) {
	if c.via[node] == unseen {
		c.via[node] = from
		c.queue = append(c.queue, node)
	}
}

// send carries as much as the path to the cost node allows.
func (c *cut) send(end int) {
	amount := c.left[end]
	for n := end; n != origin; n = c.via[n] {
		switch from := c.via[n]; {
		case from == origin:
			amount = min(amount, c.left[n])
		case n < c.gains: // back over a flow
			amount = min(amount, c.flow[from-c.gains][n])
		}
	}
	c.left[end] -= amount
	for n := end; n != origin; n = c.via[n] {
		switch from := c.via[n]; {
		case from == origin:
			c.left[n] -= amount
		case n < c.gains:
			c.flow[from-c.gains][n] -= amount
		default:
			c.flow[n-c.gains][from] += amount
		}
	}
}
