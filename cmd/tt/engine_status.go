package main

import (
	"context"
	"os"
	"time"

	"token-terminator/host"
	"token-terminator/vault"
)

// daemonStatus is what status says of the process.
type daemonStatus struct {
	PID         int       `json:"pid"`
	Version     string    `json:"version"`
	Started     time.Time `json:"started"`
	UptimeS     int64     `json:"uptime_s"`
	Leaving     bool      `json:"leaving"`
	Connections int       `json:"connections"`
	OpenFrames  int       `json:"open_frames"`
	Frames      int64     `json:"frames"`
	BusyFrames  int64     `json:"busy_frames"`
	LongFrames  int64     `json:"long_frames"`
	BadFrames   int64     `json:"bad_frames"`
	Foreign     int64     `json:"foreign_connections"`
	Crowded     int64     `json:"crowded_connections"`
	Panics      int64     `json:"panics"`
}

// engineStatus is what status says of the actors.
type engineStatus struct {
	Storage       string `json:"storage"` // "" in order
	TurnsInFlight int    `json:"turns_in_flight"`
	BytesInFlight int64  `json:"bytes_in_flight"`
	PinBytes      int64  `json:"pin_bytes"`
	Edited        int64  `json:"edited"`
	Replayed      int64  `json:"replayed"`
	Compiles      int64  `json:"compiles"`
	Batches       int64  `json:"batches"`
	LateAnswers   int64  `json:"late_answers"`
	Panics        int64  `json:"panics"`
	Restarts      int64  `json:"restarts"`
}

// statusReport is the status JSON; what is unknown is null.
type statusReport struct {
	Schema   int            `json:"schema"`
	Daemon   daemonStatus   `json:"daemon"`
	Engine   engineStatus   `json:"engine"`
	Vault    *vault.Status  `json:"vault"`
	Sessions int64          `json:"sessions"`
	Turns    int64          `json:"turns"`
	Saved    any            `json:"saved"`
	Reasons  map[string]int `json:"reasons"`
	Jev      any            `json:"jev"`
	Policy   any            `json:"policy"`
	LastType *string        `json:"last_error_type"`
	Warnings []string       `json:"warnings"`
}

// Status implements host.Backend.
func (e *engine) Status(ctx context.Context, s host.Stats) (any, error) {
	a := e.pipeline.system.Stats()
	out := statusReport{
		Schema: 1, Sessions: a.Sessions, Turns: a.Turns, Reasons: map[string]int{}, Warnings: []string{},
		Daemon: daemonStatus{
			PID: os.Getpid(), Version: version, Started: s.Started, UptimeS: int64(e.now().Sub(e.started).Seconds()), Leaving: s.Leaving,
			Connections: s.Connections, OpenFrames: s.Open, Frames: s.Frames, BusyFrames: s.BusyFrames, LongFrames: s.LongFrames,
			BadFrames: s.BadFrames, Foreign: s.Foreign, Crowded: s.Crowded, Panics: s.Panics,
		},
		Engine: engineStatus{
			Storage: string(a.Storage), TurnsInFlight: a.TurnsInFlight, BytesInFlight: a.BytesInFlight, PinBytes: a.PinBytes,
			Edited: a.Edited, Replayed: a.Replayed, Compiles: a.Compiles, Batches: a.Batches, LateAnswers: a.LateAnswers,
			Panics: a.Panics, Restarts: a.Restarts,
		},
	}
	for reason, n := range a.Reasons {
		out.Reasons[string(reason)] = int(n)
	}
	st, err := e.vault.current().Status(ctx)
	if err != nil {
		out.Warnings = append(out.Warnings, "the vault does not answer")
	} else {
		out.Vault = &st
	}
	return out, nil
}
