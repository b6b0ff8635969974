package safefile

import (
	"os"
	"path/filepath"
)

// Overwrite writes a file of ours, mode 0600, in place of whatever had that name: at
// every moment the name stands for the whole old or the whole new file.
func Overwrite(path string, data []byte) error {
	const op = "write file"
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, ".new-*") // mode 0600
	if err != nil {
		return explain(op, path, err)
	}
	defer os.Remove(tmp.Name())
	if err := fill(tmp, data); err != nil {
		return explain(op, path, err)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return explain(op, path, err)
	}
	return syncDir(dir)
}
