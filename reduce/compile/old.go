package compile

import (
	"hash/maphash"
	"slices"
	"sync"

	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/kind"
	"token-terminator/request"
	"token-terminator/turn"
)

// old is one string of an answered result that may be put away.
type old struct {
	message int
	result  int // among those of the request
	text    request.Text
	facts   *oldFacts
	shown   int // tokens as it is shown now
	hidden  bool
	calls   int  // calls answered since it may be put away
	follows bool // it may only go together with what it leans on
}

// base is the string as what leans on it names it.
func (o old) base() turn.Base { return turn.Base{Message: o.message, Block: o.text.Block} }

// gain is what the receipt takes away of what is shown now.
func (o old) gain() int { return o.shown - o.facts.receipt.TokensAfter }

// oldFacts is what one string is, whatever the request around it: a pure function of
// the conversation up to it.
type oldFacts struct {
	before  int           // tokens of the original
	receipt turn.Decision // Form "" when there is none
	read    bool
	kind    kind.Kind
	path    string   // of a read
	values  []uint64 // hashes of its values, sorted, each once
	paths   []string // of a user's or an assistant's message: what may name a file
}

func (f *oldFacts) size() int { return 1 + len(f.values) + 4*len(f.paths) }

// oldKey names a string together with everything before it.
type oldKey struct {
	session string
	chain   turn.Digest
	block   string
	meter   string
}

// oldCache remembers facts, so that a turn reads only results that have become old.
type oldCache struct {
	seed maphash.Seed

	mu    sync.Mutex
	held  map[oldKey]*oldFacts
	order []oldKey
	size  int // values held

	losses map[string]lossEntry // by session, the ones asked for last
}

// lossEntry is what showing dependents anew would cost, under a key.
type lossEntry struct {
	key   turn.Digest
	costs map[turn.Base]int
}

const (
	maxOldFacts  = 1 << 16
	maxOldValues = 8 << 20
)

func newOldCache() *oldCache {
	return &oldCache{seed: maphash.MakeSeed(), held: map[oldKey]*oldFacts{}, losses: map[string]lossEntry{}}
}

// lossesOf gives what was put for a session under this key, which must not be written.
func (c *oldCache) lossesOf(session string, key turn.Digest) (map[turn.Base]int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.losses[session]
	return e.costs, ok && e.key == key
}

// maxLosses bounds the sessions whose losses are kept.
const maxLosses = 256

func (c *oldCache) putLosses(session string, key turn.Digest, costs map[turn.Base]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for other := range c.losses {
		if len(c.losses) < maxLosses || c.losses[session].costs != nil {
			break
		}
		delete(c.losses, other)
	}
	c.losses[session] = lossEntry{key: key, costs: costs}
}

func (c *oldCache) get(key oldKey) (*oldFacts, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.held[key]
	return f, ok
}

func (c *oldCache) put(key oldKey, f *oldFacts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.held[key]; ok {
		return
	}
	c.held[key], c.order, c.size = f, append(c.order, key), c.size+f.size()
	for len(c.order) > maxOldFacts || c.size > maxOldValues && len(c.order) > 1 {
		c.size -= c.held[c.order[0]].size()
		delete(c.held, c.order[0])
		c.order = c.order[1:]
	}
}

// valuesOf hashes the values of texts, sorted, each once.
func (c *oldCache) valuesOf(texts ...string) []uint64 {
	var out []uint64
	for _, text := range texts {
		reduce.Values(text, func(v string) { out = append(out, maphash.String(c.seed, v)) })
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// olds lists the strings that are old enough to be put away and whose receipt would
// take enough away, in the order of the request.
func (d *Draft) olds() []old {
	var out []old
	age := d.c.settings.Plan.ReceiptAge
	last := d.steps[len(d.steps)-1]
	for i, m := range d.doc.Messages {
		calls := last - d.steps[i] - age
		if calls < 0 {
			break
		}
		for _, r := range d.results.of(i) {
			if m.Locked != "" || r.CallID == "" || r.Mixed {
				continue
			}
			for _, text := range r.Texts {
				if text.Span.End-text.Span.Start <= d.c.settings.Plan.ReceiptGain {
					continue
				}
				if o, ok := d.old(r, text); ok {
					o.calls = calls
					out = append(out, o)
				}
			}
		}
	}
	return out
}

func (d *Draft) old(r result, text request.Text) (old, bool) {
	i := r.message
	facts := d.oldFacts(i, text)
	if facts.receipt.Form == "" {
		return old{}, false
	}
	o := old{message: i, result: d.results.first[i] + r.nth, text: text, facts: facts, shown: facts.before}
	for _, b := range d.blocksOf(i) {
		if b.Decision.Block != text.Block {
			continue
		}
		if b.Decision.Form == turn.Receipt {
			return old{}, false
		}
		o.shown, o.hidden = b.Decision.TokensAfter, b.Decision.Form.Hides()
	}
	return o, o.gain() >= d.c.settings.Plan.ReceiptGain
}

func (d *Draft) oldFacts(i int, text request.Text) *oldFacts {
	key := d.oldKey(i, text)
	if f, ok := d.c.olds.get(key); ok {
		return f
	}
	f := d.readOld(i, text)
	d.c.olds.put(key, f)
	return f
}

func (d *Draft) oldKey(i int, text request.Text) oldKey {
	return oldKey{d.snap.Binding.Session, d.chain[i], text.Block, d.meter.Label()}
}

func (d *Draft) readOld(i int, text request.Text) *oldFacts {
	f := &oldFacts{}
	value, err := d.doc.Value(text)
	if err != nil {
		return f
	}
	f.values = d.c.olds.valuesOf(value)
	block := reduce.Block{Text: value, Call: d.call(i, text.Block)}
	settings := d.c.settings.Reduce
	if settings.Eligible(block) != "" || reduce.HoldsMarker(value, d.c.key, d.snap.Binding.Session, d.resolve) {
		return f
	}
	f.before = d.count(value)
	f.path, f.read = block.Call.ReadPath()
	if f.before < d.c.settings.Plan.ReceiptGain || f.read && f.path == "" {
		return f
	}
	f.kind = reduce.KindOf(block)
	block.Kind = f.kind
	p, ok := reduce.Receipt(block, d.count)
	if !ok {
		return f
	}
	r := rendering{
		meter: d.meter, key: d.c.key, session: d.snap.Binding.Session, block: block, pointer: text.Block,
		limit: d.c.settings.Reduce.Form.MaxTokens,
	}
	_, decisions, _ := r.candidates([]reduce.Proposal{p}, func(reduce.Proposal) []turn.Base { return nil })
	if len(decisions) == 1 {
		f.receipt = decisions[0]
	}
	return f
}

// Puttings lists every message of the request with a receipt that has become old, for
// the arms a replay compares with: what could be put away if nothing had been yet. Of
// a request that passes through nothing could.
func (d *Draft) Puttings() []plan.Putting {
	if d.passes != "" {
		return nil
	}
	var all []old
	last := d.steps[len(d.steps)-1]
	for i, m := range d.doc.Messages {
		if m.Locked != "" || last-d.steps[i] < d.c.settings.Plan.ReceiptAge {
			continue
		}
		for n, r := range d.results.of(i) {
			if r.CallID == "" || r.Mixed {
				continue
			}
			for _, text := range r.Texts {
				if facts := d.oldFacts(i, text); facts.receipt.Form != "" {
					o, _ := d.old(r, text)
					o.message, o.result, o.text, o.facts = i, d.results.first[i]+n, text, facts
					o.calls = last - d.steps[i]
					all = append(all, o)
				}
			}
		}
	}
	keep := d.protected(all)
	var out []plan.Putting
	for n, o := range all {
		p := plan.Putting{
			Message: o.message, Gain: o.gain(), RawGain: o.facts.before - o.facts.receipt.TokensAfter,
			Block: o.facts.before, Calls: o.calls, Kept: keep[n],
		}
		if len(out) > 0 && out[len(out)-1].Message == o.message {
			sum := &out[len(out)-1]
			p.Gain, p.RawGain, p.Block, p.Kept = p.Gain+sum.Gain, p.RawGain+sum.RawGain, p.Block+sum.Block, p.Kept || sum.Kept
			*sum = p
			continue
		}
		out = append(out, p)
	}
	return out
}
