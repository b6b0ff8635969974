package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"token-terminator/actors"
	"token-terminator/ledger"
	"token-terminator/turn"
	"token-terminator/vault"
)

// Parts are what is known when a status is asked for. A nil part is unknown.
type Parts struct {
	Daemon       *Daemon
	Engine, Mode string
	Observing    bool
	Off          bool
	Stats        *actors.Stats
	Vault        *vault.Status
	Totals       *ledger.Totals
	Reasons      map[turn.Reason]int64 // of turns, from the ledger
	Ledger       *ledger.Health
	Calibrations []ledger.Calibration
	Jev, Policy  *Part
	LastErrType  string
	Unoffered    int64 // turns since the start without an accepted recovery tool
	Warnings     []string
}

// Gather builds the status. It is pure. Sessions, turns, reasons and savings are those
// of the ledger, which outlives the daemon; without one, turns and reasons are those
// since the daemon started, and savings are unknown.
func Gather(p Parts) Status {
	s := Status{Schema: Schema, Daemon: p.Daemon, Jev: p.Jev, Policy: p.Policy, Warnings: slices.Clone(p.Warnings)}
	if s.Warnings == nil {
		s.Warnings = []string{}
	}
	if p.Stats != nil {
		s.Engine = engine(p)
		s.Turns, s.Reasons = &s.Engine.Turns, maps.Clone(p.Stats.Reasons)
		s.Sessions = &s.Engine.Sessions
	}
	if p.Totals != nil {
		totals(&s, p)
	}
	if p.Vault != nil {
		s.Vault = fullness(p)
	}
	if p.LastErrType != "" {
		s.LastErrorType = &p.LastErrType
	}
	s.Warnings = append(s.Warnings, warnings(p)...)
	return s
}

func totals(s *Status, p Parts) {
	t := *p.Totals
	s.Turns, s.Sessions, s.Reasons = &t.Turns, &t.Sessions, p.Reasons
	if t.Exact.Turns > 0 {
		saved := t.Exact.Saved()
		s.Saved.Tokens.Exact = &saved
	}
	if t.Panel.Turns > 0 {
		saved := t.Panel.Saved()
		s.Saved.Tokens.Panel = &saved
	}
	if t.Priced > 0 {
		net := t.NetITE()
		s.Saved.ITE = &net
	}
}

func engine(p Parts) *Engine {
	st := *p.Stats
	e := &Engine{
		Name: p.Engine, Mode: p.Mode, State: "on", Turns: st.Turns, Edited: st.Edited, Replayed: st.Replayed, Busy: st.Reasons[turn.Busy],
		TurnsInFlight: st.TurnsInFlight, BytesInFlight: st.BytesInFlight, Sessions: st.Sessions, Batches: st.Batches,
		BatchedTurns: st.BatchedTurns, Panics: st.Panics, Restarts: st.Restarts, DeadLetters: st.DeadLetters, LateAnswers: st.LateAnswers,
		Reasons: maps.Clone(st.Reasons), NoRecoveryTool: p.Unoffered,
	}
	for reason, n := range st.Reasons {
		if ledger.FailsOpen(reason) {
			e.FailOpens += n
		}
	}
	switch {
	case p.Off:
		e.State = "off"
	case st.Storage != "":
		e.State = "bypass"
	case p.Observing:
		e.State = "observing"
	}
	if p.Ledger != nil {
		e.Ledger = &LedgerState{State: onOff(p.Ledger.On), Dropped: p.Ledger.Dropped, Failed: p.Ledger.Failed}
	}
	return e
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func fullness(p Parts) *Vault {
	v := *p.Vault
	out := &Vault{
		State: "open", Schema: v.Schema, Bytes: v.Bytes, Capacity: v.Capacity, Percent: v.Percent, StoredBytes: v.Stored,
		Artifacts: v.Artifacts, Pinned: v.Pinned, Sessions: v.Sessions, Nodes: v.Nodes,
		BytesPerDay: v.Forecast.BytesPerDay, WarnAt: v.Forecast.WarnAt, RedAt: v.Forecast.RedAt,
	}
	if v.Level != vault.LevelOK {
		out.State = v.Level
	}
	if p.Stats != nil {
		pending := p.Stats.PinBytes
		out.PendingBytes = &pending
		if p.Stats.Storage != "" {
			out.State = "down"
		}
	}
	return out
}

// warnings are what a user should look at, in our words.
func warnings(p Parts) []string {
	var all []string
	if v := p.Vault; v != nil && v.Level != vault.LevelOK {
		all = append(all, fmt.Sprintf("the vault is %.0f %% full: raise its capacity, or release and prune what no transcript needs", v.Percent))
	}
	if p.Stats != nil && p.Stats.Storage != "" {
		all = append(all, "the vault cannot be written: every request passes unchanged; tt doctor says why")
	}
	if h := p.Ledger; h != nil {
		if !h.On {
			all = append(all, "there is no ledger: turns are not recorded and savings are unknown; tt doctor says why")
		}
		if h.Dropped+h.Failed > 0 {
			all = append(all, fmt.Sprintf("the ledger lost %d entries: figures are too low", h.Dropped+h.Failed))
		}
	}
	if p.Unoffered > 0 {
		all = append(all, fmt.Sprintf("%d turns came without a recovery tool that is accepted, and nothing new was hidden in them: docs/protocol.md says how to declare it", p.Unoffered))
	}
	for _, c := range p.Calibrations {
		if c.PanelOff() {
			all = append(all, "reported usage of a model contradicts what the panel counted: its savings are not real")
			break
		}
	}
	return all
}

// Source gives a status.
type Source interface {
	Status(ctx context.Context) (Status, error)
}

// Live is the Source of a running daemon. Its functions are asked at each status, the
// vault at most every five seconds. Nil functions leave their part unknown.
type Live struct {
	Daemon func() Daemon
	Parts  func() Parts // Engine, Mode, Observing, Off, Jev, Policy, LastErrType, Warnings
	Stats  func() actors.Stats
	Vault  func(context.Context) (vault.Status, error)
	Ledger *ledger.Ledger   // nil: off
	Now    func() time.Time // nil: time.Now

	mu      sync.Mutex
	known   *vault.Status
	knownAt time.Time
}

const vaultFresh = 5 * time.Second

// Status implements Source. What fails is unknown; it never gives an error.
func (l *Live) Status(ctx context.Context) (Status, error) {
	p := l.parts(ctx)
	l.totals(ctx, &p)
	return Gather(p), nil
}

// Brief is a status that does not ask the ledger for its sums, for those who ask often.
func (l *Live) Brief(ctx context.Context) Status { return Gather(l.parts(ctx)) }

func brief(ctx context.Context, source Source) (Status, error) {
	if quick, ok := source.(interface{ Brief(context.Context) Status }); ok {
		return quick.Brief(ctx), nil
	}
	return source.Status(ctx)
}

func (l *Live) parts(ctx context.Context) Parts {
	p := Parts{}
	if l.Parts != nil {
		p = l.Parts()
	}
	if l.Daemon != nil {
		d := l.Daemon()
		p.Daemon = &d
	}
	if l.Stats != nil {
		st := l.Stats()
		p.Stats = &st
	}
	p.Vault = l.vault(ctx)
	h := l.Ledger.Health()
	p.Ledger = &h
	return p
}

// flushWait is how long a status waits for what the ledger still has in hand.
const flushWait = 250 * time.Millisecond

func (l *Live) totals(ctx context.Context, p *Parts) {
	if l.Ledger == nil {
		return
	}
	wait, cancel := context.WithTimeout(ctx, flushWait)
	_ = l.Ledger.Flush(wait) // what is late is in the next status
	cancel()
	reads := l.Ledger.Reads()
	sum, err := reads.Totals(ctx, ledger.Filter{})
	if err != nil {
		return
	}
	reasons, err := reads.Reasons(ctx, ledger.Filter{})
	if err != nil {
		return
	}
	p.Totals, p.Reasons = &sum, reasons.Turns
	if all, err := reads.Calibrations(ctx); err == nil {
		p.Calibrations = all
	}
}

func (l *Live) vault(ctx context.Context) *vault.Status {
	if l.Vault == nil {
		return nil
	}
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := now(); l.known == nil || at.Sub(l.knownAt) >= vaultFresh || at.Before(l.knownAt) {
		l.known, l.knownAt = nil, at
		if v, err := l.Vault(ctx); err == nil {
			l.known = &v
		}
	}
	return l.known
}
