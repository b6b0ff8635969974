package tokens

// Counted is what Since measured, message by message. It never changes.
type Counted struct {
	messages [][]byte
	upTo     []tally // of the messages up to and with each
	bytes    []int   // the same
	head     tally
}

// Since is Whole for a request many of whose messages are those of an earlier one:
// not only equal bytes but the very same memory, which is told without reading it. So
// the parts must never be written to. before may be nil. The measure is that of
// Whole, always; Counted is nil when the parts do not add up one by one.
func (m *Meter) Since(before *Counted, head []byte, messages [][]byte, tail []byte) (Measure, *Counted) {
	same := before.same(messages)
	if !separate(same, head, messages, tail) {
		return m.Whole(head, messages, tail), nil
	}
	c := &Counted{messages: messages, upTo: make([]tally, len(messages)), bytes: make([]int, len(messages))}
	s := sum{meter: m, parts: make([]tally, len(messages)+2)}
	known := tally{}
	if same > 0 {
		copy(c.upTo, before.upTo[:same])
		copy(c.bytes, before.bytes[:same])
		known, s.bytes = c.upTo[same-1], c.bytes[same-1]
		s.total = known
	}
	s.add(head)
	for i := same; i < len(messages); i++ {
		s.part = i + 1
		s.add(messages[i])
	}
	s.part = len(messages) + 1
	s.add(tail)
	measure := s.measure()
	if measure.Unmeasured != "" {
		// Bytes before a text that is no UTF-8 may be missing in the sum; Whole has them all.
		return m.Whole(head, messages, tail), nil
	}
	size := 0
	if same > 0 {
		size = c.bytes[same-1]
	}
	for i := same; i < len(messages); i++ {
		known.add(s.parts[i+1])
		size += len(messages[i])
		c.upTo[i], c.bytes[i] = known, size
	}
	c.head = s.parts[0]
	return measure, c
}

// Head is how many tokens stand before the first message.
func (c *Counted) Head() int { return c.head.tokens[0] }

// Message is how many tokens message i has.
func (c *Counted) Message(i int) int {
	if i == 0 {
		return c.upTo[0].tokens[0]
	}
	return c.upTo[i].tokens[0] - c.upTo[i-1].tokens[0]
}

func (t *tally) add(o tally) {
	t.runes += o.runes
	for i := range t.tokens {
		t.tokens[i] += o.tokens[i]
	}
}

// same is how many leading messages are the earlier ones, in the same memory.
func (c *Counted) same(messages [][]byte) int {
	if c == nil {
		return 0
	}
	n := 0
	for n < len(messages) && n < len(c.messages) && len(messages[n]) > 0 && len(messages[n]) == len(c.messages[n]) &&
		&messages[n][0] == &c.messages[n][0] {
		n++
	}
	return n
}

// separate says whether all parts meet at safe cuts; the first ones of an earlier
// request are known to, among themselves.
func separate(same int, head []byte, messages [][]byte, tail []byte) bool {
	if len(head) == 0 || len(tail) == 0 || len(messages) == 0 || !SafeCut(head, messages[0]) {
		return false
	}
	for i := max(same, 1); i < len(messages); i++ {
		if len(messages[i]) == 0 || !SafeCut(messages[i-1], messages[i]) {
			return false
		}
	}
	last := messages[len(messages)-1]
	return len(messages[0]) > 0 && SafeCut(last, tail)
}
