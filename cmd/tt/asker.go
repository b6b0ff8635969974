package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"token-terminator/host"
	"token-terminator/host/doctor"
	"token-terminator/host/watch"
)

// errNoDaemon says that nobody serves a home.
var errNoDaemon = errors.New("no daemon is running for this home")

// askPatience is how long a command waits for the daemon's status.
const askPatience = 5 * time.Second

// statusAsker asks the daemon of a folder over its socket, each time anew. It starts
// none and replaces none.
type statusAsker struct{ folder string }

// Status implements doctor.Asker. Without a daemon the error is errNoDaemon, also when
// one ended without taking its leave.
func (a statusAsker) Status(ctx context.Context) (watch.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	folder, err := filepath.Abs(a.folder)
	if err != nil {
		return watch.Status{}, err
	}
	c, err := host.Dial(ctx, host.Options{Folder: folder, Name: "tt status", Version: version, Operator: true})
	if err != nil {
		if held, lockErr := doctor.Held(filepath.Join(folder, host.LockName)); errors.Is(err, host.ErrNoDaemon) || lockErr == nil && !held {
			return watch.Status{}, errNoDaemon
		}
		if _, lockErr := doctor.Held(filepath.Join(folder, host.LockName)); lockErr != nil {
			return watch.Status{}, (&failure{code: exitStorage, err: errors.New("the folder cannot be looked at: whether a daemon runs is unknown")}).
				try("tt doctor says what is wrong with it")
		}
		return watch.Status{}, err
	}
	defer c.Close()
	data, err := c.Status(ctx)
	if err != nil {
		return watch.Status{}, err
	}
	var s watch.Status
	return s, json.Unmarshal(data, &s)
}
