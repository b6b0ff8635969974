package request

import (
	"bytes"
	"encoding/json"
	"strconv"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// Scope is what the host says, outside the request, about the call it belongs
// to. Nothing inside the request can replace or opt into any of it.
type Scope struct {
	InternalDepth int  `json:"internal_depth,omitzero"`    // > 0 while one of our own calls is running
	AuxiliaryRole bool `json:"auxiliary_context,omitzero"` // the host's auxiliary context, or a delegated parent's lease
	ProbeFailed   bool `json:"probe_failed,omitzero"`      // the host could not say so

	AuxTask         Truth `json:"aux_task,omitzero"`
	AuxiliaryTask   Truth `json:"auxiliary_task,omitzero"`
	IsInternal      Truth `json:"is_internal,omitzero"`
	Internal        Truth `json:"internal,omitzero"`
	ParentSessionID Truth `json:"parent_session_id,omitzero"`

	RequestPurpose Label `json:"request_purpose,omitzero"`
	Purpose        Label `json:"purpose,omitzero"`
	CallType       Label `json:"call_type,omitzero"`
	CallRole       Label `json:"call_role,omitzero"`
	ModelRole      Label `json:"model_role,omitzero"`
	RequestScope   Label `json:"request_scope,omitzero"`

	APIMode   Label `json:"api_mode,omitzero"`
	Operation Label `json:"operation,omitzero"`
	Endpoint  Label `json:"endpoint,omitzero"`

	HermesAdapter    bool  `json:"hermes_adapter,omitzero"` // the call came through our registered adapter
	MiddlewareSchema Label `json:"middleware_schema_version,omitzero"`
	SessionID        Label `json:"session_id,omitzero"`
	TurnID           Label `json:"turn_id,omitzero"`
	APIRequestID     Label `json:"api_request_id,omitzero"`
	APICallCount     Count `json:"api_call_count,omitzero"`
}

// Truth is the truth value a Python host gives a field of any type: false for
// null, false, 0, "", [] and {}, true for all else.
type Truth bool

// UnmarshalJSON implements json.Unmarshaler.
func (t *Truth) UnmarshalJSON(data []byte) error {
	switch text := string(bytes.TrimSpace(data)); text {
	case "null", "false", `""`, "[]", "{}":
		*t = false
	default:
		number, err := strconv.ParseFloat(text, 64)
		*t = Truth(err != nil || number != 0)
	}
	return nil
}

// Label is a word of the host. Set is false when the field is absent or null. A
// value that is no string is Odd and has no Text: it is no word anyone knows.
type Label struct {
	Set  bool
	Odd  bool
	Text string
}

// Word is a Label that is set.
func Word(text string) Label { return Label{Set: true, Text: text} }

// IsZero says that the label is absent.
func (l Label) IsZero() bool { return !l.Set }

// MarshalJSON implements json.Marshaler.
func (l Label) MarshalJSON() ([]byte, error) {
	switch {
	case !l.Set:
		return []byte("null"), nil
	case l.Odd:
		return []byte("false"), nil
	}
	return EscapeString(nil, l.Text), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Label) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	*l = Label{}
	if string(data) == "null" {
		return nil
	}
	l.Set = true
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &l.Text)
	}
	l.Odd = true
	return nil
}

// Count is a whole number of the host; what is no whole number counts as 0.
type Count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(data []byte) error {
	n, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		n = 0
	}
	*c = Count(n)
	return nil
}

// Decide says whether a request is a turn of a conversation that may be reduced.
// It looks at the fields of s and at the shape of raw, in a fixed order; the
// first rule that applies decides:
//
//  1. InternalDepth > 0: InternalCall.
//  2. AuxiliaryRole: AuxiliaryRole; ProbeFailed: HostScopeUnavailable.
//  3. raw is no JSON object: UnsupportedRequest.
//  4. a true AuxTask … ParentSessionID: AuxiliaryCall.
//  5. a purpose label that does not name a conversation: UnknownPurpose.
//  6. an APIMode we do not know: NonGenerationAPI.
//  7. an Operation or Endpoint we do not know: NonGenerationOp.
//  8. a key of a scoring or embedding service in raw: ServiceEnvelope.
//  9. both "messages" and "input": AmbiguousEnvelope.
//  10. not exactly one non-empty list of objects, or no element of it is a message
//     of a known role or a function call: NotConversation.
//  11. a purpose label was given: ExplicitConversation, allowed.
//  12. the registered adapter with all of its identities: HermesMainTurn, allowed.
//
// Everything else is an UnscopedRequest. No vault, tokenizer or policy is needed.
func (s Scope) Decide(raw []byte) (reason turn.Reason, allowed bool) { return s.DecideAfter(raw, nil) }

// DecideAfter is Decide for a request that may begin like an earlier one; the result
// is the same, whatever past is.
func (s Scope) DecideAfter(raw []byte, past *Past) (reason turn.Reason, allowed bool) {
	switch {
	case s.InternalDepth > 0:
		return turn.InternalCall, false
	case s.AuxiliaryRole:
		return turn.AuxiliaryRole, false
	case s.ProbeFailed:
		return turn.HostScopeUnavailable, false
	}
	env, err := readEnvelope(raw, past)
	if err != nil {
		return turn.UnsupportedRequest, false
	}
	labelled, known := s.purpose()
	switch {
	case bool(s.AuxTask || s.AuxiliaryTask || s.IsInternal || s.Internal || s.ParentSessionID):
		return turn.AuxiliaryCall, false
	case !known:
		return turn.UnknownPurpose, false
	case s.APIMode.Set && !supportedMode(s.APIMode.Text):
		return turn.NonGenerationAPI, false
	case s.Operation.Set && !generation(s.Operation.Text), s.Endpoint.Set && !generation(s.Endpoint.Text):
		return turn.NonGenerationOp, false
	case env.service:
		return turn.ServiceEnvelope, false
	case env.messages && env.input:
		return turn.AmbiguousEnvelope, false
	case !env.conversation():
		return turn.NotConversation, false
	case labelled:
		return turn.ExplicitConversation, true
	case s.hermesTurn():
		return turn.HermesMainTurn, true
	}
	return turn.UnscopedRequest, false
}

// purpose says whether any purpose label is set, and whether all that are set
// name a conversation.
func (s Scope) purpose() (set, known bool) {
	known = true
	for _, l := range []Label{s.RequestPurpose, s.Purpose, s.CallType, s.CallRole, s.ModelRole, s.RequestScope} {
		if !l.Set {
			continue
		}
		set = true
		switch l.Text {
		case "conversation", "chat", "main_generation", "main", "primary":
		default:
			known = false
		}
	}
	return set, known
}

func supportedMode(mode string) bool {
	switch mode {
	case "chat_completions", "anthropic_messages", "codex_responses", "responses":
		return true
	}
	return false
}

func generation(operation string) bool {
	switch operation {
	case "chat.completions.create", "responses.create", "messages.create",
		"/v1/chat/completions", "/v1/responses", "/v1/messages":
		return true
	}
	return false
}

func (s Scope) hermesTurn() bool {
	return s.HermesAdapter && s.MiddlewareSchema == Word("hermes.middleware.v1") &&
		s.SessionID.Text != "" && s.TurnID.Text != "" && s.APIRequestID.Text != "" &&
		s.APICallCount >= 1 && supportedMode(s.APIMode.Text)
}

// envelope is the outer shape of a payload.
type envelope struct {
	messages, input, service bool
	lists                    int  // of "messages" and "input": non-empty lists of objects only
	known                    bool // one element is a message of a known role or a function call item

	past   *Past
	common int // leading bytes that are those of past
}

func (e *envelope) conversation() bool { return e.lists == 1 && e.known }

func readEnvelope(raw []byte, past *Past) (*envelope, error) {
	if err := checkBytes(raw); err != nil {
		return nil, err
	}
	s, env := strictjson.New(raw, MaxDepth), &envelope{past: past, common: past.common(raw)}
	err := scanOuter(s, func(name []byte) error {
		switch string(name) {
		case "messages":
			env.messages = true
			return env.list(s)
		case "input":
			env.input = true
			return env.list(s)
		case "documents", "query", "queries", "questions", "state", "texts", "encoding_format", "dimensions":
			env.service = true
		}
		return s.Skip()
	})
	return env, err
}

// list reads "messages" or "input".
func (e *envelope) list(s *strictjson.Scanner) error {
	if s.Peek() != '[' {
		return s.Skip()
	}
	n, objects := 0, true
	err := s.Array(func(i int) error {
		n++
		if m, ok := e.past.known(i, s.Pos, e.common); ok && m.isKnown() {
			e.known, s.Pos = true, m.Span.End
			return nil
		}
		if s.Peek() != '{' {
			objects = false
			return s.Skip()
		}
		return s.Object(func(key strictjson.Str) error {
			name, start := s.Text(key), s.Pos
			err := s.Skip()
			if err == nil && s.Data[start] == '"' && (string(name) == "role" || string(name) == "type") {
				e.item(string(name), string(strictjson.AppendUnquoted(nil, s.Data[start:s.Pos])))
			}
			return err
		})
	})
	if n > 0 && objects {
		e.lists++
	}
	return err
}

// isKnown says whether the scan of an envelope would find a known role or type in m.
// It may say no for one that is; then it is scanned.
func (m Message) isKnown() bool {
	switch m.item {
	case noItem, itemMessage:
		return knownRole(m.Role)
	case itemCall, itemOutput:
		return true
	}
	return false
}

func (e *envelope) item(name, value string) {
	switch name {
	case "role":
		e.known = e.known || knownRole(value)
	case "type":
		e.known = e.known || value == "function_call" || value == "function_call_output"
	}
}
