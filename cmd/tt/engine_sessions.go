package main

import (
	"encoding/json"
	"sync"
	"time"

	"token-terminator/host/wire"
	"token-terminator/internal/strictjson"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/turn"
)

// sessionBook is what the daemon remembers of sessions besides their forms: facts of
// their last request and what was told about their cache. It is bounded; a session
// that is forgotten starts with none.
type sessionBook struct {
	mu   sync.Mutex
	seen map[string]*sessionNote // by chain
}

type sessionNote struct {
	model    string
	tools    turn.Digest   // of the declaration the next field is about
	offer    request.Offer // of the recovery tool, in the last request
	warmth   plan.Warmth   // what clock and usage say of the provider's cache
	cold     bool          // the host said that it is empty
	why      plan.ColdReason
	uncached bool
	last     time.Time // of the last request
	window   int
	binding  turn.Binding // of the last turn that was asked for
	saved    float64
	spent    float64
	counted  bool // saved and spent were told
}

// maxSessions bounds the book.
const maxSessions = 4096

func newSessionBook() *sessionBook { return &sessionBook{seen: map[string]*sessionNote{}} }

// with gives f the note of a session chain.
func (b *sessionBook) with(chain string, f func(*sessionNote)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.seen[chain]
	if n == nil {
		if len(b.seen) >= maxSessions {
			b.dropOldest()
		}
		n = &sessionNote{}
		b.seen[chain] = n
	}
	f(n)
}

func (b *sessionBook) dropOldest() {
	oldest, first := "", true
	var at time.Time
	for chain, n := range b.seen {
		if first || n.last.Before(at) {
			oldest, at, first = chain, n.last, false
		}
	}
	delete(b.seen, oldest)
}

func (b *sessionBook) forget(chain string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.seen, chain)
}

func (b *sessionBook) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}

// facts notes a request of a chain and gives what its compiler should know.
func (b *sessionBook) facts(chain string, s *sessionSettings, raw []byte, now time.Time) turnFacts {
	outer := readOuter(raw)
	f := turnFacts{model: outer.model}
	b.with(chain, func(n *sessionNote) {
		if digest := outer.toolsDigest(); digest != n.tools {
			n.tools, n.offer = digest, outer.offer()
		}
		f.Facts = compile.Facts{Window: s.window}
		if !s.replay { // a recording's times are the past's
			f.Facts = compile.FactsOf(&n.warmth, now, outer.model, s.pricing.listed(outer.model), s.window)
		}
		if n.cold {
			f.Cold, f.Why, f.Uncached = true, n.why, f.Uncached || n.uncached
		}
		f.Accounted, f.Saved, f.Spent = n.counted, n.saved, n.spent
		if n.window > 0 {
			f.Window = n.window
		}
		f.declared, f.offer = n.offer == request.Offered, n.offer
		n.model, n.cold, n.why, n.uncached, n.last = outer.model, false, "", false, now
	})
	return f
}

// reported notes what a provider said of the last call. What it did not say is unknown.
func (n *sessionNote) reported(u *wire.Usage, now time.Time) {
	if u == nil || u.Input == nil || u.CacheRead == nil {
		n.warmth.Answered(now)
		return
	}
	usage := plan.CallUsage{Input: *u.Input, Read: *u.CacheRead}
	if u.CacheWrite != nil {
		usage.Written = *u.CacheWrite
	}
	n.warmth.Usage(now, usage)
}

// outer is what stands around the messages of a request.
type outer struct {
	model         string
	tools, choice []byte
}

// readOuter finds the model and the tools of a request. What cannot be read is empty:
// the request then passes for its own reasons.
func readOuter(raw []byte) (o outer) {
	s := strictjson.New(raw, request.MaxDepth)
	_ = s.Object(func(key strictjson.Str) error {
		name, start := string(s.Text(key)), s.Pos
		if err := s.Skip(); err != nil {
			return err
		}
		value := raw[start:s.Pos]
		switch name {
		case "model":
			if json.Unmarshal(value, &o.model) != nil {
				o.model = ""
			}
		case "tools":
			o.tools = value
		case "tool_choice":
			o.choice = value
		}
		return nil
	})
	return o
}

func (o outer) toolsDigest() turn.Digest {
	return turn.Chain(turn.SumBytes(o.tools), turn.SumBytes(o.choice))
}

// offer says whether the recovery tool is declared and not forbidden. Tools that cannot
// be read are none.
func (o outer) offer() request.Offer {
	if len(o.tools) == 0 {
		return request.Undeclared
	}
	raw := append([]byte(`{"messages":[{"role":"user","content":"x"}],"tools":`), o.tools...)
	if len(o.choice) > 0 {
		raw = append(append(raw, `,"tool_choice":`...), o.choice...)
	}
	doc, err := request.Parse(append(raw, '}'))
	if err != nil {
		return request.Undeclared
	}
	return doc.OfferOf(reduce.RecoveryName, reduce.RecoveryParams()...)
}

// noticeOf says what is wrong with an offer of the recovery tool, "" nothing.
func noticeOf(o request.Offer) string {
	switch o {
	case request.Undeclared:
		return wire.NoticeToolMissing
	case request.Incomplete:
		return wire.NoticeToolIncomplete
	case request.Forbidden:
		return wire.NoticeToolForbidden
	}
	return ""
}
