package compile

import (
	"slices"

	"token-terminator/plan"
	"token-terminator/turn"
)

// Facts is what only the caller can know of a turn. The zero value says nothing.
type Facts struct {
	// Cold says that the provider's cache holds nothing of this session: it was idle
	// for longer than entries live, or reported that it read nothing.
	Cold bool
	Why  plan.ColdReason // "" when nobody said
	// Uncached says that this route was seen not to cache: every token is fresh.
	Uncached bool
	// Window is how many tokens of input the model takes; 0 unknown.
	Window int
	// Accounted says that Saved and Spent are known, in the row's unit: what the
	// session has saved so far, net of its debits, and what it would have cost without.
	Accounted    bool
	Saved, Spent float64
}

// Epoch tells that old messages changed in this turn.
type Epoch struct {
	plan.Epoch
	Why     plan.ColdReason // of a cold one, when somebody said
	Turn    int             // calls answered before it, plus one
	Blocks  int             // put away
	Rebased int             // shown anew because their base was put away
}

// epoch decides whether old messages change in this turn, and changes them.
func (d *Draft) epoch() {
	s := d.c.settings
	if s.NoEpochs || s.NoHiding || !s.Reduce.MayHide() || s.Plan.TooSmall(d.raw.Tokens) || d.known == len(d.chain) || !d.offers {
		return
	}
	all := d.olds()
	if len(all) == 0 {
		return
	}
	places := d.places()
	m := d.moment(places)
	loss := atMost
	if d.freely(m) {
		loss = atNoCost
	}
	if worth, _ := d.pick(m, places, all, loss); len(worth) == 0 {
		return // not even if nothing had to stay in sight
	}
	if d.freely(m) {
		all = together(all, d.followers(all))
	}
	keep := d.protected(all)
	var free, followers []old
	for n, o := range all {
		switch {
		case keep[n]:
		case o.follows:
			followers = append(followers, o)
		default:
			free = append(free, o)
		}
	}
	if d.freely(m) {
		worth, _ := d.pick(m, places, free, atNoCost)
		if len(worth) == 0 {
			return
		}
		loss = d.losses(worth)
	}
	worth, verdict := d.pick(m, places, free, loss)
	if len(followers) > 0 {
		worth, verdict = d.withFollowers(m, places, free, followers, worth, loss, verdict)
	}
	if len(worth) == 0 {
		return
	}
	d.putAway(worth)
	d.opened.Epoch, d.opened.Turn, d.opened.Blocks = verdict, d.calls+1, len(worth)
	if verdict.Kind == plan.ColdEpoch {
		d.opened.Why = d.snap.Facts.Why
	}
}

// pick takes the blocks that are worth it and asks plan about them; it gives none
// when the answer is no. Blocks never sent before cost no cache: if all together are
// refused, they are tried alone.
func (d *Draft) pick(m plan.Moment, places []int, all []old, loss lossOf) ([]old, plan.Epoch) {
	worth := d.worthwhile(m, places, all, loss)
	verdict := d.c.settings.Plan.Epoch(d.row(), m, d.aways(places, worth, loss))
	if verdict.Kind == "" && !m.Mismatch {
		fresh := worth[:0:0]
		for _, o := range worth {
			if o.message >= d.known {
				fresh = append(fresh, o)
			}
		}
		m.Mismatch, worth = true, d.withoutBases(m, places, fresh, loss)
		verdict = d.c.settings.Plan.Epoch(d.row(), m, d.aways(places, worth, loss))
	}
	if verdict.Kind == "" {
		return nil, verdict
	}
	return worth, verdict
}

// freely says that nothing cached is lost by an epoch now. Then what is shown anew is
// worth trying out; a warm epoch must pay whatever that turns out to be.
func (d *Draft) freely(m plan.Moment) bool {
	return m.Cold || m.Mismatch || m.Window > 0 && m.RequestTokens > m.Window
}

// places gives the tokens of the request, as it would go out without an epoch, before
// each message; the last one is before the fields behind the messages.
func (d *Draft) places() []int {
	segments := d.segments
	places := make([]int, len(d.doc.Messages)+1)
	at, message := d.meter.Whole(segments.Head, nil, nil).Tokens, func(i int) int {
		return d.meter.Whole(nil, segments.Messages[i:i+1], nil).Tokens
	}
	if d.counted != nil {
		at, message = d.counted.Head(), d.counted.Message
	}
	for i := range d.doc.Messages {
		places[i] = at
		if i < len(segments.Messages) {
			at += message(i)
		}
		for _, b := range d.blocksOf(i) {
			at -= b.Decision.TokensBefore - b.Decision.TokensAfter
		}
	}
	places[len(d.doc.Messages)] = at
	return places
}

func (d *Draft) moment(places []int) plan.Moment {
	messages := d.doc.Messages
	system, results := 0, d.results.first[d.known]
	for system < len(messages) && (messages[system].Role == "system" || messages[system].Role == "developer") {
		system++
	}
	f := d.snap.Facts
	return plan.Moment{
		RawTokens: d.raw.Tokens, RequestTokens: d.raw.Tokens - d.shrunk, CachedEnd: places[d.known],
		SystemEnd: places[system], LastMarks: places[max(d.known-plan.MarkedMessages+1, 0)], Cache: d.c.settings.Cache,
		CallsSoFar: d.calls, SinceEpoch: d.calls - d.lastEpoch, Cold: f.Cold, Mismatch: results == 0,
		Window: f.Window, Accounted: f.Accounted, Saved: f.Saved, Spent: f.Spent,
	}
}

// aways describes the blocks, and what must be shown anew because of them, to plan.
func (d *Draft) aways(places []int, all []old, loss lossOf) []plan.Away {
	out := make([]plan.Away, 0, len(all))
	for _, o := range all {
		out = append(out, d.away(places, o))
	}
	for _, dep := range d.dependents(all) {
		b := d.blocks[dep.block]
		out = append(out, plan.Away{
			At: places[b.Message], Removed: -loss(b), Calls: dep.calls, Cached: b.Message < d.known,
		})
	}
	return out
}

func (d *Draft) away(places []int, o old) plan.Away {
	return plan.Away{
		At: places[o.message], Removed: o.gain(), Block: o.facts.before, Calls: o.calls,
		Cached: o.message < d.known, Hidden: o.hidden,
	}
}

// worthwhile keeps the blocks whose receipt saves more than it risks, and among them
// those whose dependents do not lose more than they gain.
func (d *Draft) worthwhile(m plan.Moment, places []int, all []old, loss lossOf) []old {
	var out []old
	for _, o := range all {
		if d.c.settings.Plan.Worth(d.row(), m, d.away(places, o)) {
			out = append(out, o)
		}
	}
	return d.withoutBases(m, places, out, loss)
}

// dependent is a block in force that leans on blocks of an epoch and is not one.
type dependent struct {
	block int   // in d.blocks
	bases []int // in the list asked about, those it leans on through others included
	calls int   // the least of its bases'
}

// lossOf is the tokens that showing a block in force anew costs.
type lossOf func(Block) int

// atMost supposes that nothing else in sight serves: the original.
func atMost(b Block) int { return b.Decision.TokensBefore - b.Decision.TokensAfter }

// atNoCost supposes that something else in sight serves as well.
func atNoCost(Block) int { return 0 }

// dependents lists what leans on all, directly or through another dependent: where a
// text changes, what names its lines must change too. Bases stand before what leans
// on them, so one pass finds all.
func (d *Draft) dependents(all []old) []dependent {
	goes := make(map[turn.Base][]int, len(all))
	away := make(map[turn.Base]bool, len(all))
	for n, o := range all {
		base := turn.Base{Message: o.message, Block: o.text.Block}
		goes[base], away[base] = []int{n}, true
	}
	var out []dependent
	for n, b := range d.blocks {
		self := turn.Base{Message: b.Message, Block: b.Decision.Block}
		if away[self] {
			continue
		}
		dep := dependent{block: n}
		for _, base := range b.Decision.Bases {
			dep.bases = append(dep.bases, goes[base]...)
		}
		if len(dep.bases) == 0 {
			continue
		}
		slices.Sort(dep.bases)
		dep.bases = slices.Compact(dep.bases)
		dep.calls = all[dep.bases[0]].calls
		for _, k := range dep.bases {
			dep.calls = min(dep.calls, all[k].calls)
		}
		goes[self] = dep.bases
		out = append(out, dep)
	}
	return out
}

// withoutBases keeps in sight the blocks that gain less than showing anew what leans
// on them costs, and those a repeat points at. What is kept may itself lean on what
// goes, so the question is asked until nothing more is kept.
func (d *Draft) withoutBases(m plan.Moment, places []int, all []old, loss lossOf) []old {
	repeated := map[turn.Digest]bool{}
	for _, b := range d.blocks {
		if b.Decision.Reason == turn.RepeatOfHidden {
			repeated[b.Decision.Before] = true
		}
	}
	for {
		gains := make([]int, len(all))
		for n, o := range all {
			if !repeated[o.facts.receipt.Before] {
				gains[n] = d.c.settings.Plan.Value(d.row(), m, d.away(places, o))
			}
		}
		var leaning []plan.Leaning
		for _, dep := range d.dependents(all) {
			leaning = append(leaning, plan.Leaning{Cost: loss(d.blocks[dep.block]), Bases: dep.bases})
		}
		chosen := plan.Closure(gains, leaning)
		out := all[:0:0]
		for n, o := range all {
			if chosen[n] {
				out = append(out, o)
			}
		}
		if len(out) == len(all) {
			return out
		}
		all = out
	}
}
