package actors

import (
	"context"
	"errors"
	"time"

	"token-terminator/turn"
)

// Compile is one turn's plain logic. It runs on the turn's own Compiler actor and
// must be pure apart from the CPU time it takes: no I/O, no state between turns.
// It may be called from several turns at once.
type Compile interface {
	// Begin reads the request and proposes forms. A reason other than "" passes the
	// request through at once; then the draft is ignored.
	Begin(snap Snapshot, cmd ReduceTurn) (Draft, turn.Reason)
}

// Draft is a turn between its proposals and its answer.
type Draft interface {
	// Evidence is what must be durable before anything may be shown smaller. Without
	// artifacts and nodes there is nothing to pin. Its Binding is set by the actor.
	Evidence() turn.Evidence
	// Finish decides with the proofs that came back. It is pure and total. It is only
	// called when the transaction was committed (or there was nothing to pin).
	Finish(p turn.Pinned) Outcome
}

// Outcome is what a turn came to.
type Outcome struct {
	Edited bool        // false: the original request is sent
	Body   []byte      // the whole new request; may be nil when only Edits are wanted
	Edits  []turn.Edit // the same change as string replacements
	// Nodes are the decisions now in force, for the form memory. A passed turn may
	// have nodes without decisions: messages sent as they are stay so.
	Nodes []turn.Node
	// Lowered says that Nodes differ from the pinned ones (a lower rung was taken), so
	// that a second commit must replace them before the answer.
	Lowered bool
	Reason  turn.Reason
	Detail  any // figures for reports and the ledger; never read here
}

// Snapshot is what a Compiler may know of its session. It never changes; snapshots
// of turns that run at the same time stay valid side by side.
type Snapshot struct {
	Binding  turn.Binding
	Memory   Memory
	Settings any             // ReduceTurn.Settings, else Config.Settings
	Deadline time.Time       // zero: none
	Done     <-chan struct{} // closed when nobody waits for this turn any more
}

// Memory is an immutable form memory of one session chain.
type Memory interface {
	// With returns the memory that also knows nodes; the receiver stays as it is.
	With(nodes []turn.Node) Memory
}

// Store is the vault as the VaultWriter uses it; nothing else calls it, and never
// from two goroutines at once. ctx ends when the system gives up waiting for it.
type Store interface {
	// PutAll makes each turn's evidence durable, pinned and read back, or says why
	// not; one result for each element, in order.
	PutAll(ctx context.Context, all []turn.Evidence) []PutResult
	// Accept replaces the decisions of nodes after a lower rung was taken.
	Accept(ctx context.Context, session string, nodes []turn.Node) error
	// Nodes is the stored form memory of a session chain.
	Nodes(ctx context.Context, session string) ([]turn.Node, error)
}

// Preparer is a Store that can do a part of PutAll's work (checks, hashes, packing) for
// whoever has the evidence. Unlike the others this method may be called at any time from
// any goroutine.
type Preparer interface {
	Prepare(ev turn.Evidence) turn.Evidence
}

// ErrStoreGone is in the error of a Store whose files were removed or replaced under it.
// The VaultWriter opens it again (Config.Reopen) and asks once more.
var ErrStoreGone = errors.New("the store's files were removed or replaced")

// PutResult answers one turn's evidence. With an error nothing of that turn is
// durable; Pinned.Reason may then name the reason, else it is storage_unavailable.
type PutResult struct {
	Pinned turn.Pinned
	Err    error
}

// Clock is time as the actors see it.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once, in any goroutine, when d has passed. The returned
	// function stops the timer and says whether it did so before f was called.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}
