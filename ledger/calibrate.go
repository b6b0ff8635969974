package ledger

import (
	"context"
	"slices"
)

// Sample is a turn whose tokens were both counted here and reported by the provider.
type Sample struct {
	Edited     bool
	Raw, Final int // counted: as it came, as it was sent
	Reported   int // input the provider reported for what was sent
}

// Verdict says whether reported usage bears out what a panel claims to save.
type Verdict string

// The verdicts.
const (
	Unknown      Verdict = "unknown"      // too few turns, or within their spread
	BorneOut     Verdict = "borne_out"    // even the least favourable reading saves
	Contradicted Verdict = "contradicted" // even the most favourable reading saves nothing
)

// Bounds of Calibrate.
const (
	// MinPassed and MinEdited turns with usage are needed before anything is concluded.
	MinPassed = 20
	MinEdited = 20
)

// Calibration compares counts with reported usage for one model.
type Calibration struct {
	Model   string   `json:"model"`
	Passed  int      `json:"passed"`   // turns sent as they came
	Edited  int      `json:"edited"`   // and turns sent smaller
	Factor  *float64 `json:"factor"`   // reported ÷ counted, median of the passed; nil: fewer than MinPassed
	Low     *float64 `json:"low"`      // lower and upper quartile
	High    *float64 `json:"high"`     //
	Claimed int64    `json:"claimed"`  // tokens the counts say the edits saved
	Real    *int64   `json:"real"`     // what Factor and the reports say
	Verdict Verdict  `json:"verdict"`  // of the saving
	UsedFor Measure  `json:"measured"` // by what the counts were made
}

// Calibrate compares counts with reports. It is pure; the order of samples does not
// matter. Turns that passed tell how many reported tokens a counted one stands for;
// with that factor the edited turns' originals are priced, and what was reported for
// them taken away. A saving is contradicted when it is not there even with the upper
// quartile of the factor, and borne out when it is there with the lower one.
func Calibrate(model string, by Measure, samples []Sample) Calibration {
	c := Calibration{Model: model, Verdict: Unknown, UsedFor: by}
	var ratios []float64
	var raw, reported float64
	for _, s := range samples {
		if s.Final <= 0 || s.Reported <= 0 {
			continue
		}
		if !s.Edited {
			c.Passed++
			ratios = append(ratios, float64(s.Reported)/float64(s.Final))
			continue
		}
		c.Edited++
		c.Claimed += int64(s.Raw - s.Final)
		raw, reported = raw+float64(s.Raw), reported+float64(s.Reported)
	}
	if c.Passed < MinPassed {
		return c
	}
	slices.Sort(ratios)
	low, mid, high := quantile(ratios, 0.25), quantile(ratios, 0.5), quantile(ratios, 0.75)
	c.Low, c.Factor, c.High = &low, &mid, &high
	if c.Edited == 0 {
		return c
	}
	real := int64(mid*raw - reported)
	c.Real = &real
	switch {
	case c.Edited < MinEdited:
	case high*raw <= reported:
		c.Verdict = Contradicted
	case low*raw > reported:
		c.Verdict = BorneOut
	}
	return c
}

// quantile of a sorted, non-empty list, between two neighbours in a line.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[below]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}

// PanelOff says whether panel savings must not be made for this model any more: its
// reported usage contradicts them.
func (c Calibration) PanelOff() bool { return c.UsedFor == Panel && c.Verdict == Contradicted }

// maxSamples bounds how many of a model's latest turns are looked at.
const maxSamples = 2_000

// Samples gives the latest turns of a model that were counted by this measure and
// reported by the provider, at most 2,000.
func (r *Reading) Samples(ctx context.Context, model string, by Measure) ([]Sample, error) {
	if r == nil {
		return nil, ErrOff
	}
	rows, err := r.db.QueryContext(ctx, `SELECT edited, raw, final, use_fresh + use_read + use_write FROM turns
		WHERE model = ? AND measure = ? AND use_fresh IS NOT NULL ORDER BY seq DESC LIMIT ?`, name(model), string(by), maxSamples)
	if err != nil {
		return nil, r.explain("read usage", err)
	}
	defer rows.Close()
	var all []Sample
	for rows.Next() {
		var s Sample
		if err := rows.Scan(&s.Edited, &s.Raw, &s.Final, &s.Reported); err != nil {
			return nil, r.explain("read usage", err)
		}
		all = append(all, s)
	}
	return all, r.explain("read usage", rows.Err())
}

// Calibrations compares every model the panel measured.
func (r *Reading) Calibrations(ctx context.Context) ([]Calibration, error) {
	if r == nil {
		return nil, ErrOff
	}
	models, err := r.models(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Calibration, 0, len(models))
	for _, model := range models {
		samples, err := r.Samples(ctx, model, Panel)
		if err != nil {
			return nil, err
		}
		out = append(out, Calibrate(model, Panel, samples))
	}
	return out, nil
}

func (r *Reading) models(ctx context.Context) ([]string, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT DISTINCT model FROM turns WHERE measure = 'panel' AND use_fresh IS NOT NULL ORDER BY 1`)
	if err != nil {
		return nil, r.explain("read models", err)
	}
	defer rows.Close()
	var models []string
	for rows.Next() {
		var model string
		if err := rows.Scan(&model); err != nil {
			return nil, r.explain("read models", err)
		}
		models = append(models, model)
	}
	return models, r.explain("read models", rows.Err())
}
