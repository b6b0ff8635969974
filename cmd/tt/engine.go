package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"token-terminator/actors"
	"token-terminator/host"
	"token-terminator/host/settings"
	"token-terminator/host/wire"
	"token-terminator/ledger/book"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// engineName is the engine of bindings that name none, and what a hello is told.
const engineName = "tt"

// memoBytes bounds what the daemon remembers of counted texts.
const memoBytes = 256 << 20

// engine is what the daemon does: one pipeline over one vault, and what it knows of
// the sessions that come by. It is the host.Backend.
type engine struct {
	pipeline *pipeline
	vault    *liveVault
	sessions *sessionBook
	compiles *compilers
	settings settings.Settings
	numbers  *numbers
	sweeper  *sweeper
	now      func() time.Time
}

// engineConfig is the daemon's settings and what tests may change.
type engineConfig struct {
	settings settings.Settings
	vault    vault.Options
	ledger   string // its file; "" none
	logger   *slog.Logger
	clock    actors.Clock                        // nil: the machine's
	wrap     func(actors.Compile) actors.Compile // nil: none
	actors   actors.Config                       // bounds; the wiring is set here
	sweep    time.Duration                       // 0: sweepEvery
}

// startEngine opens the vault in folder and starts the actors.
func startEngine(folder string, cfg engineConfig) (*engine, error) {
	v := openLive(folder, cfg.vault)
	if cfg.logger == nil {
		cfg.logger = slog.New(slog.DiscardHandler)
	}
	e := &engine{pipeline: &pipeline{}, vault: v, sessions: newSessionBook(), compiles: newCompilers(), settings: cfg.settings, now: time.Now}
	if cfg.clock != nil {
		e.now = cfg.clock.Now
	}
	e.numbers = openNumbers(e, cfg)
	a := cfg.actors
	a.Engine, a.Store, a.Compile, a.Clock, a.Logger = engineName, v, e, cfg.clock, cfg.logger
	a.Record = e.numbers.record
	if cfg.wrap != nil {
		a.Compile = cfg.wrap(e)
	}
	if a.Compilers == 0 {
		a.Compilers = min(max(runtime.GOMAXPROCS(0), 4), actors.DefaultCompilers)
	}
	if err := e.pipeline.start(a); err != nil {
		return nil, errors.Join(err, v.close(), e.numbers.close())
	}
	e.startSweeper(cfg)
	return e, nil
}

// warm loads the tables of the tokenizers, so that the first turn need not.
func (e *engine) warm() {
	for _, name := range []string{"o200k_base", "cl100k_base"} {
		if c, err := tokens.Named(name); err == nil {
			c.Count([]byte("warm"))
		}
	}
}

func (e *engine) startSweeper(cfg engineConfig) {
	e.sweeper = &sweeper{
		every: cfg.sweep, stats: e.pipeline.system.Stats, clear: e.rest,
		after: func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop },
	}
	if cfg.clock != nil {
		e.sweeper.after = cfg.clock.AfterFunc
	}
	if cfg.sweep == 0 {
		e.sweeper.every = sweepEvery
	}
	e.sweeper.arm()
}

// rest lets go of what only sessions need.
func (e *engine) rest() {
	e.compiles.clear()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if v := e.vault.current(); v != nil {
		_ = v.Relax(ctx) // a vault that is in trouble says so to whoever asks it
	}
}

// Begin compiles a turn under the settings its session came with.
func (e *engine) Begin(snap actors.Snapshot, cmd actors.ReduceTurn) (actors.Draft, turn.Reason) {
	s, ok := snap.Settings.(*sessionSettings)
	if !ok {
		return nil, turn.InternalError
	}
	facts, _ := cmd.Facts.(turnFacts)
	c, err := e.compiles.of(s, facts.model, e.vault.markerKey())
	if err != nil {
		return nil, turn.InternalError
	}
	if e.numbers.panel.contradicted(facts.model) && !c.Meter(facts.model).Exact() {
		if c, err = e.compiles.of(s.withoutNewForms(), facts.model, e.vault.markerKey()); err != nil {
			return nil, turn.InternalError
		}
	}
	cmd.Facts = facts.Facts
	draft, why := turnCompiler{c}.Begin(snap, cmd)
	if why != "" {
		return nil, why
	}
	about := book.Context{
		Mode: string(s.Mode), Model: facts.model, Row: s.pricing.listed(facts.model), Cold: facts.Cold,
	}
	if facts.declared {
		about.Declared = c.Meter(facts.model).JSON([]byte(reduce.RecoveryTool)).Tokens
	}
	return bookedDraft{draft, about}, ""
}

// bookedDraft tells the ledger with what a turn came to under which settings that was.
// It answers with edits only: the caller has the request, and answers are remembered
// for retries.
type bookedDraft struct {
	actors.Draft
	about book.Context
}

func (d bookedDraft) Finish(p turn.Pinned) actors.Outcome {
	out := d.Draft.Finish(p)
	detail, _ := out.Detail.(compile.Outcome)
	if e := detail.Epoch; e != nil {
		d.about.Epoch, d.about.EpochReason = string(e.Kind), string(e.Reason)
	}
	d.about.Sent = len(out.Body)
	out.Body, detail.Body, detail.Edits, detail.Nodes = nil, nil, nil, nil
	out.Detail = book.Detail{Outcome: detail, Context: d.about}
	return out
}

// turnFacts is what a turn's compiler is told besides the request.
type turnFacts struct {
	compile.Facts
	model    string
	declared bool // the request offers the recovery tool
}

// Open implements host.Backend.
func (e *engine) Open(hello *wire.Hello) (host.Desk, []string, error) {
	s, err := sessionOf(e.settings, hello)
	if err != nil {
		return nil, nil, &host.Refusal{Code: wire.ErrorSetting}
	}
	return &desk{engine: e, settings: s, operator: hello.Operator}, s.notices, nil
}

// Close implements host.Backend: sessions finish, the writer commits what is queued,
// the log is merged, the file is closed.
func (e *engine) Close(ctx context.Context) error {
	e.sweeper.end()
	return errors.Join(e.pipeline.system.Stop(ctx), e.numbers.close(), e.vault.close())
}

// compilers keeps one compiler for each set of settings and price row. They share the
// memo: counts depend on neither.
type compilers struct {
	memo *tokens.Memo
	mu   sync.Mutex
	made map[compilerKey]*compile.Compiler
}

type compilerKey struct {
	settings string
	row      plan.Row
	key      string // of the vault's markers
}

// maxCompilers bounds how many different settings are kept ready.
const maxCompilers = 64

func newCompilers() *compilers {
	return &compilers{memo: tokens.NewMemo(memoBytes), made: map[compilerKey]*compile.Compiler{}}
}

// clear lets go of every compiler and of what was counted.
func (c *compilers) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memo = tokens.NewMemo(memoBytes)
	clear(c.made)
}

func (c *compilers) of(s *sessionSettings, model string, marker []byte) (*compile.Compiler, error) {
	settings := s.compile
	settings.Row = s.pricing.listed(model).InITE()
	k := compilerKey{s.key, settings.Row, string(marker)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.made[k]; known != nil {
		return known, nil
	}
	made, err := compile.New(settings, marker, c.memo)
	if err != nil {
		return nil, err
	}
	if len(c.made) >= maxCompilers {
		clear(c.made)
	}
	c.made[k] = made
	return made, nil
}
