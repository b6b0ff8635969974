package sqlitefile

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"token-terminator/internal/safefile"
)

// What went wrong inside SQLite, in our words. The driver's own text is not kept.
var (
	ErrFull       = errors.New("the disk or the file's size limit is full")
	ErrBusy       = errors.New("another process holds the lock")
	ErrCorrupt    = errors.New("the file is damaged")
	ErrNotSQLite  = errors.New("the file is no SQLite database")
	ErrReadOnly   = errors.New("the file or its folder is read-only")
	ErrCantOpen   = errors.New("the file cannot be opened")
	ErrIO         = errors.New("the disk reported an error")
	ErrForeign    = errors.New("the file belongs to another program")
	ErrNewer      = errors.New("the file was written by a newer version")
	ErrPendingWAL = errors.New("the folder is read-only and holds a write-ahead log that was not merged")
)

// code gives SQLite's primary result code of err, 0 when it is none of SQLite's.
func code(err error) int {
	var se *sqlite.Error
	if errors.As(err, &se) {
		return se.Code() & 0xff
	}
	return 0
}

// Explain turns an error of the driver into one that names the file and says what
// to do. Errors that are not SQLite's come back as they are.
func Explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	advice, why := cause(code(err))
	if why == nil {
		return err
	}
	return &safefile.Error{Op: op, Path: path, Err: why, Advice: advice}
}

func cause(code int) (advice string, why error) {
	switch code {
	case sqlite3.SQLITE_FULL:
		return "free some space on that disk, or raise the capacity", ErrFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return "wait for the other process or end it, then try again", ErrBusy
	case sqlite3.SQLITE_CORRUPT:
		return "keep a copy of the folder, then restore it from a backup", ErrCorrupt
	case sqlite3.SQLITE_NOTADB:
		return "move the file away; a new one is created on the next start", ErrNotSQLite
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return "make the folder and its files writable for your user, or choose another folder", ErrReadOnly
	case sqlite3.SQLITE_CANTOPEN:
		return "check that the folder exists and that your user may read and write it", ErrCantOpen
	case sqlite3.SQLITE_IOERR:
		return "check the disk, then try again", ErrIO
	}
	return "", nil
}

// isBusy says whether another connection or process holds the lock.
func isBusy(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED
}
