package main

import (
	"context"
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"token-terminator/actors"
	"token-terminator/host"
	"token-terminator/host/watch"
	"token-terminator/turn"
)

// daemonStatus is what status says of the process.
func daemonStatus(s host.Stats, now time.Time) watch.Daemon {
	return watch.Daemon{
		PID: os.Getpid(), Version: version, Started: s.Started, UptimeS: max(int64(now.Sub(s.Started).Seconds()), 0), Leaving: s.Leaving,
		Connections: s.Connections, OpenFrames: s.Open, Frames: s.Frames, BusyFrames: s.BusyFrames, LongFrames: s.LongFrames,
		BadFrames: s.BadFrames, Foreign: s.Foreign, Crowded: s.Crowded, Panics: s.Panics,
		Goroutines: runtime.NumGoroutine(), MemoryBytes: memoryTaken(),
	}
}

// memoryTaken is what the Go runtime holds, in bytes.
func memoryTaken() int64 {
	read := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(read)
	return int64(read[0].Value.Uint64() - read[1].Value.Uint64())
}

// stats is what the actors did; a vault that does not open is a store that is down.
func (e *engine) stats() actors.Stats {
	s := e.pipeline.system.Stats()
	if s.Storage == "" && e.vault.failure() != nil {
		s.Storage = turn.StorageUnavailable
	}
	return s
}

// Status implements host.Backend.
func (e *engine) Status(ctx context.Context, s host.Stats) (any, error) {
	e.numbers.mu.Lock()
	e.numbers.door = s
	e.numbers.mu.Unlock()
	return e.numbers.live.Status(ctx)
}
