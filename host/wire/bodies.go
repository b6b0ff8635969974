package wire

import (
	"bytes"
	"encoding/json"

	"token-terminator/request"
	"token-terminator/turn"
)

// Protocol is the version of the protocol this package speaks.
const Protocol = 1

// Head stands in every request.
type Head struct {
	ID         uint64 `json:"id"`          // chosen by the client, unique among its open requests
	DeadlineMS int64  `json:"deadline_ms"` // how long the client waits; 0: the daemon's own limit
}

// Opening gives the head of any request.
func (h *Head) Opening() Head { return *h }

// Request is the body of any request.
type Request interface{ Opening() Head }

// Hello opens a connection: who is there and with which settings.
type Hello struct {
	Head
	Protocol int               `json:"protocol"`
	Client   string            `json:"client"`             // a name, for the log
	Version  string            `json:"version"`            // of the client
	Home     string            `json:"home"`               // as the client knows it; "" takes the daemon's
	Env      map[string]string `json:"env"`                // settings of this connection's sessions, no secrets
	Consent  Consent           `json:"consent,omitzero"`   // what this connection's sessions agreed to
	Token    string            `json:"token,omitempty"`    // of daemon.json, where there are no unix sockets
	Replay   bool              `json:"replay,omitempty"`   // recorded sessions: times mean nothing
	Operator bool              `json:"operator,omitempty"` // the user's own command, not a session
}

// Consent says what the sessions of a connection agreed to.
type Consent struct {
	Jev bool `json:"jev,omitempty"` // regions may be sent to the configured scorer
}

// Turn asks how one provider request may be sent smaller. RequestJSON is the request's
// own bytes; it should stand last.
type Turn struct {
	Head
	Binding     turn.Binding    `json:"binding"`
	Scope       request.Scope   `json:"scope"`
	Measure     *Measure        `json:"measure,omitempty"` // the host's own count of the request
	Detail      bool            `json:"detail,omitempty"`  // answer with every decision, for reports
	RequestJSON json.RawMessage `json:"request_json"`
}

// Measure is a host's own count of a request.
type Measure struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Result asks how the result of a tool may be shown.
type Result struct {
	Head
	Binding    turn.Binding `json:"binding"`
	Tool       string       `json:"tool"`
	Command    string       `json:"command,omitempty"`   // shell command that gave it
	ExitCode   *int         `json:"exit_code,omitempty"` // of that command
	ArgsDigest string       `json:"args_digest"`         // SHA-256 of the call's arguments, hex
	CallID     string       `json:"call_id,omitempty"`   // the tool call it answers
	Text       string       `json:"text"`
}

// Command asks whether a tool may be called so.
type Command struct {
	Head
	Binding turn.Binding    `json:"binding"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
}

// Recover asks the vault. Which fields an action takes stands in docs/protocol.md.
type Recover struct {
	Head
	Binding    turn.Binding    `json:"binding"`
	Action     string          `json:"action"`
	ArtifactID string          `json:"artifact_id,omitempty"`
	Offset     int             `json:"offset,omitempty"`
	Limit      int             `json:"limit,omitempty"`
	Query      string          `json:"query,omitempty"`
	Operator   json.RawMessage `json:"operator,omitempty"` // of the action "operator"
}

// Event tells the daemon of something that happened. An event needs no answer's text.
type Event struct {
	Head
	Binding turn.Binding `json:"binding"`
	Name    string       `json:"name"`
	Usage   *Usage       `json:"usage,omitempty"`
	Window  int          `json:"window,omitempty"` // tokens of input the session's model takes
	Account *Account     `json:"account,omitempty"`
	Count   int          `json:"count,omitempty"`  // of fail_open; 0 is one
	Reason  string       `json:"reason,omitempty"` // of fail_open and cache_cold, one word
	// Uncached, of cache_cold, says that this route was seen not to cache at all.
	Uncached bool `json:"uncached,omitempty"`
}

// Account is what a session has saved so far, net of everything charged to us, and what
// it would have cost without us, both in units of one input token.
type Account struct {
	Saved float64 `json:"saved"`
	Spent float64 `json:"spent"`
}

// The names of events.
const (
	EventSessionStart = "session_start"
	EventSessionEnd   = "session_end"
	EventCompaction   = "compaction"
	EventUsage        = "usage"
	EventCacheCold    = "cache_cold"
	EventAccount      = "account"
	EventFailOpen     = "fail_open"
	EventDrain        = "drain"
)

// Usage is what a provider reported of one answered request, in tokens. Absent is
// unknown.
type Usage struct {
	Model      string `json:"model,omitempty"`
	Input      *int   `json:"input,omitempty"` // all of the prompt, cached or not
	CacheRead  *int   `json:"cache_read,omitempty"`
	CacheWrite *int   `json:"cache_write,omitempty"`
	Output     *int   `json:"output,omitempty"`
}

// Status asks for the daemon's status.
type Status struct {
	Head
}

// Decode reads the body of a request of kind. Every error is a *BodyError.
func Decode(kind Kind, body []byte) (Request, error) {
	var into Request
	switch kind {
	case KindHello:
		into = &Hello{}
	case KindTurn:
		into = &Turn{}
	case KindResult:
		into = &Result{}
	case KindCommand:
		into = &Command{}
	case KindRecover:
		into = &Recover{}
	case KindEvent:
		into = &Event{}
	case KindStatus:
		into = &Status{}
	default:
		id, ok := PeekID(body[:min(len(body), shownHead)])
		return nil, &BodyError{Code: Unsupported, Reason: turn.UnsupportedRequest, ID: id, HasID: ok}
	}
	if err := decode(body, into); err != nil {
		return nil, err
	}
	return into, nil
}

// Encode writes a body without HTML escapes.
func Encode(body any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), nil
}

// EncodeTurn gives the parts of a turn's body in order; the middle one is the
// request's own bytes, not a copy of them.
func EncodeTurn(t *Turn) (head, raw, tail []byte, err error) {
	bare := *t
	bare.RequestJSON = json.RawMessage("null")
	body, err := Encode(&bare)
	if err != nil {
		return nil, nil, nil, err
	}
	return body[:len(body)-len("null}")], t.RequestJSON, []byte{'}'}, nil
}
