package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"token-terminator/request"
	"token-terminator/turn"
)

// histories reads corpus and OpenAI-style lines, each an object with messages.
// In the corpus each line is a session of its own; OpenAI-style lines of one id (or
// all lines without one) are requests of one session.
func (r *reader) histories(lines []line, format Format) []Session {
	var out []Session
	var open requests
	for _, l := range lines {
		s, err := r.history(l, format)
		if err != nil {
			r.problems = append(r.problems, err)
			continue
		}
		if s.ID == "" {
			s.ID = r.base()
		}
		if len(lines) == 1 {
			s.Line = 0
		}
		if format == Corpus {
			out = append(out, s)
		} else {
			open.add(s)
		}
	}
	return append(out, open.sessions...)
}

func (r *reader) history(l line, format Format) (Session, error) {
	if err := checkJSON(l.text); err != nil {
		return Session{}, r.err(l.no, "", err, "every line must be one JSON object")
	}
	o, err := splitObject(l.text)
	if err != nil {
		return Session{}, r.err(l.no, "", err, hintFormats)
	}
	s := Session{Format: format, File: r.name, Line: l.no, Source: r.name, Model: "unknown", Meta: o.get("meta")}
	for _, f := range []struct {
		name string
		to   *string
	}{{"id", &s.ID}, {"model", &s.Model}, {"source", &s.Source}, {"licence", &s.Licence}} {
		text, ok := o.text(f.name)
		if !ok || strings.ContainsFunc(text, broken) {
			return Session{}, r.err(l.no, f.name, fmt.Errorf("%w: want plain text", ErrBadField), "make it a JSON string without control characters")
		}
		if text != "" {
			*f.to = text
		}
	}
	s.Dialect, s.chain = readDialect(l.text, o)
	if s.Messages, err = r.messages(l.no, s.Dialect, o.get(s.Key())); err != nil {
		return Session{}, err
	}
	if len(s.chain) != len(s.Messages) {
		s.chain = chainOf(s.Messages)
	}
	if tools := o.get("tools"); tools != nil {
		list, err := splitArray(tools)
		if err != nil {
			return Session{}, r.err(l.no, "tools", err, "give the list of declared tools, or leave it out")
		}
		if len(list) > 0 {
			s.Tools = tools
		}
	}
	for _, f := range o {
		if requestFields[f.name] || s.Dialect != request.Chat && dialectFields[f.name] {
			s.Fields = append(s.Fields, Field{Name: f.name, Value: f.value})
		}
	}
	s.PromptRecorded = promptRecorded(s, o)
	return s, nil
}

// requestFields are the members of a recorded request that belong to what was sent,
// besides the model, the tools and the messages.
var requestFields = map[string]bool{
	"audio": true, "frequency_penalty": true, "function_call": true, "functions": true, "logit_bias": true, "logprobs": true,
	"max_completion_tokens": true, "max_tokens": true, "modalities": true, "n": true, "parallel_tool_calls": true,
	"presence_penalty": true, "prompt_cache_key": true, "prompt_cache_options": true, "prompt_cache_retention": true,
	"reasoning": true, "reasoning_effort": true, "response_format": true, "safety_identifier": true, "seed": true,
	"service_tier": true, "stop": true, "store": true, "stream": true, "stream_options": true, "temperature": true,
	"thinking": true, "tool_choice": true, "top_k": true, "top_logprobs": true, "top_p": true, "user": true, "verbosity": true,
}

// dialectFields are further members of requests of the Messages and Responses APIs.
var dialectFields = map[string]bool{
	"anthropic_beta": true, "anthropic_version": true, "background": true, "container": true, "context_management": true, "conversation": true,
	"include": true, "instructions": true, "max_output_tokens": true, "max_tool_calls": true, "mcp_servers": true, "metadata": true,
	"output_config": true, "previous_response_id": true, "prompt": true, "stop_sequences": true, "system": true, "text": true, "truncation": true,
}

// readDialect finds how a request is written, and names each beginning of its
// messages as they are told apart in a turn: cache marks do not count. The chain is
// empty when the request cannot be told apart.
func readDialect(line []byte, o object) (request.Dialect, []turn.Digest) {
	if doc, _ := request.Parse(line); doc != nil {
		return doc.Dialect, doc.Chain()
	}
	if o.has("input") && !o.has("messages") {
		return request.Responses, nil
	}
	return request.Chat, nil
}

// broken says whether a rune of an id or a name cannot be meant.
func broken(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }

func (r *reader) messages(no int, dialect request.Dialect, raw json.RawMessage) ([]json.RawMessage, error) {
	key, role, hint := "messages", roleOf, "give each message a role: system, user, assistant or tool"
	if dialect == request.Responses {
		key, role, hint = "input", itemRole, "give each item a type, and each message a role"
	}
	if dialect == request.Responses && len(raw) > 0 && raw[0] == '"' {
		return []json.RawMessage{raw}, nil // one string, not told apart further
	}
	list, err := splitArray(raw)
	if err != nil {
		return nil, r.err(no, key, err, strconv.Quote(key)+` must be the conversation's list of messages`)
	}
	if len(list) == 0 {
		return nil, r.err(no, key, ErrEmpty, "a session needs at least one message")
	}
	for i, m := range list {
		if m[0] != '{' {
			return nil, r.err(no, fmt.Sprintf("%s[%d]", key, i), fmt.Errorf("%w: want an object", ErrBadField), "a message is an object with role and content")
		}
		if role(m) == "" {
			return nil, r.err(no, fmt.Sprintf("%s[%d].role", key, i), ErrBadField, hint)
		}
	}
	return list, nil
}

// promptRecorded says whether the host's own prompt is in the file: a system or
// developer message, or a member of the request for it, and tools that, where notes on their origin are kept, come
// from the source.
func promptRecorded(s Session, line object) bool {
	messages, meta := s.Messages, s.Meta
	system := s.Dialect != request.Chat && (line.get("system") != nil || line.get("instructions") != nil)
	for i := range messages {
		role := s.Role(i)
		system = system || role == "system" || role == "developer"
	}
	if !system || len(meta) == 0 {
		return system
	}
	o, err := splitObject(meta)
	if err != nil {
		return false
	}
	origin, _ := o.text("tools_origin")
	return origin == "source"
}

// requests joins OpenAI-style requests to sessions: a request whose messages extend
// those of an earlier one with the same id takes its place; one that is a beginning
// of an earlier one (a retry) adds nothing; any other opens a branch, a session of
// its own.
type requests struct {
	sessions []Session
	chains   [][]turn.Digest
	byID     map[string][]int
}

func (q *requests) add(s Session) {
	if q.byID == nil {
		q.byID = map[string][]int{}
	}
	chain, id := s.chain, s.ID
	for _, at := range q.byID[id] {
		old := q.chains[at]
		switch {
		case extends(old, chain) && sameTools(q.sessions[at], s):
			s.Line, s.Notes = q.sessions[at].Line, q.sessions[at].Notes
			q.sessions[at], q.chains[at] = s, chain
			return
		case extends(chain, old) && sameTools(q.sessions[at], s):
			return
		}
	}
	if n := len(q.sessions); n > 0 && q.sessions[n-1].ID != id && extends(q.chains[n-1], chain) {
		s.Notes = append(s.Notes, fmt.Sprintf("its messages go on from %s: requests of one session need the same id", q.sessions[n-1].ID))
	}
	if n := len(q.byID[id]); n > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("branch %d: its messages do not extend an earlier request of id %s", n+1, id))
	}
	q.byID[id] = append(q.byID[id], len(q.sessions))
	q.sessions = append(q.sessions, s)
	q.chains = append(q.chains, chain)
}

func sameTools(a, b Session) bool {
	return a.Model == b.Model && bytes.Equal(a.Tools, b.Tools)
}

// chainOf names each beginning of a history; white space between JSON tokens does
// not count.
func chainOf(messages []json.RawMessage) []turn.Digest {
	chain := make([]turn.Digest, len(messages))
	var parent turn.Digest
	var buf bytes.Buffer
	for i, m := range messages {
		buf.Reset()
		if json.Compact(&buf, m) != nil {
			buf.Write(m)
		}
		parent = turn.Chain(parent, turn.SumBytes(buf.Bytes()))
		chain[i] = parent
	}
	return chain
}

// extends says whether b begins with all of a.
func extends(a, b []turn.Digest) bool {
	return len(a) <= len(b) && (len(a) == 0 || a[len(a)-1] == b[len(a)-1])
}
