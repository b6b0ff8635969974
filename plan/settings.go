package plan

// Settings are the numbers of the decisions. The zero value of a field means its
// default, so Settings{} is ready for use; a negative number means 0.
type Settings struct {
	// SizeGate: a request under this many tokens is left alone.
	SizeGate int
	// FloorHiding and FloorVisible: a block under these tokens takes no hiding form,
	// or no form at all.
	FloorHiding, FloorVisible int
	// LeastGain and LeastGainPct: a hiding form must take away at least the larger
	// of LeastGain tokens and LeastGainPct percent of the block.
	LeastGain, LeastGainPct int
	// RecoveryPct is the chance, in percent, that a hidden block is fetched once.
	RecoveryPct float64
	// FetchOutput is the output tokens of the call that asks for a page; PageTokens
	// bounds the page it gets.
	FetchOutput, PageTokens int
	// HorizonMin and HorizonMax bound how many later calls a birth decision counts
	// on; see Horizon.
	HorizonMin, HorizonMax int
	// ReceiptGain is the least tokens a receipt takes away; ReceiptAge is how many
	// calls must have been answered after a result before it may be put away.
	ReceiptGain, ReceiptAge int
	// ReadCalls is how many calls a read of a file stays in sight after its path was
	// last named by a call; StrictReads keeps it for good once a later call names it.
	ReadCalls   int
	StrictReads bool
	// Bank bounds warm epochs: one must be covered by what the session has saved so far
	// and BankPct percent of its cost.
	Bank    bool
	BankPct float64
}

// Defaults. The floors, the least gain and the size gate are fixed by the project's
// contracts; the recovery figures are those of the replay study.
const (
	DefaultSizeGate     = 2000
	DefaultFloorHiding  = 400
	DefaultFloorVisible = 200
	DefaultLeastGain    = 64
	DefaultLeastGainPct = 10
	DefaultRecoveryPct  = 5.0
	DefaultFetchOutput  = 60
	DefaultPageTokens   = 2000
	DefaultReceiptGain  = 400
	DefaultReceiptAge   = 5
	DefaultReadCalls    = 5
	DefaultBankPct      = 2.0
	// DefaultHorizonMin and DefaultHorizonMax: a session is expected to go on for as
	// many calls as it has had (a Lindy estimate: it needs no forecast), but for no
	// fewer than 5, because a tool result is never the last thing of a run, and for
	// no more than 20, about the length of the median session, so that a long past
	// never buys a tiny gain.
	DefaultHorizonMin = 5
	DefaultHorizonMax = 20
)

// WithDefaults fills zero fields and turns negative ones into 0.
func (s Settings) WithDefaults() Settings {
	fill := func(field *int, value int) {
		switch {
		case *field == 0:
			*field = value
		case *field < 0:
			*field = 0
		}
	}
	fill(&s.SizeGate, DefaultSizeGate)
	fill(&s.FloorHiding, DefaultFloorHiding)
	fill(&s.FloorVisible, DefaultFloorVisible)
	fill(&s.LeastGain, DefaultLeastGain)
	fill(&s.LeastGainPct, DefaultLeastGainPct)
	fill(&s.FetchOutput, DefaultFetchOutput)
	fill(&s.PageTokens, DefaultPageTokens)
	fill(&s.HorizonMin, DefaultHorizonMin)
	fill(&s.HorizonMax, DefaultHorizonMax)
	fill(&s.ReceiptGain, DefaultReceiptGain)
	fill(&s.ReceiptAge, DefaultReceiptAge)
	fill(&s.ReadCalls, DefaultReadCalls)
	fillPct(&s.RecoveryPct, DefaultRecoveryPct)
	fillPct(&s.BankPct, DefaultBankPct)
	return s
}

func fillPct(field *float64, value float64) {
	switch {
	case *field == 0:
		*field = value
	case *field < 0:
		*field = 0
	}
}

// TooSmall says whether a request of so many tokens is under the size gate.
func (s Settings) TooSmall(requestTokens int) bool {
	return requestTokens < s.WithDefaults().SizeGate
}

// Horizon is how many later calls a decision made after callsSoFar calls counts on.
func (s Settings) Horizon(callsSoFar int) int {
	s = s.WithDefaults()
	return min(max(callsSoFar, s.HorizonMin), max(s.HorizonMax, s.HorizonMin))
}
