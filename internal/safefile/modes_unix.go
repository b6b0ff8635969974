//go:build unix

package safefile

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW | syscall.O_CLOEXEC
	hasModes = true
)

func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

func worldWritable(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return explain("sync folder", dir, err)
	}
	defer f.Close()
	// Some file systems refuse to sync a folder; the file itself is synced already.
	_ = f.Sync()
	return nil
}
