//go:build unix

package doctor

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func alive(pid int) (bool, bool) {
	err := syscall.Kill(pid, 0) // no signal: only whether one could be sent
	return err == nil || errors.Is(err, syscall.EPERM), true
}

// may asks the system, which changes nothing.
func may(path string, write bool) bool {
	const read, change, enter = 4, 2, 1
	mode := uint32(read)
	if write {
		mode |= change
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		mode |= enter
	}
	return syscall.Access(path, mode) == nil
}

func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
