package datasets

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/request"
)

// anthropicLine is a request of the Messages API whose last message carries the cache
// mark, as hosts move it.
func anthropicLine(messages ...string) string {
	last := len(messages) - 1
	marked := append([]string(nil), messages...)
	marked[last] = strings.Replace(marked[last], `"end":0`, `"cache_control":{"type":"ephemeral"}`, 1)
	for i := range last {
		marked[i] = strings.Replace(marked[i], `,"end":0`, ``, 1)
	}
	return `{"id":"a","model":"claude-sonnet-5-5","max_tokens":9,"system":"s","tools":[{"name":"Bash","input_schema":{}}],"tool_choice":{"type":"auto"},"metadata":{"k":1},"messages":[` + strings.Join(marked, ",") + `]}`
}

func TestRequestsOfTheMessagesAPIAreOneSession(t *testing.T) {
	t.Parallel()
	ask := `{"role":"user","content":[{"type":"text","text":"go","end":0}]}`
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}}]}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x","end":0}]}`
	done := `{"role":"assistant","content":"done"}`
	got := read(t, anthropicLine(ask)+"\n"+anthropicLine(ask, call, result)+"\n"+anthropicLine(ask, call, result, done, ask))
	require.Len(t, got, 1)
	s := got[0]
	require.Equal(t, request.Anthropic, s.Dialect)
	require.True(t, s.PromptRecorded)
	turns := s.Turns()
	require.Len(t, turns, 2)
	require.Equal(t, []string{`{"command":"ls"}`}, Arguments(turns[0].Answers[0]))
	for _, turn := range turns {
		require.True(t, strings.HasPrefix(string(turn.Request()), `{"model":"claude-sonnet-5-5","tools":[{"name":"Bash","input_schema":{}}],"max_tokens":9,"system":"s","tool_choice":{"type":"auto"},"metadata":{"k":1},"messages":[`))
		doc, err := request.Parse(turn.Request())
		require.NoError(t, err)
		require.Equal(t, request.Anthropic, doc.Dialect)
		require.NoError(t, doc.Check())
	}
}

func TestRequestsOfTheResponsesAPIAreOneSession(t *testing.T) {
	t.Parallel()
	line := func(items ...string) string {
		return `{"id":"a","model":"gpt-6.2-sol","instructions":"s","store":false,"input":[` + strings.Join(items, ",") + `],"temperature":1}`
	}
	ask, think := `{"role":"user","content":"go"}`, `{"type":"reasoning","encrypted_content":"e"}`
	call, custom := `{"type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"}`, `{"type":"custom_tool_call","call_id":"b","name":"g","input":"free"}`
	result, other := `{"type":"function_call_output","call_id":"a","output":"r"}`, `{"type":"custom_tool_call_output","call_id":"b","output":"r"}`
	got := read(t, line(ask)+"\n"+line(ask, think, call, custom, result, other)+"\n"+line(ask, think, call, custom, result, other, `{"type":"message","role":"assistant","content":"ok"}`))
	require.Len(t, got, 1)
	s := got[0]
	require.Equal(t, request.Responses, s.Dialect)
	require.Equal(t, "input", s.Key())
	var roles []string
	for i := range s.Messages {
		roles = append(roles, s.Role(i))
	}
	require.Equal(t, []string{"user", "assistant", "assistant", "assistant", "tool", "tool", "assistant"}, roles)
	turns := s.Turns()
	require.Len(t, turns, 2)
	var used []string
	for _, answer := range turns[0].Answers {
		used = append(used, Arguments(answer)...)
	}
	require.Equal(t, []string{`{"x":1}`, "free"}, used)
	require.Equal(t, `{"model":"gpt-6.2-sol","instructions":"s","store":false,"temperature":1,"input":[`+ask+`]}`, string(turns[0].Request()))
	require.True(t, json.Valid(turns[1].Request()))
}

func TestBadDialectLinesAreNamed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"model":"m","input":7}`:                                            `field input`,
		`{"model":"m","input":[]}`:                                           `field input`,
		`{"model":"m","input":["x"]}`:                                        `field input[0]`,
		`{"model":"m","input":[{"role":"user","content":"x"},{"x":1}]}`:      `field input[1].role`,
		`{"model":"m","input":[{"type":7,"role":"user","content":"x"}]}`:     `field input[0].role`,
		`{"model":"m","system":"s","messages":[{"content":[{"text":"x"}]}]}`: `field messages[0].role`,
	} {
		_, problems := Read("f.jsonl", []byte(text), Auto)
		require.Len(t, problems, 1, text)
		require.ErrorContains(t, problems[0], want)
	}
	require.Empty(t, Arguments([]byte(`{"role":"assistant","content":"x"}`)))
	require.Empty(t, Arguments([]byte(`"x"`)))
}

func TestAnInputOfOneStringIsATurnThatPasses(t *testing.T) {
	t.Parallel()
	line := `{"model":"m","store":false,"input":"one \"string\""}`
	sessions, problems := Read("log.jsonl", []byte(line+"\n"), Auto)
	require.Empty(t, problems)
	require.Len(t, sessions, 1)
	require.Equal(t, request.Responses, sessions[0].Dialect)
	turns := sessions[0].Turns()
	require.Len(t, turns, 1)
	require.JSONEq(t, line, string(turns[0].Request()))
}
