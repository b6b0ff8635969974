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

func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
