package main

import (
	"context"
	"sync"

	"token-terminator/ledger"
)

// Bounds of panelWatch.
const (
	panelEvery  = 50  // turns of a model between two looks at its usage
	panelModels = 256 // models that are told apart
)

// panelWatch knows the models whose reported usage contradicts what the panel counts.
type panelWatch struct {
	mu   sync.RWMutex
	off  map[string]bool
	seen map[string]int // turns since the start; used by the recorder alone
}

// load reads what the ledger knows from before.
func (p *panelWatch) load(l *ledger.Ledger) {
	p.off, p.seen = map[string]bool{}, map[string]int{}
	all, err := l.Reads().Calibrations(context.Background())
	if err != nil {
		return
	}
	for _, c := range all {
		if c.PanelOff() && len(p.off) < panelModels {
			p.off[c.Model] = true
		}
	}
}

// contradicted says whether a model's panel savings are not real.
func (p *panelWatch) contradicted(model string) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.off[model]
}

// look compares counts and reports of a turn's model now and then, off the turn's path.
func (p *panelWatch) look(l *ledger.Ledger, t ledger.Turn) {
	if _, known := p.seen[t.Model]; t.Measure != ledger.Panel || !known && len(p.seen) >= panelModels {
		return
	}
	if p.seen[t.Model]++; p.seen[t.Model]%panelEvery != 0 {
		return
	}
	samples, err := l.Reads().Samples(context.Background(), t.Model, ledger.Panel)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off[t.Model] = ledger.Calibrate(t.Model, ledger.Panel, samples).PanelOff()
}

// withoutNewForms is s as a model whose panel is switched off gets it: what was shown
// stays as it was shown, so the provider's cache stays warm, and nothing new is made.
func (s *sessionSettings) withoutNewForms() *sessionSettings {
	kept := *s
	kept.key += " panel off"
	c := &kept.compile
	c.NoLayout, c.NoDelta, c.NoHiding, c.NoEpochs = true, true, true, true
	return &kept
}
