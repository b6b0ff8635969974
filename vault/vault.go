package vault

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
	"token-terminator/vault/codec"
)

//go:embed schema.sql
var schemaSQL string

// steps are the schema versions, oldest first. Published steps never change.
func steps() []sqlitefile.Step {
	return []sqlitefile.Step{{Version: 1, SQL: schemaSQL}, {Version: 2, SQL: packedSQL}, {Version: 3, SQL: orderedSQL}}
}

//go:embed schema3.sql
var orderedSQL string

// readAlike are the steps after which every read query gives the same: a file that lacks
// them is read as it is.
var readAlike = []string{packedSQL, orderedSQL}

// packedSQL is the step to bodies that may be packed (codec 1). The tables stay as they
// are; the version keeps programs away that would call such bodies lost.
const packedSQL = `SELECT 1`

// readConns is how many reads run at once; more wait.
const readConns = 2

// Vault is an open vault folder. It is safe for concurrent use.
type Vault struct {
	views // Page, Peek, Find, Lines and Diff over Get

	dir  string
	path string
	o    Options
	key  []byte

	turnstile chan struct{} // holds one token: the right to use the writer
	db        *sql.DB       // one connection, nil when read-only
	conn      *sql.Conn
	stmts     []*sql.Stmt // by query
	keeper    *keeper     // merges the log; nil when read-only
	packer    *codec.Packer
	readers   *sql.DB
	reads     []*sql.Stmt // by read
	verified  *digestSet  // read back and found equal in this process
	standing  *standSet   // held artifacts that were found in their place
	used      usedSet     // sessions whose last use stands in the file; only the writer looks
	lies      fs.FileInfo // the file as it was opened
	closed    atomic.Bool
	done      chan struct{} // closed by Close
}

// Open opens the vault in folder dir. The folder (0700), the file and the marker key
// (0600) are made on first use, unless o.ReadOnly is set. Errors name the file, and
// have a Hint method that says what to do.
func Open(dir string, o Options) (*Vault, error) {
	return openWith(context.Background(), dir, o, steps())
}

func openWith(ctx context.Context, dir string, o Options, schema []sqlitefile.Step) (*Vault, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolve vault folder: %w", err)
	}
	v, err := newVault(dir, filepath.Join(dir, FileName), o)
	if err != nil {
		return nil, err
	}
	if err := v.hook("before open"); err != nil {
		return nil, err
	}
	if o.ReadOnly {
		err = v.openReading(ctx, schema)
	} else {
		err = v.openWriting(ctx, schema)
	}
	if err != nil {
		return nil, errors.Join(err, v.release())
	}
	if v.lies, err = os.Stat(v.path); err != nil {
		return nil, errors.Join(v.gone(), v.release())
	}
	v.turnstile <- struct{}{}
	return v, v.hook("after open")
}

func newVault(dir, path string, o Options) (*Vault, error) {
	packer, err := codec.NewPacker()
	if err != nil {
		return nil, err
	}
	v := &Vault{dir: dir, path: path, o: o, turnstile: make(chan struct{}, 1), packer: packer,
		done: make(chan struct{}), verified: newDigestSet(verifiedEntries), standing: &standSet{}}
	v.views = views{v}
	return v, nil
}

func (v *Vault) openReading(ctx context.Context, schema []sqlitefile.Step) error {
	if err := v.openReaders(ctx, schema); err != nil {
		return err
	}
	var err error
	v.key, err = readKey(filepath.Join(v.dir, MarkerKeyName))
	return err
}

// openReaders opens the file for reading. One of an older version is read as it is when
// the steps it lacks change nothing a reader sees.
func (v *Vault) openReaders(ctx context.Context, schema []sqlitefile.Step) error {
	newest := schema[len(schema)-1].Version
	var err error
	if v.readers, err = sqlitefile.OpenReaders(ctx, v.path, sqlitefile.Options{Conns: readConns}); err != nil {
		return err
	}
	have, err := sqlitefile.CheckVersions(ctx, v.readers, v.path, applicationID, newest)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(schema, func(s sqlitefile.Step) bool { return s.Version == have }) ||
		slices.ContainsFunc(schema, func(s sqlitefile.Step) bool { return s.Version > have && !slices.Contains(readAlike, s.SQL) }) {
		return &safefile.Error{Op: "open", Path: v.path, Err: fmt.Errorf("%w: schema %d, want %d", errOlder, have, newest),
			Advice: "open the folder once for writing, which brings it up to date"}
	}
	return v.prepareReads(ctx)
}

func (v *Vault) openWriting(ctx context.Context, schema []sqlitefile.Step) error {
	if err := safefile.MakeDir(v.dir); err != nil {
		return err
	}
	o := sqlitefile.Options{
		Synchronous: v.o.Synchronous, MaxPages: v.o.MaxPages, WALPages: walMaxPages, BusyTimeout: v.o.BusyTimeout,
		Application: applicationID, Newest: schema[len(schema)-1].Version,
	}
	var err error
	if v.db, err = sqlitefile.OpenWriter(ctx, v.path, o); err != nil {
		return err
	}
	if _, err := sqlitefile.Migrate(ctx, v.db, v.path, applicationID, schema); err != nil {
		return err
	}
	if v.conn, err = v.db.Conn(ctx); err != nil {
		return v.explain("open", err)
	}
	if err := v.prepare(ctx); err != nil {
		return err
	}
	if v.readers, err = sqlitefile.OpenReaders(ctx, v.path, sqlitefile.Options{Conns: readConns}); err != nil {
		return err
	}
	if err := v.prepareReads(ctx); err != nil {
		return err
	}
	if v.keeper, err = startKeeper(v.path, v.o.Synchronous); err != nil {
		return err
	}
	v.key, err = makeKey(filepath.Join(v.dir, MarkerKeyName), v.o)
	return err
}

func (v *Vault) prepare(ctx context.Context) error {
	v.stmts = make([]*sql.Stmt, len(queries))
	for i, q := range queries {
		s, err := v.conn.PrepareContext(ctx, q.text)
		if err != nil {
			return v.explain("prepare "+q.name, err)
		}
		v.stmts[i] = s
	}
	return nil
}

func (v *Vault) prepareReads(ctx context.Context) error {
	v.reads = make([]*sql.Stmt, len(readQueries))
	for i, text := range readQueries {
		s, err := v.readers.PrepareContext(ctx, text)
		if err != nil {
			return v.explain("prepare read", err)
		}
		v.reads[i] = s
	}
	return nil
}

// Reopen closes the vault and opens its folder again with the same options, which is
// what to do after ErrGone. A folder that went is made again and keeps the marker key,
// so that texts shown before are still known as ours. When the folder does not open,
// the vault stays closed and Reopen may be called again.
func (v *Vault) Reopen() (*Vault, error) {
	if err := v.Close(); err != nil && v.inPlace() == nil {
		return nil, err
	}
	o := v.o
	if o.Key == nil {
		o.Key = v.key
	}
	return Open(v.dir, o)
}

// Path is the vault's file.
func (v *Vault) Path() string { return v.path }

// MarkerKey is the 32-byte key of marker tags, nil when a folder opened for reading
// has none. The caller may not change it.
func (v *Vault) MarkerKey() []byte { return v.key }

// Close waits for the write in hand, merges the write-ahead log and closes the file.
// Calls after it give ErrClosed. Closing twice is fine.
func (v *Vault) Close() error {
	if v.closed.Swap(true) {
		return nil
	}
	close(v.done)
	<-v.turnstile // never given back: nobody writes again
	return v.release()
}

func (v *Vault) release() error {
	var errs []error
	if v.keeper != nil {
		errs = append(errs, v.keeper.close())
	}
	for _, s := range v.reads {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if v.readers != nil {
		errs = append(errs, v.readers.Close())
	}
	for _, s := range v.stmts {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if v.conn != nil {
		errs = append(errs, v.conn.Close())
	}
	if v.db != nil {
		errs = append(errs, v.db.Close()) // the last connection merges the log
	}
	return errors.Join(errs...)
}

func (v *Vault) hook(point string) error {
	if v.o.Hook == nil {
		return nil
	}
	return v.o.Hook(point)
}

func (v *Vault) explain(op string, err error) error {
	if err == nil {
		return nil
	}
	if v.closed.Load() {
		return fmt.Errorf("%s: %w", op, ErrClosed)
	}
	if explained := sqlitefile.Explain(op, v.path, err); explained != err {
		return explained
	}
	return fmt.Errorf("%s: %w", op, err)
}

// enter waits for the right to use the writer.
func (v *Vault) enter(ctx context.Context) error {
	if v.closed.Load() {
		return ErrClosed
	}
	if v.db == nil {
		return ErrReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := v.inPlace(); err != nil {
		return err
	}
	select {
	case <-v.turnstile:
		return nil
	case <-v.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inPlace says whether the path still names the file that is open. A file that was
// removed or replaced would take writes and give answers nobody else ever sees.
func (v *Vault) inPlace() error {
	if info, err := os.Stat(v.path); err != nil || !os.SameFile(info, v.lies) {
		return v.gone()
	}
	return nil
}

func (v *Vault) gone() error {
	return &safefile.Error{Op: "use", Path: v.path, Err: ErrGone, Advice: "open the folder again; ids whose originals went with the old file are lost until a session shows them again"}
}

func (v *Vault) leave() { v.turnstile <- struct{}{} }

// nowMillis is the time that goes into the file.
func (v *Vault) nowMillis() int64 { return v.o.Now().UnixMilli() }
