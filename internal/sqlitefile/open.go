package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver named "sqlite"

	"token-terminator/internal/safefile"
)

// Bounds of the wait for another process that switches the same file to WAL.
const (
	walFirstWait = 10 * time.Millisecond
	walLongWait  = 250 * time.Millisecond
	walPatience  = 10 * time.Second
)

// sideFiles are what SQLite may keep beside its file.
var sideFiles = [...]string{"-wal", "-shm", "-journal"}

// OpenWriter opens path for writing, created 0600 when it is missing, and switches
// it to write-ahead logging. The handle has one connection. A file that is not ours
// (Options.Application) is refused before anything in it changes.
func OpenWriter(ctx context.Context, path string, o Options) (*sql.DB, error) {
	if _, err := safefile.SecureFile(path); err != nil {
		return nil, err
	}
	if err := checkSides(path); err != nil {
		return nil, err
	}
	o.Conns = 1
	db, err := open(path, o, readWrite)
	if err != nil {
		return nil, err
	}
	if o.Application != 0 {
		if _, err := CheckVersions(ctx, db, path, o.Application, o.Newest); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	if err := switchToWAL(ctx, db, path); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OpenReaders opens path, which a writer has open or had open, for reading only.
// A folder that may not be written is read without locks, which is safe when no
// write-ahead log waits there; else the error is ErrPendingWAL.
func OpenReaders(ctx context.Context, path string, o Options) (*sql.DB, error) {
	if err := CheckReadable(path); err != nil {
		return nil, err
	}
	db, err := open(path, o, readOnly)
	if err != nil {
		return nil, err
	}
	first := probe(ctx, db)
	if first == nil {
		return db, nil
	}
	closeErr := db.Close()
	if c := Explain("open", path, first); !errors.Is(c, ErrCantOpen) && !errors.Is(c, ErrReadOnly) {
		return nil, errors.Join(c, closeErr)
	}
	if info, err := os.Lstat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil, &safefile.Error{Op: "open", Path: path, Err: ErrPendingWAL, Advice: "copy the whole folder to a place you may write and open the copy"}
	}
	if db, err = open(path, o, immutable); err != nil {
		return nil, err
	}
	if err := probe(ctx, db); err != nil {
		return nil, errors.Join(Explain("open", path, err), db.Close())
	}
	return db, nil
}

// CheckReadable says whether path is a file that may be opened for reading: regular,
// not a symbolic link. A copied folder may belong to somebody else.
func CheckReadable(path string) error {
	err := safefile.CheckFile(path)
	if err != nil && !errors.Is(err, safefile.ErrOwner) {
		return err
	}
	for _, side := range sideFiles {
		if err := safefile.CheckFile(path + side); errors.Is(err, safefile.ErrSymlink) {
			return err
		}
	}
	return nil
}

func checkSides(path string) error {
	for _, side := range sideFiles {
		if err := safefile.CheckFile(path + side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func open(path string, o Options, how access) (*sql.DB, error) {
	name, err := dsn(path, o, how)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, Explain("open", path, err)
	}
	conns := max(o.Conns, 1)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// probe reads the schema, which is the first moment SQLite touches the file.
func probe(ctx context.Context, db *sql.DB) error {
	var n int
	return db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&n)
}

// switchToWAL retries while another process holds the lock, with doubling waits.
func switchToWAL(ctx context.Context, db *sql.DB, path string) error {
	const op = "switch to write-ahead log"
	deadline := time.Now().Add(walPatience)
	for wait := walFirstWait; ; wait = min(2*wait, walLongWait) {
		var mode string
		err := db.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode)
		if err == nil && mode == "wal" {
			return nil
		}
		if err == nil {
			return &safefile.Error{Op: op, Path: path, Err: fmt.Errorf("the file stays in mode %q", mode), Advice: "move the folder to a local disk"}
		}
		if !isBusy(err) || time.Now().Add(wait).After(deadline) {
			return Explain(op, path, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}
