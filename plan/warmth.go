package plan

import "time"

// ColdReason says in one word why the provider's cache is held to be cold.
type ColdReason string

// Why a cache is cold.
const (
	ColdIdle      ColdReason = "idle"        // unused for longer than its entries live
	ColdModel     ColdReason = "model"       // another model: caches are per model
	ColdCompacted ColdReason = "compacted"   // the host replaced its messages
	ColdUncached  ColdReason = "uncached"    // this route never reads what was written
	ColdObserved  ColdReason = "little_read" // reported usage: most of the prefix was not read
)

// UncachedAfter is how many calls in a row must read nothing of a prefix that was
// written before, until the route counts as one that does not cache.
const UncachedAfter = 3

// CallUsage is what a provider reported for one call, in tokens.
type CallUsage struct {
	Input   int // all of it, cached or not
	Read    int // of it read from the cache
	Written int // of it written to the cache; 0 also where the provider does not say
}

// Warmth follows one session chain on one route and says before each call whether
// the provider's cache still holds the session's prefix. Times are the caller's: it
// reads no clock, so the same events give the same answers. The zero Warmth has seen
// nothing and is ready for use; it is a plain value (a copy is a snapshot) and not
// safe for concurrent use. For each call, in order:
//
//	cold, why := w.Turn(now, model, row)   before it is compiled
//	w.Usage(end, usage)                    when the answer reported usage, or
//	w.Answered(end)                        when it did not
//
// and Compacted whenever the host says that it replaced its messages. A retry of a
// call is a call; that it changes nothing is held elsewhere (a request without a new
// message opens no epoch).
type Warmth struct {
	last      time.Time // when the cache was used last; zero unknown
	model     string
	calls     int
	cached    int  // tokens the last call left in the cache; 0 unknown
	misses    int  // calls in a row that read nothing of a prefix that was warm
	wasCold   bool // the call under way was expected to read nothing
	compacted bool
}

// Resume tells a new Warmth what an earlier process knew: when the session's last
// answer ended, and its model.
func (w *Warmth) Resume(last time.Time, model string) {
	*w = Warmth{last: last, model: model, calls: 1}
}

// Compacted notes that the host replaced its messages by fewer: the next call has
// another prefix.
func (w *Warmth) Compacted() { w.compacted = true }

// Uncached says that this route was seen not to cache: a call with the same prefix as
// the one before read nothing, UncachedAfter times in a row. One call that reads
// something ends it. Prices are then those of Row.WithoutCache.
func (w *Warmth) Uncached() bool { return w.misses >= UncachedAfter }

// Turn says whether the cache is cold for the call that is about to be made at now
// (zero: unknown). The first call of a session is not called cold: nothing was sent
// that could change. An unknown lifetime (row.TTL 0) never ends.
func (w *Warmth) Turn(now time.Time, model string, row Row) (cold bool, why ColdReason) {
	switch ttl := time.Duration(row.TTL) * time.Second; {
	case w.calls == 0:
	case w.compacted:
		why = ColdCompacted
	case model != w.model:
		why = ColdModel
	case w.Uncached():
		why = ColdUncached
	case ttl > 0 && !w.last.IsZero() && !now.IsZero() && now.Sub(w.last) > ttl:
		why = ColdIdle
	}
	if model != w.model {
		w.misses, w.cached = 0, 0 // another route
	}
	w.calls, w.model, w.compacted, w.wasCold = w.calls+1, model, false, why != ""
	w.touch(now)
	return why != "", why
}

// Answered notes when an answer ended: the cache was used until then.
func (w *Warmth) Answered(end time.Time) { w.touch(end) }

// Usage notes what the provider reported of the call that Turn announced. cold says
// that it found the cache cold although the session's prefix had been written: it read
// less than half of what the call before left there (some of it may be shared with
// other sessions). That is known only afterwards, and the call has written its
// prefix anew, so the next one is not cold for it; what ends that is seeing nothing
// read UncachedAfter times.
func (w *Warmth) Usage(end time.Time, u CallUsage) (cold bool) {
	w.touch(end)
	before := w.cached
	cold = before > 0 && 2*u.Read < before
	switch {
	case u.Read > 0:
		w.misses = 0
	case before > 0 && (!w.wasCold || w.Uncached()):
		w.misses++
	}
	w.cached = u.Read + u.Written
	if w.cached == 0 {
		w.cached = u.Input // it says nothing of writes: all of it should be there
	}
	return cold
}

func (w *Warmth) touch(at time.Time) {
	if at.After(w.last) {
		w.last = at
	}
}
