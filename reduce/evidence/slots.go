package evidence

import (
	"math"
	"slices"
)

// Thresholds of the value rules. They were tuned on logs other than the bundled
// needle logs; peers.md §6.3 is where they started.
const (
	minColumn    = 4    // lines of a shape before its values are judged
	fewDistinct  = 0.30 // share of distinct values up to which a slot counts as a code, not an id
	rareShare    = 0.01 // a value of a code slot is rare up to this share of the lines
	madFactor    = 12.0 // median absolute deviations off the median
	orderedShare = 0.97 // steps in one direction that make a slot a counter or a clock
	jumpFactor   = 8.0  // a step is a jump when it exceeds the 95th percentile this often
	lengthShare  = 0.01 // a digit length is rare up to this share of the lines
	fewValues    = 24   // distinct values up to which a code slot may show a value more than once
	maxOutliers  = 12   // outliers kept of one heavy-tailed slot, the most extreme ones
)

// column is the values of one slot over the lines of one shape.
type column struct {
	lines []int32
	slots []slot
	seen  tally
	nums  []float64
	tmp   []float64
	own   []int32 // room for lines, when some are judged apart
}

// judgeValues marks the lines with a rare or outlying value. order lists the line
// numbers grouped by shape, begin where each shape's lines start in it.
func (s *source) judgeValues(order, begin []int32) {
	var c column
	for sh := range s.count {
		lines := order[begin[sh]:begin[sh+1]]
		if len(lines) < minColumn {
			continue
		}
		width := s.width(int(lines[0]))
		for k := 0; k < width; k++ {
			c.load(s, lines, k)
			c.judge(s)
		}
	}
}

// load takes slot k of every line; lines of one shape that differ in their number
// of slots (a hash collision) are left out.
func (c *column) load(s *source, lines []int32, k int) {
	c.lines, c.slots = lines, c.slots[:0]
	for _, l := range lines {
		i := s.first[l] + int32(k)
		if i >= s.first[l+1] {
			c.slots = append(c.slots, slot{0, math.NaN()})
			continue
		}
		c.slots = append(c.slots, s.slots[i])
	}
}

// mark keeps a line, unless its like is shown already.
func (c *column) mark(s *source, i int, w why) {
	if s.same[i] < 0 {
		s.mark(i, w)
	}
}

func (c *column) judge(s *source) {
	n := len(c.slots)
	c.seen.reset(n)
	texts := 0
	for i := range c.slots {
		c.seen.add(c.slots[i].id)
		if c.slots[i].num != c.slots[i].num {
			texts++
		}
	}
	d := c.seen.n
	if d == 1 {
		return
	}
	numeric := texts == 0 || texts <= max(1, int(rareShare*float64(n))) && n-texts >= minColumn
	if numeric && texts > 0 {
		c.setApart(s)
		n = len(c.slots)
	}
	if numeric && c.ordered(s) {
		return
	}
	if d == 2 || float64(d) <= fewDistinct*float64(n) {
		c.rare(s)
		if numeric && d > fewValues {
			c.outliers(s, false)
		}
		return
	}
	if numeric {
		c.outliers(s, true)
	}
}

// setApart marks the few lines of a number slot that have no number there, and takes
// them out of the column.
func (c *column) setApart(s *source) {
	c.own = c.own[:0]
	kept := c.slots[:0]
	for i, v := range c.slots {
		if v.num != v.num {
			c.mark(s, int(c.lines[i]), value)
			continue
		}
		c.own, kept = append(c.own, c.lines[i]), append(kept, v)
	}
	c.lines, c.slots = c.own, kept
}

// rare marks the lines whose value occurs once, or hardly ever in a slot with few
// values, and the first line of each value when there are few.
func (c *column) rare(s *source) {
	n := len(c.slots)
	limit := int32(1)
	if c.seen.n <= fewValues {
		limit = int32(max(1, min(3, int(rareShare*float64(n)))))
	}
	for i := range c.slots {
		if times := c.seen.times(c.slots[i].id); times <= limit {
			c.mark(s, int(c.lines[i]), value)
		}
	}
	if c.seen.n > 12 {
		return
	}
	c.seen.reset(n)
	for i := range c.slots {
		if _, fresh := c.seen.add(c.slots[i].id); fresh {
			c.mark(s, int(c.lines[i]), sampled)
		}
	}
}

// ordered recognises counters and clocks: nearly all steps go one way. In them
// ordinary values are all different, so only steps back and jumps are evidence.
func (c *column) ordered(s *source) bool {
	n := len(c.slots)
	up, down := 0, 0
	for i := 1; i < n; i++ {
		switch d := c.slots[i].num - c.slots[i-1].num; {
		case d > 0:
			up++
		case d < 0:
			down++
		}
	}
	most, least := max(up, down), min(up, down)
	if most < 4 || float64(least) > (1-orderedShare)*float64(most+least)+1 || least > most/4 {
		return false
	}
	sign := 1.0
	if down > up {
		sign = -1
	}
	c.steps(s, sign)
	return true
}

// steps marks lines out of order and lines after a jump.
func (c *column) steps(s *source, sign float64) {
	n := len(c.slots)
	c.nums = c.nums[:0]
	for i := 1; i < n; i++ {
		if d := sign * (c.slots[i].num - c.slots[i-1].num); d > 0 {
			c.nums = append(c.nums, d)
		}
	}
	slices.Sort(c.nums)
	bound := jumpFactor * c.nums[min(max(0, len(c.nums)-2), len(c.nums)*95/100)]
	for i := 1; i < n; i++ {
		d := sign * (c.slots[i].num - c.slots[i-1].num)
		if d < 0 {
			// The one of the two that does not fit its other neighbour is odd.
			if i >= 2 && i+1 <= n && sign*(c.slots[i].num-c.slots[i-2].num) >= 0 {
				c.mark(s, int(c.lines[i-1]), value)
			} else {
				c.mark(s, int(c.lines[i]), value)
			}
			if i == 1 {
				c.mark(s, int(c.lines[0]), value)
			}
		} else if d > bound {
			c.mark(s, int(c.lines[i-1]), value)
			c.mark(s, int(c.lines[i]), value)
		}
	}
}

// outliers marks numbers far off the median; with ends also the lowest, the highest
// and numbers of a rare digit length.
func (c *column) outliers(s *source, ends bool) {
	n := len(c.slots)
	c.nums = c.nums[:0]
	for i := range c.slots {
		c.nums = append(c.nums, c.slots[i].num)
	}
	c.tmp = append(c.tmp[:0], c.nums...)
	slices.Sort(c.tmp)
	low, high := c.tmp[0], c.tmp[n-1]
	med := c.tmp[n/2]
	for i, v := range c.nums {
		c.tmp[i] = math.Abs(v - med)
	}
	slices.Sort(c.tmp)
	mad := c.tmp[n/2]
	cut := madFactor * mad
	if mad == 0 {
		cut = math.Inf(1)
	}
	// A heavy tail would keep too much: then only the most extreme ones count.
	if k := n - 1 - maxOutliers; k >= 0 && c.tmp[k] > cut {
		cut = c.tmp[k]
	}
	lengths := [32]int{}
	for _, v := range c.nums {
		lengths[digits(v)]++
	}
	for i, v := range c.nums {
		far := math.Abs(v-med) > cut
		if !ends {
			if far {
				c.mark(s, int(c.lines[i]), value)
			}
			continue
		}
		rareLength := float64(lengths[digits(v)]) <= lengthShare*float64(n)
		if far || rareLength || v == low && lengths[digits(v)] < n/2 || v == high {
			c.mark(s, int(c.lines[i]), value)
		}
	}
}

// digits gives the number of digits before the point, and whether it is negative
// as one more.
func digits(v float64) int {
	n := 0
	if v < 0 {
		n, v = 16, -v
	}
	for v >= 10 && n%16 < 15 {
		v /= 10
		n++
	}
	return min(n, 31)
}

// tally counts 64-bit keys; it is reused from column to column.
type tally struct {
	keys   []uint64
	counts []int32
	epoch  []int32
	now    int32
	n      int
}

func (t *tally) reset(size int) {
	want := 16
	for want < size*2 {
		want *= 2
	}
	t.now++
	t.n = 0
	if len(t.keys) < want {
		t.keys, t.counts, t.epoch = make([]uint64, want), make([]int32, want), make([]int32, want)
		t.now = 1
	}
}

func (t *tally) find(key uint64) int {
	mask := uint64(len(t.keys) - 1)
	i := (key ^ key>>29) & mask
	for t.epoch[i] == t.now && t.keys[i] != key {
		i = (i + 1) & mask
	}
	return int(i)
}

func (t *tally) add(key uint64) (times int32, fresh bool) {
	i := t.find(key)
	if t.epoch[i] != t.now {
		t.epoch[i], t.keys[i], t.counts[i] = t.now, key, 0
		t.n++
	}
	t.counts[i]++
	return t.counts[i], t.counts[i] == 1
}

func (t *tally) times(key uint64) int32 {
	i := t.find(key)
	if t.epoch[i] != t.now {
		return 0
	}
	return t.counts[i]
}
