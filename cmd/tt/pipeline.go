package main

import (
	"context"
	"fmt"
	"runtime"

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
	vault  *vault.Vault
}

// memory gives plan's form memory the shape the actors pass around.
type memory struct{ forms *plan.Memory }

func (m memory) With(nodes []turn.Node) actors.Memory { return memory{m.forms.With(nodes)} }

// reduce decides the call's scope from the host's facts before any session, vault or
// tokenizer is touched, then asks the actors.
func (p *pipeline) reduce(ctx context.Context, scope request.Scope, cmd actors.ReduceTurn) actors.TurnReduced {
	if reason, allowed := scope.Decide(cmd.Body); !allowed {
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

func (s vaultStore) PutAll(ctx context.Context, all []turn.Evidence) []actors.PutResult {
	results := s.v.PutAll(ctx, all)
	out := make([]actors.PutResult, len(results))
	for i, r := range results {
		out[i] = actors.PutResult{Pinned: r.Pinned, Err: r.Err}
	}
	return out
}

func (s vaultStore) Accept(ctx context.Context, session string, nodes []turn.Node) error {
	return s.v.Accept(ctx, session, nodes)
}

func (s vaultStore) Nodes(ctx context.Context, session string) ([]turn.Node, error) {
	return s.v.Nodes(ctx, session)
}

// startPipeline runs the actors over an open vault. Turns have no deadline: a replay
// waits for them.
func startPipeline(c *compile.Compiler, v *vault.Vault) (*pipeline, error) {
	return startCompiling(turnCompiler{c}, v)
}

func startCompiling(c actors.Compile, v *vault.Vault) (*pipeline, error) {
	return startSystem(v, actors.Config{
		Engine: "replay", Compile: c, Store: vaultStore{v},
		TurnTimeout: actors.NoDeadline, Compilers: runtime.GOMAXPROCS(0), MaxBytes: 1 << 30, MaxPinBytes: 1 << 30,
	})
}

// startSystem runs the actors of cfg over an open vault, which the pipeline owns then.
func startSystem(v *vault.Vault, cfg actors.Config) (*pipeline, error) {
	cfg.NewMemory = func(nodes []turn.Node) actors.Memory { return memory{(*plan.Memory)(nil).With(nodes)} }
	system, err := actors.Start(cfg)
	if err != nil {
		return nil, fmt.Errorf("start pipeline: %w", err)
	}
	return &pipeline{system: system, vault: v}, nil
}

// stop ends the actors, then closes the vault.
func (p *pipeline) stop(ctx context.Context) error {
	err := p.system.Stop(ctx)
	if closed := p.vault.Close(); err == nil {
		err = closed
	}
	return err
}
