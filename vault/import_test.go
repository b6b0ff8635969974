//go:build unix

package vault_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// referenceSQL is the part of the Python program's schema that an import reads.
const referenceSQL = `PRAGMA user_version = 2;
CREATE TABLE artifacts (artifact_id TEXT PRIMARY KEY, sha256 TEXT UNIQUE, content TEXT, char_count INT, byte_count INT,
	tool_name TEXT DEFAULT '', args_json TEXT DEFAULT '{}', created_at TEXT);
CREATE TABLE artifact_observations (observation_id INTEGER PRIMARY KEY AUTOINCREMENT, artifact_id TEXT, session_id TEXT DEFAULT '',
	tool_call_id TEXT DEFAULT '', tool_name TEXT DEFAULT '', args_json TEXT DEFAULT '{}', observed_at TEXT);
CREATE TABLE artifact_exposures (session_id TEXT, artifact_id TEXT, request_id TEXT, inline INT, exposed_at TEXT);
CREATE TABLE terminal_snapshots (state_key TEXT PRIMARY KEY, artifact_id TEXT, command TEXT, session_scope TEXT DEFAULT '');
CREATE TABLE tt_context_sources (session_id TEXT, artifact_id TEXT, source_sha TEXT)`

// reference makes a store of the Python program.
func reference(t testing.TB) (path string, db *sql.DB) {
	path = filepath.Join(t.TempDir(), "artifacts.sqlite3")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	db = rawDB(t, path)
	_, err := db.Exec(referenceSQL)
	require.NoError(t, err)
	return path, db
}

func addRow(t testing.TB, db *sql.DB, id, sha string, content any) {
	_, err := db.Exec(`INSERT INTO artifacts (artifact_id, sha256, content, tool_name, created_at) VALUES (?1, ?2, ?3, 'terminal', '2025-06-01T10:00:00+00:00')`, id, sha, content)
	require.NoError(t, err)
}

func add(t testing.TB, db *sql.DB, text string, sessions ...string) {
	addRow(t, db, idOf(text), turn.Sum(text).String(), text)
	for i, session := range sessions {
		_, err := db.Exec(`INSERT INTO artifact_observations (artifact_id, session_id, tool_call_id, tool_name, args_json) VALUES (?1, ?2, ?3, 'terminal', '{"command":"make"}')`,
			idOf(text), session, fmt.Sprint("call_", i))
		require.NoError(t, err)
	}
}

func pinThere(t testing.TB, db *sql.DB, text, session string) {
	_, err := db.Exec(`INSERT INTO artifact_exposures VALUES (?1, ?2, 'request', 0, '')`, session, idOf(text))
	require.NoError(t, err)
}

func TestImportTakesEverythingThatIsWhatItSays(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path, db := reference(t)
	long := strings.Repeat("a log line\n", 20_000)
	add(t, db, "seen by two", "a", "b")
	add(t, db, long, "a")
	add(t, db, "seen by nobody")
	add(t, db, "with\x00nul and ü", "")
	pinThere(t, db, "seen by two", "a")
	pinThere(t, db, "with\x00nul and ü", "")
	_, err := db.Exec(`INSERT INTO terminal_snapshots VALUES ('k', ?1, 'make', 'b')`, idOf(long))
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE artifact_observations SET args_json = ?1 WHERE artifact_id = ?2`, strings.Repeat("args ", 2_000), idOf(long))
	require.NoError(t, err)
	addRow(t, db, idOf("other text"), turn.Sum("other text").String(), "not that text")
	addRow(t, db, "a_"+strings.Repeat("0", 32), turn.Sum("a wrong id").String(), "a wrong id")
	addRow(t, db, "a_1", "none", nil)
	addRow(t, db, idOf("\xff"), turn.Sum("\xff").String(), []byte("\xff"))
	require.NoError(t, db.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	v := mustOpen(t, t.TempDir(), vault.Options{})
	vaulttest.MustPut(t, v, vaulttest.Evidence("c", 1, "seen by nobody"))
	checked, err := vault.CheckImport(ctx, v, path, nil)
	require.NoError(t, err)
	st, err := v.Status(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, st.Artifacts, "a check writes nothing")
	done, err := v.Import(ctx, path, nil)
	require.NoError(t, err)
	require.Equal(t, checked, done)
	require.Equal(t, []int{8, 3, 1, 3, 4}, []int{done.Rows, done.New, done.Known, done.Pins, done.Observations})
	require.Len(t, done.Refused, 4)
	for _, text := range []string{"seen by two", long, "seen by nobody", "with\x00nul and ü"} {
		a, err := v.Get(ctx, "", idOf(text))
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	for session, texts := range map[string][]string{"a": {"seen by two", long}, "b": {"seen by two", long}, "imported": {"with\x00nul and ü"}} {
		for _, text := range texts {
			a, err := v.Get(ctx, session, idOf(text))
			require.NoError(t, err, "%s: %.20s", session, text)
			require.True(t, a.Pinned)
		}
	}
	a, err := v.Get(ctx, "a", idOf(long))
	require.NoError(t, err)
	require.Equal(t, 10_000, a.ArgsBytes)
	require.NotEmpty(t, a.ArgsArtifact)
	require.Equal(t, 2025, a.Created.Year())
	_, err = v.Get(ctx, "", idOf("other text"))
	require.ErrorIs(t, err, vault.ErrUnknown)
	mustSound(t, v)

	again, err := v.Import(ctx, path, nil)
	require.NoError(t, err)
	require.Equal(t, []int{0, 4}, []int{again.New, again.Known})
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no file is made beside it")
	mustSound(t, v)
}

// A log that another program left behind, or that it is still using, is read too.
func TestImportReadsTheLogAndWritesNothing(t *testing.T) {
	t.Parallel()
	for name, live := range map[string]bool{"in use": true, "left behind": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, db := reference(t)
			_, err := db.Exec(`PRAGMA journal_mode=WAL`)
			require.NoError(t, err)
			add(t, db, "in the log", "a")
			if !live {
				copied := filepath.Join(t.TempDir(), "artifacts.sqlite3")
				for _, side := range []string{"", "-wal"} {
					data, err := os.ReadFile(path + side)
					require.NoError(t, err)
					require.NoError(t, os.WriteFile(copied+side, data, 0o600))
				}
				path = copied
			}
			read := func() (all []string) {
				for _, side := range []string{"", "-wal"} {
					data, err := os.ReadFile(path + side)
					require.NoError(t, err)
					all = append(all, string(data))
				}
				return all
			}
			before := read()
			v := mustOpen(t, t.TempDir(), vault.Options{})
			done, err := v.Import(context.Background(), path, nil)
			require.NoError(t, err)
			require.Equal(t, 1, done.New)
			require.Equal(t, before, read())
			if live {
				add(t, db, "the owner goes on", "a")
			}
		})
	}
}

func TestImportRefusesWhatIsNoStore(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	for name, c := range map[string]struct {
		sql  string
		want error
	}{
		"newer":         {`PRAGMA user_version = 3`, vault.ErrReference},
		"no table":      {`DROP TABLE artifacts`, vault.ErrReference},
		"a view":        {`ALTER TABLE artifacts RENAME TO x; CREATE VIEW artifacts AS SELECT * FROM x`, vault.ErrReference},
		"other columns": {`DROP TABLE artifacts; CREATE TABLE artifacts (artifact_id, body)`, vault.ErrReference},
	} {
		path, db := reference(t)
		_, err := db.Exec(c.sql)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		_, err = v.Import(ctx, path, nil)
		require.ErrorIs(t, err, c.want, name)
		wantHint(t, err, path)
	}
	path := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1_000)), 0o600))
	_, err := v.Import(ctx, path, nil)
	require.ErrorIs(t, err, sqlitefile.ErrNotSQLite)
	_, err = v.Import(ctx, path+"x", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	link := path + ".link"
	require.NoError(t, os.Symlink(path, link))
	_, err = v.Import(ctx, link, nil)
	require.Error(t, err)
	bare, db := reference(t) // the oldest files have one table only
	_, err = db.Exec(`DROP TABLE artifact_observations; DROP TABLE artifact_exposures; DROP TABLE terminal_snapshots; DROP TABLE tt_context_sources`)
	require.NoError(t, err)
	addRow(t, db, idOf("bare"), turn.Sum("bare").String(), "bare")
	require.NoError(t, db.Close())
	done, err := v.Import(ctx, bare, nil)
	require.NoError(t, err)
	require.Equal(t, 1, done.New)
}

// Any failure of an import: what was committed stays and is sound, and the next run
// completes it.
func TestAnImportThatFailsIsTakenUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path, db := reference(t)
	for i := range 300 {
		add(t, db, fmt.Sprint("text ", i), "a")
		pinThere(t, db, fmt.Sprint("text ", i), "a")
	}
	require.NoError(t, db.Close())
	complete := func(dir string) {
		v := mustOpen(t, dir, vault.Options{})
		mustSound(t, v)
		done, err := v.Import(ctx, path, nil)
		require.NoError(t, err)
		require.Equal(t, 300, done.New+done.Known)
		st, err := v.Status(ctx)
		require.NoError(t, err)
		require.Equal(t, []int{300, 300}, []int{st.Artifacts, st.Pins})
		mustSound(t, v)
	}
	for _, c := range []vault.Options{
		{Hook: faults.FailAt("before commit", 2, faults.ErrInjected)}, {Hook: faults.FailAt("after commit", 1, faults.ErrInjected)},
		{Hook: faults.FailAt("before insert pin", 200, faults.ErrInjected)}, {Hook: faults.FailAt("before read-back", 5, faults.ErrInjected)},
		{MaxPages: 45}, {CapacityBytes: 100_000},
	} {
		dir := t.TempDir()
		v := mustOpen(t, dir, c)
		done, err := v.Import(ctx, path, nil)
		require.Error(t, err)
		require.Less(t, done.New, 300)
		require.NoError(t, v.Close())
		complete(dir)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	v := mustOpen(t, t.TempDir(), vault.Options{})
	_, err := v.Import(ended, path, nil)
	require.ErrorIs(t, err, context.Canceled)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	cut := filepath.Join(t.TempDir(), "cut.sqlite3") // half a file
	require.NoError(t, os.WriteFile(cut, data[:len(data)/2/4096*4096], 0o600))
	_, err = v.Import(ctx, cut, nil)
	require.ErrorIs(t, err, sqlitefile.ErrCorrupt)
	mustSound(t, v)
}

// Random stores: what comes in is exactly what matches its hash and id.
func TestImportedIsExactlyWhatMatches(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 77))
		path, db := reference(t)
		good := map[string]bool{}
		for i := range 60 {
			text := crashText(rng.Uint64())
			id, sha, content := idOf(text), turn.Sum(text).String(), any(text)
			switch rng.IntN(6) {
			case 0:
				content = text + "x"
			case 1:
				id = idOf(fmt.Sprint(i))
			case 2:
				sha = turn.Sum(fmt.Sprint(i)).String()
			case 3:
				id, good[text] = string(turn.Sum(text).LongID()), true
			default:
				good[text] = true
			}
			addRow(t, db, id, sha, content)
		}
		require.NoError(t, db.Close())
		v := mustOpen(t, t.TempDir(), vault.Options{})
		done, err := v.Import(context.Background(), path, nil)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, len(good), done.New, "seed %d", seed)
		require.Len(t, done.Refused, 60-len(good), "seed %d", seed)
		for text := range good {
			a, err := v.Get(context.Background(), "", string(turn.Sum(text).LongID()))
			require.NoError(t, err, "seed %d", seed)
			require.Equal(t, text, a.Text)
		}
		mustSound(t, v)
	}
}

// Bytes of a real file changed anywhere: an import ends with an error or with originals
// that match, and the vault is sound.
func FuzzImport(f *testing.F) {
	path, db := reference(f)
	for i := range 5 {
		add(f, db, fmt.Sprint("text ", i, strings.Repeat("x", i*2_000)), "a")
		pinThere(f, db, fmt.Sprint("text ", i, strings.Repeat("x", i*2_000)), "a")
	}
	require.NoError(f, db.Close())
	data, err := os.ReadFile(path)
	require.NoError(f, err)
	for _, at := range []int{0, 18, 60, 100, 105, 4_096, 4_200, 9_000, 20_000} {
		f.Add(at, []byte{0xff, 0, 7})
	}
	f.Fuzz(func(t *testing.T, at int, change []byte) {
		changed := append([]byte{}, data...)
		if at >= 0 && at < len(changed) {
			copy(changed[at:], change)
		}
		file := filepath.Join(t.TempDir(), "artifacts.sqlite3")
		require.NoError(t, os.WriteFile(file, changed, 0o600))
		v := mustOpen(t, t.TempDir(), vault.Options{})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_, _ = v.Import(ctx, file, nil)
		mustSound(t, v)
		left, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, changed, left)
	})
}
