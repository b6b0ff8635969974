package host

import (
	"context"
	"errors"
	"time"

	"token-terminator/host/wire"
)

// Backend is what stands behind the daemon. Its methods may be called at any time from
// any goroutine.
type Backend interface {
	// Open begins a connection with its settings and consent; notices are what the user
	// should be told about them. A *Refusal says why not.
	Open(hello *wire.Hello) (desk Desk, notices []string, err error)
	// Status is the daemon's status, ready to be written as JSON.
	Status(ctx context.Context, s Stats) (any, error)
	// Close ends everything in order, after the last answer was given.
	Close(ctx context.Context) error
}

// Desk serves one connection. ctx ends when the caller is gone or its time is up; the
// answer of a call that returns later is dropped. IDs of answers are filled in by the
// server.
type Desk interface {
	// Turn never fails: whatever goes wrong is a reason, and the decision then Pass.
	// limit is how long it may take.
	Turn(ctx context.Context, t *wire.Turn, limit time.Duration) wire.TurnAnswer
	Result(ctx context.Context, r *wire.Result) wire.ResultAnswer
	Command(ctx context.Context, c *wire.Command) wire.CommandAnswer
	// Recover gives what an action found, ready to be written as JSON, or a *Refusal.
	Recover(ctx context.Context, r *wire.Recover) (any, error)
	// Event takes note. The event drain never comes here.
	Event(ctx context.Context, e *wire.Event) error
}

// Clock is time as the server sees it.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once, in any goroutine, when d has passed. The returned
	// function stops the timer and says whether it did so before f was called.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// Refusal is an error with a word of the protocol (the Error… names of host/wire) and,
// for people, a sentence of ours.
type Refusal struct {
	Code   string
	Detail string
}

func (r *Refusal) Error() string {
	if r.Detail == "" {
		return r.Code
	}
	return r.Code + ": " + r.Detail
}

// Limits of a frame's time when the client names none, as the daemon keeps them. A
// client that names its own gets four fifths of it: the rest is for the way back.
const (
	TurnLimit    = 800 * time.Millisecond
	ResultLimit  = 400 * time.Millisecond
	CommandLimit = 400 * time.Millisecond
	RecoverLimit = 1600 * time.Millisecond
	// MaxLimit is the longest time any frame may take.
	MaxLimit = 24 * time.Hour
	// backstop is how much later the server answers by itself when a turn's own
	// deadline was not kept.
	backstop = 200 * time.Millisecond
)

// limitOf is how long a frame may take.
func limitOf(kind wire.Kind, deadlineMS int64) time.Duration {
	if deadlineMS > 0 {
		return min(time.Duration(min(deadlineMS, int64(MaxLimit/time.Millisecond)))*time.Millisecond*4/5, MaxLimit)
	}
	switch kind {
	case wire.KindTurn:
		return TurnLimit
	case wire.KindResult:
		return ResultLimit
	case wire.KindCommand:
		return CommandLimit
	}
	return RecoverLimit
}

var (
	errNoPeer      = errors.New("the system does not say who is on the other end")
	errForeignPeer = errors.New("the peer is another user")
)

// Stats is what the server did so far.
type Stats struct {
	Started     time.Time
	Connections int   // open
	Open        int   // frames whose answer is not written yet
	Bytes       int64 // of bodies in work
	Frames      int64 // requests read
	Answers     int64 // written
	Foreign     int64 // connections of other users, refused
	Crowded     int64 // connections refused because there were too many
	BusyFrames  int64 // frames left out because of bytes in flight
	LongFrames  int64 // frames left out because of their length
	BadFrames   int64
	Panics      int64
	Leaving     bool // no new work is taken
}
