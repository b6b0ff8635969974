package datasets

import (
	"encoding/json"
	"strconv"

	"token-terminator/internal/strictjson"
	"token-terminator/request"
)

// result is one tool result of a transcript, as text literals.
type result struct {
	entry *entry
	texts []json.RawMessage // JSON string literals
}

// builder turns one path into a session.
type builder struct {
	t       *transcript
	path    []*entry
	onPath  map[*entry]bool
	built   Session
	pending []json.RawMessage // text literals of the next user message
	emitted map[string]bool
}

func (b *builder) session(r *reader) Session {
	b.onPath, b.emitted = map[*entry]bool{}, map[string]bool{}
	for _, e := range b.path {
		b.onPath[e] = true
	}
	b.built = Session{ID: b.id(r), Source: r.name, Model: "unknown", Format: ClaudeCode, Dialect: request.Chat, File: r.name}
	for i, e := range b.path {
		switch e.kind {
		case "assistant":
			if e.response != "" && !b.emitted[e.response] {
				b.emitted[e.response] = true
				b.answer(e.response, b.nextAnswer(i))
			}
		case "user":
			if e.compactSummary || e.hidden {
				b.t.count("lines the model was not sent left out")
				continue
			}
			b.pending = append(b.pending, b.t.userTexts(e)...)
		case "attachment":
			b.pending = append(b.pending, b.t.attachmentTexts(e)...)
		}
	}
	b.flush()
	return b.built
}

func (b *builder) id(r *reader) string {
	leaf := b.path[len(b.path)-1]
	if leaf.side && leaf.agent != "" && r.base() != "agent-"+leaf.agent {
		return r.base() + "-agent-" + printable(leaf.agent)
	}
	return r.base()
}

// nextAnswer is the first line of the next answer on the path after i, nil none.
func (b *builder) nextAnswer(i int) *entry {
	own := b.path[i].response
	for _, e := range b.path[i+1:] {
		if e.response != "" && e.response != own {
			return e
		}
	}
	return nil
}

// flush sends the pending user texts as one user message.
func (b *builder) flush() {
	if len(b.pending) == 0 {
		return
	}
	b.append(appendContent([]byte(`{"role":"user","content":`), b.pending))
	b.pending = nil
}

func (b *builder) append(message []byte) {
	b.built.Messages = append(b.built.Messages, append(message, '}'))
}

// answer sends one response: pending user texts, the assistant message, and the
// results of its calls in call order. A call without a result before the next
// answer gets the error the host would send; after the last answer nothing was sent.
func (b *builder) answer(key string, next *entry) {
	a := b.t.readAnswer(b.t.responses[key])
	if len(a.texts) == 0 && len(a.calls) == 0 {
		b.t.count("answers without text or call left out")
		return
	}
	b.flush()
	if b.built.Model == "unknown" && a.model != "" {
		b.built.Model = a.model
	}
	rec := a.recorded
	rec.Message = len(b.built.Messages)
	b.built.Recorded = append(b.built.Recorded, rec)
	b.append(a.message())
	found := make([]*result, len(a.calls))
	any := next != nil
	for i, c := range a.calls {
		found[i] = b.t.resultOf(c.id, a.last, next)
		any = any || found[i] != nil
	}
	if !any {
		return
	}
	for i, c := range a.calls {
		texts := []json.RawMessage{json.RawMessage(noResult)}
		if found[i] != nil {
			texts = found[i].texts
			if !b.onPath[found[i].entry] {
				b.pending = append(b.pending, b.t.userTexts(found[i].entry)...)
			}
		} else {
			b.t.count("calls without a recorded result answered by an error")
		}
		m := strictjson.AppendQuoted([]byte(`{"role":"tool","tool_call_id":`), c.id)
		b.append(appendContent(append(m, `,"content":`...), texts))
	}
}

// noResult is what a call that was interrupted is answered with.
const noResult = `"Error: the call was interrupted before it gave a result"`

// resultOf gives the result of a call: the first one written after the call's
// answer began and before the next answer.
func (t *transcript) resultOf(id string, answer, next *entry) *result {
	for i, r := range t.results[id] {
		if r.entry.at > answer.at && (next == nil || r.entry.at < next.at) {
			return &t.results[id][i]
		}
	}
	return nil
}

// appendContent appends message content: a string for one text, text parts for more.
func appendContent(dst []byte, texts []json.RawMessage) []byte {
	if len(texts) == 1 {
		return append(dst, texts[0]...)
	}
	dst = append(dst, '[')
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"text","text":`...)
		dst = append(dst, t...)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// answerParts is one response, read.
type answerParts struct {
	model    string
	texts    []json.RawMessage
	calls    []call
	recorded Recorded
	last     *entry // first line of the response: results stand after it
}

type call struct {
	id, name string
	args     []byte // compact JSON
}

// message gives {"role","content"[,"tool_calls"]} without the closing brace. Texts
// of one answer are joined by an empty line.
func (a answerParts) message() []byte {
	m := []byte(`{"role":"assistant","content":`)
	if len(a.texts) == 0 {
		m = append(m, "null"...)
	} else {
		m = append(m, '"')
		for i, t := range a.texts {
			if i > 0 {
				m = append(m, `\n\n`...)
			}
			m = append(m, t[1:len(t)-1]...)
		}
		m = append(m, '"')
	}
	if len(a.calls) == 0 {
		return m
	}
	m = append(m, `,"tool_calls":[`...)
	for i, c := range a.calls {
		if i > 0 {
			m = append(m, ',')
		}
		m = strictjson.AppendQuoted(append(m, `{"id":`...), c.id)
		m = strictjson.AppendQuoted(append(m, `,"type":"function","function":{"name":`...), c.name)
		m = strictjson.AppendQuoted(append(m, `,"arguments":`...), string(c.args))
		m = append(m, `}}`...)
	}
	return append(m, ']')
}

// imageNote stands for an image, whose bytes no replay can count.
func imageNote(mediaType string, bytes int) json.RawMessage {
	if mediaType == "" {
		mediaType = "unknown type"
	}
	return strictjson.AppendQuoted(nil, "[image, "+mediaType+", "+strconv.Itoa(bytes)+" characters of base64, left out of the replay]")
}
