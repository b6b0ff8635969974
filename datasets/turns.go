package datasets

import (
	"encoding/json"
	"strings"

	"token-terminator/internal/strictjson"
	"token-terminator/request"
)

// Turn is one request of a session with the answer it got: the request before an
// assistant message that does not directly follow another one. An assistant message
// that opens the session has no request and makes no turn.
type Turn struct {
	Index    int // from 0
	Messages int // how many messages the request has
	// Answers are the recorded answer: the assistant message after the request, and
	// those that directly follow it.
	Answers []json.RawMessage
	head    []byte // the request up to the end of its last message
	end     string // what closes it
}

// requestEnd closes a request of a list of messages, stringEnd one of a string.
const requestEnd, stringEnd = "]}", "}"

// Request gives the turn's request: {"model","tools",…,"messages"} (Responses:
// "input"), with what else of
// the request was recorded; tools are left out when there were none. The bytes are the caller's. A session's requests have
// their beginnings in common: each one starts with the bytes of the one before up
// to the end of its last message.
func (t Turn) Request() []byte {
	out := make([]byte, 0, len(t.head)+len(t.end))
	out = append(out, t.head...)
	return append(out, t.end...)
}

// Head gives Request up to the end of its last message, shared and read-only.
func (t Turn) Head() []byte { return t.head }

// Turns cuts a session into its turns. The requests are built on one shared
// buffer; only Request copies. An input that is one string is a turn whose answer the
// provider keeps.
func (s Session) Turns() []Turn {
	head := s.appendOpening(make([]byte, 0, s.size()))
	if s.isString() {
		return []Turn{{Messages: 1, head: append(head, s.Messages[0]...), end: stringEnd}}
	}
	head = append(head, '[')
	var turns []Turn
	answered := true // the message before was an assistant's
	for i, m := range s.Messages {
		assistant := s.Role(i) == "assistant"
		switch {
		case assistant && !answered && i > 0:
			turns = append(turns, Turn{Index: len(turns), Messages: i, Answers: []json.RawMessage{m}, head: head, end: requestEnd})
		case assistant && len(turns) > 0 && turns[len(turns)-1].Messages+len(turns[len(turns)-1].Answers) == i:
			last := &turns[len(turns)-1]
			last.Answers = append(last.Answers, m)
		}
		answered = assistant
		if i > 0 {
			head = append(head, ',')
		}
		head = append(head, m...)
	}
	for i := range turns {
		turns[i].head = turns[i].head[:len(turns[i].head):len(turns[i].head)]
	}
	return turns
}

func (s Session) appendOpening(head []byte) []byte {
	head = append(head, `{"model":`...)
	head = strictjson.AppendQuoted(head, s.Model)
	if len(s.Tools) > 0 {
		head = append(head, `,"tools":`...)
		head = append(head, s.Tools...)
	}
	for _, f := range s.Fields {
		head = append(head, ',')
		head = strictjson.AppendQuoted(head, f.Name)
		head = append(head, ':')
		head = append(head, f.Value...)
	}
	head = append(head, `,"`...)
	return append(append(head, s.Key()...), `":`...)
}

// isString says that the input is no list.
func (s Session) isString() bool {
	return s.Dialect == request.Responses && len(s.Messages) == 1 && s.Messages[0][0] == '"'
}

// Key is the name of the list that the messages stand in.
func (s Session) Key() string {
	if s.Dialect == request.Responses {
		return "input"
	}
	return "messages"
}

// Role is the role of message i, "" when it has none. An item of a Responses session
// has the role its words have in a chat: what a model gave is "assistant", what a
// client gave back is "tool".
func (s Session) Role(i int) string {
	if s.Dialect == request.Responses {
		return itemRole(s.Messages[i])
	}
	return roleOf(s.Messages[i])
}

// Arguments lists the arguments of the calls in one message of an answer, as JSON text
// where they are JSON. It reads every dialect.
func Arguments(message []byte) []string {
	var m struct {
		ToolCalls []struct {
			Function struct{ Arguments string }
		} `json:"tool_calls"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	var out []string
	for _, call := range m.ToolCalls {
		out = append(out, call.Function.Arguments)
	}
	if len(out) > 0 {
		return out
	}
	return otherArguments(message)
}

// otherArguments reads tool_use blocks and call items.
func otherArguments(message []byte) (out []string) {
	var item struct {
		Type, Arguments string
		Input           json.RawMessage
		Content         json.RawMessage
	}
	if json.Unmarshal(message, &item) != nil {
		return nil
	}
	switch item.Type {
	case "function_call":
		return []string{item.Arguments}
	case "custom_tool_call":
		var text string
		if json.Unmarshal(item.Input, &text) == nil {
			out = append(out, text)
		}
		return out
	}
	var blocks []struct {
		Type  string
		Input json.RawMessage
	}
	if json.Unmarshal(item.Content, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		if b.Type == "tool_use" && len(b.Input) > 0 {
			out = append(out, string(b.Input))
		}
	}
	return out
}

func itemRole(item []byte) string {
	var it struct{ Type, Role string }
	if json.Unmarshal(item, &it) != nil {
		return ""
	}
	switch {
	case it.Role != "" && (it.Type == "" || it.Type == "message"):
		return it.Role
	case it.Type == "", it.Type == "message":
		return ""
	case strings.HasSuffix(it.Type, "_output"), strings.HasSuffix(it.Type, "_response"):
		return "tool"
	}
	return "assistant"
}

func (s Session) size() int {
	n := len(s.Model)*2 + len(s.Tools) + 64
	for _, f := range s.Fields {
		n += len(f.Name) + len(f.Value) + 4
	}
	for _, m := range s.Messages {
		n += len(m) + 1
	}
	return n
}

// roleOf gives the role of a message that is valid JSON, "" when it has none.
func roleOf(message []byte) string {
	o, err := splitObject(message)
	if err != nil && o == nil {
		return roleLoosely(message)
	}
	role, _ := o.text("role")
	return role
}

// roleLoosely reads the role of a message with a repeated key: the last one counts,
// as it does for every common JSON reader.
func roleLoosely(message []byte) string {
	var m struct {
		Role string `json:"role"`
	}
	if json.Unmarshal(message, &m) != nil {
		return ""
	}
	return m.Role
}
