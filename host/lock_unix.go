//go:build unix && !solaris && !aix

package host

import (
	"errors"
	"os"
	"syscall"
)

// heldElsewhere: the lock keeps nobody from opening the file.
func heldElsewhere(error) bool { return false }

// lockFile opens path and takes the lock of the whole file, or says errLocked.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return file, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	}
	return nil, errors.Join(err, file.Close())
}
