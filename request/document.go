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

// The dialects that are recognised. Only Chat requests are edited.
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
	Messages   []Message // Chat only, in order
	Tools      []Tool
	ToolChoice ToolChoice

	list    Span      // value of "messages", brackets included
	tools   Span      // value of "tools", empty when absent
	answers []calling // for each message the call it answers

	past   *Past      // an earlier request with the same beginning, nil none
	reused int        // messages taken from it
	seen   []evidence // after each message
}

// Message is one element of "messages".
type Message struct {
	Span   Span
	Role   string      // "" when it is missing or no string
	Name   string      // "name", the tool's name on some tool messages
	CallID string      // tool_call_id of a tool message
	Calls  []Call      // tool_calls and the legacy function_call, in the order they stand
	Texts  []Text      // strings at /content or /content/<i>/text, in order; empty for null
	Mixed  bool        // content has a part that is not text
	Locked turn.Reason // "" or why no string of it may be edited
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
	Args   Text // zero Span when the call has no argument string
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
	Mode string // "" absent, "auto", "none", "required", "named", "unknown"
	Name string // of the named tool
}

// calling is the place of a call; message -1 means none.
type calling struct{ message, call int }

// ErrNoText says that a Text does not stand in this request.
var ErrNoText = errors.New("read text: no string literal at this span")

// Value is the decoded string at t. It fails with ErrNoText when t is not a
// literal of this request, and with a LoneSurrogate *Error when the text is no
// Unicode.
func (d *Doc) Value(t Text) (string, error) {
	start, end := t.Span.Start, t.Span.End
	if start < 0 || end > len(d.Raw) || end-start < 2 || d.Raw[start] != '"' {
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

// CallOf finds the call that tool message i answers: the one with its id in the
// nearest message before it that has an unanswered call of that id; ids may be
// used again later. Within one message the first such call is taken, as results
// come in call order. A legacy function message answers the nearest unanswered
// function_call of its name. ok is false for other messages and for orphans.
func (d *Doc) CallOf(i int) (msg, call int, ok bool) {
	if i < 0 || i >= len(d.answers) || d.answers[i].message < 0 {
		return 0, 0, false
	}
	return d.answers[i].message, d.answers[i].call, true
}

// Pointer is the RFC 6901 pointer, from the root of the request, of block inside
// message i: Pointer(3, "/content") is "/messages/3/content".
func (d *Doc) Pointer(i int, block string) string { return messagePointer(i) + block }
