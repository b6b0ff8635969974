package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/actors"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// pipelineTurn sends one request through a fresh pipeline over the vault in dir, as a
// program does that was started again.
func pipelineTurn(t *testing.T, dir string, number uint64, body string) actors.TurnReduced {
	t.Helper()
	v, err := vault.Open(dir, vault.Options{FixedKey: true})
	require.NoError(t, err)
	c, err := compile.New(compile.Settings{Row: plan.Study()}, v.MarkerKey(), tokens.NewMemo(8<<20))
	require.NoError(t, err)
	p, err := startPipeline(c, v)
	require.NoError(t, err)
	out := p.reduce(context.Background(), request.Scope{RequestPurpose: request.Word("conversation")}, actors.ReduceTurn{
		Binding: turn.Binding{Home: dir, Session: "s", Turn: number}, Body: []byte(body),
	})
	require.NoError(t, p.stop(context.Background()))
	return out
}

// chatBody is a request about a long system prompt, a question and these messages.
func chatBody(messages ...string) string {
	system := quoted(strings.Repeat("Work with care. ", 700))
	head := []string{`{"role":"system","content":` + system + `}`, `{"role":"user","content":"why does it fail?"}`}
	return `{"model":"gpt-4o","tools":[` + reduce.RecoveryTool + `],"messages":[` + strings.Join(append(head, messages...), ",") + `]}`
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func toolCalls(ids ...string) string {
	var calls []string
	for _, id := range ids {
		calls = append(calls, `{"id":"`+id+`","type":"function","function":{"name":"bash\ud800","arguments":"{}"}}`)
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func toolResult(id, text string) string {
	return `{"role":"tool","tool_call_id":"` + id + `","content":` + quoted(text) + `}`
}

// With a restart before every turn: a form stays when the host writes the same text as
// a part with a cache mark, a request whose results do not pair goes out whole and what
// it showed stays whole, and a tool name that is no Unicode stops none of it.
func TestPipeline_FormsSurviveMarksBrokenRequestsAndRestarts(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "2026-11-30T10:%02d:%02dZ INFO  request served status=200 took=%dms\n", i/60%60, i%60, 3+i%5)
	}
	dir := t.TempDir()
	call, result := toolCalls("a"), toolResult("a", log.String())
	first := pipelineTurn(t, dir, 1, chatBody(call, result))
	require.Equal(t, turn.Reduced, first.Reason)
	require.Len(t, first.Edits, 1)

	marked := `{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":` + quoted(log.String()) + `,"cache_control":{"type":"ephemeral"}}]}`
	second := pipelineTurn(t, dir, 2, chatBody(call, marked, `{"role":"user","content":"go on"}`))
	require.Equal(t, turn.Reduced, second.Reason)
	require.Equal(t, first.Edits[0].Value, second.Edits[0].Value)
	require.Equal(t, "/messages/3/content/0/text", second.Edits[0].Pointer)

	half := []string{call, result, `{"role":"user","content":"go on"}`, toolCalls("b", "c"), toolResult("b", "next\n"+log.String())}
	broken := pipelineTurn(t, dir, 3, chatBody(half...))
	require.Equal(t, turn.PairingBroken, broken.Reason)
	require.False(t, broken.Edited)

	mended := pipelineTurn(t, dir, 4, chatBody(append(half, toolResult("c", "short"))...))
	require.Equal(t, turn.Reduced, mended.Reason)
	require.Len(t, mended.Edits, 1, "what was sent whole stays whole")
	require.Equal(t, first.Edits[0], mended.Edits[0])
}
