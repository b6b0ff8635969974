//go:build unix

package host

import (
	"os/exec"
	"syscall"
)

// detach lets a daemon live on when the terminal of its starter goes.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
