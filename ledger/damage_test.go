package ledger

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
)

// A ledger that cannot be used is an error of Open that names its kind and leaves the
// file as it is; what goes on without it is a nil *Ledger.
func TestALedgerThatCannotBeUsedIsLeftAlone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want error
		kind string
	}{
		"not a database": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 500)), 0o600))
		}, sqlitefile.ErrNotSQLite, "not_sqlite"},
		"cut short": {func(t *testing.T, path string) {
			l := reopen(t, path, Options{})
			for n := range uint64(150) {
				l.Record(Turn{Binding: binding("a", n+1), Reason: turn.Reduced})
			}
			flush(t, l)
			require.NoError(t, l.Close())
			require.NoError(t, os.Truncate(path, 4096*2))
		}, sqlitefile.ErrCorrupt, "damaged"},
		"newer": {func(t *testing.T, path string) { mark(t, path, "PRAGMA user_version=99") }, sqlitefile.ErrNewer, "newer"},
		"another program's": {func(t *testing.T, path string) {
			mark(t, path, "PRAGMA application_id=7")
		}, sqlitefile.ErrForeign, "foreign"},
		"a link": {func(t *testing.T, path string) {
			require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path))
		}, safefile.ErrSymlink, "symlink"},
		"without a folder": {func(t *testing.T, path string) { require.NoError(t, os.RemoveAll(filepath.Dir(path))) }, os.ErrNotExist, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), FileName)
			c.make(t, path)
			before, _ := os.ReadFile(path)
			l, err := Open(ctx, path, Options{})
			require.ErrorIs(t, err, c.want)
			require.Nil(t, l)
			if c.kind != "" {
				require.Equal(t, c.kind, ErrorType(err))
			}
			after, _ := os.ReadFile(path)
			require.Equal(t, before, after)
			l.Record(Turn{Binding: binding("a", 1)}) // nothing happens, nothing stops
		})
	}
}

func mark(t *testing.T, path, pragma string) {
	t.Helper()
	require.NoError(t, reopen(t, path, Options{}).Close())
	db, err := sqlitefile.OpenWriter(context.Background(), path, sqlitefile.Options{})
	require.NoError(t, err)
	_, err = db.Exec(pragma)
	require.NoError(t, errors.Join(err, db.Close()))
}

func TestAFullDiskCostsEntriesOnly(t *testing.T) {
	t.Parallel()
	l, _ := open(t, Options{MaxPages: 24})
	l.Record(Turn{Binding: binding("a", 1_000), Reason: turn.Reduced})
	flush(t, l)
	for n := range uint64(400) {
		l.Record(Turn{Binding: binding("a", n+1), Reason: turn.Reduced, Model: strings.Repeat("m", 100)})
	}
	flush(t, l)
	h := l.Health()
	require.Positive(t, h.Recorded)
	require.Positive(t, h.Failed)
	require.Equal(t, "full", h.LastErr)
	require.EqualValues(t, h.Recorded, totals(t, l, Filter{}).Turns, "what was counted as written is there")
	_, err := l.Assign(context.Background(), half(), "a")
	if err != nil {
		require.ErrorIs(t, err, sqlitefile.ErrFull, "a chain whose arm cannot be stored is in none")
	}
}

func TestAReadOnlyFileFailsToOpenAndCanBeRead(t *testing.T) {
	t.Parallel()
	l, path := open(t, Options{})
	l.Record(Turn{Binding: binding("a", 1), Reason: turn.Reduced})
	flush(t, l)
	require.NoError(t, l.Close())
	require.NoError(t, os.Chmod(path, 0o400))
	t.Cleanup(func() { _ = os.Chmod(path, 0o600) })
	r, err := OpenReading(context.Background(), path)
	require.NoError(t, err)
	defer r.Close()
	sum, err := r.Totals(context.Background(), Filter{})
	require.NoError(t, err)
	require.EqualValues(t, 1, sum.Turns)
	if os.Geteuid() != 0 { // root may write it all the same
		_, err = Open(context.Background(), path, Options{})
		require.Error(t, err)
	}
}

func TestReadingNeedsALedger(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), FileName)
	_, err := OpenReading(ctx, path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	_, err = OpenReading(ctx, path)
	require.ErrorIs(t, err, ErrOff)
	_, err = os.Stat(path + "-wal")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Bytes that turn over while the file is open end in an error, never in a panic or a
// turn that waits.
func TestDamageWhileOpenIsCounted(t *testing.T) {
	t.Parallel()
	l, path := open(t, Options{})
	for n := range uint64(100) {
		l.Record(Turn{Binding: binding("a", n+1), Reason: turn.Reduced})
	}
	flush(t, l)
	require.NoError(t, l.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, faults.Fill(path, info.Size()/2, 4096, 0xff))
	broken, err := Open(context.Background(), path, Options{Now: func() time.Time { return start }})
	if err != nil {
		require.NotEmpty(t, ErrorType(err))
		return
	}
	for n := range uint64(100) {
		broken.Record(Turn{Binding: binding("b", n+1), Reason: turn.Reduced})
	}
	flush(t, broken)
	h := broken.Health()
	require.EqualValues(t, 100, h.Recorded+h.Failed)
	require.NoError(t, broken.Close())
}

// No column takes a text of a request, whatever a caller puts into a field.
func TestNoColumnHoldsContent(t *testing.T) {
	t.Parallel()
	const canary = "canary-4711 secret words"
	l, path := open(t, Options{})
	b := binding("chain-1", 1)
	b.Home = canary
	l.Record(Turn{
		Binding: b, Reason: turn.Reason(canary), Epoch: canary, EpochReason: canary, Prompt: l.Fingerprint(canary), Measure: Measure(canary),
		Label: canary, Row: canary, Forms: []FormCount{{Form: turn.Form(canary), N: 1}}, Reasons: map[turn.Reason]int{turn.Reason(canary): 1},
	})
	l.Record(Turn{Binding: binding("chain-1", 2), Prompt: canary, Reason: turn.Reduced})
	l.Note(Event{Binding: b, Kind: Recovery, Reason: canary})
	flush(t, l)
	require.NoError(t, l.Close())
	for _, side := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + side)
		if err == nil {
			require.NotContains(t, string(data), "canary-4711")
		}
	}
	db, err := sqlitefile.OpenReaders(context.Background(), path, sqlitefile.Options{})
	require.NoError(t, err)
	defer db.Close()
	require.Equal(t, "other", text(t, db, `SELECT reason FROM turns WHERE turn = 1`))
	require.Equal(t, "other", text(t, db, `SELECT epoch FROM turns WHERE turn = 1`))
	require.Equal(t, "other", text(t, db, `SELECT form FROM turn_forms`))
	require.Equal(t, "other", text(t, db, `SELECT reason FROM turn_reasons`))
	require.Equal(t, "other", text(t, db, `SELECT reason FROM events`))
}

func text(t *testing.T, db *sql.DB, query string) (s string) {
	t.Helper()
	require.NoError(t, db.QueryRow(query).Scan(&s))
	return s
}
