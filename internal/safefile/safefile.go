package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Modes of what this package creates.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

// MakeDir makes sure that path is a folder of ours. Missing folders on the way are
// created 0700; existing ones keep their mode. The last element may not be a
// symbolic link, belong to another user, or be writable by everybody (unless sticky).
func MakeDir(path string) error {
	if err := makeMissing(path); err != nil {
		return err
	}
	return CheckDir(path)
}

func makeMissing(path string) error {
	var missing []string
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		_, err := os.Lstat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return explain("look at folder", at, err)
		}
		missing = append(missing, at)
		if at == filepath.Dir(at) {
			break
		}
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], DirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return explain(opCreateFolder, missing[i], err)
		}
	}
	return nil
}

// CheckDir says whether path is a folder this program may keep private files in.
func CheckDir(path string) error {
	const op = "use folder"
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return explain(op, path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return refuse(op, path, ErrSymlink, "name the folder the link points to")
	case !info.IsDir():
		return refuse(op, path, ErrNotFolder, "choose another folder or move the file away")
	case !ownedByUs(info):
		return refuse(op, path, ErrOwner, "choose a folder of your own")
	case worldWritable(info):
		return refuse(op, path, ErrOpenToAll, "run chmod o-w on it or choose another folder")
	}
	return nil
}

// CheckFile says whether path is a regular file of ours. A missing file is an
// error that errors.Is(err, fs.ErrNotExist) recognises.
func CheckFile(path string) error {
	const op = "use file"
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return explain(op, path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return refuse(op, path, ErrSymlink, "replace the link by the file itself")
	case !info.Mode().IsRegular():
		return refuse(op, path, ErrNotFile, "move it away")
	case !ownedByUs(info):
		return refuse(op, path, ErrOwner, "use a copy that belongs to you")
	}
	return nil
}

// SecureFile makes sure that path is a regular private file of ours: created empty
// with mode 0600 when it is missing, else checked and, if others could read or
// write it, tightened to 0600. created says which.
func SecureFile(path string) (created bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, FileMode)
	if err == nil {
		if err := f.Close(); err != nil {
			return true, explain("create file", path, err)
		}
		return true, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, explain("create file", path, err)
	}
	if err := CheckFile(path); err != nil {
		return false, err
	}
	return false, tighten(path)
}

// tighten works on the open file, so that a swap of the name cannot redirect it.
func tighten(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return explain("open file", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return explain("look at file", path, err)
	}
	if !hasModes || info.Mode().Perm()&^FileMode == 0 {
		return nil
	}
	if err := f.Chmod(FileMode); err != nil {
		return explain("make private", path, err)
	}
	return nil
}

// WriteNew writes a file that must not exist yet: mode 0600, complete and synced
// before its name appears. When the name is taken the error is ErrExists and the
// existing file is untouched.
func WriteNew(path string, data []byte) error {
	const op = "write file"
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, ".new-*") // CreateTemp uses O_EXCL and mode 0600
	if err != nil {
		return explain(op, path, err)
	}
	defer os.Remove(tmp.Name())
	if err := fill(tmp, data); err != nil {
		return explain(op, path, err)
	}
	if err := publish(tmp.Name(), path, data); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return refuse(op, path, ErrExists, "remove it first or choose another name")
		}
		return explain(op, path, err)
	}
	return syncDir(dir)
}

func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// publish gives the finished file its name without ever replacing another one. A
// hard link does that; file systems without links get an exclusive write.
func publish(tmp, path string, data []byte) error {
	err := os.Link(tmp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, statErr := os.Lstat(path); statErr == nil {
		return fs.ErrExist
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, FileMode)
	if err != nil {
		return err
	}
	if err := fill(f, data); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

// ReadPrivate reads a regular file of ours of at most max bytes.
func ReadPrivate(path string, max int64) ([]byte, error) {
	const op = "read file"
	if err := CheckFile(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, explain(op, path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, explain(op, path, err)
	}
	if int64(len(data)) > max {
		return nil, refuse(op, path, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, max), "move it away and try again")
	}
	return data, nil
}

const opCreateFolder = "create folder"

// explain turns an error of the operating system into one of ours.
func explain(op, path string, err error) error {
	why, advice := err, "look at the path and try again"
	switch {
	case errors.Is(err, fs.ErrNotExist) && op == opCreateFolder:
		why, advice = ErrNoFolderHere, "choose another folder"
	case errors.Is(err, fs.ErrNotExist):
		why, advice = fs.ErrNotExist, "check the path"
	case errors.Is(err, fs.ErrPermission):
		why, advice = both{ErrNotAllowed, fs.ErrPermission}, "make it readable and writable for your user, or choose another folder"
	case errors.Is(err, syscall.EROFS):
		why, advice = both{ErrNotAllowed, syscall.EROFS}, "the file system is read-only: choose another folder"
	case errors.Is(err, syscall.ENOSPC):
		why, advice = both{ErrNoSpace, syscall.ENOSPC}, "free some space on that disk"
	case errors.Is(err, syscall.ELOOP):
		why, advice = ErrSymlink, "replace the link by the file itself"
	case errors.Is(err, syscall.ENOTDIR):
		why, advice = ErrNotFolder, "a part of the path is a file: choose another folder"
	}
	return &Error{Op: op, Path: path, Err: why, Advice: advice}
}
