package settings

import (
	"slices"
	"time"
)

// Mode says what is done at all.
type Mode string

// The modes.
const (
	Balanced   Mode = "balanced"   // everything
	Aggressive Mode = "aggressive" // receipts after 3 steps, reads are not exempt
	Native     Mode = "native"     // results only, where the host hands them over
	Terminal   Mode = "terminal"   // commands only
	Suggest    Mode = "suggest"    // measure, change nothing
	Off        Mode = "off"        // nothing is opened
)

// Settings are all values in force. They are made by Load and never change.
type Settings struct {
	Enabled bool
	Mode    Mode

	// Forms.
	Preset                       string
	Layout, Delta, Compressed    bool
	Receipts                     bool
	EpochBank, StrictReads       bool
	ReceiptAge, ReceiptGain      int // assistant steps, tokens
	FloorHiding, FloorVisible    int // tokens
	SizeGate, MaxView            int // tokens; MaxView 0: none
	Head, Tail, ContextLines     int // lines
	LeastGain, LeastGainPct      int // tokens, percent
	RecoveredTurns               int // user turns a fetched page stays exempt
	RecoveryPct                  float64
	ExcludeTools, Exclude        []string
	Birth, DeltaScope            string
	ChatTarget                   string
	PageChars, MaxPageChars      int // code points
	MaxSearchResults             int
	MaxArtifactChars             int
	WorkingGraphChars            int
	PytestGuard                  bool
	Backends                     []string
	RTKPath                      string
	CommandCacheSize             int
	CommandCacheTTL              time.Duration
	CommandTimeout               time.Duration
	ResultTimeout, RecoverTime   time.Duration
	TurnTimeout, IdleExit        time.Duration
	MaxTurns                     int
	MaxTurnBytes                 int64
	TokenBudget                  bool
	TokenizerJSON, Assume        string
	ContextLimit, OutputReserve  int // tokens; ContextLimit 0: unknown
	SafetyMargin                 int
	PriceRow, Prices, CacheModel string
	PricesAsOf                   string
	RateInput, RateOutput        float64 // USD per million tokens, 0 unknown
	RateRead, RateWrite          float64
	RateCard                     string

	// The vault, the ledger and the daemon.
	DBPath, LedgerPath, StateDB string // "" : in the home
	VaultMaxBytes               int64
	HighWater, LowWater         int // percent
	Synchronous                 string
	Ledger                      bool
	LedgerDays                  int
	Experiment, ExperimentSalt  string
	ExperimentArms              []string // NAME=PERCENT
	StatusAddr                  string   // loopback address, "" off
	LogLevel                    string
	LogMaxMB, LogFiles          int

	// Services and parts that are off unless switched on.
	Jev                            bool
	JevProvider, JevModel          string
	JevTimeout                     time.Duration
	JevThreshold                   float64
	JevMinChars, JevMaxCandidates  int
	JevCandidateChars, JevMaxState int
	IR                             bool
	IRMinChars, IRMaxChars         int
	IRMaxMessages, IREvaluations   int
	EngineBatches, EngineProtect   int
	EngineRegion, EngineRecall     int
	EngineSearch                   int
	PolicyMode, PolicyPath         string
	PolicySHA256                   string

	// Notices are what a user should be told once, in our words.
	Notices []string

	origins map[string]string
	src     Sources
}

// Active says whether anything may be opened or changed at all.
func (s Settings) Active() bool { return s.Enabled && s.Mode != Off }

// Observe says that everything is measured and nothing changed.
func (s Settings) Observe() bool { return s.Active() && s.Mode == Suggest }

// ActsOnRequests says whether requests are compiled.
func (s Settings) ActsOnRequests() bool {
	return s.Active() && (s.Mode == Balanced || s.Mode == Aggressive || s.Mode == Suggest) && s.Birth == BirthRequest
}

// ActsOnResults says whether results are shown smaller where the host hands them over.
func (s Settings) ActsOnResults() bool {
	return s.Active() && (s.Mode == Native || s.Birth == BirthResult && (s.Mode == Balanced || s.Mode == Aggressive))
}

// ActsOnCommands says whether terminal commands may be rewritten.
func (s Settings) ActsOnCommands() bool {
	return s.Active() && s.Mode != Native
}

// ReadsExempt says whether texts read for editing are kept from the hiding forms.
func (s Settings) ReadsExempt() bool { return s.Mode != Aggressive }

// Where forms are made.
const (
	BirthRequest = "request"
	BirthResult  = "result"
)

// aggressiveAge is the receipt age of the aggressive mode, in assistant steps.
const aggressiveAge = 3

// Origin says where a setting's value comes from: "flag", "environment", "config.toml",
// "default", "mode aggressive", or the old variable it was converted from.
func (s Settings) Origin(name string) string {
	if o := s.origins[name]; o != "" {
		return o
	}
	return originDefault
}

// Shown is one line of config show.
type Shown struct {
	Name   string `json:"name"` // without TOKEN_TERMINATOR_
	Key    string `json:"key"`  // in config.toml
	Value  any    `json:"value"`
	Unit   string `json:"unit,omitempty"`
	Origin string `json:"origin"`
	Later  bool   `json:"no_effect_yet,omitempty"`
}

// Show lists every setting in the table's order.
func (s Settings) Show() []Shown {
	shown := make([]Shown, 0, len(table))
	for _, sp := range table {
		shown = append(shown, Shown{Name: sp.name, Key: sp.key(), Value: sp.value(&s), Unit: sp.unit, Origin: s.Origin(sp.name), Later: sp.later})
	}
	return shown
}

func (s Settings) clone() Settings {
	s.ExcludeTools, s.Exclude, s.Backends = slices.Clone(s.ExcludeTools), slices.Clone(s.Exclude), slices.Clone(s.Backends)
	s.ExperimentArms = slices.Clone(s.ExperimentArms)
	return s
}
