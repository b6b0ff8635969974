package plan

// Optimum is the cost, net of debits, of the best choice of epochs for a course whose
// future is known: at an epoch everything that is admissible then is put away, and
// stays away. It is a dynamic programme over the call of the last epoch:
//
//	best(t) = min over s < t of best(s) + Σ calls between, as after s + call t as an epoch
//
// in time proportional to calls²·(what may be put away). What is away after an epoch
// depends on the epochs before it where something had to stay in sight for a while; the
// programme carries the set of its cheapest way there, so that its cost is that of a
// schedule which could be followed. Where nothing is kept it is the best of all.
func (c Course) Optimum() (float64, error) {
	if err := c.Row.Validate(); err != nil {
		return 0, err
	}
	o := newOptimum(c)
	n := len(c.Calls)
	best := make([]schedule, n+1) // best[s+1]: through call s, an epoch at s; s = -1 none
	best[0] = schedule{reached: true, away: make([]bool, len(c.Messages))}
	total := 0.0
	for s := -1; s < n; s++ {
		at := &best[s+1]
		if !at.reached {
			continue
		}
		if s >= 0 {
			at.away = o.union(best[at.before].away, s)
		}
		o.after(at.away)
		cost := at.cost
		for t := s + 1; t < n; t++ {
			if t > 0 && o.admit(t, at.away) {
				if v := cost + o.epoch(t); !best[t+1].reached || v < best[t+1].cost {
					best[t+1] = schedule{reached: true, cost: v, before: s + 1}
				}
			}
			cost += o.warm(t)
		}
		if s < 0 || cost < total {
			total = cost
		}
	}
	return total, nil
}

// schedule is the cheapest way to an epoch at one call.
type schedule struct {
	reached bool
	cost    float64
	before  int    // the epoch before, in the same list
	away    []bool // messages that are away after it
}

// optimum is the programme's view of the calls after one epoch.
type optimum struct {
	c        Course
	s        Settings
	base     []int       // input of each call with nothing put away
	prefix   []int       // tokens before each message, Fixed included, nothing put away
	may      [][]Putting // what an epoch at each call would put away
	gain     []int       // of each message
	system   int         // leading system messages
	removed  []int       // tokens put away before each message, after the epoch at hand
	gone     int         // all of them
	first    int         // the first message that an epoch at the call asked about changes
	goneThen int         // tokens gone after it
	hides    int         // blocks that it would hide for the first time
	pages    int         // tokens of the pages that would bring them back
}

func newOptimum(c Course) *optimum {
	o := &optimum{c: c, s: c.Settings.WithDefaults(), base: make([]int, len(c.Calls)), may: make([][]Putting, len(c.Calls))}
	o.prefix, o.gain = make([]int, len(c.Messages)+1), make([]int, len(c.Messages))
	o.prefix[0] = c.Fixed
	for i, m := range c.Messages {
		o.prefix[i+1] = o.prefix[i] + m.Birth
	}
	for o.system < len(c.Messages) && c.Messages[o.system].System {
		o.system++
	}
	for j, call := range c.Calls {
		o.base[j] = o.prefix[call.Messages]
		for _, p := range call.Away {
			if p.admissible(c.Settings) && o.pays(j, p) {
				o.may[j] = append(o.may[j], p)
				o.gain[p.Message] = p.Gain
			}
		}
	}
	o.removed = make([]int, len(c.Messages)+1)
	return o
}

// pays leaves out what would not save its own expected fetch even if it cost nothing
// to put away.
func (o *optimum) pays(j int, p Putting) bool {
	later := len(o.c.Calls) - 1 - j
	saved := float64(p.Gain) * (o.c.Row.Write + o.c.Row.Read*float64(later))
	return o.c.Messages[p.Message].Hides > 0 || saved > o.debit(o.base[j], later, p.Block)
}

func (o *optimum) debit(prefix, later, block int) float64 {
	return o.s.FetchCost(o.c.Row, Fetch{PrefixTokens: prefix, BlockTokens: block, LaterCalls: later}) * o.s.RecoveryPct / 100
}

// union is what is away after an epoch at call s, when away was before it.
func (o *optimum) union(away []bool, s int) []bool {
	out := append([]bool(nil), away...)
	for _, p := range o.may[s] {
		out[p.Message] = true
	}
	return out
}

// after sets the state to that after an epoch which left these messages away.
func (o *optimum) after(away []bool) {
	sum := 0
	for i, gone := range away {
		o.removed[i] = sum
		if gone {
			sum += o.gain[i]
		}
	}
	o.removed[len(away)], o.gone = sum, sum
}

// admit looks at what an epoch at call t would put away; false when nothing is new.
func (o *optimum) admit(t int, away []bool) bool {
	o.first, o.goneThen, o.hides, o.pages = len(away), o.gone, 0, 0
	for _, p := range o.may[t] {
		if away[p.Message] {
			continue
		}
		o.first = min(o.first, p.Message)
		o.goneThen += o.gain[p.Message]
		if o.c.Messages[p.Message].Hides == 0 {
			o.hides++
			o.pages += min(p.Block, o.s.PageTokens)
		}
	}
	return o.first < len(away)
}

// warm is call t without an epoch: it extends the call before.
func (o *optimum) warm(t int) float64 {
	common := 0
	if t > 0 {
		common = o.base[t-1] - o.gone
	}
	return o.priced(t, o.base[t]-o.gone, common)
}

// epoch is call t when everything admissible is put away at it.
func (o *optimum) epoch(t int) float64 {
	at := o.first
	if sent := o.c.Calls[t-1].Messages; o.c.Cache == Marks && at < sent-MarkedMessages+1 {
		at = min(at, o.system)
	}
	input := o.base[t] - o.goneThen
	cost := o.priced(t, input, o.prefix[at]-o.removed[at])
	later := len(o.c.Calls) - 1 - t
	pages := float64(o.pages) * (o.c.Row.Write + o.c.Row.Read*float64(later)) * o.s.RecoveryPct / 100
	return cost + float64(o.hides)*o.debit(input, later, 0) + pages
}

// priced is the cost of call t, and of what its new messages hide.
func (o *optimum) priced(t, input, common int) float64 {
	call := o.c.Calls[t]
	charge := Charge{Output: call.Output}
	switch {
	case input < o.c.Row.MinPrefix:
		charge.Fresh = input
	case call.Cold || t == 0:
		charge.Write = input
	default:
		charge.Read = o.c.Row.Reusable(common)
		charge.Write = input - charge.Read
	}
	cost := charge.price(o.c.Row).Cost
	from := 0
	if t > 0 {
		from = o.c.Calls[t-1].Messages
	}
	for _, m := range o.c.Messages[min(from, call.Messages):call.Messages] {
		if m.Hides > 0 {
			cost += o.debit(input, len(o.c.Calls)-1-t, m.Hides)
		}
	}
	return cost
}
