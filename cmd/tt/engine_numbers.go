package main

import (
	"context"
	"sync"

	"token-terminator/actors"
	"token-terminator/host"
	"token-terminator/host/settings"
	"token-terminator/host/settings/apply"
	"token-terminator/host/watch"
	"token-terminator/host/wire"
	"token-terminator/ledger"
	"token-terminator/ledger/book"
	"token-terminator/turn"
)

// numbers is everything of the daemon that counts: ledger, metrics, status. Nothing
// here decides anything.
type numbers struct {
	ledger  *ledger.Ledger // nil: off
	metrics *watch.Metrics
	live    *watch.Live
	panel   panelWatch

	mu      sync.Mutex
	door    host.Stats // as the server last said
	ask     func() host.Stats
	lastErr string
}

// openNumbers opens the ledger. Without one the daemon works all the same, and says so.
func openNumbers(e *engine, cfg engineConfig) *numbers {
	n := &numbers{}
	if cfg.ledger != "" {
		l, err := ledger.Open(context.Background(), cfg.ledger, apply.Ledger(cfg.settings))
		if err != nil {
			n.lastErr = ledger.ErrorType(err)
			cfg.logger.Warn("no ledger", "err_type", n.lastErr)
		} else {
			n.ledger = l
		}
	}
	n.live = &watch.Live{
		Daemon: n.daemon, Parts: func() watch.Parts { return n.parts(e.settings) },
		Stats:  e.stats,
		Vault:  e.vault.status,
		Ledger: n.ledger, Now: e.now,
	}
	n.metrics = watch.NewMetrics(n.live)
	n.panel.load(n.ledger)
	return n
}

func (n *numbers) close() error { return n.ledger.Close() }

// record takes an answered turn, off the turn's path.
func (n *numbers) record(m actors.RecordTurn) {
	t := book.Entry(m, book.Context{})
	n.ledger.Record(t)
	n.metrics.Observe(t)
	n.panel.look(n.ledger, t)
}

// watchDoor says where the server's counts come from.
func (n *numbers) watchDoor(ask func() host.Stats) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ask = ask
}

func (n *numbers) daemon() watch.Daemon {
	n.mu.Lock()
	ask := n.ask
	s := n.door
	n.mu.Unlock()
	if ask != nil {
		s = ask()
	}
	return daemonStatus(s, n.live.Now())
}

func (n *numbers) parts(set settings.Settings) watch.Parts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return watch.Parts{
		Engine: engineName, Mode: string(set.Mode), Observing: set.Observe(), Off: !set.Active(),
		Jev: &watch.Part{State: "off"}, Policy: &watch.Part{State: "off"}, LastErrType: n.lastErr,
	}
}

// usage hands on what a provider reported of a turn. What is not known is not guessed.
func (n *numbers) usage(e *wire.Event, last turn.Binding) {
	u := e.Usage
	if u == nil || u.Input == nil || u.CacheRead == nil || u.Output == nil {
		return
	}
	write := 0
	if u.CacheWrite != nil {
		write = *u.CacheWrite
	}
	b := e.Binding
	if b.Turn == 0 {
		b = last
	}
	fresh := *u.Input - *u.CacheRead - write
	if b.Turn == 0 || fresh < 0 || *u.CacheRead < 0 || write < 0 || *u.Output < 0 {
		return
	}
	if b.Engine == "" {
		b.Engine = engineName
	}
	n.ledger.Report(ledger.Reported{Binding: b, Usage: ledger.Usage{Fresh: fresh, Read: *u.CacheRead, Write: write, Output: *u.Output}})
}

// recovery counts one fetch of a model.
func (n *numbers) recovery(r *wire.Recover) {
	n.ledger.Note(ledger.Event{Binding: named(r.Binding), Kind: ledger.Recovery, Reason: r.Action})
}

// failedOpen counts turns a host sent without an answer of ours.
func (n *numbers) failedOpen(e *wire.Event) {
	for range min(max(e.Count, 1), maxFailOpens) {
		n.ledger.Note(ledger.Event{Binding: named(e.Binding), Kind: ledger.FailedOpen, Reason: e.Reason})
	}
}

// maxFailOpens bounds how many one event may report.
const maxFailOpens = 1000

func named(b turn.Binding) turn.Binding {
	if b.Engine == "" {
		b.Engine = engineName
	}
	return b
}
