package compile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/request"
	"token-terminator/turn"
)

// marked is a result as hosts write it while it carries a cache mark: one text part.
func marked(text string) any {
	return []any{map[string]any{"type": "text", "text": text, "cache_control": map[string]any{"type": "ephemeral"}}}
}

// plainAgain turns the results of a request back into strings, as hosts do once the
// cache marks have moved on.
func plainAgain(t *testing.T, c *chat) *chat {
	t.Helper()
	plain := *c
	plain.messages = nil
	for _, m := range c.messages {
		doc, err := request.Parse([]byte(`{"messages":[` + m + `]}`))
		require.NoError(t, err)
		one := doc.Messages[0]
		if one.Role != "tool" {
			plain.messages = append(plain.messages, m)
			continue
		}
		text, err := doc.Value(one.Texts[0])
		require.NoError(t, err)
		plain.raw(map[string]any{"role": "tool", "tool_call_id": one.CallID, "content": text})
	}
	return &plain
}

// A message has one identity with its content as a string and as a single text part,
// so a form decided for one spelling is shown in the other as well.
func TestTurn_AMovedCacheMarkKeepsEveryForm(t *testing.T) {
	t.Parallel()
	file := sourceFile(80)
	c := newChain(t, nil)
	talk := newChat().call("bash", cmd("tail a"), marked(serviceLog(400, oddLine))).
		call("Read", map[string]any{"file_path": "/a.go"}, marked(file)).
		call("Read", map[string]any{"file_path": "/a.go"}, marked(file))
	first := c.turn(talk.body())
	require.Len(t, first.Blocks, 3)
	require.NotEmpty(t, first.Blocks[2].Decision.Bases)

	plain := plainAgain(t, talk).call("Read", map[string]any{"file_path": "/a.go"}, file)
	second := c.turn(plain.body())
	require.Equal(t, turn.Reduced, second.Reason)
	require.Len(t, second.Blocks, 4)
	require.Equal(t, toolText(t, first.Body, 3), toolText(t, second.Body, 3))
	require.Equal(t, toolText(t, first.Body, 7), toolText(t, second.Body, 7))
	requireBases(t, second.Body, second.Blocks[2].Decision.Bases)
	requireBases(t, second.Body, second.Blocks[3].Decision.Bases)

	again := c.turn(talk.body())
	require.True(t, bytes.Equal(first.Body, again.Body), "and back")
}

// requireBases demands that every base names a string of the request that is sent.
func requireBases(t *testing.T, body []byte, bases []turn.Base) {
	t.Helper()
	require.NotEmpty(t, bases)
	doc, err := request.Parse(body)
	require.NoError(t, err)
	for _, base := range bases {
		_, _, err := doc.At(fmt.Sprintf("/messages/%d%s", base.Message, base.Block))
		require.NoError(t, err)
	}
}

// A note names one text, also where a result has several.
func TestTurn_ANoteNamesThePartItMeans(t *testing.T) {
	t.Parallel()
	part := func(text string) map[string]any { return map[string]any{"type": "text", "text": text} }
	read := map[string]any{"file_path": "/a.go"}
	first, second := words(40, 1), words(40, 2)
	list, err := json.Marshal([]any{part(first), part(second)})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		result any
		want   string
	}{
		"content parts": {[]any{part(first), part(second)}, "result 1 (Read a.go) part 2]"},
		"text blocks":   {string(list), "result 1 (Read a.go) 1/text]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := newChain(t, nil).turn(newChat().call("Read", read, c.result).call("Read", read, second).body())
			require.Contains(t, toolText(t, out.Body, 5), c.want)
		})
	}
}

// A base inside a call is named where it stands, also in a custom tool's call.
func TestTurn_ABaseInACustomCallIsNamedWhereItStands(t *testing.T) {
	t.Parallel()
	file := words(60, 3)
	input, err := json.Marshal(map[string]string{"path": "/a.go", "content": file})
	require.NoError(t, err)
	talk := newChat().raw(map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
		"id": "c1", "type": "custom", "custom": map[string]any{"name": "save", "input": string(input)},
	}}}).raw(map[string]any{"role": "tool", "tool_call_id": "c1", "content": "saved"}).
		call("Read", map[string]any{"file_path": "/a.go"}, file)
	out := newChain(t, nil).turn(talk.body())
	require.Len(t, out.Blocks, 1)
	require.Equal(t, "/tool_calls/0/custom/input", out.Blocks[0].Decision.Bases[0].Block)
	requireBases(t, out.Body, out.Blocks[0].Decision.Bases)
}

// words is text of n lines that no form but a reference makes smaller.
func words(n, seed int) string {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "the %x of %x was %x\n", rng.Uint64(), rng.Uint64(), rng.Uint32())
	}
	return b.String()
}
