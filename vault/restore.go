package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
)

// Errors of restoring.
var (
	ErrUnsound   = errors.New("the backup is damaged or incomplete")
	ErrWouldLose = errors.New("the vault in place holds artifacts that the backup lacks")
)

// Restoring is a plan: what a restore would do, found out without changing anything.
type Restoring struct {
	From      Place  `json:"from"`
	To        Place  `json:"to"`
	Artifacts int    `json:"artifacts"`        // in the backup
	Report    Report `json:"report"`           // of the backup
	Replaces  bool   `json:"replaces"`         // a vault stands there
	Broken    string `json:"broken,omitempty"` // why the one in place cannot be read
	Missing   int    `json:"missing"`          // artifacts in place that the backup lacks
	NewKey    bool   `json:"new_key"`          // the marker key in place is another one

	o   Options
	key []byte
}

// PlanRestore looks at a backup and at the vault in folder dir.
func PlanRestore(ctx context.Context, from Place, dir string, o Options) (Restoring, error) {
	r := Restoring{From: from, To: Place{filepath.Join(dir, FileName), filepath.Join(dir, MarkerKeyName)}, o: o}
	source, err := openFile(ctx, from.File)
	if err != nil {
		return r, err
	}
	defer source.Close()
	if r.Report, err = source.Verify(ctx); err != nil {
		return r, err
	}
	r.Artifacts = r.Report.Artifacts
	if r.key, err = readKey(from.Key); err != nil {
		return r, err
	}
	old, err := readKey(r.To.Key)
	if err != nil {
		r.Broken = err.Error()
	}
	r.NewKey = r.key != nil && (old != nil || err != nil) && !bytes.Equal(old, r.key)
	if _, err := os.Lstat(r.To.File); errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	r.Replaces = true
	return r, r.compare(ctx, source)
}

// compare counts what the vault in place has and the backup has not.
func (r *Restoring) compare(ctx context.Context, source *Vault) error {
	here, err := openFile(ctx, r.To.File)
	if err != nil {
		r.Broken = err.Error()
		return nil
	}
	defer here.Close()
	kept := map[turn.Digest]bool{}
	if err := source.eachDigest(ctx, func(d turn.Digest) { kept[d] = true }); err != nil {
		return err
	}
	if err := here.eachDigest(ctx, func(d turn.Digest) {
		if !kept[d] {
			r.Missing++
		}
	}); err != nil {
		r.Broken = err.Error()
	}
	return nil
}

func (v *Vault) eachDigest(ctx context.Context, found func(turn.Digest)) error {
	return v.each(ctx, "list artifacts", `SELECT sha FROM artifacts`, func(scan func(...any) error) error {
		var sha []byte
		if err := scan(&sha); err != nil {
			return err
		}
		var d turn.Digest
		copy(d[:], sha)
		found(d)
		return nil
	})
}

// Allowed says why the plan must not be carried out without the user's word that
// evidence may be lost; nil when nothing is lost.
func (r Restoring) Allowed() error {
	switch {
	case !r.Report.Sound():
		return fmt.Errorf("%w: %d damaged, %d lost", ErrUnsound, len(r.Report.Damaged), len(r.Report.Lost))
	case r.Missing > 0:
		return fmt.Errorf("%w: %d of them", ErrWouldLose, r.Missing)
	case r.Broken != "":
		return fmt.Errorf("%w: it cannot be read (%s)", ErrWouldLose, r.Broken)
	}
	return nil
}

// Restored is what a restore made.
type Restored struct {
	Copied
	Aside []string `json:"aside"` // where the files that stood there are now
}

// Run carries the plan out: a verified copy beside the vault, brought up to this
// version, then one rename. What stood there stays under names that end in suffix. A
// vault that another process has open is refused (sqlitefile.ErrBusy). A run that ends
// in the middle leaves the old vault or the new one, never a part.
func (r Restoring) Run(ctx context.Context, suffix string, progress func(done, total int)) (Restored, error) {
	out := Restored{Copied: Copied{Place: r.To}, Aside: []string{}}
	if err := safefile.MakeDir(filepath.Dir(r.To.File)); err != nil {
		return out, err
	}
	part := r.To.File + partSuffix
	err := r.prepare(ctx, part, &out.Copied, progress)
	if err == nil {
		err = r.place(ctx, part, suffix, &out)
	}
	if err != nil {
		return out, errors.Join(err, sqlitefile.Remove(part))
	}
	return out, r.placeKey(suffix, &out)
}

func (r Restoring) prepare(ctx context.Context, part string, c *Copied, progress func(done, total int)) error {
	if err := r.hook("before copy"); err != nil {
		return err
	}
	if err := sqlitefile.Remove(part); err != nil {
		return err
	}
	if err := sqlitefile.Copy(ctx, r.From.File, part, r.o.MaxPages, progress); err != nil {
		return err
	}
	schema := steps()
	db, err := sqlitefile.OpenWriter(ctx, part, sqlitefile.Options{Application: applicationID, Newest: schema[len(schema)-1].Version})
	if err != nil {
		return err
	}
	if _, err := sqlitefile.Migrate(ctx, db, part, applicationID, schema); err != nil {
		return errors.Join(err, db.Close())
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err := sqlitefile.Settle(ctx, part); err != nil {
		return err
	}
	if err := safefile.Sync(part); err != nil {
		return err
	}
	if err := r.hook("after copy"); err != nil {
		return err
	}
	return c.check(ctx, part)
}

// place puts the copy where the vault is. The log of the old file is merged first; one
// that cannot be merged goes aside with its file.
func (r Restoring) place(ctx context.Context, part, suffix string, out *Restored) error {
	if err := r.hook("before place"); err != nil {
		return err
	}
	if r.Replaces {
		if err := sqlitefile.Settle(ctx, r.To.File); errors.Is(err, sqlitefile.ErrBusy) {
			return err
		}
	}
	for _, side := range []string{"-wal", "-shm", "-journal"} { // of another file: SQLite would take them for the copy's
		err := os.Rename(r.To.File+side, r.To.File+suffix+side)
		if err == nil {
			out.Aside = append(out.Aside, r.To.File+suffix+side)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("set aside: %w", err)
		}
	}
	if !r.Replaces {
		return safefile.Publish(part, r.To.File)
	}
	if err := r.hook("before replace"); err != nil {
		return err
	}
	if err := safefile.Replace(part, r.To.File, r.To.File+suffix); err != nil {
		return err
	}
	out.Aside = append(out.Aside, r.To.File+suffix)
	return r.hook("after replace")
}

func (r Restoring) placeKey(suffix string, out *Restored) error {
	if r.key == nil {
		return nil
	}
	if r.NewKey {
		if err := os.Rename(r.To.Key, r.To.Key+suffix); err != nil {
			return fmt.Errorf("set aside: %w", err)
		}
		out.Aside = append(out.Aside, r.To.Key+suffix)
	}
	err := safefile.WriteNew(r.To.Key, r.key)
	if errors.Is(err, safefile.ErrExists) {
		return nil // the same key
	}
	return err
}

func (r Restoring) hook(point string) error {
	if r.o.Hook == nil {
		return nil
	}
	return r.o.Hook(point)
}
