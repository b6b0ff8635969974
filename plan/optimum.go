package plan

// Optimum is the cost, net of debits, of the best choice of epochs for a course whose
// future is known: at an epoch everything that was admissible by then is put away. It
// is a dynamic programme over the call of the last epoch:
//
//	best(t) = min over s < t of best(s) + Σ calls between, as after s + call t as an epoch
//
// in time proportional to calls² + calls·messages.
func (c Course) Optimum() (float64, error) {
	if err := c.Row.Validate(); err != nil {
		return 0, err
	}
	o := newOptimum(c)
	n := len(c.Calls)
	best := make([]float64, n+1) // best[s+1]: through call s, an epoch at s; s = -1 none
	for t := range best {
		best[t] = -1 // not reached
	}
	best[0] = 0
	total := -1.0
	for s := -1; s < n; s++ {
		if best[s+1] < 0 {
			continue
		}
		o.after(s)
		cost := best[s+1]
		for t := s + 1; t < n; t++ {
			o.admit(t)
			if o.fresh > 0 && t > 0 {
				if v := cost + o.epoch(t); best[t+1] < 0 || v < best[t+1] {
					best[t+1] = v
				}
			}
			cost += o.warm(t)
		}
		if total < 0 || cost < total {
			total = cost
		}
	}
	return max(total, 0), nil
}

// optimum is the programme's view of the calls after one epoch.
type optimum struct {
	c        Course
	s        Settings
	base     []int     // input of each call with nothing put away
	prefix   []int     // tokens before each message, Fixed included, nothing put away
	when     []int     // call from which a message may be put away
	what     []Putting // of each message
	coming   [][]int   // messages that become admissible at each call
	system   int       // leading system messages
	removed  []int     // tokens put away before each message, after the epoch at hand
	gone     int       // all of them
	fresh    int       // messages that became admissible since
	first    int       // the first of them
	goneThen int       // tokens gone after an epoch at the call asked about
	hides    int       // blocks that an epoch would hide for the first time
	pages    int       // tokens of the pages that would bring them back
}

func newOptimum(c Course) *optimum {
	o := &optimum{c: c, s: c.Settings.WithDefaults(), base: make([]int, len(c.Calls)), coming: make([][]int, len(c.Calls))}
	o.prefix = make([]int, len(c.Messages)+1)
	o.prefix[0] = c.Fixed
	for i, m := range c.Messages {
		o.prefix[i+1] = o.prefix[i] + m.Birth
	}
	for o.system < len(c.Messages) && c.Messages[o.system].System {
		o.system++
	}
	o.when, o.what = make([]int, len(c.Messages)), make([]Putting, len(c.Messages))
	for i := range o.when {
		o.when[i] = never
	}
	for j, call := range c.Calls {
		o.base[j] = o.prefix[call.Messages]
		for _, p := range call.Away {
			if o.when[p.Message] == never && p.admissible(c.Settings) && o.pays(j, p) {
				o.when[p.Message], o.what[p.Message] = j, p
				o.coming[j] = append(o.coming[j], p.Message)
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

// after sets the state to that after an epoch at call s.
func (o *optimum) after(s int) {
	sum := 0
	for i := range o.c.Messages {
		o.removed[i] = sum
		if o.when[i] <= s {
			sum += o.what[i].Gain
		}
	}
	o.removed[len(o.c.Messages)] = sum
	o.gone, o.goneThen, o.fresh, o.first = sum, sum, 0, len(o.c.Messages)
	o.hides, o.pages = 0, 0
}

// admit notes what becomes admissible at call t.
func (o *optimum) admit(t int) {
	for _, i := range o.coming[t] {
		o.fresh++
		o.first = min(o.first, i)
		o.goneThen += o.what[i].Gain
		if o.c.Messages[i].Hides == 0 {
			o.hides++
			o.pages += min(o.what[i].Block, o.s.PageTokens)
		}
	}
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
