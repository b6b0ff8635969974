package settings

import (
	"strings"
	"time"
)

// spec is one setting: its name, its bounds, and where its value stands.
type spec struct {
	name    string // TOKEN_TERMINATOR_<name>; the key in config.toml is its lower case
	def     string // as text
	unit    string
	doc     string
	min     float64 // of numbers, in the unit
	max     float64
	choices []string // of texts; the comparison ignores case
	doubt   string   // what an environment's unreadable value means, "" the default
	step    time.Duration
	limit   int  // of texts, in runes; 0: 4,096
	path    bool // a file or folder
	daemon  bool // one value for the whole daemon; a session's environment cannot set it
	later   bool // accepted, without effect in this release
	at      func(*Settings) any
}

const big = 100_000_000_000

func (sp spec) key() string { return strings.ToLower(sp.name) }

func number(name, def string, min, max float64, unit, doc string, at func(*Settings) any) spec {
	return spec{name: name, def: def, min: min, max: max, unit: unit, doc: doc, at: at}
}

func duration(name, def string, step time.Duration, min, max float64, unit, doc string, at func(*Settings) any) spec {
	return spec{name: name, def: def, min: min, max: max, unit: unit, step: step, doc: doc, at: at}
}

func toggle(name, def, doc string, at func(*Settings) any) spec {
	return spec{name: name, def: def, doc: doc, at: at}
}

func choice(name, def, doc string, at func(*Settings) any, choices ...string) spec {
	return spec{name: name, def: def, doc: doc, choices: choices, at: at}
}

func text(name, doc string, limit int, at func(*Settings) any) spec {
	return spec{name: name, doc: doc, limit: limit, at: at}
}

func file(name, doc string, at func(*Settings) any) spec {
	return spec{name: name, doc: doc, path: true, at: at}
}

func list(name, def, doc string, at func(*Settings) any) spec {
	return spec{name: name, def: def, doc: doc, at: at}
}

func (sp spec) ofDaemon() spec   { sp.daemon = true; return sp }
func (sp spec) notYet() spec     { sp.later = true; return sp }
func (sp spec) or(d string) spec { sp.doubt = d; return sp }

// table is every setting, in the order of docs/settings.md.
var table = concat(generalTable(), formTable(), measureTable(), storeTable(), daemonTable(), serviceTable())

func concat(parts ...[]spec) (all []spec) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

func generalTable() []spec {
	return []spec{
		toggle("ENABLED", "true", "false: nothing is opened and nothing changed", func(s *Settings) any { return &s.Enabled }).or("false"),
		choice("MODE", "balanced", "balanced everything; aggressive receipts after 3 steps and reads not exempt; native results only; terminal commands only; suggest measure only; off nothing",
			func(s *Settings) any { return (*string)(&s.Mode) }, string(Balanced), string(Aggressive), string(Native), string(Terminal), string(Suggest), string(Off)).or("off"),
		choice("BIRTH", BirthRequest, "where forms are made: in the request, or in each result as it comes", func(s *Settings) any { return &s.Birth }, BirthRequest, BirthResult),
		list("EXCLUDE_TOOLS", "", "tools whose results never change, besides the fixed ones", func(s *Settings) any { return &s.ExcludeTools }),
		choice("CHAT_TARGET_POLICY", "auto", "preserve: keep everything for the target", func(s *Settings) any { return &s.ChatTarget }, "auto", "preserve").or("preserve"),
	}
}

func formTable() []spec {
	return []spec{
		choice("PRESET", "default", "how far a reduction may go", func(s *Settings) any { return &s.Preset }, "default", "lossless", "equivalent", "tight").or("lossless"),
		toggle("LAYOUT", "true", "the form layout", func(s *Settings) any { return &s.Layout }),
		toggle("TEMPORAL_DELTA", "true", "the forms reference and delta", func(s *Settings) any { return &s.Delta }),
		choice("TEMPORAL_SCOPE", "session", "whose earlier texts a delta leans on; workspace is taken as session, where they are visible", func(s *Settings) any { return &s.DeltaScope }, "session", "workspace").notYet(),
		toggle("COMPRESSED", "true", "the form compressed", func(s *Settings) any { return &s.Compressed }).or("false"),
		toggle("RECEIPTS", "true", "the form receipt", func(s *Settings) any { return &s.Receipts }).or("false"),
		number("RECEIPT_AGE", "5", 1, 10_000, "assistant steps", "after which an answered result may become a receipt; 3 in the mode aggressive", func(s *Settings) any { return &s.ReceiptAge }),
		number("RECEIPT_GAIN", "400", 0, 1e6, "tokens", "least gain of a receipt", func(s *Settings) any { return &s.ReceiptGain }),
		toggle("EPOCH_BANK", "false", "a warm epoch must be covered by what the session has saved", func(s *Settings) any { return &s.EpochBank }),
		toggle("STRICT_READS", "false", "a read becomes a receipt only when nothing later names its path", func(s *Settings) any { return &s.StrictReads }),
		number("FLOOR_HIDING", "400", 1, 1e6, "tokens", "smaller texts are never shown in part", func(s *Settings) any { return &s.FloorHiding }),
		number("FLOOR_VISIBLE", "200", 1, 1e6, "tokens", "smaller texts take no form", func(s *Settings) any { return &s.FloorVisible }),
		number("SIZE_GATE", "2000", 1, 1e7, "tokens", "smaller requests are left alone", func(s *Settings) any { return &s.SizeGate }),
		number("MAX_TOKENS", "0", 0, 1e7, "tokens", "a view over this is not used; 0 no limit", func(s *Settings) any { return &s.MaxView }),
		number("HEAD_LINES", "10", 1, 10_000, "lines", "always kept at the start", func(s *Settings) any { return &s.Head }),
		number("TAIL_LINES", "10", 1, 10_000, "lines", "always kept at the end", func(s *Settings) any { return &s.Tail }),
		number("CONTEXT_LINES", "2", 1, 1_000, "lines", "kept on each side of evidence", func(s *Settings) any { return &s.ContextLines }),
		number("LEAST_GAIN", "64", 1, 1e6, "tokens", "a compressed text takes away at least this", func(s *Settings) any { return &s.LeastGain }),
		number("LEAST_GAIN_PCT", "10", 1, 100, "percent", "and at least this share", func(s *Settings) any { return &s.LeastGainPct }),
		number("RECOVERY_PCT", "5", 0, 100, "percent", "chance that a hidden text is fetched once; its cost is charged", func(s *Settings) any { return &s.RecoveryPct }),
		number("RECOVERED_TURNS", "3", 0, 1_000, "user turns", "a fetched page is left alone", func(s *Settings) any { return &s.RecoveredTurns }),
		number("PAGE_CHARS", "8000", 1, 20_000, "characters", "of a fetched page", func(s *Settings) any { return &s.PageChars }),
		number("MAX_PAGE_CHARS", "20000", 1, 20_000, "characters", "at most", func(s *Settings) any { return &s.MaxPageChars }),
		number("MAX_SEARCH_RESULTS", "50", 1, 500, "", "of a search in the vault", func(s *Settings) any { return &s.MaxSearchResults }),
		toggle("PYTEST_GUARD", "true", "commands that run pytest are not rewritten", func(s *Settings) any { return &s.PytestGuard }).notYet(),
		list("BACKENDS", "local", "terminal backends whose commands may be rewritten", func(s *Settings) any { return &s.Backends }).notYet(),
		list("EXCLUDE", "", "beginnings of commands that are not rewritten", func(s *Settings) any { return &s.Exclude }).notYet(),
		file("RTK_PATH", "the program that rewrites commands", func(s *Settings) any { return &s.RTKPath }).notYet(),
		number("CACHE_SIZE", "512", 1, 1e6, "", "commands remembered", func(s *Settings) any { return &s.CommandCacheSize }).notYet(),
		duration("CACHE_TTL", "600", time.Second, 1, 1e6, "seconds", "they are remembered for", func(s *Settings) any { return &s.CommandCacheTTL }).notYet(),
		number("WORKING_GRAPH_CHARS", "0", 0, 1e6, "characters", "of working state", func(s *Settings) any { return &s.WorkingGraphChars }).notYet(),
	}
}

func measureTable() []spec {
	return []spec{
		toggle("TOKEN_BUDGET", "true", "tokens are measured; false: requests pass unchanged", func(s *Settings) any { return &s.TokenBudget }).or("false"),
		file("TOKENIZER_JSON", "a tokenizer.json of the model", func(s *Settings) any { return &s.TokenizerJSON }),
		choice("TIKTOKEN_ENCODING", "", "encoding that stands in for models without a public tokenizer; figures say (assumed)", func(s *Settings) any { return &s.Assume },
			"", "o200k_base", "cl100k_base", "p50k_base", "p50k_edit", "r50k_base"),
		number("CONTEXT_LIMIT_TOKENS", "0", 0, 1e8, "tokens", "the model's window; 0 unknown", func(s *Settings) any { return &s.ContextLimit }),
		number("OUTPUT_RESERVE_TOKENS", "4096", 0, 1e8, "tokens", "of it kept for the answer", func(s *Settings) any { return &s.OutputReserve }),
		number("TOKEN_SAFETY_MARGIN", "512", 0, 1e8, "tokens", "and kept free", func(s *Settings) any { return &s.SafetyMargin }),
		text("PRICE_ROW", "price row; empty: the model's, else study", 120, func(s *Settings) any { return &s.PriceRow }),
		text("PRICES_AS_OF", "rows are picked for this day, YYYY-MM-DD; empty: the table's", 10, func(s *Settings) any { return &s.PricesAsOf }),
		file("PRICES", "a table of prices laid over the built-in one", func(s *Settings) any { return &s.Prices }),
		choice("CACHE_MODEL", "prefix", "what the provider reuses of a prefix", func(s *Settings) any { return &s.CacheModel }, "prefix", "marks"),
		number("EQ_INPUT_USD_PER_M", "0", 0, 1e6, "USD per million", "rate for equivalent cost; 0 unknown", func(s *Settings) any { return &s.RateInput }),
		number("EQ_OUTPUT_USD_PER_M", "0", 0, 1e6, "USD per million", "of output", func(s *Settings) any { return &s.RateOutput }),
		number("EQ_CACHE_READ_USD_PER_M", "0", 0, 1e6, "USD per million", "of cached input", func(s *Settings) any { return &s.RateRead }),
		number("EQ_CACHE_WRITE_USD_PER_M", "0", 0, 1e6, "USD per million", "of input written to the cache", func(s *Settings) any { return &s.RateWrite }),
		text("EQ_RATE_CARD", "name of these rates", 120, func(s *Settings) any { return &s.RateCard }),
	}
}

func storeTable() []spec {
	return []spec{
		file("DB_PATH", "the vault's file or folder instead of the home's", func(s *Settings) any { return &s.DBPath }).ofDaemon(),
		number("VAULT_MAX_BYTES", "8589934592", 1, big, "bytes", "capacity of the vault", func(s *Settings) any { return &s.VaultMaxBytes }).ofDaemon(),
		number("VAULT_HIGH_WATER_PCT", "90", 2, 100, "percent", "pruning of what is not pinned starts here", func(s *Settings) any { return &s.HighWater }).ofDaemon(),
		number("VAULT_LOW_WATER_PCT", "80", 1, 99, "percent", "and goes down to here", func(s *Settings) any { return &s.LowWater }).ofDaemon(),
		number("MAX_ARTIFACT_CHARS", "8000000", 1, 50_000_000, "characters", "a longer text is not stored and not changed", func(s *Settings) any { return &s.MaxArtifactChars }).ofDaemon(),
		choice("SYNCHRONOUS", "FULL", "NORMAL is faster and may lose the last turns when the power fails", func(s *Settings) any { return &s.Synchronous }, "FULL", "NORMAL").ofDaemon(),
		toggle("LEDGER", "true", "numbers of turns are kept", func(s *Settings) any { return &s.Ledger }).ofDaemon(),
		file("LEDGER_PATH", "the ledger's file instead of the home's", func(s *Settings) any { return &s.LedgerPath }).ofDaemon(),
		number("LEDGER_DAYS", "400", 1, 36_500, "days", "its rows are kept", func(s *Settings) any { return &s.LedgerDays }).ofDaemon(),
		file("STATE_DB", "the host's accounting, only read", func(s *Settings) any { return &s.StateDB }).ofDaemon().notYet(),
		spec{name: "EXPERIMENT", def: "default", doc: "name of the experiment", limit: 80, at: func(s *Settings) any { return &s.Experiment }}.ofDaemon(),
		list("EXPERIMENT_ARMS", "", "NAME=PERCENT, adding up to 100; empty: none", func(s *Settings) any { return &s.ExperimentArms }).ofDaemon(),
		text("EXPERIMENT_SALT", "another salt is another split", 120, func(s *Settings) any { return &s.ExperimentSalt }).ofDaemon(),
	}
}

func daemonTable() []spec {
	return []spec{
		duration("TURN_TIMEOUT_MS", "800", time.Millisecond, 50, 600_000, "ms", "a turn's time; then the original goes out", func(s *Settings) any { return &s.TurnTimeout }),
		duration("RESULT_TIMEOUT_MS", "400", time.Millisecond, 50, 600_000, "ms", "a result's time", func(s *Settings) any { return &s.ResultTimeout }),
		duration("RECOVER_TIMEOUT_MS", "2000", time.Millisecond, 50, 600_000, "ms", "a fetch's time", func(s *Settings) any { return &s.RecoverTime }),
		duration("TIMEOUT_MS", "500", time.Millisecond, 50, 600_000, "ms", "a command's time", func(s *Settings) any { return &s.CommandTimeout }),
		number("MAX_TURNS", "64", 1, 4_096, "turns", "in flight before more pass with the reason busy", func(s *Settings) any { return &s.MaxTurns }).ofDaemon(),
		number("MAX_TURN_BYTES", "134217728", 1<<20, big, "bytes", "of requests in flight before busy", func(s *Settings) any { return &s.MaxTurnBytes }).ofDaemon(),
		duration("IDLE_EXIT_MINUTES", "30", time.Minute, 0, 1e6, "minutes", "without a request the daemon ends; 0 never", func(s *Settings) any { return &s.IdleExit }).ofDaemon(),
		text("STATUS_ADDR", "loopback address of /status, /metrics and /healthz, e.g. 127.0.0.1:9464; empty: none", 120, func(s *Settings) any { return &s.StatusAddr }).ofDaemon(),
		choice("LOG_LEVEL", "info", "what the log takes", func(s *Settings) any { return &s.LogLevel }, "debug", "info", "warn", "error").ofDaemon(),
		number("LOG_MAX_MB", "10", 1, 1_000, "MB", "a log file is closed at this size", func(s *Settings) any { return &s.LogMaxMB }).ofDaemon(),
		number("LOG_FILES", "5", 1, 100, "files", "closed log files kept", func(s *Settings) any { return &s.LogFiles }).ofDaemon(),
	}
}

func serviceTable() []spec {
	all := []spec{
		toggle("JEV", "false", "ask the Jev service about old dialogue", func(s *Settings) any { return &s.Jev }),
		choice("JEV_PROVIDER", "auto", "route to it", func(s *Settings) any { return &s.JevProvider }, "auto", "openrouter", "typesafe"),
		text("JEV_MODEL", "its model; empty: the route's latest", 120, func(s *Settings) any { return &s.JevModel }),
		duration("JEV_TIMEOUT_MS", "1500", time.Millisecond, 100, 30_000, "ms", "its time", func(s *Settings) any { return &s.JevTimeout }),
		number("JEV_RELEVANCE_THRESHOLD", "0.15", 0, 1, "", "below it a text may be left out", func(s *Settings) any { return &s.JevThreshold }),
		number("JEV_MIN_MESSAGE_CHARS", "600", 100, 1e7, "characters", "shorter ones are not asked about", func(s *Settings) any { return &s.JevMinChars }),
		number("JEV_MAX_CANDIDATES", "12", 1, 64, "", "asked about at once", func(s *Settings) any { return &s.JevMaxCandidates }),
		number("JEV_MAX_CANDIDATE_CHARS", "12000", 500, 500_000, "characters", "of one", func(s *Settings) any { return &s.JevCandidateChars }),
		number("JEV_MAX_STATE_CHARS", "60000", 1_000, 2_000_000, "characters", "of the state sent", func(s *Settings) any { return &s.JevMaxState }),
		toggle("CONTEXT_IR", "false", "the form ir", func(s *Settings) any { return &s.IR }),
		number("CONTEXT_IR_MIN_CHARS", "600", 1, 500_000, "characters", "", func(s *Settings) any { return &s.IRMinChars }),
		number("CONTEXT_IR_MAX_CHARS", "64000", 1, 500_000, "characters", "", func(s *Settings) any { return &s.IRMaxChars }),
		number("CONTEXT_IR_MAX_MESSAGES", "8", 1, 64, "", "", func(s *Settings) any { return &s.IRMaxMessages }),
		number("CONTEXT_IR_MAX_EVALUATIONS", "24", 1, 192, "", "", func(s *Settings) any { return &s.IREvaluations }),
		number("ENGINE_MAX_BATCHES", "2", 1, 8, "", "", func(s *Settings) any { return &s.EngineBatches }),
		number("ENGINE_PROTECT_LAST", "6", 1, 64, "messages", "", func(s *Settings) any { return &s.EngineProtect }),
		number("ENGINE_REGION_CHARS", "8000", 256, 64_000, "characters", "", func(s *Settings) any { return &s.EngineRegion }),
		number("ENGINE_RECALL_SOURCES", "3", 0, 16, "", "", func(s *Settings) any { return &s.EngineRecall }),
		number("ENGINE_SEARCH_SOURCES", "10000", 1, 100_000, "", "", func(s *Settings) any { return &s.EngineSearch }),
		choice("LEARNED_POLICY_MODE", "off", "a learned policy that may only keep more", func(s *Settings) any { return &s.PolicyMode }, "off", "shadow", "active"),
		file("LEARNED_POLICY_PATH", "its file", func(s *Settings) any { return &s.PolicyPath }),
		text("LEARNED_POLICY_SHA256", "the hash it must have", 64, func(s *Settings) any { return &s.PolicySHA256 }),
	}
	for i := range all {
		all[i].later = true
	}
	return all
}

// replaced are the old variables that become another setting.
type replaced struct {
	name   string  // of the old variable
	to     string  // name of the setting
	divide float64 // characters of one token; 0: taken as it is
}

var conversions = []replaced{
	{name: "NATIVE_MIN_CHARS", to: "FLOOR_HIDING", divide: 4},
	{name: "NATIVE_MAX_CHARS", to: "MAX_TOKENS", divide: 4},
	{name: "TEMPORAL_MIN_CHARS", to: "FLOOR_VISIBLE", divide: 4},
	{name: "MIN_ARTIFACT_CHARS", to: "RECEIPT_GAIN", divide: 4},
	{name: "CONTEXT_MIN_VAULT_CHARS", to: "RECEIPT_GAIN", divide: 4},
	{name: "INLINE_LEASES", to: "RECEIPT_AGE"},
	{name: "CONTEXT_COLLAPSE_AFTER_TURNS", to: "RECEIPT_AGE"},
	{name: "CONTEXT_INLINE_RECENT_TURNS", to: "RECEIPT_AGE"},
	{name: "CONTEXT_COMPACTION", to: "RECEIPTS"},
}

// ignored are accepted names without any effect; silent ones belong to the commands.
var (
	ignored = []string{"PREVIEW_MARKER"}
	silent  = []string{"HOME", "CORPUS"}
)

func find(name string) (spec, bool) {
	for _, sp := range table {
		if sp.name == name {
			return sp, true
		}
	}
	return spec{}, false
}
