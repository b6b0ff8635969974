package wire

import (
	"encoding/json"

	"token-terminator/turn"
)

// Failure answers a request that could not be served. Message is in our own words.
type Failure struct {
	ID      *uint64 `json:"id,omitempty"`
	Error   string  `json:"error"`
	Message string  `json:"message,omitempty"`
}

// Errors an answer may hold, besides Unsupported and BadFrame.
const (
	ErrorHello       = "hello_first"         // the connection did not begin with a hello
	ErrorWrongHome   = "wrong_home"          // another home's daemon was meant
	ErrorToken       = "wrong_token"         // the token is not that of daemon.json
	ErrorSecret      = "secret_in_env"       // a setting that looks like a key was sent
	ErrorSetting     = "bad_setting"         // a setting cannot be used
	ErrorBusy        = "busy"                // too many connections or bytes
	ErrorTooLarge    = "too_large"           // the frame is longer than allowed
	ErrorStopped     = "stopped"             // the daemon is going away
	ErrorDeadline    = "deadline"            // no answer in time
	ErrorInternal    = "internal_error"      // a fault of ours
	ErrorUnknown     = "unknown"             // no artifact of that id was ever here
	ErrorAmbiguous   = "ambiguous"           // the prefix begins several ids
	ErrorBadID       = "bad_id"              // no artifact id
	ErrorReleased    = "released"            // the operator ended the promise
	ErrorLost        = "lost"                // it was here and is gone
	ErrorNotYours    = "not_yours"           // another session's
	ErrorDamaged     = "damaged"             // its bytes do not match their hash
	ErrorRange       = "bad_range"           // offset, limit or lines out of bounds
	ErrorQuery       = "bad_query"           // an empty or too long query
	ErrorStorage     = "storage_unavailable" // the vault does not answer
	ErrorNoOperator  = "operator_only"       // a session asked for what only the user may
	ErrorNotOffered  = "not_offered"         // this daemon does not do that
	ErrorBadArgument = "bad_argument"        // a field's value cannot be used
)

// Welcome answers Hello.
type Welcome struct {
	ID            uint64 `json:"id"`
	Protocol      int    `json:"protocol"`
	DaemonVersion string `json:"daemon_version"`
	ExeSHA256     string `json:"exe_sha256"` // of the daemon's program, hex; "" unknown
	Engine        string `json:"engine"`
	// Notices are what the user should be told about the settings of the hello.
	Notices []string `json:"notices,omitempty"`
}

// What an answer says of a turn, a result or a command.
const (
	Pass   = "pass"   // use what you have
	Edit   = "edit"   // use what the answer says
	Refuse = "refuse" // do not do it
)

// TurnAnswer answers Turn.
type TurnAnswer struct {
	ID       uint64          `json:"id"`
	Decision string          `json:"decision"`
	Reason   turn.Reason     `json:"reason"`
	Edits    []turn.Edit     `json:"edits,omitempty"`
	Tokens   *Tokens         `json:"tokens,omitempty"`
	Replayed bool            `json:"replayed,omitempty"` // the answer of an earlier attempt again
	Detail   json.RawMessage `json:"detail,omitempty"`   // every decision, when it was asked for
	Notice   string          `json:"notice,omitempty"`   // why nothing could be hidden, in our words; "" nothing to say
}

// What a turn's answer says of a request that does not offer the recovery tool: nothing
// new of it is hidden then.
const (
	NoticeToolMissing    = "no recovery tool: the request declares no tool named token_terminator, so nothing is hidden (docs/protocol.md)"
	NoticeToolIncomplete = "recovery tool not accepted: token_terminator wants the properties action, artifact_id and offset, so nothing is hidden (docs/protocol.md)"
	NoticeToolForbidden  = "recovery tool not accepted: tool_choice does not let the model call token_terminator, so nothing is hidden"
)

// Tokens are the measures of one whole request.
type Tokens struct {
	Raw     int    `json:"raw"`
	Final   int    `json:"final"`
	Measure string `json:"measure"` // "exact" or "panel"
}

// ResultAnswer answers Result. Text is set when Decision is Edit.
type ResultAnswer struct {
	ID         uint64      `json:"id"`
	Decision   string      `json:"decision"`
	Reason     turn.Reason `json:"reason"`
	Text       *string     `json:"text,omitempty"`
	ArtifactID string      `json:"artifact_id,omitempty"`
}

// CommandAnswer answers Command.
type CommandAnswer struct {
	ID       uint64          `json:"id"`
	Decision string          `json:"decision"`
	Reason   turn.Reason     `json:"reason,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Refuse   string          `json:"refuse,omitempty"`  // why, one word
	Message  string          `json:"message,omitempty"` // for the model
}

// RecoverAnswer answers Recover.
type RecoverAnswer struct {
	ID     uint64          `json:"id"`
	Result json.RawMessage `json:"result"`
}

// EventAnswer answers Event.
type EventAnswer struct {
	ID uint64 `json:"id"`
	OK bool   `json:"ok"`
}

// StatusAnswer answers Status.
type StatusAnswer struct {
	ID     uint64          `json:"id"`
	Status json.RawMessage `json:"status"`
}
