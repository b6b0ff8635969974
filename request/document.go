package request

import (
	"errors"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// Bounds of a request.
const (
	MaxBytes = 64 << 20 // bytes
	MaxDepth = 64       // levels of nesting, the request's own object being the first
)

// Dialect is the provider API a request is written for.
type Dialect string

// The dialects that are recognised and edited.
const (
	Chat      Dialect = "chat_completions"
	Responses Dialect = "responses"
	Anthropic Dialect = "anthropic_messages"
)

// Span is a range of byte offsets in Raw.
type Span struct{ Start, End int }

// Doc is one request: its bytes and where things stand in them.
type Doc struct {
	Raw        []byte // the request's own bytes, never changed
	Dialect    Dialect
	Model      string
	Messages   []Message // in order; of Responses the items of "input"
	Tools      []Tool
	ToolChoice ToolChoice

	list    Span      // value of "messages" or "input", brackets included
	tools   Span      // value of "tools", empty when absent
	answers []calling // Chat and Responses: for each message the call it answers; results have their own

	past   *Past      // an earlier request with the same beginning, nil none
	reused int        // messages taken from it
	seen   []evidence // after each message
}

// Message is one element of "messages", or one item of a Responses "input".
//
// Items have the roles that the same words have in a chat: a call, reasoning and
// whatever else a model gave is "assistant", an output is "tool".
type Message struct {
	Span   Span
	Role   string      // "" when it is missing or no string
	Name   string      // "name", the tool's name on some tool messages
	CallID string      // tool_call_id of a tool message, call_id of an output
	Calls  []Call      // tool_calls and the legacy function_call, tool_use blocks or the one call of an item, in the order they stand
	Texts  []Text      // strings of text and of results, in the order they stand; empty for null
	Mixed  bool        // content has a part that is not text
	item   itemKind    // what a Responses item is
	Locked turn.Reason // "" or why no string of it may be edited

	results []block // tool_result blocks (Anthropic)
}

// Text is one string of a message.
type Text struct {
	Block string // RFC 6901 pointer inside the message
	Span  Span   // the JSON string literal, quotes included
}

// Call is one tool call of an assistant message.
type Call struct {
	ID     string
	Name   string
	Args   Text // a string, or the object of a tool_use block; zero Span when there are none
	Valid  bool // the decoded arguments are one JSON value
	Legacy bool // function_call: it has no id and is left alone
}

// Tool is one element of "tools".
type Tool struct {
	Name string
	Span Span
}

// ToolChoice is what "tool_choice" asks for.
type ToolChoice struct {
	Mode  string   // "" absent, "auto", "none", "required", "named", "allowed", "unknown"
	Name  string   // of the named tool
	Names []string // of the allowed tools

	kind string // "type" of an object that names no tool
}

// calling is the place of a call; message -1 means none.
type calling struct{ message, call int }

// ErrNoText says that a Text does not stand in this request.
var ErrNoText = errors.New("read text: no string literal at this span")

// Value is the decoded string at t, or the JSON text of a call's arguments where
// they are an object. It fails with ErrNoText when t is not a literal of this
// request, and with a LoneSurrogate *Error when the text is no Unicode.
func (d *Doc) Value(t Text) (string, error) {
	start, end := t.Span.Start, t.Span.End
	if start < 0 || end > len(d.Raw) || end-start < 2 {
		return "", ErrNoText
	}
	if d.Raw[start] == '{' {
		if d.Raw[end-1] != '}' || scanWhole(strictjson.New(d.Raw[start:end], MaxDepth)) != nil {
			return "", ErrNoText
		}
		return string(d.Raw[start:end]), nil
	}
	if d.Raw[start] != '"' {
		return "", ErrNoText
	}
	s := strictjson.New(d.Raw[:end], 1)
	s.Pos = start
	str, err := s.String()
	if err != nil || str.End != end {
		return "", ErrNoText
	}
	if str.Lone {
		return "", refuse(d.Raw, turn.LoneSurrogate, s.Lone, "the escape is half of a surrogate pair, so the string is no text; send the whole pair")
	}
	return string(s.Text(str)), nil
}

// key is the name of the list the messages stand in.
func (d *Doc) key() string {
	if d.Dialect == Responses {
		return "input"
	}
	return "messages"
}

// Pointer is the RFC 6901 pointer, from the root of the request, of block inside
// message i: Pointer(3, "/content") is "/messages/3/content", in a Responses
// request "/input/3/content".
func (d *Doc) Pointer(i int, block string) string { return "/" + d.key() + "/" + itoa(i) + block }
