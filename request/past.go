package request

import (
	"bytes"
	"slices"

	"token-terminator/turn"
)

// Past is what is known of an earlier request. Hosts send a conversation again with
// each turn, and little of it is new: what begins with the same bytes is neither
// scanned nor hashed a second time. A Past never changes and may be shared; the nil
// Past knows nothing.
//
// It keeps a copy of the request's bytes, and what is taken from it rests on comparing
// these, never on a hash.
type Past struct {
	raw      []byte
	dialect  Dialect
	messages []Message
	seen     []evidence    // after each message
	chain    []turn.Digest // empty: not known
	segments Segments
}

// NewPast remembers a request with what Chain (nil: nothing) and Segments gave for it; nil for a
// request that teaches nothing. The segments are kept, as nobody may write to them;
// those that are parts of the caller's own bytes (see Owned) are copied.
func (d *Doc) NewPast(chain []turn.Digest, segments Segments) *Past {
	if len(d.Messages) == 0 || len(d.seen) != len(d.Messages) {
		return nil
	}
	p := &Past{raw: bytes.Clone(d.Raw), dialect: d.Dialect, messages: d.Messages, seen: d.seen, chain: chain}
	if len(segments.Messages) == len(d.Messages) {
		p.segments = segments.Owned()
	}
	return p
}

// Reused is how many messages stand at the same bytes, after the same bytes, as in
// the Past that ParseAfter was given.
func (d *Doc) Reused() int { return d.reused }

// Bytes is how much memory the Past holds of requests, about.
func (p *Past) Bytes() int {
	if p == nil {
		return 0
	}
	return 2 * len(p.raw)
}

// common is how many leading bytes raw shares with the remembered request.
func (p *Past) common(raw []byte) int {
	if p == nil {
		return 0
	}
	const step = 4 << 10
	n, end := 0, min(len(raw), len(p.raw))
	for n+step <= end && bytes.Equal(raw[n:n+step], p.raw[n:n+step]) {
		n += step
	}
	for n < end && raw[n] == p.raw[n] {
		n++
	}
	return n
}

// known is message i when it was read before at this very place: its bytes and all
// before them are equal, so the scan would end up in the same state.
func (p *Past) known(i, at, common int) (Message, bool) {
	if p == nil || i >= len(p.messages) {
		return Message{}, false
	}
	m := p.messages[i]
	return m, m.Span.Start == at && m.Span.End <= common
}

// reuse takes message i from the request before, if it is there.
func (p *parser) reuse(i int) bool {
	m, ok := p.past.known(i, p.Pos, p.common)
	if !ok || i != len(p.doc.Messages) {
		return false
	}
	if i == 0 {
		p.doc.Messages = make([]Message, 0, len(p.past.messages)+16)
		p.doc.seen = make([]evidence, 0, cap(p.doc.Messages))
	}
	p.Lone, p.Duplicate = -1, -1
	p.Pos = m.Span.End
	p.seen = p.past.seen[i]
	p.doc.Messages = append(p.doc.Messages, m)
	p.doc.seen = append(p.doc.seen, p.seen)
	p.doc.reused = i + 1
	return true
}

// segmentsAfter cuts the canonical form with the parts of messages that were cut
// before. ok is false when the whole form has to be written.
//
// A message's part depends on its own bytes, and ends with the first two symbols of
// the next one. So the messages from k on are written alone, as if the others were not
// there, and the others' parts put before them; that needs a cut before message 0 and
// before message k, in both requests.
func (d *Doc) segmentsAfter() (Segments, bool) {
	past := d.past
	if past == nil || len(past.segments.Messages) != len(past.messages) {
		return Segments{}, false
	}
	k := min(d.reused, len(d.Messages)-1, len(past.messages)-1)
	if k < 1 || len(past.segments.Messages[0]) == 0 || len(past.segments.Messages[k]) == 0 {
		return Segments{}, false
	}
	first, next := d.Messages[0].Span.Start, d.Messages[k].Span.Start
	short := slices.Concat(d.Raw[:first], d.Raw[next:])
	seg, err := cutCanonical(short, d.key())
	if err != nil || len(seg.Messages) != len(d.Messages)-k || len(seg.Messages[0]) == 0 {
		return Segments{}, false
	}
	seg.inRaw = false // short is nobody else's
	seg.Messages = slices.Concat(past.segments.Messages[:k], seg.Messages)
	return seg, true
}

// Owned gives segments that share no memory with the request's own bytes.
func (s Segments) Owned() Segments {
	if !s.inRaw {
		return s
	}
	text := slices.Concat(append(append([][]byte{s.Head}, s.Messages...), s.Tail)...)
	take := func(part []byte) []byte {
		own := text[:len(part):len(part)]
		text = text[len(part):]
		return own
	}
	out := Segments{Head: take(s.Head), Messages: make([][]byte, len(s.Messages))}
	for i, m := range s.Messages {
		out.Messages[i] = take(m)
	}
	out.Tail = take(s.Tail)
	return out
}

// Edited is a request that was written by Apply, and with which edits.
type Edited struct {
	edits []turn.Edit
	at    []int // the message of each edit, rising
	body  *Past
}

// NewEdited remembers what Apply wrote; at is the message of each edit. nil when it
// teaches nothing.
func NewEdited(edits []turn.Edit, at []int, body *Past) *Edited {
	if body == nil || len(edits) != len(at) || !slices.IsSorted(at) {
		return nil
	}
	return &Edited{edits: edits, at: at, body: body}
}

// Body is what is known of the written request, nil when nothing is.
func (e *Edited) Body() *Past {
	if e == nil {
		return nil
	}
	return e.body
}

// Bytes is how much memory it holds of requests, about.
func (e *Edited) Bytes() int { return e.Body().Bytes() }

// ApplyAfter is Apply with what was written for the request this one begins like (the
// Past of ParseAfter). Up to the first message that is new or edited differently, what
// was written then is written again: its edits were checked against the same bytes.
func (d *Doc) ApplyAfter(edits []turn.Edit, at []int, before *Edited) ([]byte, error) {
	k := 0
	if before != nil && len(at) == len(edits) && slices.IsSorted(at) {
		k = min(d.reused, len(before.body.messages))
		n := 0
		for n < len(edits) && n < len(before.edits) && edits[n] == before.edits[n] && at[n] == before.at[n] {
			n++
		}
		if n < len(edits) {
			k = min(k, at[n])
		}
		if n < len(before.edits) {
			k = min(k, before.at[n])
		}
	}
	if k == 0 {
		return d.Apply(edits)
	}
	first, _ := slices.BinarySearch(at, k)
	return d.apply(edits[first:], before.body.raw[:before.body.messages[k-1].Span.End], d.Messages[k-1].Span.End)
}
