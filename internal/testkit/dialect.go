package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// chatRequest is what the converters read of a chat.completions request.
type chatRequest struct {
	Model    json.RawMessage   `json:"model"`
	Messages []chatMessage     `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
	Choice   json.RawMessage   `json:"tool_choice"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  json.RawMessage `json:"tool_call_id"`
	Calls   []struct {
		ID       json.RawMessage `json:"id"`
		Function struct {
			Name      json.RawMessage `json:"name"`
			Arguments string          `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// AsAnthropic writes a chat.completions request for the Messages API. System messages
// go to "system", results and words between two answers into one user message, results
// first. Text literals stay as they are spelled. Arguments that are no object become
// {"text": …}.
func AsAnthropic(chat []byte) ([]byte, error) {
	var in chatRequest
	if err := json.Unmarshal(chat, &in); err != nil {
		return nil, fmt.Errorf("read chat request: %w", err)
	}
	var system, messages, blocks []string
	flush := func() {
		if len(blocks) > 0 {
			messages = append(messages, `{"role":"user","content":[`+strings.Join(blocks, ",")+`]}`)
			blocks = nil
		}
	}
	for _, m := range in.Messages {
		switch m.Role {
		case "system", "developer":
			system = append(system, parts(m.Content, "text")...)
		case "user":
			blocks = append(blocks, parts(m.Content, "text")...)
		case "tool":
			blocks = append(blocks, `{"type":"tool_result","tool_use_id":`+string(m.CallID)+`,"content":`+content(m.Content, "text")+`}`)
		default:
			flush()
			said := parts(m.Content, "text")
			for _, c := range m.Calls {
				said = append(said, `{"type":"tool_use","id":`+string(c.ID)+`,"name":`+string(c.Function.Name)+`,"input":`+object(c.Function.Arguments)+`}`)
			}
			messages = append(messages, `{"role":"assistant","content":[`+strings.Join(said, ",")+`]}`)
		}
	}
	flush()
	out := `{"model":` + string(in.Model) + `,"max_tokens":8192,"system":[` + strings.Join(system, ",") + `]`
	if in.Tools != nil {
		out += `,"tools":[` + strings.Join(tools(in.Tools, "input_schema", ``), ",") + `]`
	}
	return []byte(out + choice(in.Choice, `{"type":%s}`) + `,"messages":[` + strings.Join(messages, ",") + `]}`), nil
}

// AsResponses writes a chat.completions request for the Responses API: each message
// and each call is an item. Text literals stay as they are spelled.
func AsResponses(chat []byte) ([]byte, error) {
	var in chatRequest
	if err := json.Unmarshal(chat, &in); err != nil {
		return nil, fmt.Errorf("read chat request: %w", err)
	}
	var items []string
	for n, m := range in.Messages {
		kind, typed := "input_text", ""
		if n%2 == 0 { // the type of a message may be left out
			typed = `"type":"message",`
		}
		switch m.Role {
		case "tool":
			items = append(items, `{"type":"function_call_output","call_id":`+string(m.CallID)+`,"output":`+content(m.Content, kind)+`}`)
			continue
		case "assistant":
			kind = "output_text"
		}
		if len(m.Calls) == 0 || !empty(m.Content) {
			items = append(items, `{`+typed+`"role":"`+m.Role+`","content":`+content(m.Content, kind)+`}`)
		}
		for _, c := range m.Calls {
			items = append(items, `{"type":"function_call","call_id":`+string(c.ID)+`,"name":`+string(c.Function.Name)+`,"arguments":`+literal(c.Function.Arguments)+`}`)
		}
	}
	out := `{"model":` + string(in.Model) + `,"instructions":"Work with care.","store":false`
	if in.Tools != nil {
		out += `,"tools":[` + strings.Join(tools(in.Tools, "parameters", `"type":"function",`), ",") + `]`
	}
	return []byte(out + choice(in.Choice, `%s`) + `,"input":[` + strings.Join(items, ",") + `]}`), nil
}

func empty(content json.RawMessage) bool {
	s := string(content)
	return s == "" || s == "null" || s == `""` || s == "[]"
}

// content is a string or a list of parts of that kind.
func content(raw json.RawMessage, kind string) string {
	if len(raw) > 0 && raw[0] == '"' {
		return string(raw)
	}
	return "[" + strings.Join(parts(raw, kind), ",") + "]"
}

// parts are the parts of a chat's content as the other dialect writes them.
func parts(raw json.RawMessage, kind string) []string {
	if empty(raw) {
		return nil
	}
	if raw[0] == '"' {
		return []string{`{"type":"` + kind + `","text":` + string(raw) + `}`}
	}
	var list []struct {
		Text json.RawMessage `json:"text"`
		Mark json.RawMessage `json:"cache_control"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []string
	for _, p := range list {
		switch {
		case p.Text == nil:
			out = append(out, `{"type":"image","source":{"type":"base64","data":""}}`)
		case p.Mark != nil && kind == "text":
			out = append(out, `{"type":"text","text":`+string(p.Text)+`,"cache_control":`+string(p.Mark)+`}`)
		default:
			out = append(out, `{"type":"`+kind+`","text":`+string(p.Text)+`}`)
		}
	}
	return out
}

func object(arguments string) string {
	if text := strings.TrimSpace(arguments); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return text
	}
	return `{"text":` + literal(arguments) + `}`
}

func literal(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(text) != nil {
		return `""`
	}
	return strings.TrimSpace(out.String())
}

func tools(list []json.RawMessage, schema, typed string) []string {
	out := []string{}
	for _, raw := range list {
		var tool struct {
			Function struct {
				Name        json.RawMessage `json:"name"`
				Description json.RawMessage `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		}
		if json.Unmarshal(raw, &tool) != nil || tool.Function.Name == nil {
			continue
		}
		one := `{` + typed + `"name":` + string(tool.Function.Name)
		if tool.Function.Description != nil {
			one += `,"description":` + string(tool.Function.Description)
		}
		if tool.Function.Parameters != nil {
			one += `,"` + schema + `":` + string(tool.Function.Parameters)
		}
		out = append(out, one+`}`)
	}
	return out
}

// choice writes a tool_choice that is one word.
func choice(raw json.RawMessage, format string) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	return `,"tool_choice":` + fmt.Sprintf(format, raw)
}
