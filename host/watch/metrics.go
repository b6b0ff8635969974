package watch

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"token-terminator/ledger"
	"token-terminator/turn"
)

const prefix = "token_terminator_"

// buckets of a turn's time, in seconds; a turn's deadline is 0.8 by default.
var buckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6}

// Metrics counts turns since the start of the process, in a registry of its own.
type Metrics struct {
	registry *prometheus.Registry
	turns    *prometheus.CounterVec
	fails    *prometheus.CounterVec
	raw      *prometheus.CounterVec
	final    *prometheus.CounterVec
	saved    *prometheus.CounterVec
	ite      prometheus.Gauge
	seconds  prometheus.Histogram
}

// NewMetrics makes empty metrics. Gauges are read from source at each scrape.
func NewMetrics(source Source) *Metrics {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		turns:    vec("turns_total", "Answered turns.", "decision", "reason"),
		fails:    vec("fail_opens_total", "Turns that passed because something of ours failed or was short.", "reason"),
		raw:      vec("tokens_raw_total", "Tokens of measured requests as they came.", "measure"),
		final:    vec("tokens_final_total", "Tokens of measured requests as they were sent.", "measure"),
		saved:    vec("tokens_saved_total", "Tokens of measured requests taken away.", "measure"),
		ite:      prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "ite_saved", Help: "Input-token equivalents saved by turns, estimated, before recoveries."}),
		seconds:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + "turn_seconds", Help: "Time of a turn.", Buckets: buckets}),
	}
	m.registry.MustRegister(m.turns, m.fails, m.raw, m.final, m.saved, m.ite, m.seconds, gauges{source}, collectors.NewGoCollector())
	return m
}

// Observe counts one answered turn.
func (m *Metrics) Observe(t ledger.Turn) {
	decision := "pass"
	if t.Edited {
		decision = "edit"
	}
	reason := known(t.Reason)
	m.turns.WithLabelValues(decision, reason).Inc()
	if !t.Edited && ledger.FailsOpen(t.Reason) {
		m.fails.WithLabelValues(reason).Inc()
	}
	m.seconds.Observe(t.Elapsed.Seconds())
	if t.Measure == ledger.Exact || t.Measure == ledger.Panel {
		by := string(t.Measure)
		m.raw.WithLabelValues(by).Add(float64(max(t.Raw, 0)))
		m.final.WithLabelValues(by).Add(float64(max(t.Final, 0)))
		m.saved.WithLabelValues(by).Add(float64(max(t.Raw-t.Final, 0)))
	}
	if t.ITE != nil {
		m.ite.Add(*t.ITE)
	}
}

// known keeps labels to the closed set.
func known(r turn.Reason) string {
	if r.Known() {
		return string(r)
	}
	return "other"
}

// gauges reads a status at each scrape.
type gauges struct{ source Source }

// gaugeTable names every gauge and where a status has it; ok is false when unknown.
var gaugeTable = []struct {
	desc *prometheus.Desc
	of   func(Status) (float64, bool)
}{
	gauge("turns_in_flight", "Admitted turns whose work is not over.", fromEngine(func(e Engine) float64 { return float64(e.TurnsInFlight) })),
	gauge("bytes_in_flight", "Bytes of their requests.", fromEngine(func(e Engine) float64 { return float64(e.BytesInFlight) })),
	gauge("sessions", "Sessions with an actor.", fromEngine(func(e Engine) float64 { return float64(e.Sessions) })),
	gauge("busy", "Turns refused at the door since the start.", fromEngine(func(e Engine) float64 { return float64(e.Busy) })),
	gauge("restarts", "Restarts of the vault writer since the start.", fromEngine(func(e Engine) float64 { return float64(e.Restarts) })),
	gauge("panics", "Panics caught since the start.", fromEngine(func(e Engine) float64 { return float64(e.Panics) })),
	gauge("bypass", "1 when the store is down and every request passes.", fromEngine(func(e Engine) float64 { return one(e.State == "bypass") })),
	gauge("ledger_lost_entries", "Entries the ledger dropped or failed to write.", fromEngine(func(e Engine) float64 {
		if e.Ledger == nil {
			return 0
		}
		return float64(e.Ledger.Dropped + e.Ledger.Failed)
	})),
	gauge("vault_bytes", "Bytes that count against the capacity.", fromVault(func(v Vault) float64 { return float64(v.Bytes) })),
	gauge("vault_capacity_bytes", "Capacity of the vault.", fromVault(func(v Vault) float64 { return float64(v.Capacity) })),
	gauge("vault_full_ratio", "Bytes over capacity.", fromVault(func(v Vault) float64 { return v.Percent / 100 })),
	gauge("vault_artifacts", "Originals in the vault.", fromVault(func(v Vault) float64 { return float64(v.Artifacts) })),
}

var scorerDesc = prometheus.NewDesc(prefix+"scorer", "1 for the state of the scorer.", []string{"state"}, nil)

func gauge(name, help string, of func(Status) (float64, bool)) struct {
	desc *prometheus.Desc
	of   func(Status) (float64, bool)
} {
	return struct {
		desc *prometheus.Desc
		of   func(Status) (float64, bool)
	}{prometheus.NewDesc(prefix+name, help, nil, nil), of}
}

func fromEngine(of func(Engine) float64) func(Status) (float64, bool) {
	return func(s Status) (float64, bool) {
		if s.Engine == nil {
			return 0, false
		}
		return of(*s.Engine), true
	}
}

func fromVault(of func(Vault) float64) func(Status) (float64, bool) {
	return func(s Status) (float64, bool) {
		if s.Vault == nil {
			return 0, false
		}
		return of(*s.Vault), true
	}
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Describe implements prometheus.Collector.
func (g gauges) Describe(to chan<- *prometheus.Desc) {
	for _, row := range gaugeTable {
		to <- row.desc
	}
	to <- scorerDesc
}

// scrapeWait bounds one look at the parts.
const scrapeWait = 2 * time.Second

// Collect implements prometheus.Collector. What is unknown is left out.
func (g gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWait)
	defer cancel()
	s, err := brief(ctx, g.source)
	if err != nil {
		return
	}
	for _, row := range gaugeTable {
		if v, ok := row.of(s); ok {
			to <- prometheus.MustNewConstMetric(row.desc, prometheus.GaugeValue, v)
		}
	}
	state := "none"
	if s.Jev != nil && s.Jev.State != "off" {
		state = s.Jev.State
	}
	to <- prometheus.MustNewConstMetric(scorerDesc, prometheus.GaugeValue, 1, state)
}
