//go:build darwin || freebsd

package host

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

const unixSockets = true

// peerUID is the user on the other end of a unix socket.
func peerUID(c net.Conn) (int, error) {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errNoPeer
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Xucred
	var told error
	err = raw.Control(func(fd uintptr) { cred, told = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED) })
	if err = errors.Join(err, told); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
