package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"

	"token-terminator/internal/safefile"
)

// Step brings a file from one schema version to the next.
type Step struct {
	Version int // the version after this step
	SQL     string
}

// querier is what *sql.DB, *sql.Conn and *sql.Tx share.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Versions reads the application id and the schema version of a file.
func Versions(ctx context.Context, q querier) (application, schema int, err error) {
	if err = q.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application); err != nil {
		return 0, 0, err
	}
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&schema)
	return application, schema, err
}

// CheckVersions refuses a file of another program or of a newer version.
// A file without tables has version 0 and no application id.
func CheckVersions(ctx context.Context, q querier, path string, application, newest int) (schema int, err error) {
	app, schema, err := Versions(ctx, q)
	if err != nil {
		return 0, Explain("read version", path, err)
	}
	var tables int
	if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return 0, Explain("read schema", path, err)
	}
	switch {
	case app != application && (app != 0 || tables > 0):
		return 0, &safefile.Error{Op: "open", Path: path, Err: ErrForeign, Advice: "choose another folder; this file is not touched"}
	case schema > newest:
		return 0, &safefile.Error{Op: "open", Path: path, Err: fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, schema, newest),
			Advice: "update this program, or choose another folder; the file is not touched"}
	}
	return schema, nil
}

// Migrate runs the steps a file still needs inside one transaction: either the file
// ends at the last version or it keeps its old one, bytes and all.
func Migrate(ctx context.Context, db *sql.DB, path string, application int, steps []Step) (int, error) {
	newest := steps[len(steps)-1].Version
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, Explain("open", path, err)
	}
	defer tx.Rollback()
	have, err := CheckVersions(ctx, tx, path, application, newest)
	if err != nil || have == newest {
		return have, err
	}
	for _, step := range steps {
		if step.Version <= have {
			continue
		}
		if _, err := tx.ExecContext(ctx, step.SQL); err != nil {
			return have, migrateError(path, have, step.Version, err)
		}
	}
	mark := fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d", application, newest)
	if _, err := tx.ExecContext(ctx, mark); err != nil {
		return have, migrateError(path, have, newest, err)
	}
	if err := tx.Commit(); err != nil {
		return have, migrateError(path, have, newest, err)
	}
	return newest, nil
}

// migrationError says that a file kept its old schema; the cause can be unwrapped.
type migrationError struct {
	from, to int
	err      error
}

func (e *migrationError) Error() string {
	return fmt.Sprintf("the step from schema %d to %d did not hold", e.from, e.to)
}
func (e *migrationError) Unwrap() error { return e.err }

func migrateError(path string, from, to int, err error) error {
	if explained := Explain("migrate", path, err); explained != err {
		return explained
	}
	return &safefile.Error{Op: "migrate", Path: path, Err: &migrationError{from, to, err}, Advice: "the file is as it was; keep using the older version and report this"}
}
