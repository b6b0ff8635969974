package ledger

import (
	"strings"
	"time"
	"unicode"

	"token-terminator/turn"
)

// Measure says how tokens were counted. Figures of two measures are never added up.
type Measure string

// The measures; the zero Measure means not measured.
const (
	Exact Measure = "exact"
	Panel Measure = "panel"
)

// Turn is what one answered turn came to. Only Binding, Reason and the numbers are
// needed; every zero string and nil pointer means unknown.
type Turn struct {
	Binding  turn.Binding
	At       time.Time // zero: when it is recorded
	Mode     string    // at most 120 runes each
	Model    string
	Provider string

	Edited    bool
	Reason    turn.Reason
	Elapsed   time.Duration
	Bytes     int // of the request as it came
	SentBytes int // 0 unknown

	Measure Measure
	Label   string // what measured, e.g. "o200k_base"
	Raw     int    // tokens of the whole request as it came; only with a Measure
	Final   int    // and as it was sent

	ITE     *float64 // saved, estimated by Saving; may be negative
	Row     string   // price row behind it
	Assumed bool     // some of its cells are assumed

	Epoch       string // cold, warm or window
	EpochReason string

	Forms   []FormCount
	Reasons map[turn.Reason]int // why blocks stayed as they are or changed
	Usage   *Usage
	Prompt  string // Fingerprint of the session's first words
}

// FormCount is how often a form is shown in one turn.
type FormCount struct {
	Form          turn.Form
	Fresh         bool // decided in this turn
	N             int
	Before, After int // tokens
}

// Usage is what the provider reported for one call, in tokens. Fresh, Read and Write
// are the input: not cached, read from the cache, written to it.
type Usage struct {
	Fresh  int `json:"fresh"`
	Read   int `json:"cached_read"`
	Write  int `json:"cache_write"`
	Output int `json:"output"`
}

// Input is the whole input.
func (u Usage) Input() int { return u.Fresh + u.Read + u.Write }

// Kind names an event outside a turn.
type Kind string

// The events.
const (
	Recovery   Kind = "recovery"  // the model fetched an original back
	FailedOpen Kind = "fail_open" // the host sent its original because no answer came
)

// Event is something that cost tokens outside a turn.
type Event struct {
	Binding turn.Binding // Engine and Session are used
	At      time.Time
	Kind    Kind
	Reason  string   // an action or a turn.Reason
	Tokens  *int     // of a page
	ITE     *float64 // what it cost
}

// failures are the reasons of a pass that mean that something of ours failed or was
// short, and that the caller might have had a smaller request otherwise.
var failures = map[turn.Reason]bool{
	turn.Busy: true, turn.Deadline: true, turn.StorageUnavailable: true, turn.VaultFull: true,
	turn.ReadBackFailed: true, turn.InternalError: true, turn.Stopped: true, turn.MemoryMismatch: true,
}

// FailsOpen says whether a turn that passed with this reason passed because something
// of ours failed. Such a turn is not free: it may cost the session its warm cache.
func FailsOpen(r turn.Reason) bool { return failures[r] }

const maxName = 120

// name bounds a name from outside: one line, at most 120 runes.
func name(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	n := 0
	for i := range s {
		if n == maxName {
			return s[:i]
		}
		n++
	}
	return s
}

// word bounds a reason: what is not of the closed set is "other", so that no text of
// anybody gets in.
func word(r string) string {
	if turn.Reason(r).Known() {
		return r
	}
	switch r {
	case "", "artifact_get", "artifact_peek", "artifact_find", "artifact_list", "artifact_search", "artifact_lines", "artifact_diff", "status", "operator":
		return r
	}
	return "other"
}
