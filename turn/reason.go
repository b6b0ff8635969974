package turn

import "slices"

// Reason says in one word why a block or a turn ended the way it did. The set is
// closed: docs/reasons.md explains each one and a test compares the two lists.
type Reason string

// Why a whole turn was passed through or edited.
const (
	Reduced            Reason = "reduced"             // at least one block is shown smaller
	NothingToReduce    Reason = "nothing_to_reduce"   // no block had a smaller form
	SmallRequest       Reason = "small_request"       // under the size gate
	TurnedOff          Reason = "turned_off"          // mode off or suggest
	Busy               Reason = "busy"                // admission: too many turns or bytes in flight
	Deadline           Reason = "deadline"            // the turn's time was up
	StaleBinding       Reason = "stale_binding"       // a newer turn or generation took over
	TooLarge           Reason = "too_large"           // request or result above its size cap
	NotJSON            Reason = "not_json"            // the request does not parse
	NotUTF8            Reason = "not_utf8"            // bytes that are no UTF-8
	TooDeep            Reason = "too_deep"            // nested deeper than the bound
	DuplicateKey       Reason = "duplicate_key"       // a key twice in one object
	UnknownShape       Reason = "unknown_shape"       // no shape we know
	DialectPassed      Reason = "dialect_passed"      // Responses or Anthropic request, edited in a later release
	StatefulRequest    Reason = "stateful_request"    // previous_response_id or conversation
	PairingBroken      Reason = "pairing_broken"      // tool calls and results do not pair
	RoleOrder          Reason = "role_order"          // a role where it may not stand
	NotSmallerChars    Reason = "not_smaller_chars"   // the whole request would not lose characters
	NotSmallerTokens   Reason = "not_smaller_tokens"  // the whole request would not lose tokens
	PanelDisagrees     Reason = "panel_disagrees"     // one of the panel's measures falls too little
	NoMeasure          Reason = "no_measure"          // no tokenizer and no panel
	StorageUnavailable Reason = "storage_unavailable" // the vault cannot be opened or written
	VaultFull          Reason = "vault_full"          // capacity reached and nothing may be pruned
	ReadBackFailed     Reason = "read_back_failed"    // stored bytes did not come back equal
	InternalError      Reason = "internal_error"      // a panic or a broken invariant of ours
	Stopped            Reason = "stopped"             // the system is shutting down
	Cancelled          Reason = "cancelled"           // the caller went away before the answer
	MinPrefix          Reason = "min_prefix"          // would fall under the smallest cacheable prefix
	MemoryMismatch     Reason = "memory_mismatch"     // form memory and request disagree: cold epoch
)

// Why a call is none of our business (host scope; decided before any other work).
const (
	InternalCall         Reason = "tt_internal_or_reentrant_call"
	AuxiliaryRole        Reason = "hermes_auxiliary_or_delegated_role"
	HostScopeUnavailable Reason = "host_scope_unavailable"
	UnsupportedRequest   Reason = "unsupported_request"
	AuxiliaryCall        Reason = "auxiliary_call"
	UnknownPurpose       Reason = "non_conversational_or_unknown_purpose"
	NonGenerationAPI     Reason = "non_generation_api"
	NonGenerationOp      Reason = "non_generation_operation"
	ServiceEnvelope      Reason = "service_envelope"
	AmbiguousEnvelope    Reason = "ambiguous_service_envelope"
	NotConversation      Reason = "not_conversation_history"
	ExplicitConversation Reason = "explicit_conversation"
	HermesMainTurn       Reason = "hermes_main_turn_hook"
	UnscopedRequest      Reason = "unscoped_request"
)

// Why a block is shown as it is.
const (
	BelowFloor       Reason = "below_floor"      // smaller than the activation floor
	ExcludedTool     Reason = "excluded_tool"    // the tool is on the exclusion list
	ReadExempt       Reason = "read_exempt"      // text meant for editing
	RecoveredText    Reason = "recovered_text"   // a page fetched from the vault
	OwnMarker        Reason = "own_marker"       // holds a marker of ours
	MixedContent     Reason = "mixed_content"    // a part that is not text
	NestedCall       Reason = "nested_call"      // empty call id: a call inside a script
	LoneSurrogate    Reason = "lone_surrogate"   // text that is not valid Unicode
	RecoveryToolGone Reason = "no_recovery_tool" // hiding needs the declared recovery tool
	NoForcedFit      Reason = "no_forced_fit"    // protected evidence does not fit the budget
	LeastGain        Reason = "least_gain"       // the gain is below the least worth a form
	RecoveryCost     Reason = "recovery_cost"    // the expected fetch costs more than it saves
	NoFormSmaller    Reason = "no_form_smaller"  // every form was as large or larger
	BadUnicode       Reason = "bad_unicode"      // the block's text is not valid UTF-8
	EvidenceLost     Reason = "evidence_lost"    // the form failed its own evidence check
	ParseFailed      Reason = "parse_failed"     // the content looked structured and was not
	ProofMissing     Reason = "proof_missing"    // the vault gave no proof for the artifact
	LowerRung        Reason = "lower_rung"       // dropped so that the rest of the turn passes
)

// Why an epoch was opened: why old messages changed in a turn. A memory_mismatch
// opens one too.
const (
	EpochCold    Reason = "epoch_cold"        // the cache was cold anyway
	EpochWindow  Reason = "epoch_window"      // the context window would overflow
	EpochEarned  Reason = "epoch_rent_or_buy" // the saving forgone had reached the price
	EpochRebased Reason = "epoch_rebased"     // its base was put away: shown anew without it
)

// Why a block got its form.
const (
	LayoutLossless   Reason = "layout_lossless"   // the text gives back the old bytes
	LayoutEquivalent Reason = "layout_equivalent" // same JSON values, or what a terminal ends up showing
	ReferenceSame    Reason = "reference_same"    // byte-identical to an earlier visible text
	DeltaRuns        Reason = "delta_runs"        // runs of lines stand in earlier visible texts
	RepeatOfHidden   Reason = "repeat_of_hidden"  // same text as an earlier block that is shown in part
	CompressedLog    Reason = "compressed_log"
	CompressedJSON   Reason = "compressed_json"
	CompressedNDJSON Reason = "compressed_ndjson"
	CompressedSearch Reason = "compressed_search"
	CompressedTest   Reason = "compressed_test"
	CompressedBuild  Reason = "compressed_build"
	CompressedStack  Reason = "compressed_stack"
	CompressedPlain  Reason = "compressed_plain"
	ReceiptOld       Reason = "receipt_old" // an old answered result, put away in an epoch
)

// Reasons lists every reason, in the order of this file.
func Reasons() []Reason { return slices.Clone(allReasons) }

// Known says whether r is in the closed set.
func (r Reason) Known() bool { return slices.Contains(allReasons, r) }

var allReasons = []Reason{
	Reduced, NothingToReduce, SmallRequest, TurnedOff, Busy, Deadline, StaleBinding, TooLarge, NotJSON, NotUTF8,
	TooDeep, DuplicateKey, UnknownShape, DialectPassed, StatefulRequest, PairingBroken, RoleOrder, NotSmallerChars,
	NotSmallerTokens, PanelDisagrees, NoMeasure, StorageUnavailable, VaultFull, ReadBackFailed, InternalError, Stopped,
	Cancelled, MinPrefix, MemoryMismatch,
	InternalCall, AuxiliaryRole, HostScopeUnavailable, UnsupportedRequest, AuxiliaryCall, UnknownPurpose,
	NonGenerationAPI, NonGenerationOp, ServiceEnvelope, AmbiguousEnvelope, NotConversation, ExplicitConversation,
	HermesMainTurn, UnscopedRequest,
	BelowFloor, ExcludedTool, ReadExempt, RecoveredText, OwnMarker, MixedContent, NestedCall,
	LoneSurrogate, RecoveryToolGone, NoForcedFit, LeastGain, RecoveryCost, NoFormSmaller, BadUnicode, EvidenceLost,
	ParseFailed, ProofMissing, LowerRung,
	EpochCold, EpochWindow, EpochEarned, EpochRebased,
	LayoutLossless, LayoutEquivalent, ReferenceSame, DeltaRuns, RepeatOfHidden, CompressedLog, CompressedJSON,
	CompressedNDJSON, CompressedSearch, CompressedTest, CompressedBuild, CompressedStack, CompressedPlain, ReceiptOld,
}
