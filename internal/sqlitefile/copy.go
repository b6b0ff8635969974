package sqlitefile

import (
	"context"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"

	"token-terminator/internal/safefile"
)

// copyStep is how many pages are copied between two looks at the context.
const copyStep = 256

// Copy copies the database at from, which others may be using, into the new file to
// (0600), as it stood at one moment. progress, when not nil, hears of pages done and
// in all. maxPages bounds the copy, 0 not at all. On an error no file is left at to.
func Copy(ctx context.Context, from, to string, maxPages int64, progress func(done, total int)) error {
	db, err := OpenReaders(ctx, from, Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return Explain("copy", from, err)
	}
	defer conn.Close()
	var tables int
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil { // one moment for all steps
		return Explain("copy", from, err)
	}
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return Explain("copy", from, err)
	}
	if created, err := safefile.SecureFile(to); err != nil || !created {
		return errors.Join(err, existsError(to, err))
	}
	err = conn.Raw(func(driver any) error { return copyPages(ctx, driver, to, maxPages, progress) })
	if err == nil {
		err = Settle(ctx, to) // a file alone, that can be read where nothing may be written
	}
	if err == nil {
		err = safefile.Sync(to)
	}
	if err != nil {
		return errors.Join(Explain("copy", to, err), Remove(to))
	}
	return nil
}

func existsError(path string, other error) error {
	if other != nil {
		return nil
	}
	return &safefile.Error{Op: "copy", Path: path, Err: safefile.ErrExists, Advice: "remove it first or choose another name"}
}

func copyPages(ctx context.Context, driver any, to string, maxPages int64, progress func(done, total int)) error {
	from, ok := driver.(interface {
		NewBackup(string) (*sqlite.Backup, error)
	})
	if !ok {
		return errors.New("the driver cannot copy a database")
	}
	name, err := dsn(to, Options{Synchronous: "OFF", MaxPages: maxPages}, readWrite)
	if err != nil {
		return err
	}
	b, err := from.NewBackup(name)
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		if err = ctx.Err(); err != nil {
			break
		}
		if more, err = b.Step(copyStep); err == nil && progress != nil {
			progress(b.PageCount()-b.Remaining(), b.PageCount())
		}
	}
	return errors.Join(err, b.Finish())
}

// Remove removes a database and what SQLite keeps beside it. What is not there is fine.
func Remove(path string) error {
	var errs []error
	for _, name := range append([]string{path}, sidesOf(path)...) {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove copy: %w", err))
		}
	}
	return errors.Join(errs...)
}

func sidesOf(path string) []string {
	var names []string
	for _, side := range sideFiles {
		names = append(names, path+side)
	}
	return names
}

// Settle merges the log of a database nobody else has open, and leaves no file beside
// it. While another process has it open the error is ErrBusy.
func Settle(ctx context.Context, path string) error {
	db, err := open(path, Options{BusyTimeout: settleWait}, readWrite)
	if err != nil {
		return err
	}
	var mode string
	err = Explain("settle", path, db.QueryRowContext(ctx, "PRAGMA journal_mode=DELETE").Scan(&mode))
	if err == nil && mode != "delete" {
		err = &safefile.Error{Op: "settle", Path: path, Err: ErrBusy, Advice: "end the process that has the file open, then try again"}
	}
	return errors.Join(err, db.Close())
}
