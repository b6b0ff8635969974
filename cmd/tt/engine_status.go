package main

import (
	"context"
	"os"
	"time"

	"token-terminator/host"
	"token-terminator/host/watch"
)

// daemonStatus is what status says of the process.
func daemonStatus(s host.Stats, now time.Time) watch.Daemon {
	return watch.Daemon{
		PID: os.Getpid(), Version: version, Started: s.Started, UptimeS: max(int64(now.Sub(s.Started).Seconds()), 0), Leaving: s.Leaving,
		Connections: s.Connections, OpenFrames: s.Open, Frames: s.Frames, BusyFrames: s.BusyFrames, LongFrames: s.LongFrames,
		BadFrames: s.BadFrames, Foreign: s.Foreign, Crowded: s.Crowded, Panics: s.Panics,
	}
}

// Status implements host.Backend.
func (e *engine) Status(ctx context.Context, s host.Stats) (any, error) {
	e.numbers.mu.Lock()
	e.numbers.door = s
	e.numbers.mu.Unlock()
	return e.numbers.live.Status(ctx)
}
