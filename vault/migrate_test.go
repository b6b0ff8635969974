package vault

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
)

func one(text string) turn.Evidence {
	return turn.Evidence{Binding: turn.Binding{Session: "s"}, Artifacts: []turn.Artifact{{Digest: turn.Sum(text), Text: text}}}
}

func TestA6_AFailedMigrationLeavesTheFileToTheOldVersion(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	v, err := Open(dir, Options{})
	require.NoError(t, err)
	_, err = v.Put(ctx, one("old"))
	require.NoError(t, err)
	require.NoError(t, v.Close())
	good := sqlitefile.Step{Version: 4, SQL: `ALTER TABLE artifacts ADD COLUMN extra TEXT; DELETE FROM pins;`}
	bad := sqlitefile.Step{Version: 5, SQL: `CREATE TABLE half (x); INSERT INTO half VALUES (1); INSERT INTO nowhere VALUES (1);`}
	_, err = openWith(ctx, dir, Options{}, append(steps(), good, bad))
	require.ErrorContains(t, err, v.path)
	var hinted interface{ Hint() string }
	require.ErrorAs(t, err, &hinted)

	v, err = Open(dir, Options{}) // the old version goes on
	require.NoError(t, err)
	a, err := v.Get(ctx, "s", string(turn.Sum("old").ID()))
	require.NoError(t, err)
	require.Equal(t, "old", a.Text)
	require.True(t, a.Pinned)
	_, err = v.Put(ctx, one("more"))
	require.NoError(t, err)
	var n int
	require.NoError(t, v.readers.QueryRow(`SELECT count(*) FROM sqlite_master WHERE name = 'half' OR sql LIKE '%extra%'`).Scan(&n))
	require.Zero(t, n)
	require.NoError(t, v.Close())

	v, err = openWith(ctx, dir, Options{}, append(steps(), good)) // a good one holds
	require.NoError(t, err)
	s, err := v.Status(ctx)
	require.NoError(t, err)
	require.Equal(t, 4, s.Schema)
	require.NoError(t, v.Close())

	for _, readOnly := range []bool{false, true} { // and then the old version refuses
		before, err := os.ReadFile(v.path)
		require.NoError(t, err)
		_, err = Open(dir, Options{ReadOnly: readOnly})
		require.ErrorIs(t, err, sqlitefile.ErrNewer)
		require.ErrorContains(t, err, v.path)
		require.ErrorAs(t, err, &hinted)
		after, err := os.ReadFile(v.path)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}

func TestAnOlderFileIsNotReadWithoutItsMigration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v, err := Open(dir, Options{})
	require.NoError(t, err)
	require.NoError(t, v.Close())
	next := append(steps(), sqlitefile.Step{Version: 4, SQL: `ALTER TABLE artifacts ADD COLUMN extra TEXT`})
	_, err = openWith(context.Background(), dir, Options{ReadOnly: true}, next)
	require.ErrorIs(t, err, errOlder)
}

func TestFilesOfOtherProgramsAreLeftAlone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, schema := range map[string]string{
		"no application id": `CREATE TABLE artifacts (artifact_id TEXT PRIMARY KEY); PRAGMA user_version=2`,
		"another id":        `PRAGMA application_id=77`,
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, FileName)
		db, err := sqlitefile.OpenWriter(ctx, path, sqlitefile.Options{})
		require.NoError(t, err)
		_, err = db.Exec(`PRAGMA journal_mode=DELETE; ` + schema)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, readOnly := range []bool{false, true} {
			_, err = Open(dir, Options{ReadOnly: readOnly})
			require.ErrorIs(t, err, sqlitefile.ErrForeign, name)
		}
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
	}
}

// The reference's own files may lie in the same folder; they are never opened.
func TestFilesOfTheReferenceAreNotTouched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"artifacts.sqlite3", "experiments.sqlite3"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("unreadable on purpose"), 0o000))
	}
	v, err := Open(dir, Options{})
	require.NoError(t, err)
	_, err = v.Put(context.Background(), one("text"))
	require.NoError(t, err)
	require.NoError(t, v.Close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"artifacts.sqlite3", "experiments.sqlite3", MarkerKeyName, FileName}, names)
	for _, name := range names[:2] {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm())
	}
}

func TestDigestSetForgetsTheOldest(t *testing.T) {
	t.Parallel()
	s := newDigestSet(3)
	d := func(i int) turn.Digest { return turn.Sum(string(rune('a' + i))) }
	for i := range 5 {
		s.add(d(i), mark{})
		s.add(d(i), mark{})
	}
	require.False(t, s.has(d(1)))
	require.True(t, s.has(d(2)) && s.has(d(3)) && s.has(d(4)))
	s.drop(d(3))
	require.False(t, s.has(d(3)))
	for i := range 20 {
		s.add(d(i%7), mark{})
		require.LessOrEqual(t, len(s.in), 3)
	}
}

func TestTombstonesAreBounded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	v, err := Open(t.TempDir(), Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, v.Close()) }()
	require.NoError(t, v.inTransaction(ctx, func(w *writing) error {
		for i := range 10 {
			d := turn.Sum(string(rune('a' + i)))
			if err := w.exec(qInsertTombstone, string(d.ID()), d[:], tombPruned, i); err != nil {
				return err
			}
		}
		return w.exec(qTrimTombstones, 4)
	}))
	var n, oldest int
	require.NoError(t, v.readers.QueryRow(`SELECT count(*), min(gone) FROM tombstones`).Scan(&n, &oldest))
	require.Equal(t, 4, n)
	require.Equal(t, 6, oldest)
}
