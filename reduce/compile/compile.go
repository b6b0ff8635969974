package compile

import (
	"errors"
	"fmt"
	"sync"

	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// Renderer names the version of everything that renders a form's text. It is
// stored with each decision; a decision of another version is still shown byte for
// byte.
const Renderer = "a1"

// Settings of one session.
type Settings struct {
	Off      bool   // nothing is changed and nothing is remembered
	Assume   string // encoding that stands in for models without a tokenizer, "" none
	Reduce   reduce.Settings
	Plan     plan.Settings
	Row      plan.Row
	NoLayout bool // forms switched off one by one
	NoDelta  bool // references too
	NoHiding bool
	NoEpochs bool       // messages that were sent keep their form for good
	Cache    plan.Cache // how the target reuses a prefix; "" is plan.Prefix
}

// Snapshot is what a turn may know of its session. It never changes.
type Snapshot struct {
	Binding turn.Binding
	Memory  *plan.Memory
	Facts   Facts
}

// Tokens are the measures of one whole request.
type Tokens struct {
	Raw, Final tokens.Measure
	Label      string // "o200k_base", "… (assumed)" or "panel"
	Exact      bool
}

// Block tells how one string of the request is shown, for reports and explain.
type Block struct {
	Message  int
	Decision turn.Decision
	New      bool // decided in this turn
}

// Outcome is the end of a turn.
type Outcome struct {
	Reason  turn.Reason // turn.Reduced, or why the original goes out
	Body    []byte      // the whole new request; nil when the original goes out
	Edits   []turn.Edit
	Nodes   []turn.Node // decisions of messages first sent in this turn, as they are in force
	Lowered bool        // Nodes differ from the pinned ones
	Tokens  Tokens
	Blocks  []Block // every changed string
	Epoch   *Epoch  // nil when every message that was sent kept its form
	Kept    []Kept  // new tool results that stay as they are, and why
}

// Kept is a string that was looked at and left alone.
type Kept struct {
	Message int
	Block   string
	Tool    string
	Tokens  int // as it stands in the request; 0 when it was not measured
	Reason  turn.Reason
}

// Compiler compiles turns. It is safe for concurrent use. What it caches are pure
// functions of their keys, and the last turn of each session, of which the next one
// takes what begins with the same bytes; no result depends on it.
type Compiler struct {
	settings Settings
	key      []byte
	memo     *tokens.Memo
	indexes  *indexCache
	olds     *oldCache
	last     *lastTurns

	mu     sync.Mutex
	meters map[string]*tokens.Meter
}

// ErrBadSettings says that settings cannot be used.
var ErrBadSettings = errors.New("compile settings")

// New returns a compiler. key is the vault's marker key (32 bytes); memo is shared
// by all sessions and bounds itself.
func New(settings Settings, key []byte, memo *tokens.Memo) (*Compiler, error) {
	if len(key) != 32 {
		return nil, fmt.Errorf("%w: the marker key has %d bytes, want 32", ErrBadSettings, len(key))
	}
	if err := settings.Row.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSettings, err)
	}
	if _, err := tokens.NewMeter("", settings.Assume, memo); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSettings, err)
	}
	settings.Plan = settings.Plan.WithDefaults()
	settings.Reduce.Floor = settings.Plan.FloorVisible
	settings.Reduce.Hiding = settings.Plan.FloorHiding
	return &Compiler{
		settings: settings, key: key, memo: memo,
		indexes: newIndexCache(), olds: newOldCache(), last: newLastTurns(), meters: map[string]*tokens.Meter{},
	}, nil
}

// maxMeters bounds how many models one process tells apart.
const maxMeters = 256

// Meter gives what measures a model's requests.
func (c *Compiler) Meter(model string) *tokens.Meter {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.meters[model]; ok {
		return m
	}
	m, err := tokens.NewMeter(model, c.settings.Assume, c.memo)
	if err != nil { // New has checked the only cause
		panic(err)
	}
	if len(c.meters) < maxMeters {
		c.meters[model] = m
	}
	return m
}

// Begin reads a request and drafts its turn. A reason other than "" passes the
// request through at once, with nothing to remember. A request whose messages could
// be told apart and that must not change all the same has a draft: Finish gives the
// original, and its new messages are remembered as sent whole.
func (c *Compiler) Begin(snap Snapshot, body []byte) (*Draft, turn.Reason) {
	if c.settings.Off {
		return nil, turn.TurnedOff
	}
	last := c.last.of(snap.Binding.Session)
	doc, err := request.ParseAfter(body, last.sent)
	if err != nil {
		return nil, reasonOf(err, turn.NotJSON)
	}
	d := &Draft{c: c, snap: snap, last: last, doc: doc, chain: doc.Chain(), meter: c.Meter(doc.Model), steps: stepsOf(doc)}
	d.calls = d.steps[len(d.steps)-1]
	d.known = snap.Memory.LongestPrefix(d.chain)
	d.results = resultsOf(doc) // of a request that passes too: every method reads them
	if d.passes = d.weigh(); d.passes != "" {
		return d, ""
	}
	d.offers = doc.Offers(reduce.RecoveryName, reduce.RecoveryParams()...)
	d.remember()
	d.epoch()
	d.decide()
	return d, ""
}

// weigh checks and measures the request as it came and says why nothing of it may
// change, "" when it may.
func (d *Draft) weigh() turn.Reason {
	if err := d.doc.Check(); err != nil {
		return reasonOf(err, turn.PairingBroken)
	}
	segments, err := d.doc.Segments()
	if err != nil {
		return reasonOf(err, turn.UnknownShape)
	}
	segments = segments.Owned() // the next turn goes on with them
	d.segments = segments
	d.raw, d.counted = d.measure(d.last.counted, segments)
	return d.raw.Unmeasured
}

func reasonOf(err error, otherwise turn.Reason) turn.Reason {
	var told *request.Error
	if errors.As(err, &told) {
		return told.Reason
	}
	return otherwise
}

// stepsOf is how many calls the provider has answered up to and with each message:
// each run of assistant messages is one answer.
func stepsOf(doc *request.Doc) []int {
	steps := make([]int, max(len(doc.Messages), 1))
	calls := 0
	for i, m := range doc.Messages {
		if m.Role == "assistant" && (i == 0 || doc.Messages[i-1].Role != "assistant") {
			calls++
		}
		steps[i] = calls
	}
	return steps
}
