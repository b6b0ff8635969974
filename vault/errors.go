package vault

import (
	"context"
	"errors"

	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault/view"
)

// Why a read has no text to give, or a write was refused.
var (
	ErrUnknown   = errors.New("artifact is unknown: no such id in this vault")
	ErrAmbiguous = errors.New("artifact id is ambiguous: give more digits")
	ErrDamaged   = errors.New("artifact is damaged: its bytes do not match its hash")
	ErrLost      = errors.New("artifact is lost: it was stored here and its row is gone")
	ErrReleased  = errors.New("artifact was released by the operator")
	ErrNotYours  = errors.New("artifact belongs to another session")
	ErrRange     = view.ErrRange
	ErrQuery     = view.ErrQuery
	ErrReadOnly  = errors.New("vault is open for reading only")
	ErrClosed    = errors.New("vault is closed")
	ErrFull      = errors.New("vault is full and everything in it is pinned")
	ErrReadBack  = errors.New("stored bytes did not come back equal")
	ErrBinding   = errors.New("evidence names no session")
	ErrGone      = errors.New("the vault's file was removed or replaced while it was open")
	ErrKey       = errors.New("the marker key must be 32 bytes")
	errOlder     = errors.New("the file has an older schema")
	errTooLarge  = errors.New("artifact is larger than the limit")
	errUnicode   = errors.New("artifact is not valid UTF-8")
	errDigest    = errors.New("artifact's digest is not that of its text")
)

// reasonOf says in one word what an error of a write means for the turn.
func reasonOf(err error) turn.Reason {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrFull), errors.Is(err, sqlitefile.ErrFull):
		return turn.VaultFull
	case errors.Is(err, ErrReadBack):
		return turn.ReadBackFailed
	case errors.Is(err, errTooLarge):
		return turn.TooLarge
	case errors.Is(err, errUnicode):
		return turn.BadUnicode
	case errors.Is(err, errDigest), errors.Is(err, ErrBinding):
		return turn.InternalError
	case errors.Is(err, context.DeadlineExceeded):
		return turn.Deadline
	case errors.Is(err, ErrClosed), errors.Is(err, context.Canceled):
		return turn.Stopped
	}
	return turn.StorageUnavailable
}
