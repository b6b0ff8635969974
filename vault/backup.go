package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
)

// Place is where a vault's two files lie: in a folder of a vault's layout, or side by
// side under a name of the caller's.
type Place struct {
	File string `json:"path"`
	Key  string `json:"marker_key"`
}

// PlaceOf reads a user's path: a file name that ends in .sqlite3 or .db, or an existing
// file, is the file itself, and its key lies beside it with ".key" added; anything else
// is a folder.
func PlaceOf(path string) Place {
	info, err := os.Stat(path)
	ext := strings.ToLower(filepath.Ext(path))
	if err == nil && !info.IsDir() || err != nil && (ext == ".sqlite3" || ext == ".db") {
		return Place{path, path + ".key"}
	}
	return Place{filepath.Join(path, FileName), filepath.Join(path, MarkerKeyName)}
}

// partSuffix marks a copy that is not finished.
const partSuffix = ".part"

// Copied is what a backup or a restore made.
type Copied struct {
	Place
	Bytes     int64  `json:"bytes"`     // of the file
	Artifacts int    `json:"artifacts"` // hashed again in the copy
	Report    Report `json:"report"`
}

// Backup copies the vault, which may be in use, as it stands at one moment, reads the
// copy to the end with every hash, makes it durable and only then gives it its name.
// Nothing that exists is replaced (safefile.ErrExists). A damaged vault is copied as it
// is; Copied.Report says so. progress, when not nil, hears of pages. On an error there
// is no file under the name.
func (v *Vault) Backup(ctx context.Context, to Place, progress func(done, total int)) (Copied, error) {
	out := Copied{Place: to}
	if v.closed.Load() {
		return out, ErrClosed
	}
	if err := to.free(); err != nil {
		return out, err
	}
	if err := safefile.MakeDir(filepath.Dir(to.File)); err != nil {
		return out, err
	}
	part := to.File + partSuffix
	err := v.copyTo(ctx, part, &out, progress)
	if err == nil && v.key != nil {
		err = safefile.WriteNew(to.Key, v.key)
	}
	if err == nil {
		err = v.hook("before publish")
	}
	if err == nil {
		err = safefile.Publish(part, to.File)
	}
	if err != nil {
		if v.key != nil && !errors.Is(err, safefile.ErrExists) {
			_ = os.Remove(to.Key) // ours: free said that nothing was there
		}
		return out, errors.Join(err, sqlitefile.Remove(part))
	}
	return out, nil
}

// free says whether nothing stands under the place's names.
func (p Place) free() error {
	for _, name := range []string{p.File, p.Key} {
		if _, err := os.Lstat(name); err == nil {
			return &safefile.Error{Op: "back up", Path: name, Err: safefile.ErrExists, Advice: "remove it first or choose another name"}
		}
	}
	return nil
}

// copyTo makes a verified copy at part; what a run that was killed left there goes.
func (v *Vault) copyTo(ctx context.Context, part string, out *Copied, progress func(done, total int)) error {
	if err := v.hook("before copy"); err != nil {
		return err
	}
	if err := sqlitefile.Remove(part); err != nil {
		return err
	}
	if err := sqlitefile.Copy(ctx, v.path, part, v.o.MaxPages, progress); err != nil {
		return err
	}
	if err := v.hook("after copy"); err != nil {
		return err
	}
	return out.check(ctx, part)
}

// check reads a copy to the end.
func (c *Copied) check(ctx context.Context, path string) error {
	copied, err := openFile(ctx, path)
	if err != nil {
		return fmt.Errorf("check copy: %w", err)
	}
	defer copied.Close()
	if c.Report, err = copied.Verify(ctx); err != nil {
		return fmt.Errorf("check copy: %w", err)
	}
	c.Artifacts = c.Report.Artifacts
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("check copy: %w", err)
	}
	c.Bytes = info.Size()
	return nil
}

// openFile opens a vault's file of any name for reading, without a key.
func openFile(ctx context.Context, path string) (*Vault, error) {
	o, err := Options{ReadOnly: true}.filled()
	if err != nil {
		return nil, err
	}
	v, err := newVault(filepath.Dir(path), path, o)
	if err != nil {
		return nil, err
	}
	if err := v.openReaders(ctx, steps()); err != nil {
		return nil, errors.Join(err, v.release())
	}
	if v.lies, err = os.Stat(path); err != nil {
		return nil, errors.Join(v.gone(), v.release())
	}
	v.turnstile <- struct{}{}
	return v, nil
}
