package delta

// change is what differs between a run and the base lines it stands in.
type change struct {
	mode     mode
	numSet   bool  // a pair of numbered lines was seen
	idSet    bool  // a pair of lines with ids was seen
	eolSet   bool  // a pair of lines was seen
	numShift int32 // added to line numbers of the base
	idShift  int32 // added to ids of the base
	eol      eol
}

// mode is what happens to the base's line numbers.
type mode uint8

const (
	keep   mode = iota // numbers stay, moved by numShift
	strip              // the run has none
	number             // the run has its own, the base has none or other ones
)

// eol is what happens to line ends.
type eol uint8

const (
	sameEOL eol = iota
	toCRLF      // the base has LF, the run CRLF
	toLF        // the base has CRLF, the run LF
)

// run says that lines [at,at+n) of the text stand at [from,from+n) of a base.
type run struct {
	at, from, n int32
	base        int32 // candidate number
	change      change
}

// unnumbered is the change of a part of a run whose base lines show no numbers.
func (c change) unnumbered() change {
	c.numShift = 0
	if c.mode == strip {
		c.mode = keep
	}
	return c
}

// pair says whether text line t can be made of base line b under c, and what is
// then known of c. The cores are equal already. first says that t starts the run.
func (c change) pair(t, b line, first, ids bool) (change, bool) {
	if !c.pairEOL(t, b) {
		return c, false
	}
	switch {
	case t.style == plain && b.style == plain:
		return c, c.mode != number
	case t.style == idStyle || b.style == idStyle:
		return c.pairID(t, b, ids)
	case t.style == plain:
		if c.mode == number || c.mode == keep && c.numSet {
			return c, false
		}
		c.mode = strip
		return c, true
	case c.mode == strip:
		return c, false
	case c.mode == keep && sameNumbering(t, b):
		shift := t.num - b.num
		ok := !c.numSet || c.numShift == shift
		c.numSet, c.numShift = true, shift
		return c, ok
	}
	if !first && c.mode != number {
		return c, false
	}
	c.mode = number
	return c, true
}

func (c *change) pairEOL(t, b line) bool {
	e := sameEOL
	if t.cr && !b.cr {
		e = toCRLF
	} else if b.cr && !t.cr {
		e = toLF
	}
	ok := !c.eolSet || c.eol == e
	c.eolSet, c.eol = true, e
	return ok
}

func (c change) pairID(t, b line, ids bool) (change, bool) {
	if t.style != b.style || c.mode == number {
		return c, false
	}
	shift := t.num - b.num
	ok := (!c.idSet || c.idShift == shift) && (ids || shift == 0)
	c.idSet, c.idShift = true, shift
	return c, ok
}

// sameNumbering says whether t's prefix is b's with another number in it.
func sameNumbering(t, b line) bool {
	if t.style != b.style {
		return false
	}
	wide := max(int(b.width), digitsOf(t.num))
	have := max(int(t.width), digitsOf(t.num))
	return wide == have
}

// consecutive says whether b is the line numbered after a, as the number mode
// prints it.
func consecutive(a, b line) bool {
	if b.style != a.style || b.num != a.num+1 {
		return false
	}
	return max(int(a.width), digitsOf(b.num)) == max(int(b.width), digitsOf(b.num))
}
