package compile

import (
	"slices"
	"sync"

	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// lastTurn is what the last turn of a session read and wrote. The next one takes from
// it what begins with the same bytes; what comes out does not depend on it.
type lastTurn struct {
	sent    *request.Past
	counted *tokens.Counted // of sent, by meter
	edited  *request.Edited
	after   *tokens.Counted // of edited, by meter
	meter   *tokens.Meter
}

func (l *lastTurn) size() int { return l.sent.Bytes() + l.edited.Bytes() }

const (
	maxLastTurns = 64       // sessions
	maxLastBytes = 96 << 20 // of requests held
)

// lastTurns keeps the last turn of the sessions used last. Safe for concurrent use.
type lastTurns struct {
	mu    sync.Mutex
	order []string // oldest first
	held  map[string]*lastTurn
	bytes int
}

func newLastTurns() *lastTurns { return &lastTurns{held: map[string]*lastTurn{}} }

// of gives what is known of a session, never nil.
func (t *lastTurns) of(session string) *lastTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l, ok := t.held[session]; ok {
		return l
	}
	return &lastTurn{}
}

func (t *lastTurns) put(session string, l *lastTurn) {
	if l.sent == nil || l.size() > maxLastBytes/2 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(session)
	t.order, t.held[session] = append(t.order, session), l
	t.bytes += l.size()
	for len(t.order) > maxLastTurns || t.bytes > maxLastBytes {
		t.drop(t.order[0])
	}
}

func (t *lastTurns) drop(session string) {
	l, ok := t.held[session]
	if !ok {
		return
	}
	t.bytes -= l.size()
	delete(t.held, session)
	t.order = slices.DeleteFunc(t.order, func(s string) bool { return s == session })
}

// Known is what is known of the session's last request, for a check of the next one
// that comes before its turn; nil when there was none.
func (c *Compiler) Known(session string) *request.Past { return c.last.of(session).sent }

// measure counts the request, taking what the last turn counted by the same meter.
func (d *Draft) measure(before *tokens.Counted, seg request.Segments) (tokens.Measure, *tokens.Counted) {
	if d.last.meter != d.meter {
		before = nil
	}
	return d.meter.Since(before, seg.Head, seg.Messages, seg.Tail)
}

// rendered is a rung that was written and measured.
type rendered struct {
	body    []byte
	final   tokens.Measure
	doc     *request.Doc
	seg     request.Segments
	counted *tokens.Counted
	edits   []turn.Edit
	at      []int // the message of each edit
}

// keep remembers this turn for the next one.
func (d *Draft) keep() {
	next := &lastTurn{sent: d.doc.NewPast(d.chain, d.segments), counted: d.counted, meter: d.meter}
	if r := d.written; r != nil {
		next.edited, next.after = request.NewEdited(r.edits, r.at, r.doc.NewPast(nil, r.seg)), r.counted
	}
	d.c.last.put(d.snap.Binding.Session, next)
}
