package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"token-terminator/actors"
	"token-terminator/host"
	"token-terminator/host/wire"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/turn"
)

// reducer is what a replay sends its turns through.
type reducer interface {
	// turn never takes a turn's own failure for an error: that is a reason. An error
	// means that there is nobody to ask.
	turn(ctx context.Context, scope request.Scope, cmd actors.ReduceTurn) (actors.TurnReduced, error)
	stop(ctx context.Context) error
}

func (p *pipeline) turn(ctx context.Context, scope request.Scope, cmd actors.ReduceTurn) (actors.TurnReduced, error) {
	return p.reduce(ctx, scope, cmd), nil
}

// remote sends turns to a daemon that was started for this replay alone.
type remote struct {
	daemon *host.Daemon
	client *host.Client
}

// A replay waits for every turn; these bound how long it waits for a daemon that hangs.
const (
	remoteTurn = 12 * time.Hour
	remoteTalk = time.Minute
)

// startRemote starts a daemon on the replay's vault.
func (r *replay) startRemote(ctx context.Context) (*remote, error) {
	folder, err := filepath.Abs(r.folder)
	if err != nil {
		return nil, storage(err)
	}
	start, err := selfStarter("serve", "--vault", folder)
	if err != nil {
		return nil, err
	}
	start.Env = withoutSettings(os.Environ())
	env, err := r.flags.sessionEnv(r.pricing)
	if err != nil {
		return nil, err
	}
	d, err := host.Spawn(*start)
	if err != nil {
		return nil, storage(err)
	}
	ctx, cancel := context.WithTimeout(ctx, remoteTalk)
	defer cancel()
	c, err := d.Dial(ctx, host.Options{Folder: folder, Name: "tt replay", Version: version, Env: env, Replay: true})
	if err != nil {
		return nil, errors.Join(storage(fmt.Errorf("start a daemon for this replay: %w", err)), d.Kill())
	}
	return &remote{d, c}, nil
}

// withoutSettings is an environment without the user's settings: a replay has its own.
func withoutSettings(environ []string) []string {
	kept := make([]string, 0, len(environ))
	for _, line := range environ {
		if !strings.HasPrefix(line, host.SettingPrefix) || strings.HasPrefix(line, host.SettingPrefix+"TEST_") {
			kept = append(kept, line)
		}
	}
	return kept
}

// sessionEnv says to a daemon what the flags say to this process.
func (f *replayFlags) sessionEnv(p pricing) (map[string]string, error) {
	env := map[string]string{
		"PRESET": f.preset, "TIKTOKEN_ENCODING": f.assume, "CACHE_MODEL": f.cache, "PRICE_ROW": f.row, "PRICES_AS_OF": p.day,
		"RECOVERY_PCT":         strconv.FormatFloat(f.rate, 'g', -1, 64),
		"CONTEXT_LIMIT_TOKENS": strconv.Itoa(f.window), "OUTPUT_RESERVE_TOKENS": "0", "TOKEN_SAFETY_MARGIN": "0", "RECEIPTS": strconv.FormatBool(!f.noEpochs),
		"EPOCH_BANK": strconv.FormatBool(f.bank), "STRICT_READS": strconv.FormatBool(f.strictReads),
	}
	if f.prices != "" {
		file, err := filepath.Abs(f.prices)
		if err != nil {
			return nil, usagef("the table of prices has no absolute path: %w", err)
		}
		env["PRICES"] = file
	}
	out := make(map[string]string, len(env))
	for name, value := range env {
		out[host.SettingPrefix+name] = value
	}
	return out, nil
}

// turn tells the daemon what the recording says of the moment, then asks it.
func (r *remote) turn(ctx context.Context, scope request.Scope, cmd actors.ReduceTurn) (actors.TurnReduced, error) {
	ctx, cancel := context.WithTimeout(ctx, remoteTurn)
	defer cancel()
	facts, _ := cmd.Facts.(compile.Facts)
	if err := r.tell(ctx, cmd.Binding, facts); err != nil {
		return actors.TurnReduced{}, fmt.Errorf("the daemon does not answer: %w", err)
	}
	out := r.client.Turn(ctx, host.TurnRequest{Binding: cmd.Binding, Scope: scope, Detail: true, Body: cmd.Body})
	if out.Fallback != "" && ctx.Err() == nil {
		return actors.TurnReduced{}, fmt.Errorf("the daemon gave no answer that can be used: %s (%s)", out.Fallback, out.Reason)
	}
	answer := actors.TurnReduced{Binding: cmd.Binding, Edited: out.Edited, Body: out.Body, Edits: out.Edits, Reason: out.Reason}
	if len(out.Detail) > 0 {
		var detail compile.Outcome
		if err := json.Unmarshal(out.Detail, &detail); err != nil {
			return answer, fmt.Errorf("the daemon's details do not read: %w", err)
		}
		answer.Detail = detail
	}
	return answer, nil
}

func (r *remote) tell(ctx context.Context, b turn.Binding, facts compile.Facts) error {
	var events []wire.Event
	if facts.Cold {
		events = append(events, wire.Event{Binding: b, Name: wire.EventCacheCold, Reason: string(facts.Why), Uncached: facts.Uncached})
	}
	if facts.Accounted {
		events = append(events, wire.Event{Binding: b, Name: wire.EventAccount, Account: &wire.Account{Saved: facts.Saved, Spent: facts.Spent}})
	}
	for _, e := range events {
		if err := r.client.Event(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// stop has the daemon finish and waits until it is gone.
func (r *remote) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, remoteTalk)
	defer cancel()
	err := r.client.Drain(ctx)
	r.client.Close()
	if err != nil {
		return errors.Join(fmt.Errorf("end the daemon: %w", err), r.daemon.Kill())
	}
	select {
	case <-r.daemon.Done():
		return r.daemon.Err()
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("end the daemon: %w", ctx.Err()), r.daemon.Kill())
	}
}
