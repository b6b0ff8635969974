package main

import (
	"context"
	"encoding/json"
	"errors"

	"token-terminator/host"
	"token-terminator/host/wire"
	"token-terminator/turn"
	"token-terminator/vault"
)

// Actions of a recover frame. The first ones are those of the recovery tool.
const (
	actionGet      = "artifact_get"
	actionPeek     = "artifact_peek"
	actionFind     = "artifact_find"
	actionSearch   = "artifact_search"
	actionLines    = "artifact_lines"
	actionDiff     = "artifact_diff"
	actionList     = "artifact_list"
	actionStatus   = "status"
	actionOperator = "operator"
)

// defaultLines is how many lines artifact_lines gives when no limit is said.
const defaultLines = 200

// Recover implements host.Desk. A session sees what it owns; only the user's own
// command, which says so in its hello, sees all.
func (d *desk) Recover(ctx context.Context, r *wire.Recover) (any, error) {
	chain := r.Binding.Session
	if chain == "" && !d.operator {
		return nil, &host.Refusal{Code: wire.ErrorNoOperator, Detail: "a recovery names its session"}
	}
	if r.Action == actionOperator {
		if !d.operator || chain != "" {
			return nil, &host.Refusal{Code: wire.ErrorNoOperator}
		}
		return d.engine.operate(ctx, r.Operator)
	}
	v, err := d.engine.vault.ready()
	if err != nil {
		return nil, refusalOf(err)
	}
	out, err := look(ctx, v, chain, r)
	if again, ok := d.engine.vault.after(v, err); ok {
		out, err = look(ctx, again, chain, r)
	}
	if err != nil {
		return nil, refusalOf(err)
	}
	if chain != "" {
		d.engine.numbers.recovery(r)
	}
	return out, nil
}

// look is one read of the vault.
func look(ctx context.Context, v *vault.Vault, chain string, r *wire.Recover) (any, error) {
	id := idIn(r.ArtifactID)
	switch r.Action {
	case actionGet:
		p, err := v.Page(ctx, chain, id, r.Offset, r.Limit)
		return recoveredPage(p), err
	case actionPeek:
		return asAny(v.Peek(ctx, chain, id, r.Limit))
	case actionFind:
		return asAny(v.Find(ctx, chain, id, r.Query, r.Limit))
	case actionSearch:
		return asAny(v.Search(ctx, chain, r.Query, r.Limit))
	case actionList:
		return asAny(v.List(ctx, chain, r.Limit))
	case actionDiff:
		return asAny(v.Diff(ctx, chain, id, idIn(r.Query), r.Limit))
	case actionLines:
		from, count := max(r.Offset, 1), r.Limit
		if count == 0 {
			count = defaultLines
		}
		return asAny(v.Lines(ctx, chain, id, from, from+count-1))
	case actionStatus:
		return sessionVault(ctx, v, chain)
	}
	return nil, &host.Refusal{Code: wire.Unsupported, Detail: "no such action"}
}

func asAny[T any](value T, err error) (any, error) { return value, err }

func recoveredPage(p vault.Page) recovered {
	return recovered{
		ID: string(p.ID), Content: p.Content, Offset: p.Offset, NextOffset: p.NextOffset,
		TotalChars: p.TotalChars, SHA256: p.Digest.String(),
	}
}

// sessionStatus is what a model may know of the vault: nothing of other sessions.
type sessionStatus struct {
	State     string `json:"state"` // "ready"
	Level     string `json:"level"`
	Artifacts int    `json:"artifacts"` // of this session; at most the longest list
	More      bool   `json:"more,omitempty"`
}

func sessionVault(ctx context.Context, v *vault.Vault, chain string) (any, error) {
	st, err := v.Status(ctx)
	if err != nil || chain == "" {
		return st, err
	}
	list, err := v.List(ctx, chain, vault.MaxResults)
	return sessionStatus{State: "ready", Level: st.Level, Artifacts: len(list.Artifacts), More: list.Truncated}, err
}

// lookupWords are the protocol's words for what a read can come to.
var lookupWords = []struct {
	err  error
	word string
}{
	{vault.ErrUnknown, wire.ErrorUnknown}, {vault.ErrAmbiguous, wire.ErrorAmbiguous}, {turn.ErrBadArtifactID, wire.ErrorBadID},
	{vault.ErrReleased, wire.ErrorReleased}, {vault.ErrLost, wire.ErrorLost}, {vault.ErrNotYours, wire.ErrorNotYours},
	{vault.ErrDamaged, wire.ErrorDamaged}, {vault.ErrRange, wire.ErrorRange}, {vault.ErrQuery, wire.ErrorQuery},
	{vault.ErrClosed, wire.ErrorStopped}, {context.DeadlineExceeded, wire.ErrorDeadline}, {context.Canceled, wire.ErrorDeadline},
}

func refusalOf(err error) error {
	var told *host.Refusal
	if errors.As(err, &told) {
		return told
	}
	for _, w := range lookupWords {
		if errors.Is(err, w.err) {
			return &host.Refusal{Code: w.word, Detail: w.err.Error()}
		}
	}
	return &host.Refusal{Code: wire.ErrorStorage}
}

// operate runs one of the user's own commands inside the daemon.
func (e *engine) operate(ctx context.Context, raw json.RawMessage) (any, error) {
	var order vaultOrder
	if err := json.Unmarshal(raw, &order); err != nil {
		return nil, &host.Refusal{Code: wire.ErrorBadArgument, Detail: "operator does not read"}
	}
	v, err := e.vault.ready()
	if err != nil {
		return nil, refusalOf(err)
	}
	return order.run(ctx, v), nil
}
