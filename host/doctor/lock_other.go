//go:build !unix || solaris || aix

package doctor

import "os"

// locked takes a daemon.json as the sign of a daemon: the lock cannot be tried here.
func locked(path string) (bool, error) {
	_, err := os.Lstat(path)
	return err == nil, nil
}
