package vault

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// maxCandidates bounds how many artifacts one ambiguous prefix is compared with.
const maxCandidates = 1_000

// found is an artifact that an id names, before its bytes were looked at.
type found struct {
	id  string
	sha []byte
}

// Resolve gives the id an id or prefix (at least 8 hex digits, "a_" optional) stands
// for: the artifact the prefix was bound to when it was shown, else the only one that
// begins with it. For a session only its own artifacts count; "" is the operator.
//
// Errors: turn.ErrBadArtifactID, ErrUnknown, ErrAmbiguous, ErrLost, ErrReleased, ErrNotYours.
func (v *Vault) Resolve(ctx context.Context, session, idOrPrefix string) (turn.ArtifactID, error) {
	f, err := v.resolve(ctx, codec.Label(session), idOrPrefix)
	return turn.ArtifactID(f.id), err
}

func (v *Vault) resolve(ctx context.Context, session, idOrPrefix string) (found, error) {
	prefix, err := turn.ParseIDPrefix(idOrPrefix)
	if err != nil {
		return found{}, err
	}
	if v.closed.Load() {
		return found{}, ErrClosed
	}
	if err := v.inPlace(); err != nil {
		return found{}, err
	}
	bound, isBound, err := v.boundTo(ctx, prefix)
	if err != nil {
		return found{}, err
	}
	if isBound {
		if own, err := v.owns(ctx, session, bound.sha); err != nil || own {
			if err != nil {
				return found{}, err
			}
			return bound, v.checkRow(ctx, bound)
		}
	}
	all, err := v.candidates(ctx, prefix)
	if err != nil {
		return found{}, err
	}
	own, err := v.ownOf(ctx, session, all)
	switch {
	case err != nil:
		return found{}, err
	case len(own) == 1:
		return own[0], nil
	case len(own) > 1:
		return found{}, fmt.Errorf("%w: %s begins %d ids", ErrAmbiguous, prefix, len(own))
	case len(all) > 0:
		return found{}, ErrNotYours
	case isBound:
		if err := v.checkRow(ctx, bound); err != nil {
			return found{}, err
		}
		return found{}, ErrNotYours
	}
	return found{}, v.traceOf(ctx, prefix)
}

// boundTo finds the artifact that was shown under exactly this prefix.
func (v *Vault) boundTo(ctx context.Context, prefix string) (f found, ok bool, err error) {
	lo, hi := shaRange(prefix)
	err = v.reads[rBound].QueryRowContext(ctx, lo, hi, prefix).Scan(&f.id, &f.sha)
	if errors.Is(err, sql.ErrNoRows) {
		return found{}, false, nil
	}
	return f, err == nil, v.explain("resolve id", err)
}

// shaRange is the least and the greatest hash that begin with an id's digits.
func shaRange(id string) (lo, hi []byte) {
	digits := id[len("a_"):]
	fill := func(with string) []byte {
		sum, err := hex.DecodeString(digits + strings.Repeat(with, turn.LongHex-len(digits)))
		if err != nil { // ids are parsed before
			panic("vault: id is not hex")
		}
		return sum
	}
	return fill("0"), fill("f")
}

// candidates lists the artifacts whose hash begins with prefix. An id given in full
// comes alone.
func (v *Vault) candidates(ctx context.Context, prefix string) ([]found, error) {
	lo, hi := shaRange(prefix)
	rows, err := v.reads[rCandidates].QueryContext(ctx, lo, hi, maxCandidates)
	if err != nil {
		return nil, v.explain("resolve id", err)
	}
	defer rows.Close()
	var all []found
	for rows.Next() {
		var f found
		if err := rows.Scan(&f.id, &f.sha); err != nil {
			return nil, v.explain("resolve id", err)
		}
		if f.id == prefix {
			return []found{f}, nil
		}
		all = append(all, f)
	}
	return all, v.explain("resolve id", rows.Err())
}

func (v *Vault) ownOf(ctx context.Context, session string, all []found) ([]found, error) {
	if session == "" {
		return all, nil
	}
	var own []found
	for _, f := range all {
		yes, err := v.owns(ctx, session, f.sha)
		if err != nil {
			return nil, err
		}
		if yes {
			own = append(own, f)
		}
	}
	return own, nil
}

// owns says whether the session saw or pinned the artifact. The operator owns all.
func (v *Vault) owns(ctx context.Context, session string, sha []byte) (bool, error) {
	if session == "" {
		return true, nil
	}
	var n int
	err := v.reads[rOwns].QueryRowContext(ctx, session, sha).Scan(&n)
	return n != 0, v.explain("look up owner", err)
}

// checkRow says why an artifact that was shown has no row any more.
func (v *Vault) checkRow(ctx context.Context, f found) error {
	var n int
	err := v.reads[rHasRow].QueryRowContext(ctx, f.sha).Scan(&n)
	if err != nil || n > 0 {
		return v.explain("resolve id", err)
	}
	if err := v.traceOf(ctx, f.id); !errors.Is(err, ErrUnknown) {
		return err
	}
	return ErrLost
}

// traceOf says what is left of an artifact without a row: a tombstone (released or
// lost by pruning), a pin (lost), or nothing (unknown).
func (v *Vault) traceOf(ctx context.Context, prefix string) error {
	var reason string
	err := v.reads[rTombstone].QueryRowContext(ctx, prefix).Scan(&reason)
	switch {
	case err == nil && reason == tombReleased:
		return ErrReleased
	case err == nil:
		return fmt.Errorf("%w (%s)", ErrLost, codec.Label(reason))
	case !errors.Is(err, sql.ErrNoRows):
		return v.explain("resolve id", err)
	}
	var n int
	lo, hi := shaRange(prefix)
	err = v.reads[rWasShown].QueryRowContext(ctx, lo, hi).Scan(&n)
	if err == nil && n > 0 {
		return ErrLost
	}
	if err != nil {
		return v.explain("resolve id", err)
	}
	return ErrUnknown
}
