package plan

// Fetch is one recovery: the model sees a call with a hidden block, asks for it,
// and gets a page that stays in the conversation.
type Fetch struct {
	PrefixTokens int // input of the call that shows the block hidden
	BlockTokens  int // tokens of the whole block; the page holds at most Settings.PageTokens of them
	LaterCalls   int // calls after that one
}

// FetchCost prices one whole fetch: one more call over the prefix, read from the
// cache; the output that asks for the page; the page, written once and read by
// every later call. A call that stays under the row's smallest prefix is fresh; one
// over its tier pays the tier's prices.
func (s Settings) FetchCost(r Row, f Fetch) float64 {
	s, r = s.WithDefaults(), r.At(f.PrefixTokens)
	page := float64(min(max(f.BlockTokens, 0), s.PageTokens))
	prefix := r.Read
	if f.PrefixTokens < r.MinPrefix {
		prefix = r.Input
	}
	return float64(f.PrefixTokens)*prefix + float64(s.FetchOutput)*r.Output +
		page*(r.Write+r.Read*float64(max(f.LaterCalls, 0)))
}

// Debits collects the hidden blocks of one arm of one session and prices what
// fetching them back would cost. A block is charged once, when it is first hidden.
// Not safe for concurrent use.
type Debits struct {
	settings Settings
	row      Row
	hidden   []hiding
	index    map[string]int
	needed   map[string]bool
}

type hiding struct {
	key    string
	call   int
	prefix int
	block  int
}

// NewDebits starts an empty collection.
func NewDebits(s Settings, r Row) *Debits {
	return &Debits{settings: s.WithDefaults(), row: r, index: map[string]int{}, needed: map[string]bool{}}
}

// Hide notes that call shows the block key hidden, behind prefixTokens of input;
// blockTokens is the block's whole size. It says whether this is the first time.
// A key names one block of the session, e.g. message index and pointer.
func (d *Debits) Hide(key string, call, prefixTokens, blockTokens int) bool {
	if _, again := d.index[key]; again {
		return false
	}
	d.index[key] = len(d.hidden)
	d.hidden = append(d.hidden, hiding{key: key, call: call, prefix: prefixTokens, block: blockTokens})
	return true
}

// Need notes that a later recorded call used something only this hidden block
// holds. Unknown keys and repeats are ignored.
func (d *Debits) Need(key string) {
	if _, known := d.index[key]; known {
		d.needed[key] = true
	}
}

// Blocks is how many blocks were hidden.
func (d *Debits) Blocks() int { return len(d.hidden) }

// Expected is the recovery debit of a session of calls calls: RecoveryPct of a
// fetch for each hidden block.
func (d *Debits) Expected(calls int) float64 {
	sum := 0.0
	for _, h := range d.hidden {
		sum += d.fetch(h, calls)
	}
	return sum * d.settings.RecoveryPct / 100
}

// NeededLater is how many hidden blocks were needed, and the cost of fetching each
// of them whole. It stands beside Expected and is not part of it.
func (d *Debits) NeededLater(calls int) (count int, debit float64) {
	for _, h := range d.hidden {
		if d.needed[h.key] {
			count++
			debit += d.fetch(h, calls)
		}
	}
	return count, debit
}

func (d *Debits) fetch(h hiding, calls int) float64 {
	return d.settings.FetchCost(d.row, Fetch{PrefixTokens: h.prefix, BlockTokens: h.block, LaterCalls: calls - 1 - h.call})
}
