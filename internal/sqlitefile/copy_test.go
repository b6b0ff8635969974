package sqlitefile

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/safefile"
)

func TestCopyTakesOneMomentOfAFileInUse(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	from := filepath.Join(dir, "from.sqlite3")
	db, err := OpenWriter(ctx, from, Options{})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(`CREATE TABLE t (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO t SELECT randomblob(1000) FROM n`)
	require.NoError(t, err)
	to, steps := filepath.Join(dir, "to.sqlite3"), 0
	err = Copy(ctx, from, to, 0, func(done, total int) {
		require.LessOrEqual(t, done, total)
		steps++
		_, err := db.Exec(`INSERT INTO t VALUES ('while it was copied')`)
		require.NoError(t, err)
	})
	require.NoError(t, err)
	require.Greater(t, steps, 2)
	copied, err := OpenForeign(ctx, to)
	require.NoError(t, err)
	defer copied.Close()
	var n int
	require.NoError(t, copied.QueryRow(`SELECT count(*) FROM t`).Scan(&n))
	require.Equal(t, 4_000, n)
	require.ErrorIs(t, Copy(ctx, from, to, 0, nil), safefile.ErrExists)
	require.ErrorIs(t, Copy(ctx, from, to+"2", 10, nil), ErrFull)
	require.NoFileExists(t, to+"2")
	require.ErrorIs(t, Settle(ctx, from), ErrBusy)
	m, err := Checkpoint(ctx, db, from, true)
	require.NoError(t, err)
	require.False(t, m.Busy)
}

func TestForeignFilesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "x.db")
	db, err := OpenWriter(ctx, path, Options{})
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE t (a, b, c DATE); INSERT INTO t VALUES ('text', x'00ff', '2026-01-02'), (1, NULL, 2.5); CREATE VIEW w AS SELECT 1;
		CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('inside an index')`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := OpenForeign(ctx, path)
	require.NoError(t, err)
	var all string
	require.NoError(t, f.Values(ctx, func(v []byte) { all += string(v) + "|" }))
	require.Contains(t, all, "text|\x00\xff|")
	require.Contains(t, all, "inside an index|")
	columns, err := f.Columns(ctx, "t")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, columns)
	for _, name := range []string{"w", "f", "nothing"} {
		columns, err = f.Columns(ctx, name)
		require.NoError(t, err)
		require.Empty(t, columns)
	}
	_, err = f.Exec(`DELETE FROM t`)
	require.Error(t, err)
	require.NoError(t, f.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
