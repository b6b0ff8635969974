package watch

import (
	"time"

	"token-terminator/turn"
)

// Schema is the version of the status document.
const Schema = 1

// Status is the status document. A nil field is unknown.
type Status struct {
	Schema        int                   `json:"schema"`
	Daemon        *Daemon               `json:"daemon"` // nil: none runs
	Engine        *Engine               `json:"engine"`
	Vault         *Vault                `json:"vault"`
	Sessions      *int64                `json:"sessions"`
	Turns         *int64                `json:"turns"`
	Saved         Saved                 `json:"saved"`
	Reasons       map[turn.Reason]int64 `json:"reasons"` // why turns ended as they did
	Jev           *Part                 `json:"jev"`
	Policy        *Part                 `json:"policy"`
	LastErrorType *string               `json:"last_error_type"`
	Warnings      []string              `json:"warnings"`
}

// Daemon is the running process, and what came over its socket since it started.
type Daemon struct {
	PID         int       `json:"pid"`
	Version     string    `json:"version"`
	Started     time.Time `json:"started"`
	UptimeS     int64     `json:"uptime_s"`
	Leaving     bool      `json:"leaving"` // it ends when its work is done
	Connections int       `json:"connections"`
	OpenFrames  int       `json:"open_frames"`
	Frames      int64     `json:"frames"`
	BusyFrames  int64     `json:"busy_frames"`
	LongFrames  int64     `json:"long_frames"`
	BadFrames   int64     `json:"bad_frames"`
	Foreign     int64     `json:"foreign_connections"` // refused: of another user
	Crowded     int64     `json:"crowded_connections"` // refused: too many
	Panics      int64     `json:"panics"`
	Goroutines  int       `json:"goroutines"`
	MemoryBytes int64     `json:"memory_bytes"` // taken from the system by Go, what it gave back aside
}

// Engine is what its actors did since it started.
type Engine struct {
	Name      string `json:"name"`
	Mode      string `json:"mode"`
	State     string `json:"state"` // "on", "off", "observing", or "bypass" when the store is down
	Turns     int64  `json:"turns"`
	Edited    int64  `json:"edited"`
	Replayed  int64  `json:"replayed"`
	Busy      int64  `json:"busy"`
	FailOpens int64  `json:"fail_opens"`
	// NoRecoveryTool counts turns whose request offered no accepted recovery tool.
	NoRecoveryTool int64                 `json:"no_recovery_tool"`
	TurnsInFlight  int                   `json:"turns_in_flight"`
	BytesInFlight  int64                 `json:"bytes_in_flight"`
	Sessions       int64                 `json:"sessions"`
	Batches        int64                 `json:"batches"`
	BatchedTurns   int64                 `json:"batched_turns"`
	Panics         int64                 `json:"panics"`
	Restarts       int64                 `json:"restarts"`
	DeadLetters    int64                 `json:"dead_letters"`
	LateAnswers    int64                 `json:"late_answers"`
	Reasons        map[turn.Reason]int64 `json:"reasons"`
	Ledger         *LedgerState          `json:"ledger"`
}

// LedgerState says how the ledger itself does.
type LedgerState struct {
	State   string `json:"state"` // "on" or "off"
	Dropped int64  `json:"dropped"`
	Failed  int64  `json:"failed"`
}

// Vault is how full the vault is.
type Vault struct {
	State        string     `json:"state"` // "open", "red", "warning" or "down"
	Schema       int        `json:"schema"`
	Bytes        int64      `json:"bytes"`
	Capacity     int64      `json:"capacity"`
	Percent      float64    `json:"percent"`
	StoredBytes  int64      `json:"stored_bytes"` // bodies as they lie in the file
	PendingBytes *int64     `json:"pending_bytes"`
	Artifacts    int        `json:"artifacts"`
	Pinned       int        `json:"pinned_artifacts"`
	Sessions     int        `json:"sessions"`
	Nodes        int        `json:"nodes"`
	BytesPerDay  *int64     `json:"bytes_per_day"`
	WarnAt       *time.Time `json:"warn_at"` // 70 %
	RedAt        *time.Time `json:"red_at"`  // 90 %
}

// Saved is what was saved, as far as it was measured.
type Saved struct {
	Tokens SavedTokens `json:"tokens"`
	ITE    *float64    `json:"ite"` // estimated, after recoveries; may be negative
}

// SavedTokens are whole-request tokens, each request counted. The two measures are
// never added up.
type SavedTokens struct {
	Exact *int64 `json:"exact"`
	Panel *int64 `json:"panel"`
}

// Part is an optional part.
type Part struct {
	State string `json:"state"` // "off", or what it does
}
