package actors

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"token-terminator/turn"
)

// Defaults of Config. Sizes are bytes.
const (
	DefaultTurnTimeout   = 800 * time.Millisecond
	DefaultMaxTurns      = 64
	DefaultMaxBytes      = 128 << 20
	DefaultMaxPinBytes   = 64 << 20
	DefaultBatchItems    = 128
	DefaultBatchBytes    = 8 << 20
	DefaultCompilers     = 8
	DefaultIdleAfter     = 10 * time.Minute
	DefaultRememberTurns = 4
	DefaultRememberBytes = 4 << 20
	DefaultRememberTotal = 64 << 20

	// NoDeadline as a timeout lets a turn take as long as it needs.
	NoDeadline time.Duration = -1

	// backstop is how long after the turn's deadline the boundary stops waiting for
	// the actors and answers with the original itself.
	backstop = 100 * time.Millisecond
	// The VaultWriter is restarted this often in this time, then it stays stopped.
	writerRestarts = 3
	writerWindow   = 30 * time.Second
)

// ErrConfig says that a Config cannot be used.
var ErrConfig = errors.New("actor system: bad configuration")

// Config wires a System. Compile, Store and NewMemory are required; every other
// zero value means its default.
type Config struct {
	Compile   Compile
	Store     Store
	NewMemory func(nodes []turn.Node) Memory // pure; called on the Session actor

	// Reopen, if set, is called when the store is gone (ErrStoreGone), when an earlier
	// call failed, and when the VaultWriter restarts after a panic and
	// returns the store to go on with.
	Reopen func(old Store) (Store, error)
	// Record, if set, receives every answered turn, in one goroutine, off the
	// turn's path. What it does cannot change a decision.
	Record   func(RecordTurn)
	Settings any // what Snapshot.Settings holds when the command has none
	Engine   string

	TurnTimeout time.Duration // NoDeadline: none
	MaxTurns    int           // turns in flight before busy
	MaxBytes    int64         // request bytes in flight before busy
	MaxPinBytes int64         // evidence bytes waiting for the vault before busy
	BatchItems  int           // artifacts of one group commit
	BatchBytes  int64         // artifact bytes of one group commit
	Compilers   int           // turns that may use CPU at the same time; others queue in order
	IdleAfter   time.Duration // after which an unused Session actor is let go
	// A Session remembers this many answers, of at most this many bytes together, for
	// retries. A retry of a forgotten answer is compiled again.
	RememberTurns int
	RememberBytes int64
	// RememberTotal is shared: with many sessions alive each remembers answers of at
	// most its share of these bytes.
	RememberTotal int64

	Clock  Clock        // nil: the machine's
	Logger *slog.Logger // nil: no logs. Only ids, counts, reasons and type names are logged.
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Compile == nil:
		return c, fmt.Errorf("%w: no Compile", ErrConfig)
	case c.Store == nil:
		return c, fmt.Errorf("%w: no Store", ErrConfig)
	case c.NewMemory == nil:
		return c, fmt.Errorf("%w: no NewMemory", ErrConfig)
	case c.MaxTurns < 0, c.MaxBytes < 0, c.MaxPinBytes < 0, c.BatchItems < 0, c.BatchBytes < 0,
		c.Compilers < 0, c.IdleAfter < 0, c.RememberTurns < 0, c.RememberBytes < 0,
		c.RememberTotal < 0:
		return c, fmt.Errorf("%w: a bound is negative", ErrConfig)
	}
	fill(&c.TurnTimeout, DefaultTurnTimeout)
	fill(&c.MaxTurns, DefaultMaxTurns)
	fill(&c.MaxBytes, DefaultMaxBytes)
	fill(&c.MaxPinBytes, DefaultMaxPinBytes)
	fill(&c.BatchItems, DefaultBatchItems)
	fill(&c.BatchBytes, DefaultBatchBytes)
	fill(&c.Compilers, DefaultCompilers)
	fill(&c.IdleAfter, DefaultIdleAfter)
	fill(&c.RememberTurns, DefaultRememberTurns)
	fill(&c.RememberBytes, DefaultRememberBytes)
	fill(&c.RememberTotal, DefaultRememberTotal)
	fill(&c.Engine, "tt")
	if c.Clock == nil {
		c.Clock = wallClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
