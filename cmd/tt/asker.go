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

// statusPatience is how long a command waits for the daemon's status.
const statusPatience = 5 * time.Second

// daemonAsker connects to the daemon of a folder; errNoDaemon says that none answers
// there.
func daemonAsker(ctx context.Context, folder string) (doctor.Asker, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, err
	}
	c, err := host.Dial(ctx, host.Options{Folder: abs, Name: "tt status", Version: version, Operator: true})
	switch {
	case err == nil:
		return statusAsker{c}, c.Close, nil
	case errors.Is(err, host.ErrNoDaemon), errors.Is(err, host.ErrSilent):
		return nil, func() {}, errNoDaemon
	}
	return nil, func() {}, err
}

// statusAsker asks a daemon over its socket.
type statusAsker struct{ client *host.Client }

func (a statusAsker) Status(ctx context.Context) (watch.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	var s watch.Status
	raw, err := a.client.Status(ctx)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(raw, &s)
}
