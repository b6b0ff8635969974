package datasets

import (
	"errors"
	"fmt"
	"strings"
)

// Causes an *Error wraps.
var (
	ErrEmpty        = errors.New("nothing in it")
	ErrNotUTF8      = errors.New("not UTF-8")
	ErrNotJSON      = errors.New("not JSON")
	ErrWrongFormat  = errors.New("not a session format we know")
	ErrBadField     = errors.New("field missing or of the wrong kind")
	ErrDuplicateKey = errors.New("the same key twice in one object")
	ErrTooLarge     = errors.New("larger than the limit")
	ErrNoSession    = errors.New("no session in it")
	ErrUnreadable   = errors.New("cannot be read")
)

// Error says what is wrong with one session file, and where.
type Error struct {
	File  string
	Line  int    // from 1; 0: the whole file
	Field string // e.g. "messages[3].role", "" none
	Err   error  // one of the causes, perhaps with detail
	Hint  string // what to do
}

// Error gives "read session FILE:LINE: field F: cause".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("read session ")
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Field != "" {
		b.WriteString(": field ")
		b.WriteString(e.Field)
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

const hintFormats = `give a corpus line, an object with "messages" or "input", or a Claude Code transcript; name it with --format corpus|openai|claude-code`
