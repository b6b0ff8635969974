package actors

import (
	"context"
	"time"

	"token-terminator/turn"
)

// Message is every message of the runtime actors. It is sealed: a type without a
// Binding, or from outside this package, cannot be sent by our actors. Messages are
// never changed after they were sent; slices in them are handed over.
type Message interface {
	Bound() turn.Binding
	sealed()
}

type seal struct{}

func (seal) sealed() {}

// ReduceTurn asks for one turn. Binding is the host's claim: Home and Session address
// the session; Generation, Turn and Attempt may be 0, then the Session issues them.
// Without a Turn a request of equal bytes counts as a retry of the earlier one.
type ReduceTurn struct {
	Binding  turn.Binding
	Body     []byte        // the request's own bytes; not changed, not kept after the answer
	Facts    any           // out-of-band facts of the host for Compile
	Settings any           // settings and consent of this session; nil: Config.Settings
	Timeout  time.Duration // 0: Config.TurnTimeout; NoDeadline: none

	body     bodyKey
	deadline time.Time
	reply    *reply
	ticket   *ticket
	seal
}

// TurnReduced answers ReduceTurn.
type TurnReduced struct {
	Binding turn.Binding
	Edited  bool
	// Body is what to send: the command's own bytes when not Edited, else the new
	// request (nil if Compile gave only Edits).
	Body     []byte
	Edits    []turn.Edit
	Reason   turn.Reason
	Detail   any
	Replayed bool // the remembered answer of an earlier attempt, its evidence verified again
	seal
}

// AbandonTurn notes that the caller of a turn went away.
type AbandonTurn struct {
	Binding turn.Binding
	reply   *reply
	seal
}

// CompileTurn hands one turn to its Compiler.
type CompileTurn struct {
	Binding turn.Binding
	snap    Snapshot
	cmd     *ReduceTurn
	ctx     context.Context // done when nobody waits for the turn any more
	seal
}

// TurnCompiled answers CompileTurn. A Failure other than "" means: the original.
type TurnCompiled struct {
	Binding  turn.Binding
	Outcome  Outcome
	Failure  turn.Reason
	evidence turn.Evidence
	proofs   map[turn.Digest]turn.Proof
	seal
}

// PinEvidence asks for everything of one turn to be made durable in one transaction.
type PinEvidence struct {
	Binding  turn.Binding
	Evidence turn.Evidence
	ticket   *ticket
	seal
}

// EvidencePinned answers PinEvidence. With a Failure nothing of the turn is durable.
type EvidencePinned struct {
	Binding turn.Binding
	Pinned  turn.Pinned
	Failure turn.Reason
	seal
}

// AcceptForms asks for the stored decisions of Nodes to be replaced.
type AcceptForms struct {
	Binding turn.Binding
	Nodes   []turn.Node
	seal
}

// FormsAccepted answers AcceptForms.
type FormsAccepted struct {
	Binding turn.Binding
	Failure turn.Reason
	seal
}

// LoadForms asks for the stored form memory of a session chain.
type LoadForms struct {
	Binding turn.Binding
	seal
}

// FormsLoaded answers LoadForms.
type FormsLoaded struct {
	Binding turn.Binding
	Nodes   []turn.Node
	Failure turn.Reason
	seal
}

// CloseSession ends a session: open turns are answered with the original, form memory
// and remembered answers are let go.
type CloseSession struct {
	Binding turn.Binding
	done    chan *SessionClosed // room for one
	seal
}

// SessionClosed answers CloseSession.
type SessionClosed struct {
	Binding turn.Binding
	seal
}

// RecordTurn notes one answered turn.
type RecordTurn struct {
	Binding turn.Binding
	Edited  bool
	Reason  turn.Reason
	Bytes   int           // of the request
	Elapsed time.Duration // from the boundary to the answer
	Detail  any           // Outcome.Detail
	seal
}

// ExpireTurn is the timer of one attempt.
type ExpireTurn struct {
	Binding turn.Binding
	seal
}

// IdleSession is the timer of an unused session.
type IdleSession struct {
	Binding turn.Binding
	seen    uint64
	seal
}

// RetireSession notes that a session has nothing to do. The Sessions actor stops it
// unless it has routed more commands to it than the Session had seen. With stopping
// set it is being stopped already and gets no more commands.
type RetireSession struct {
	Binding  turn.Binding
	seen     uint64
	stopping bool
	seal
}

// FlushPins is the VaultWriter's note to itself that ends a batch: it lands behind
// everything that was waiting when the batch began.
type FlushPins struct {
	Binding turn.Binding
	seal
}

// StorageClosed notes that the VaultWriter has stopped for good.
type StorageClosed struct {
	Binding turn.Binding
	seal
}

// DrainSessions asks every session to finish what it has and refuses new turns.
type DrainSessions struct {
	Binding turn.Binding
	seal
}

// Bound implements Message.
func (m *ReduceTurn) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m TurnReduced) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *AbandonTurn) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *CompileTurn) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *TurnCompiled) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *PinEvidence) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *EvidencePinned) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *AcceptForms) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *FormsAccepted) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *LoadForms) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *FormsLoaded) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *CloseSession) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *SessionClosed) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *RecordTurn) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *ExpireTurn) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *IdleSession) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *RetireSession) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *FlushPins) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *StorageClosed) Bound() turn.Binding { return m.Binding }

// Bound implements Message.
func (m *DrainSessions) Bound() turn.Binding { return m.Binding }
