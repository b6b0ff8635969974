package datasets

import (
	"bytes"
	"encoding/json"

	"token-terminator/internal/strictjson"
)

// block is one content block of a message.
type block struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	ToolName  string          `json:"tool_name"`
	Source    struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
}

// blocksOf reads message content: a string is one text block. ok is false for any
// other shape.
func blocksOf(content json.RawMessage) (blocks []block, ok bool) {
	if isString(content) {
		return []block{{Type: "text", Text: content}}, true
	}
	var list []json.RawMessage
	if json.Unmarshal(content, &list) != nil {
		return nil, false
	}
	for _, raw := range list {
		var b block
		if json.Unmarshal(raw, &b) != nil {
			b = block{Type: "unreadable"}
		}
		blocks = append(blocks, b)
	}
	return blocks, true
}

func isString(raw json.RawMessage) bool { return len(raw) > 1 && raw[0] == '"' }

func contentOf(e *entry) json.RawMessage {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(e.message, &m) != nil {
		return nil
	}
	return m.Content
}

// addResults notes the tool results of a user line.
func (t *transcript) addResults(e *entry) {
	blocks, ok := blocksOf(contentOf(e))
	if !ok {
		t.count("user lines of unknown shape left out")
		return
	}
	for _, b := range blocks {
		if b.Type == "tool_result" && b.ToolUseID != "" {
			t.results[b.ToolUseID] = append(t.results[b.ToolUseID], result{entry: e, texts: t.texts(b.Content)})
		}
	}
}

// userTexts gives the text literals of a user line, tool results aside; an image
// becomes a note.
func (t *transcript) userTexts(e *entry) []json.RawMessage {
	blocks, ok := blocksOf(contentOf(e))
	if !ok {
		return nil
	}
	var out []json.RawMessage
	for _, b := range blocks {
		if b.Type != "tool_result" {
			out = append(out, t.text(b)...)
		}
	}
	return out
}

// texts gives the literals of a tool result's content; an empty one is "".
func (t *transcript) texts(content json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	if blocks, ok := blocksOf(content); ok {
		for _, b := range blocks {
			out = append(out, t.text(b)...)
		}
	}
	if len(out) == 0 {
		return []json.RawMessage{json.RawMessage(`""`)}
	}
	return out
}

func (t *transcript) text(b block) []json.RawMessage {
	switch {
	case b.Type == "text" && isString(b.Text):
		return []json.RawMessage{b.Text}
	case b.Type == "image":
		t.count("images replaced by a note")
		return []json.RawMessage{imageNote(b.Source.MediaType, len(b.Source.Data))}
	case b.Type == "tool_reference":
		return []json.RawMessage{strictjson.AppendQuoted(nil, "[tool "+b.ToolName+" is available]")}
	}
	t.count("blocks of type " + printable(b.Type) + " left out")
	return nil
}

// readAnswer joins the lines of one response. Usage is the last line's, since only
// its output figure is final.
func (t *transcript) readAnswer(r *response) answerParts {
	a := answerParts{last: r.entries[0]}
	a.recorded.Start = r.entries[0].time
	for _, e := range r.entries {
		a.recorded.End = e.time
		t.readUsage(e, &a)
		blocks, ok := blocksOf(contentOf(e))
		if !ok {
			t.count("answers of unknown shape left out")
		}
		for _, b := range blocks {
			switch {
			case b.Type == "text" && isString(b.Text) && string(b.Text) != `""`:
				a.texts = append(a.texts, b.Text)
			case b.Type == "text":
			case b.Type == "tool_use" && b.ID != "" && b.Name != "":
				a.calls = append(a.calls, call{id: b.ID, name: b.Name, args: compact(b.Input)})
			case b.Type == "thinking", b.Type == "redacted_thinking":
				t.count("thinking blocks left out")
			default:
				t.count("blocks of type " + printable(b.Type) + " left out")
			}
		}
	}
	return a
}

func (t *transcript) readUsage(e *entry, a *answerParts) {
	var m struct {
		Model string `json:"model"`
		Usage *struct {
			Input         int `json:"input_tokens"`
			CacheCreation int `json:"cache_creation_input_tokens"`
			CacheRead     int `json:"cache_read_input_tokens"`
			Output        int `json:"output_tokens"`
			Split         struct {
				Hour int `json:"ephemeral_1h_input_tokens"`
			} `json:"cache_creation"`
		} `json:"usage"`
	}
	if json.Unmarshal(e.message, &m) != nil {
		return
	}
	if m.Model != "" {
		a.model = m.Model
	}
	if u := m.Usage; u != nil {
		rec := &a.recorded
		rec.HasUsage = true
		rec.Fresh, rec.Read, rec.Output = u.Input, u.CacheRead, u.Output
		rec.WriteOne = min(u.Split.Hour, u.CacheCreation)
		rec.WriteShort = u.CacheCreation - rec.WriteOne
	}
}

func compact(raw json.RawMessage) []byte {
	var buf bytes.Buffer
	if len(raw) == 0 || json.Compact(&buf, raw) != nil {
		return []byte("{}")
	}
	return buf.Bytes()
}

// attachmentTexts gives the text a host injects into the next user message, for
// the attachment types that do so.
func (t *transcript) attachmentTexts(e *entry) []json.RawMessage {
	var a struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
		Added   json.RawMessage `json:"addedLines"`
	}
	if json.Unmarshal(e.attachment, &a) != nil {
		t.count("attachments of unknown shape left out")
		return nil
	}
	content := a.Content
	switch a.Type {
	case "hook_additional_context", "skill_listing", "task_reminder":
	case "deferred_tools_delta":
		content = a.Added
	default:
		t.count("attachments of type " + printable(a.Type) + " left out")
		return nil
	}
	if isString(content) {
		return []json.RawMessage{content}
	}
	var list, out []json.RawMessage
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	for _, item := range list {
		if !isString(item) {
			item = strictjson.AppendQuoted(nil, string(compact(item)))
		}
		out = append(out, item)
	}
	return out
}
