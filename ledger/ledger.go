package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
)

// FileName is the ledger's file, beside the vault.
const FileName = "ledger.sqlite3"

const (
	applicationID = 0x54544c31 // "TTL1"
	saltBytes     = 32

	// DefaultQueue is how many entries may wait for the writer, and a batch is at most
	// this many in one transaction.
	DefaultQueue = 4096
	maxBatch     = 256
	// DefaultKeep is how long rows stay.
	DefaultKeep = 400 * 24 * time.Hour
)

//go:embed schema.sql
var schemaSQL string

// steps are the schema versions, oldest first. Published steps never change.
func steps() []sqlitefile.Step { return []sqlitefile.Step{{Version: 1, SQL: schemaSQL}} }

// Errors of the ledger.
var (
	// ErrOff: there is no ledger; nothing is recorded and nothing can be asked.
	ErrOff = errors.New("the ledger is off")
	// ErrClosed: it was closed.
	ErrClosed = errors.New("the ledger is closed")
)

// Options of one ledger. Zero values mean the defaults.
type Options struct {
	Queue       int           // entries that may wait; more are dropped
	Keep        time.Duration // rows older than this are removed at Open
	Synchronous string        // FULL (default) or NORMAL
	MaxPages    int64         // limit of the file in pages of 4,096 bytes; 0 none

	Now func() time.Time // nil: time.Now
	// Hook is called before each transaction of the writer. An error it returns stands
	// for a failure of that transaction. Tests only.
	Hook func() error
}

// Ledger is an open ledger. It is safe for concurrent use. A nil *Ledger is one that is
// off: Record drops, questions give ErrOff, Close does nothing.
type Ledger struct {
	path    string
	o       Options
	db      *sql.DB // the writer's one connection; also the arms'
	reading *Reading
	salt    []byte

	mu     sync.RWMutex // held for reading while something is put into the queue
	closed bool
	queue  chan any
	ended  chan struct{}
	write  sync.Mutex // one transaction at a time on db

	recorded, dropped, failed atomic.Int64
	lastErr                   atomic.Pointer[error]
}

// Open opens the ledger at path for writing, makes it (0600) on first use, and starts
// its writer. The folder must exist. An error means that there is no ledger; go on with
// a nil *Ledger then.
func Open(ctx context.Context, path string, o Options) (*Ledger, error) {
	if o.Queue <= 0 {
		o.Queue = DefaultQueue
	}
	if o.Keep <= 0 {
		o.Keep = DefaultKeep
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	schema := steps()
	db, err := sqlitefile.OpenWriter(ctx, path, sqlitefile.Options{
		Synchronous: o.Synchronous, MaxPages: o.MaxPages, Application: applicationID, Newest: schema[len(schema)-1].Version,
	})
	if err != nil {
		return nil, err
	}
	l := &Ledger{path: path, o: o, db: db, queue: make(chan any, o.Queue), ended: make(chan struct{})}
	if err := l.begin(ctx, schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go l.run()
	return l, nil
}

func (l *Ledger) begin(ctx context.Context, schema []sqlitefile.Step) error {
	if _, err := sqlitefile.Migrate(ctx, l.db, l.path, applicationID, schema); err != nil {
		return err
	}
	if err := l.loadSalt(ctx); err != nil {
		return err
	}
	if err := l.forget(ctx); err != nil {
		return err
	}
	var err error
	l.reading, err = OpenReading(ctx, l.path)
	return err
}

// loadSalt reads the file's salt or makes it: fingerprints and arms of one home say
// nothing about those of another.
func (l *Ledger) loadSalt(ctx context.Context) error {
	fresh := make([]byte, saltBytes)
	if _, err := rand.Read(fresh); err != nil {
		return fmt.Errorf("make salt: %w", err)
	}
	if _, err := l.db.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('salt', ?) ON CONFLICT (name) DO NOTHING`, fresh); err != nil {
		return l.explain("write salt", err)
	}
	err := l.db.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = 'salt'`).Scan(&l.salt)
	if err == nil && len(l.salt) != saltBytes {
		return &safefile.Error{Op: "read salt", Path: l.path, Err: sqlitefile.ErrCorrupt, Advice: "move the ledger away; a new one is made"}
	}
	return l.explain("read salt", err)
}

// forget removes what is older than Keep. Arms stay: a chain never changes its arm.
func (l *Ledger) forget(ctx context.Context) error {
	before := l.o.Now().Add(-l.o.Keep).UnixMilli()
	for _, text := range []string{
		`DELETE FROM turns WHERE at < ?1`,
		`DELETE FROM events WHERE at < ?1`,
		`DELETE FROM sessions WHERE last_at < ?1 AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = sessions.seq)
			AND NOT EXISTS (SELECT 1 FROM events e WHERE e.session = sessions.seq)`,
	} {
		if _, err := l.db.ExecContext(ctx, text, before); err != nil {
			return l.explain("remove old rows", err)
		}
	}
	return nil
}

// Reads gives the questions that may be asked; nil when the ledger is off.
func (l *Ledger) Reads() *Reading {
	if l == nil {
		return nil
	}
	return l.reading
}

// Record hands over what a turn came to. It never waits: when the queue is full or the
// ledger is closed the entry is dropped and counted.
func (l *Ledger) Record(t Turn) { l.put(t) }

// Note hands over an event, as Record does a turn.
func (l *Ledger) Note(e Event) { l.put(e) }

// Report hands over the usage of a turn that was or will be recorded. A report of a
// turn the ledger does not know is let go.
func (l *Ledger) Report(r Reported) { l.put(r) }

func (l *Ledger) put(entry any) {
	if l == nil {
		return
	}
	if l.mu.TryRLock() { // only Close ever holds it for writing
		defer l.mu.RUnlock()
		if !l.closed {
			select {
			case l.queue <- entry:
				return
			default:
			}
		}
	}
	l.dropped.Add(1)
}

// Flush returns when everything recorded before it stands in the file or was given up.
func (l *Ledger) Flush(ctx context.Context) error {
	if l == nil {
		return ErrOff
	}
	reached := make(chan struct{})
	if err := l.enqueue(ctx, barrier(reached)); err != nil {
		return err
	}
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type barrier chan struct{}

func (l *Ledger) enqueue(ctx context.Context, entry any) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return ErrClosed
	}
	select {
	case l.queue <- entry:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes what waits and closes the file. Closing twice is fine.
func (l *Ledger) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.queue)
	l.mu.Unlock()
	<-l.ended
	return errors.Join(l.reading.Close(), l.db.Close())
}

// Health says how the ledger itself does.
type Health struct {
	On       bool   `json:"on"`
	Recorded int64  `json:"recorded"` // entries written since the start
	Dropped  int64  `json:"dropped"`  // entries the queue had no room for
	Failed   int64  `json:"failed"`   // entries whose transaction failed
	LastErr  string `json:"last_error_type,omitempty"`
}

// Health gives the counts since the start.
func (l *Ledger) Health() Health {
	if l == nil {
		return Health{}
	}
	h := Health{On: true, Recorded: l.recorded.Load(), Dropped: l.dropped.Load(), Failed: l.failed.Load()}
	if err := l.lastErr.Load(); err != nil {
		h.LastErr = ErrorType(*err)
	}
	return h
}

// ErrorType names the kind of an error of the ledger, in our words and without a path.
func ErrorType(err error) string {
	for _, known := range []struct {
		err  error
		name string
	}{
		{sqlitefile.ErrFull, "full"}, {safefile.ErrNoSpace, "full"}, {sqlitefile.ErrBusy, "locked"}, {sqlitefile.ErrCorrupt, "damaged"},
		{sqlitefile.ErrNotSQLite, "not_sqlite"}, {sqlitefile.ErrReadOnly, "read_only"}, {safefile.ErrNotAllowed, "not_allowed"},
		{sqlitefile.ErrNewer, "newer"}, {sqlitefile.ErrForeign, "foreign"}, {sqlitefile.ErrIO, "io"},
		{safefile.ErrSymlink, "symlink"}, {safefile.ErrOwner, "owner"}, {sqlitefile.ErrCantOpen, "cannot_open"},
		{ErrOff, "off"}, {ErrClosed, "closed"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}

func (l *Ledger) explain(op string, err error) error { return explain(op, l.path, err) }

func explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if explained := sqlitefile.Explain(op+" of ledger", path, err); explained != err {
		return explained
	}
	return fmt.Errorf("%s of ledger: %w", op, err)
}
