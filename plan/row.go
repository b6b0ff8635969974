package plan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ErrBadRow says that a price row cannot be used.
var ErrBadRow = errors.New("price row: want finite prices, none negative, input above zero")

// Row is one dated price row: prices of one token of each class, and the cache
// rules of the target. Sources: spec/money.md §1 for Study.
type Row struct {
	Name   string `json:"name"`
	AsOf   string `json:"as_of"`  // date of the figures, or ""
	Source string `json:"source"` // where the figures come from
	// Prices of one token: fresh input, input read from the cache, input written
	// to it, output.
	Input  float64 `json:"input"`
	Read   float64 `json:"read"`
	Write  float64 `json:"write"`
	Output float64 `json:"output"`
	// MinPrefix is the smallest prefix that is cached, in tokens; a request below
	// it is all fresh.
	MinPrefix int `json:"min_prefix"`
	// TTL is how long an unused cache entry lives, in seconds.
	TTL int `json:"ttl"`
	// Granularity is the step, in tokens, in which a prefix is reused; 0 and 1 mean
	// exactly.
	Granularity int `json:"granularity,omitempty"`
	// Assumed says that the row stands in for an unknown one, so that no figure of
	// it may be called money.
	Assumed bool `json:"assumed,omitempty"`
}

// StudyName is the name of the row that stands in for an unknown price.
const StudyName = "study"

// Study is the row of the replay study: input-token equivalents, read 0.1, write
// 1.25, output 5, 300 s, smallest prefix 1,024.
func Study() Row {
	return Row{
		Name: StudyName, AsOf: "2026-11-30", Source: "replay study", Input: 1, Read: 0.1, Write: 1.25, Output: 5,
		MinPrefix: 1024, TTL: 300, Assumed: true,
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
	for _, p := range []float64{r.Input, r.Read, r.Write, r.Output} {
		if p < 0 || math.IsNaN(p) || math.IsInf(p, 0) {
			return fmt.Errorf("%w: %q has %v", ErrBadRow, r.Name, p)
		}
	}
	if r.Input == 0 || r.MinPrefix < 0 || r.TTL < 0 || r.Granularity < 0 {
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
