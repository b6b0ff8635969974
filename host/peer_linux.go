package host

import (
	"errors"
	"net"
	"syscall"
)

const unixSockets = true

// peerUID is the user on the other end of a unix socket.
func peerUID(c net.Conn) (int, error) {
	unix, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errNoPeer
	}
	raw, err := unix.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var told error
	err = raw.Control(func(fd uintptr) {
		cred, told = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err = errors.Join(err, told); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
