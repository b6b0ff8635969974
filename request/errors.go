package request

import (
	"bytes"
	"errors"
	"fmt"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// ErrRefused is what every *Error unwraps to.
var ErrRefused = errors.New("request refused")

// Sentinels of Apply.
var (
	ErrNoString    = errors.New("no editable string at this pointer")
	ErrNotEditable = errors.New("this message may not be edited")
	ErrChanged     = errors.New("the string is not the one the edit was made for")
	ErrTwice       = errors.New("two edits of one string")
	ErrBadValue    = errors.New("the new text is not valid UTF-8")
)

// Error says why a request, or one place of it, is not for us.
type Error struct {
	Reason turn.Reason
	Offset int    // bytes from the start of the request
	Line   int    // from 1
	Column int    // from 1, in code points
	Detail string // what is wrong and what to do about it
}

func (e *Error) Error() string {
	return fmt.Sprintf("read request: line %d, column %d (byte %d): %s: %s", e.Line, e.Column, e.Offset, e.Reason, e.Detail)
}

// Unwrap returns ErrRefused.
func (e *Error) Unwrap() error { return ErrRefused }

// Is says whether target is an *Error of the same reason; its other fields count
// only where they are set.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Reason == e.Reason && (t.Offset == 0 || t.Offset == e.Offset) && (t.Detail == "" || t.Detail == e.Detail)
}

// ReasonOf is the reason of a *Error, "" for nil and InternalError for others.
func ReasonOf(err error) turn.Reason {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return turn.InternalError
}

// refuse builds an *Error at a byte offset of raw.
func refuse(raw []byte, reason turn.Reason, offset int, format string, args ...any) *Error {
	line, column := strictjson.Position(raw, offset)
	return &Error{Reason: reason, Offset: offset, Line: line, Column: column, Detail: fmt.Sprintf(format, args...)}
}

// scanError turns a fault of the scanner into a refusal with advice.
func scanError(raw []byte, err error) error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	fault, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return refuse(raw, turn.InternalError, 0, "the scan stopped without a place; please report the request's shape")
	}
	switch fault.Fault {
	case strictjson.UTF8:
		return refuse(raw, turn.NotUTF8, fault.Offset, "%s; send the request encoded as UTF-8", fault.Detail)
	case strictjson.Deep:
		return refuse(raw, turn.TooDeep, fault.Offset, "%s; flatten the value or send it as a string", fault.Detail)
	case strictjson.Trailing:
		return refuse(raw, turn.NotJSON, fault.Offset, "%s; send exactly one JSON object", fault.Detail)
	case strictjson.Ended:
		return refuse(raw, turn.NotJSON, fault.Offset, "%s; the request is cut short, send all of it", fault.Detail)
	}
	return refuse(raw, turn.NotJSON, fault.Offset, "%s; send valid JSON (RFC 8259)", fault.Detail)
}

// checkBytes refuses what is not worth a scan.
func checkBytes(raw []byte) error {
	switch {
	case len(raw) > MaxBytes:
		return refuse(raw, turn.TooLarge, 0, "%d bytes, at most %d are read; send a shorter history", len(raw), MaxBytes)
	case len(bytes.TrimLeft(raw, " \t\r\n")) == 0:
		return refuse(raw, turn.NotJSON, 0, "the request is empty; send one JSON object")
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		return refuse(raw, turn.NotJSON, 0, "a byte order mark stands before the JSON; send the request without it")
	case bytes.HasPrefix(raw, []byte("\xff\xfe")), bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return refuse(raw, turn.NotUTF8, 0, "this looks like UTF-16; send the request encoded as UTF-8")
	}
	return nil
}
