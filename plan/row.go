package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ErrBadRow says that a price row cannot be used.
var ErrBadRow = errors.New("price row: want finite prices, none negative, input above zero")

// Control says what makes a target cache a prefix.
type Control string

// The ways of control. Both: the target caches by itself and takes marks too.
const (
	Automatic      Control = "automatic"
	ExplicitMarks  Control = "marks"
	Both           Control = "both"
	UnknownControl Control = "unknown"
)

// Tier is the prices of a whole request, output included, whose input is over a
// threshold. The zero Tier is none.
type Tier struct {
	Over   int     `json:"over"` // tokens of input
	Input  float64 `json:"input"`
	Read   float64 `json:"read"`
	Write  float64 `json:"write"`
	Output float64 `json:"output"`
}

// Row is one dated price row: prices of one token of each class, and the cache
// rules of the target. Sources: spec/money.md §1 for Study, docs/prices.md for the
// others. A Row is comparable.
type Row struct {
	Name   string `json:"name"`
	AsOf   string `json:"as_of"`  // the day the row was picked for, or ""
	Source string `json:"source"` // where the figures come from
	// Prices of one token: fresh input, input read from the cache, input written
	// to it, output.
	Input  float64 `json:"input"`
	Read   float64 `json:"read"`
	Write  float64 `json:"write"`
	Output float64 `json:"output"`
	Tier   Tier    `json:"tier,omitzero"`
	// MinPrefix is the smallest prefix that is cached, in tokens; a request below
	// it is all fresh.
	MinPrefix int `json:"min_prefix"`
	// TTL is how long an unused cache entry lives, in seconds.
	TTL int `json:"ttl"`
	// Granularity is the step, in tokens, in which a prefix is reused; 0 and 1 mean
	// exactly.
	Granularity int     `json:"granularity,omitempty"`
	Control     Control `json:"control,omitempty"`
	// Assumed says that at least one cell is the study's. Unknown names those
	// cells, separated by ", "; it is "" for Study itself.
	Assumed bool   `json:"assumed,omitempty"`
	Unknown string `json:"unknown,omitempty"`
	// Priced says that input, read, write and output stand in a table of prices;
	// without it no figure of the row may be called money.
	Priced bool `json:"priced,omitempty"`
}

// StudyName is the name of the row that stands in for an unknown price.
const StudyName = "study"

// Study is the row of the replay study: input-token equivalents, read 0.1, write
// 1.25, output 5, 300 s, smallest prefix 1,024.
func Study() Row {
	return Row{
		Name: StudyName, AsOf: "2026-11-30", Source: "replay study", Input: 1, Read: 0.1, Write: 1.25, Output: 5,
		MinPrefix: 1024, TTL: 300, Control: Automatic, Assumed: true,
	}
}

// StudyWithRead is Study with another price of a cached token; published figures
// show 0.05 and 0.025 beside 0.1.
func StudyWithRead(read float64) Row {
	row := Study()
	row.Read = read
	row.Name = StudyName + ", read " + strconv.FormatFloat(read, 'g', -1, 64)
	return row
}

// Validate checks the ranges.
func (r Row) Validate() error {
	for _, p := range []float64{r.Input, r.Read, r.Write, r.Output, r.Tier.Input, r.Tier.Read, r.Tier.Write, r.Tier.Output} {
		if p < 0 || math.IsNaN(p) || math.IsInf(p, 0) {
			return fmt.Errorf("%w: %q has %v", ErrBadRow, r.Name, p)
		}
	}
	if r.Input == 0 || r.Tier.Over < 0 || r.Tier.Over > 0 && r.Tier.Input == 0 || r.MinPrefix < 0 || r.TTL < 0 || r.Granularity < 0 {
		return fmt.Errorf("%w: %q", ErrBadRow, r.Name)
	}
	return nil
}

// Reusable is how much of a common prefix, in tokens, the target really reuses:
// nothing under MinPrefix, and whole steps of Granularity above.
func (r Row) Reusable(common int) int {
	if r.Granularity > 1 {
		common -= common % r.Granularity
	}
	if common < r.MinPrefix || common < 0 {
		return 0
	}
	return common
}

// At is the row as it prices a request of so many input tokens: over the tier's
// threshold the tier's prices stand in for all classes.
func (r Row) At(input int) Row {
	if t := r.Tier; t.Over > 0 && input > t.Over {
		r.Input, r.Read, r.Write, r.Output = t.Input, t.Read, t.Write, t.Output
	}
	return r
}

// OverTier says whether a request of so many input tokens is repriced.
func (r Row) OverTier(input int) bool { return r.Tier.Over > 0 && input > r.Tier.Over }

// Cost prices one call's tokens; the call's whole input decides the tier.
func (r Row) Cost(c Charge) float64 {
	at := r.At(c.Input())
	return float64(c.Fresh)*at.Input + float64(c.Read)*at.Read + float64(c.Write)*at.Write + float64(c.Output)*at.Output
}

// Scaled multiplies every price.
func (r Row) Scaled(by float64) Row {
	for _, p := range []*float64{&r.Input, &r.Read, &r.Write, &r.Output, &r.Tier.Input, &r.Tier.Read, &r.Tier.Write, &r.Tier.Output} {
		*p *= by
	}
	return r
}

// InITE is the row in input-token equivalents: its prices with input as 1.
func (r Row) InITE() Row {
	for _, p := range []*float64{&r.Read, &r.Write, &r.Output, &r.Tier.Input, &r.Tier.Read, &r.Tier.Write, &r.Tier.Output} {
		*p /= r.Input
	}
	r.Input = 1
	return r
}

// WithoutCache is the row on a route that does not cache: every input token is fresh
// in every call, and there is no prefix to keep.
func (r Row) WithoutCache() Row {
	r.Read, r.Write, r.MinPrefix = r.Input, r.Input, 0
	r.Tier.Read, r.Tier.Write = r.Tier.Input, r.Tier.Input
	return r
}
