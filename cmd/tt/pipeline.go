package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"token-terminator/actors"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/turn"
	"token-terminator/vault"
)

// pipeline is the running actor system over one vault.
type pipeline struct {
	system *actors.System
	vault  atomic.Pointer[vault.Vault]        // another one after its files went
	known  func(session string) *request.Past // nil: nothing is known of earlier requests
}

// memory gives plan's form memory the shape the actors pass around.
type memory struct{ forms *plan.Memory }

func (m memory) With(nodes []turn.Node) actors.Memory { return memory{m.forms.With(nodes)} }

// reduce decides the call's scope from the host's facts before any session, vault or
// tokenizer is touched, then asks the actors.
func (p *pipeline) reduce(ctx context.Context, scope request.Scope, cmd actors.ReduceTurn) actors.TurnReduced {
	var past *request.Past
	if p.known != nil {
		past = p.known(cmd.Binding.Session)
	}
	if reason, allowed := scope.DecideAfter(cmd.Body, past); !allowed {
		return actors.TurnReduced{Binding: cmd.Binding, Body: cmd.Body, Reason: reason}
	}
	return p.system.Reduce(ctx, cmd)
}

// turnCompiler compiles the turns of calls whose scope was approved.
type turnCompiler struct{ compiler *compile.Compiler }

func (c turnCompiler) Begin(snap actors.Snapshot, cmd actors.ReduceTurn) (actors.Draft, turn.Reason) {
	known, _ := snap.Memory.(memory)
	facts, _ := cmd.Facts.(compile.Facts)
	draft, reason := c.compiler.Begin(compile.Snapshot{Binding: snap.Binding, Memory: known.forms, Facts: facts}, cmd.Body)
	if reason != "" {
		return nil, reason
	}
	return turnDraft{draft}, ""
}

type turnDraft struct{ draft *compile.Draft }

func (d turnDraft) Evidence() turn.Evidence { return d.draft.Evidence() }

func (d turnDraft) Finish(pinned turn.Pinned) actors.Outcome {
	out := d.draft.Finish(pinned)
	return actors.Outcome{
		Edited: out.Body != nil, Body: out.Body, Edits: out.Edits, Nodes: out.Nodes, Lowered: out.Lowered,
		Reason: out.Reason, Detail: out,
	}
}

// vaultStore is the vault as the VaultWriter uses it.
type vaultStore struct{ v *vault.Vault }

// Prepare implements actors.Preparer.
func (s vaultStore) Prepare(ev turn.Evidence) turn.Evidence { return s.v.Prepare(ev) }

func (s vaultStore) PutAll(ctx context.Context, all []turn.Evidence) []actors.PutResult {
	results := s.v.PutAll(ctx, all)
	out := make([]actors.PutResult, len(results))
	for i, r := range results {
		out[i] = actors.PutResult{Pinned: r.Pinned, Err: storeError(r.Err)}
	}
	return out
}

func (s vaultStore) Accept(ctx context.Context, session string, nodes []turn.Node) error {
	return storeError(s.v.Accept(ctx, session, nodes))
}

func (s vaultStore) Nodes(ctx context.Context, session string) ([]turn.Node, error) {
	nodes, err := s.v.Nodes(ctx, session)
	return nodes, storeError(err)
}

// storeError marks the errors after which the folder must be opened again.
func storeError(err error) error {
	if errors.Is(err, vault.ErrGone) || errors.Is(err, vault.ErrClosed) {
		return fmt.Errorf("%w: %w", actors.ErrStoreGone, err)
	}
	return err
}

// startPipeline runs the actors over an open vault. Turns have no deadline: a replay
// waits for them.
func startPipeline(c *compile.Compiler, v *vault.Vault) (*pipeline, error) {
	p, err := startCompiling(turnCompiler{c}, v)
	if err == nil {
		p.known = c.Known
	}
	return p, err
}

func startCompiling(c actors.Compile, v *vault.Vault) (*pipeline, error) {
	p := &pipeline{}
	p.vault.Store(v)
	err := p.start(actors.Config{
		Engine: "replay", Compile: c, Store: vaultStore{v}, Reopen: p.reopen,
		TurnTimeout: actors.NoDeadline, Compilers: runtime.GOMAXPROCS(0), MaxBytes: 1 << 30, MaxPinBytes: 1 << 30,
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// start runs the actors of cfg.
func (p *pipeline) start(cfg actors.Config) error {
	cfg.NewMemory = func(nodes []turn.Node) actors.Memory { return memory{(*plan.Memory)(nil).With(nodes)} }
	system, err := actors.Start(cfg)
	if err != nil {
		return fmt.Errorf("start pipeline: %w", err)
	}
	p.system = system
	return nil
}

// reopen opens the vault's folder again.
func (p *pipeline) reopen(actors.Store) (actors.Store, error) {
	v, err := p.vault.Load().Reopen()
	if err != nil {
		return nil, err
	}
	p.vault.Store(v)
	return vaultStore{v}, nil
}

// stop ends the actors, then closes the vault.
func (p *pipeline) stop(ctx context.Context) error {
	err := p.system.Stop(ctx)
	if closed := p.vault.Load().Close(); err == nil {
		err = closed
	}
	return err
}
