package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"token-terminator/internal/safefile"
)

// Lease is the right to be the daemon of a folder. The system takes it back when the
// process ends, however it ends.
type Lease struct {
	Folder  string
	Started time.Time
	file    *os.File
}

// holder is what daemon.lock says about who holds it.
type holder struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
}

// RunningError says that a folder has a daemon already.
type RunningError struct {
	PID     int // 0 unknown
	Started time.Time
}

func (e *RunningError) Error() string {
	if e.PID == 0 {
		return "a daemon runs for this home already"
	}
	return fmt.Sprintf("a daemon runs for this home already: process %d since %s", e.PID, e.Started.Format(time.RFC3339))
}

// Hint says what can be done.
func (e *RunningError) Hint() string {
	return "use it as it is, or end it first with tt serve --stop (or SIGTERM); one daemon serves every session of a home"
}

var errLocked = errors.New("the lock is held")

// Bounds of the wait for a daemon that is on its way out.
const (
	leavePatience = 10 * time.Second
	leavePoll     = 20 * time.Millisecond
)

// Acquire makes folder if it is missing and takes its lease. A *RunningError means that
// a daemon serves it; one that has already withdrawn its daemon.json is waited for.
func Acquire(ctx context.Context, folder string) (*Lease, error) {
	if err := safefile.MakeDir(folder); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, LockName)
	if _, err := safefile.SecureFile(path); err != nil && !heldElsewhere(err) {
		return nil, err
	}
	for waited := time.Duration(0); ; waited += leavePoll {
		file, err := lockFile(path)
		if err == nil {
			l := &Lease{Folder: folder, Started: time.Now().UTC().Truncate(time.Second), file: file}
			return l, l.sign()
		}
		if !errors.Is(err, errLocked) {
			return nil, err
		}
		if _, err := ReadInfo(folder); !errors.Is(err, ErrNoDaemon) || waited >= leavePatience {
			return nil, running(path)
		}
		select {
		case <-ctx.Done():
			return nil, running(path)
		case <-time.After(leavePoll):
		}
	}
}

// sign writes who holds the lock into it.
func (l *Lease) sign() error {
	data, err := json.Marshal(holder{PID: os.Getpid(), Started: l.Started})
	if err == nil {
		err = l.file.Truncate(0)
	}
	if err == nil {
		_, err = l.file.WriteAt(append(data, '\n'), 0)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("sign %s: %w", LockName, err), l.Release())
	}
	return nil
}

// Release gives the lease back. Releasing twice is fine.
func (l *Lease) Release() error {
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file = nil
	return errors.Join(file.Truncate(0), file.Close())
}

// running tells who holds the lock, as far as the file says.
func running(path string) error {
	out := &RunningError{}
	data, err := safefile.ReadPrivate(path, maxInfo)
	var who holder
	if err == nil && json.Unmarshal(data, &who) == nil {
		out.PID, out.Started = who.PID, who.Started
	}
	return out
}
