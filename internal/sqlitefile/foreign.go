package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"token-terminator/internal/safefile"
)

const settleWait = 300 * time.Millisecond

// Magic is how every SQLite file begins.
const Magic = "SQLite format 3\x00"

// Foreign is another program's database, open for reading. Its file is never written,
// nor are files made beside it.
type Foreign struct {
	*sql.DB
	copied string // folder of a private copy, "" when the file itself is read
}

// OpenForeign opens path. A file whose owner may be at work (a log with its index lies
// beside it) is read under the owner's locks; a log that was left behind is read
// through a private copy in a temporary folder; any other file is read as it lies.
func OpenForeign(ctx context.Context, path string) (*Foreign, error) {
	if err := CheckReadable(path); err != nil {
		return nil, err
	}
	f, how := &Foreign{}, immutable
	if hasContent(path + "-wal") {
		how = readOnly
		if !hasContent(path + "-shm") {
			var err error
			if path, err = f.copyBoth(path); err != nil {
				return nil, errors.Join(err, f.Close())
			}
		}
	}
	db, err := open(path, Options{Conns: 2}, how)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.DB = db
	if err := probe(ctx, db); err != nil {
		return nil, errors.Join(Explain("open", path, err), f.Close())
	}
	return f, nil
}

func hasContent(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0
}

func (f *Foreign) copyBoth(path string) (string, error) {
	dir, err := os.MkdirTemp("", "token-terminator-read-*") // 0700
	if err != nil {
		return "", err
	}
	f.copied = dir
	to := filepath.Join(dir, "copy.sqlite3")
	for from, name := range map[string]string{path: to, path + "-wal": to + "-wal"} {
		if err := copyFile(from, name); err != nil {
			return "", err
		}
	}
	return to, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, safefile.FileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Close closes the file and removes a private copy.
func (f *Foreign) Close() error {
	var errs []error
	if f.DB != nil {
		errs = append(errs, f.DB.Close())
	}
	if f.copied != "" {
		errs = append(errs, os.RemoveAll(f.copied))
	}
	return errors.Join(errs...)
}

// Columns lists the columns of a table, nil when there is no table of that name (a view
// is none).
func (f *Foreign) Columns(ctx context.Context, table string) ([]string, error) {
	return f.names(ctx, `SELECT c.name FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name = ?1 AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY c.cid`, table)
}

func (f *Foreign) names(ctx context.Context, query string, args ...any) ([]string, error) {
	rows, err := f.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// Values calls each with every value of every table, as bytes that hold until it
// returns. The order is that of the tables and rows.
func (f *Foreign) Values(ctx context.Context, each func([]byte)) error {
	tables, err := f.names(ctx, `SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name`)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := f.tableValues(ctx, table, each); err != nil {
			return err
		}
	}
	return nil
}

func (f *Foreign) tableValues(ctx context.Context, table string, each func([]byte)) error {
	rows, err := f.QueryContext(ctx, `SELECT * FROM "`+strings.ReplaceAll(table, `"`, `""`)+`"`)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, dest := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range values {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for _, value := range values {
			each(value)
		}
	}
	return rows.Err()
}
