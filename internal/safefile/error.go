package safefile

import "errors"

// Why a path was refused.
var (
	ErrSymlink    = errors.New("is a symbolic link")
	ErrOwner      = errors.New("belongs to another user")
	ErrNotFolder  = errors.New("is not a folder")
	ErrNotFile    = errors.New("is not a regular file")
	ErrOpenToAll  = errors.New("can be written by every user")
	ErrTooLarge   = errors.New("is larger than allowed")
	ErrExists     = errors.New("exists already")
	ErrNotAllowed = errors.New("permission denied")
	ErrNoSpace    = errors.New("no space left")
	// ErrNoFolderHere: the system does not let a folder be made at that place.
	ErrNoFolderHere = errors.New("a folder cannot be made there")
)

// both is two errors with the words of the first.
type both struct{ say, also error }

func (b both) Error() string   { return b.say.Error() }
func (b both) Unwrap() []error { return []error{b.say, b.also} }

// Error says what could not be done with which path, why, and what to do about it.
type Error struct {
	Op     string // verb noun, e.g. "create folder"
	Path   string
	Err    error
	Advice string // one sentence for the user
}

// Error reads "create folder /x: is a symbolic link".
func (e *Error) Error() string { return e.Op + " " + e.Path + ": " + e.Err.Error() }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hint says what the user can do.
func (e *Error) Hint() string { return e.Advice }

func refuse(op, path string, why error, advice string) error {
	return &Error{Op: op, Path: path, Err: why, Advice: advice}
}
