package plan

import (
	"math"

	"token-terminator/turn"
)

// Away is one old block as an epoch would show it, or one block that an epoch would
// have to show anew because its base goes (then Removed is what that costs at most,
// negative).
type Away struct {
	At      int  // tokens of the request before the block's message, as shown now
	Removed int  // tokens taken away; strictly positive but for a dependent
	Block   int  // tokens of the whole old text: what a fetch would bring back
	Calls   int  // calls answered since the block may be put away
	Cached  bool // its message was sent before
	Hidden  bool // it is shown in part already: its fetch was charged when it was hidden
}

// Moment is what an epoch decision may know of its turn.
type Moment struct {
	RawTokens     int // the whole request as the host made it
	RequestTokens int // the whole request as it would go out without an epoch
	CachedEnd     int // tokens up to the end of the last message sent before, as shown now
	SystemEnd     int // tokens of tools and leading system messages: where marks reuse ends
	LastMarks     int // tokens before the last three messages sent before
	Cache         Cache
	CallsSoFar    int
	SinceEpoch    int // calls answered since the last epoch; CallsSoFar when there was none
	// Cold says that the target's cache holds nothing of this session; Mismatch that
	// the session's memory knows nothing of the request's conversation.
	Cold, Mismatch bool
	// Window is how many tokens of input the target takes; 0 unknown.
	Window int
	// Accounted says that Saved and Spent are known: what the session has saved so far,
	// net of its debits, and what it would have cost without us.
	Accounted    bool
	Saved, Spent float64
}

// EpochKind is why old messages may change now.
type EpochKind string

// The kinds of epochs.
const (
	ColdEpoch   EpochKind = "cold"
	WarmEpoch   EpochKind = "warm"
	WindowEpoch EpochKind = "window"
)

// Epoch is the answer to whether old messages change in this turn.
type Epoch struct {
	Kind   EpochKind   // "" when no epoch is opened
	Reason turn.Reason // why it is
	Price  float64     // of this call: what it costs more than the same call without the epoch
	Rent   float64     // what each later call costs less
	Missed float64     // the rent forgone since the last epoch
}

// Worth says whether putting one block away in an epoch saves more than the expected
// fetch: removed·(w + r·h) > RecoveryPct·fetch(h). In an epoch everything behind the
// first change is written again, so a removed token saves its write at once.
func (s Settings) Worth(r Row, m Moment, a Away) bool {
	return a.Removed >= s.WithDefaults().ReceiptGain && s.Value(r, m, a) > 0
}

// Value is what putting one block away is worth, in tokens removed: those it takes
// away less those that pay for its expected fetch. It may be negative.
func (s Settings) Value(r Row, m Moment, a Away) int {
	r = r.At(m.RequestTokens)
	h := s.Horizon(m.CallsSoFar)
	return a.Removed - int(math.Ceil(s.risk(r, m, a, h)/(r.Write+r.Read*float64(h))))
}

func (s Settings) risk(r Row, m Moment, a Away, later int) float64 {
	if a.Hidden || a.Removed <= 0 {
		return 0
	}
	s = s.WithDefaults()
	fetch := Fetch{PrefixTokens: m.RequestTokens, BlockTokens: a.Block, LaterCalls: later}
	return s.FetchCost(r, fetch) * s.RecoveryPct / 100
}

// Epoch decides whether the blocks of all are shown anew in this turn. The price is
//
//	(w − r)·(cached end − first change) − w·removed + expected recoveries
//
// where only cached tokens count in the first two terms that are read otherwise; the
// rent is r·removed on every later call. It opens one
//
//   - when the cache is cold or the conversation is not known, if that costs nothing:
//     then everything is written anyway;
//   - when the request would not fit the window;
//   - when the rent forgone since the last epoch has reached the price (rent or buy
//     with factor 1: no forecast, never more than twice what the best choice would
//     have cost) and the bank, where there is one, covers the price.
//
// A request that is cacheable stays so unless that still pays (ShrinkPays).
func (s Settings) Epoch(r Row, m Moment, all []Away) Epoch {
	s, r = s.WithDefaults(), r.At(m.RequestTokens)
	e, removed := s.priced(r, m, all)
	if removed <= 0 || !s.ShrinkPays(r, m.RawTokens, m.RequestTokens-removed, m.CallsSoFar) {
		return e
	}
	switch {
	case m.Window > 0 && m.RequestTokens > m.Window:
		e.Kind, e.Reason = WindowEpoch, turn.EpochWindow
	case (m.Cold || m.Mismatch) && e.Price < e.Rent*float64(s.Horizon(m.CallsSoFar)):
		e.Kind, e.Reason = ColdEpoch, turn.EpochCold
		if !m.Cold {
			e.Reason = turn.MemoryMismatch
		}
	case e.Missed >= e.Price && s.bank(m, e.Price):
		e.Kind, e.Reason = WarmEpoch, turn.EpochEarned
	}
	return e
}

func (s Settings) priced(r Row, m Moment, all []Away) (e Epoch, removed int) {
	first, written, missed := m.CachedEnd, 0, 0
	horizon := s.Horizon(m.CallsSoFar)
	for _, a := range all {
		removed += a.Removed
		missed += a.Removed * min(a.Calls, m.SinceEpoch)
		if a.Cached {
			first = min(first, a.At)
			written += a.Removed
		} else {
			e.Price -= r.Write * float64(a.Removed)
		}
		e.Price += s.risk(r, m, a, horizon)
	}
	e.Rent, e.Missed = r.Read*float64(removed), r.Read*float64(missed)
	e.Price -= r.Write * float64(written)
	if m.Cold || r.Reusable(m.CachedEnd) == 0 {
		return e, removed
	}
	if m.Cache == Marks && first < m.LastMarks {
		first = min(first, m.SystemEnd)
	}
	e.Price += (r.Write - r.Read) * float64(r.Reusable(m.CachedEnd)-r.Reusable(first))
	return e, removed
}

// bank says whether a warm epoch of this price may be opened: it must be covered by
// what the session has saved so far and BankPct of what it would have cost.
func (s Settings) bank(m Moment, price float64) bool {
	if !s.Bank || !m.Accounted {
		return true
	}
	return price <= m.Saved+m.Spent*s.BankPct/100
}
