package plan

import (
	"errors"
	"fmt"

	"token-terminator/turn"
)

// Cache says how a target reuses the prefix of the call before.
type Cache string

// The two cache models.
const (
	// Prefix reuses everything up to the first changed message.
	Prefix Cache = "prefix"
	// Marks reuses only up to a breakpoint the call before had set: after the system
	// messages (with the fixed part), and after each of its last three messages.
	Marks Cache = "marks"
)

// MarkedMessages is how many messages at the end of a request carry a mark.
const MarkedMessages = 3

// ErrBadCache says that a cache model is unknown.
var ErrBadCache = errors.New("cache model: want prefix or marks")

// ParseCache reads the name of a cache model.
func ParseCache(name string) (Cache, error) {
	switch c := Cache(name); c {
	case Prefix, Marks:
		return c, nil
	}
	return "", fmt.Errorf("%w: got %q", ErrBadCache, name)
}

// Part is one message as it is sent: its tokens and the identity of its bytes.
type Part struct {
	Tokens int
	Digest turn.Digest
	System bool // a system or developer message: the marks model sets a breakpoint after the leading ones
}

// Call is one request as it is sent, and its answer.
type Call struct {
	// Fixed is the tokens of tools and all other fields; they stand before the
	// messages. FixedDigest names their bytes: a change leaves nothing to reuse.
	Fixed       int
	FixedDigest turn.Digest
	Messages    []Part
	Output      int
	Cold        bool // the cache holds nothing: everything is written
}

// Input is the whole input of the call, in tokens.
func (c Call) Input() int {
	sum := c.Fixed
	for _, m := range c.Messages {
		sum += m.Tokens
	}
	return sum
}

// Charge is what calls were billed: tokens by class, and their cost. Charges add
// up field by field.
type Charge struct {
	Fresh, Read, Write, Output int
	Cost                       float64
}

// Input is fresh + read + written.
func (c Charge) Input() int { return c.Fresh + c.Read + c.Write }

// Plus adds two charges.
func (c Charge) Plus(d Charge) Charge {
	return Charge{
		Fresh: c.Fresh + d.Fresh, Read: c.Read + d.Read, Write: c.Write + d.Write, Output: c.Output + d.Output,
		Cost: c.Cost + d.Cost,
	}
}

// price fills in the cost.
func (c Charge) price(r Row) Charge {
	c.Cost = r.Cost(c)
	return c
}

// Bill prices a sequence of calls of one session under one row and one cache
// model. The cache holds what the call before sent:
//
//	common = fixed part, if unchanged, and the messages up to the first changed one
//	read   = what of common the target reuses (Row.Reusable; Marks: the last mark inside it)
//	input under MinPrefix: all fresh; a cold call: all written; else written = input − read
//	input over Tier.Over: the tier's prices for the whole call
//
// A Bill is not safe for concurrent use.
type Bill struct {
	row   Row
	cache Cache
	warm  bool // there was a call before
	fixed int
	name  turn.Digest
	last  []Part
	total Charge
	calls int
}

// NewBill starts a bill. An unknown cache model or a row that does not validate is
// an error.
func NewBill(row Row, cache Cache) (*Bill, error) {
	if err := row.Validate(); err != nil {
		return nil, fmt.Errorf("start bill: %w", err)
	}
	if _, err := ParseCache(string(cache)); err != nil {
		return nil, fmt.Errorf("start bill: %w", err)
	}
	return &Bill{row: row, cache: cache}, nil
}

// Add prices the next call. The bill keeps a copy of the messages' figures, so the
// caller may go on appending to its slice.
func (b *Bill) Add(c Call) Charge {
	input := c.Input()
	charge := Charge{Output: c.Output}
	switch {
	case input < b.row.MinPrefix:
		charge.Fresh = input
	case c.Cold || !b.warm:
		charge.Write = input
	default:
		charge.Read = b.row.Reusable(b.common(c))
		charge.Write = input - charge.Read
	}
	charge = charge.price(b.row)
	b.warm, b.fixed, b.name = true, c.Fixed, c.FixedDigest
	b.last = append(b.last[:0], c.Messages...)
	b.total = b.total.Plus(charge)
	b.calls++
	return charge
}

// Total is the sum of all calls so far.
func (b *Bill) Total() Charge { return b.total }

// Calls is how many calls were added.
func (b *Bill) Calls() int { return b.calls }

// common is the reusable prefix of c before rounding, in tokens.
func (b *Bill) common(c Call) int {
	if c.Fixed != b.fixed || c.FixedDigest != b.name {
		return 0
	}
	leading := leadingSystem(b.last)
	sum, marked := b.fixed, 0
	if leading == 0 {
		marked = sum
	}
	for i, m := range c.Messages {
		if i >= len(b.last) || m != b.last[i] {
			break
		}
		sum += m.Tokens
		if i+1 == leading || i >= len(b.last)-MarkedMessages {
			marked = sum
		}
	}
	if b.cache == Marks {
		return marked
	}
	return sum
}

func leadingSystem(messages []Part) int {
	for i, m := range messages {
		if !m.System {
			return i
		}
	}
	return len(messages)
}
