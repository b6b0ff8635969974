package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Sync makes a finished file durable.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return explain("sync file", path, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return explain("sync file", path, err)
	}
	return nil
}

// Publish gives a finished file of the same folder its name, without ever replacing
// another one (ErrExists).
func Publish(tmp, path string) error {
	const op = "publish file"
	err := os.Link(tmp, path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return refuse(op, path, ErrExists, "remove it first or choose another name")
	case err != nil: // a file system without links
		if _, err := os.Lstat(path); err == nil {
			return refuse(op, path, ErrExists, "remove it first or choose another name")
		}
		if err := os.Rename(tmp, path); err != nil {
			return explain(op, path, err)
		}
		return syncDir(filepath.Dir(path))
	}
	if err := os.Remove(tmp); err != nil {
		return explain(op, tmp, err)
	}
	return syncDir(filepath.Dir(path))
}

// Replace puts a finished file of the same folder in the place of another one, whose
// bytes stay under the name aside. At every moment path names the old or the new file.
func Replace(tmp, path, aside string) error {
	const op = "replace file"
	if err := os.Link(path, aside); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return refuse(op, aside, ErrExists, "remove it first")
		}
		if err := os.Rename(path, aside); err != nil {
			return explain(op, path, err)
		}
	}
	if err := os.Rename(tmp, path); err != nil {
		return explain(op, path, err)
	}
	return syncDir(filepath.Dir(path))
}
