package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/internal/safefile"
)

func writer(t *testing.T, path string, o Options) *sql.DB {
	t.Helper()
	db, err := OpenWriter(context.Background(), path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func pragma(t *testing.T, db *sql.DB, name string) (value string) {
	t.Helper()
	require.NoError(t, db.QueryRow("PRAGMA "+name).Scan(&value))
	return value
}

func TestPragmasHoldOnEveryConnection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.db")
	w := writer(t, path, Options{BusyTimeout: 1234 * time.Millisecond, MaxPages: 99})
	for name, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "busy_timeout": "1234", "foreign_keys": "1", "trusted_schema": "0", "max_page_count": "99",
	} {
		require.Equal(t, want, pragma(t, w, name), name)
	}
	_, err := w.Exec(`CREATE TABLE t (x)`)
	require.NoError(t, err)
	r, err := OpenReaders(context.Background(), path, Options{Conns: 3})
	require.NoError(t, err)
	defer r.Close()
	var conns []*sql.Conn
	for range 3 {
		c, err := r.Conn(context.Background())
		require.NoError(t, err)
		_, err = c.ExecContext(context.Background(), `INSERT INTO t VALUES (1)`)
		require.ErrorIs(t, Explain("write", path, err), ErrReadOnly)
		conns = append(conns, c)
	}
	for _, c := range conns {
		require.NoError(t, c.Close())
	}
	n := writer(t, filepath.Join(t.TempDir(), "n.db"), Options{Synchronous: "normal"})
	require.Equal(t, "1", pragma(t, n, "synchronous"))
	_, err = OpenWriter(context.Background(), filepath.Join(t.TempDir(), "x.db"), Options{Synchronous: "1); DROP TABLE t"})
	require.ErrorContains(t, err, "synchronous mode")
}

func TestTransactionsTakeTheWriteLockAtTheirBeginning(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.db")
	a, b := writer(t, path, Options{}), writer(t, path, Options{BusyTimeout: time.Millisecond})
	tx, err := a.Begin()
	require.NoError(t, err)
	_, err = b.Begin()
	require.ErrorIs(t, Explain("begin", path, err), ErrBusy)
	require.True(t, isBusy(err))
	require.NoError(t, tx.Rollback())
}

func TestA8_TheSwitchToWALSurvivesATransientLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.db")
	first := writer(t, path, Options{})
	require.Equal(t, "delete", pragma(t, first, "journal_mode=DELETE"))
	conn, err := first.Conn(context.Background())
	require.NoError(t, err)
	_, err = conn.ExecContext(context.Background(), "BEGIN EXCLUSIVE")
	require.NoError(t, err)
	opened := make(chan error, 1)
	go func() {
		db, err := OpenWriter(context.Background(), path, Options{BusyTimeout: time.Millisecond})
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err = OpenWriter(ctx, path, Options{BusyTimeout: time.Millisecond})
	require.Error(t, err, "and it ends with its context")
	_, err = conn.ExecContext(context.Background(), "COMMIT")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.NoError(t, <-opened)
}

func TestA24_EveryPathRoundTripsThroughTheURI(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "a b", "q?x=1&mode=memory", "h#x", "%41", "ü\u2028", "'\"`;", "tab\t", "\xff\xfe", "a//b", ":memory:"} {
		uri, err := fileURI("/tmp/" + name)
		require.NoError(t, err)
		require.NotContains(t, uri, "?")
		require.NotContains(t, uri, "#")
		u, err := url.Parse(uri)
		require.NoError(t, err)
		require.Equal(t, filepath.Clean("/tmp/"+name), u.Path)
	}
}

func FuzzFileURI(f *testing.F) {
	f.Add("/a b?c#d%20")
	f.Add("/ü/\xff")
	f.Fuzz(func(t *testing.T, path string) {
		if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
			return
		}
		uri, err := fileURI(path)
		if err != nil {
			t.Fatal(err)
		}
		back, err := url.PathUnescape(strings.TrimPrefix(uri, "file://"))
		if err != nil || back != filepath.Clean(path) {
			t.Fatalf("%q gives %q, %v", path, back, err)
		}
		if strings.ContainsAny(uri, "?# &") {
			t.Fatalf("%q is not escaped", uri)
		}
	})
}

func TestReadersNeverCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "absent.db")
	_, err := OpenReaders(context.Background(), path, Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	_, err = OpenReaders(context.Background(), link, Options{})
	require.ErrorIs(t, err, safefile.ErrSymlink)
}

func TestAMigrationIsAllOrNothing(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "f.db")
	db := writer(t, path, Options{})
	one := Step{1, `CREATE TABLE one (x); INSERT INTO one VALUES (1)`}
	n, err := Migrate(ctx, db, path, 42, []Step{one})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = Migrate(ctx, db, path, 42, []Step{one})
	require.NoError(t, err, "nothing left to do")
	require.Equal(t, 1, n)
	n, err = Migrate(ctx, db, path, 42, []Step{one, {2, `CREATE TABLE two (x)`}, {3, `DROP TABLE nowhere`}})
	require.ErrorContains(t, err, path)
	require.Equal(t, 1, n)
	app, schema, err := Versions(ctx, db)
	require.NoError(t, err)
	require.Equal(t, []int{42, 1}, []int{app, schema})
	var tables int
	require.NoError(t, db.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables))
	require.Equal(t, 1, tables)
	_, err = Migrate(ctx, db, path, 43, []Step{one})
	require.ErrorIs(t, err, ErrForeign)
	_, err = db.Exec(`PRAGMA user_version=9`)
	require.NoError(t, err)
	_, err = Migrate(ctx, db, path, 42, []Step{one})
	require.ErrorIs(t, err, ErrNewer)
	require.True(t, errors.As(err, new(*safefile.Error)))
}

func TestDamageIsExplained(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.db")
	db, err := OpenWriter(context.Background(), path, Options{})
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE t (x)`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, faults.Fill(path, 0, 16, 'x'))
	_, err = OpenReaders(context.Background(), path, Options{})
	require.ErrorIs(t, err, ErrNotSQLite)
	require.Equal(t, faults.ErrInjected, Explain("x", path, faults.ErrInjected))
	require.NoError(t, Explain("x", path, nil))
}
