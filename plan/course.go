package plan

import (
	"encoding/binary"

	"token-terminator/turn"
)

// Course is one recorded session as token counts: what each message costs as recorded
// and as it is shown at birth, and what may be put away when. The arms a product is
// compared with are priced on it, with the product's own proposals.
//
// They are favoured a little: a block stays put away in its birth form's place even
// where a delta of a later message leans on it.
type Course struct {
	Row      Row
	Cache    Cache
	Settings Settings
	Fixed    int // tokens of tools and all other fields, the recovery tool's declaration included
	Messages []CourseMessage
	Calls    []CourseCall
}

// CourseMessage is one message of a course.
type CourseMessage struct {
	Raw, Birth int // tokens as recorded, and as shown when it is first sent
	System     bool
	Hides      int // tokens of the whole text, when its birth form shows a part; else 0
}

// CourseCall is one request of a course.
type CourseCall struct {
	Messages int // how many are sent
	Output   int
	Cold     bool
	Away     []Putting // every message with a receipt that has become old
}

// Putting is one message that could be put away at a call.
type Putting struct {
	Message int
	Gain    int  // tokens the receipts take away of the birth form
	RawGain int  // and of the recorded text
	Block   int  // tokens of the whole text
	Calls   int  // calls answered since the result
	Kept    bool // something mentions it: it must stay in sight
}

// AlwaysRewrite is the cost, net of debits, of putting away at every call whatever is
// admissible then, without a memory: a message that must be in sight again comes back.
func (c Course) AlwaysRewrite() (float64, error) {
	a, err := c.arm(func(m CourseMessage) int { return m.Birth })
	if err != nil {
		return 0, err
	}
	for j, call := range c.Calls {
		away := map[int]Putting{}
		for _, p := range call.Away {
			if p.admissible(c.Settings) {
				away[p.Message] = p
			}
		}
		a.call(j, away, func(p Putting) int { return p.Gain })
	}
	return a.net(), nil
}

// MaskingPeriod is how often the masking arm puts old results away, and how old, in
// calls.
const MaskingPeriod = 10

// Masking is the cost, net of debits, of putting away every MaskingPeriod calls each
// result older than that, and of nothing else.
func (c Course) Masking() (float64, error) {
	a, err := c.masked()
	if err != nil {
		return 0, err
	}
	return a.net(), nil
}

// MaskingCalls is what each call of the masking arm is billed, without debits.
func (c Course) MaskingCalls() ([]Charge, error) {
	a, err := c.masked()
	if err != nil {
		return nil, err
	}
	return a.charges, nil
}

func (c Course) masked() (*courseArm, error) {
	a, err := c.arm(func(m CourseMessage) int { return m.Raw })
	if err != nil {
		return nil, err
	}
	away := map[int]Putting{}
	for j, call := range c.Calls {
		if j > 0 && j%MaskingPeriod == 0 {
			for _, p := range call.Away {
				if p.Calls > MaskingPeriod && p.RawGain > 0 {
					away[p.Message] = p
				}
			}
		}
		a.call(j, away, func(p Putting) int { return p.RawGain })
	}
	return a, nil
}

func (p Putting) admissible(s Settings) bool {
	s = s.WithDefaults()
	return !p.Kept && p.Gain >= s.ReceiptGain && p.Calls >= s.ReceiptAge
}

// courseArm prices one way to show a course.
type courseArm struct {
	c       Course
	shown   func(CourseMessage) int
	bill    *Bill
	debits  *Debits
	births  bool
	charges []Charge // of each call
}

func (c Course) arm(shown func(CourseMessage) int) (*courseArm, error) {
	bill, err := NewBill(c.Row, c.Cache)
	if err != nil {
		return nil, err
	}
	return &courseArm{c: c, shown: shown, bill: bill, debits: NewDebits(c.Settings, c.Row), births: shown(CourseMessage{Birth: 1}) == 1}, nil
}

// call sends one request with away put away.
func (a *courseArm) call(j int, away map[int]Putting, gain func(Putting) int) {
	call := a.c.Calls[j]
	request := Call{Fixed: a.c.Fixed, Messages: make([]Part, call.Messages), Output: call.Output, Cold: call.Cold}
	for i := range request.Messages {
		m := a.c.Messages[i]
		part := Part{Tokens: a.shown(m), System: m.System, Digest: courseName(i, 0)}
		if p, ok := away[i]; ok {
			part.Tokens, part.Digest = part.Tokens-gain(p), courseName(i, 1)
		}
		request.Messages[i] = part
	}
	input := request.Input()
	for i := range request.Messages {
		p, ok := away[i]
		switch {
		case ok:
			a.debits.Hide(courseKey(i), j, input, p.Block)
		case a.births && a.c.Messages[i].Hides > 0:
			a.debits.Hide(courseKey(i), j, input, a.c.Messages[i].Hides)
		}
	}
	a.charges = append(a.charges, a.bill.Add(request))
}

func (a *courseArm) net() float64 {
	return a.bill.Total().Cost + a.debits.Expected(len(a.c.Calls))
}

// courseName names one message in one form; courseKey the message alone.
func courseName(message int, form byte) (d turn.Digest) {
	binary.BigEndian.PutUint64(d[:], uint64(message))
	d[len(d)-1] = form
	return d
}

func courseKey(message int) string {
	d := courseName(message, 0)
	return string(d[:8])
}
