package compile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// chat builds a chat.completions request message by message.
type chat struct {
	messages []string
	calls    int
	noTool   bool
	choice   string
	model    string
}

func newChat() *chat {
	c := &chat{model: "gpt-4o"}
	c.raw(map[string]any{"role": "system", "content": "You are a coding agent. " + strings.Repeat("Work with care. ", 700)})
	c.raw(map[string]any{"role": "user", "content": "Find out why the service fails."})
	return c
}

func (c *chat) raw(m map[string]any) *chat {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	c.messages = append(c.messages, string(data))
	return c
}

func (c *chat) user(text string) *chat {
	return c.raw(map[string]any{"role": "user", "content": text})
}

// call adds an assistant message with one call and its result.
func (c *chat) call(tool string, args map[string]any, result any) *chat {
	c.calls++
	id := fmt.Sprintf("call_%d", c.calls)
	encoded, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	c.raw(map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
		"id": id, "type": "function", "function": map[string]any{"name": tool, "arguments": string(encoded)},
	}}})
	return c.raw(map[string]any{"role": "tool", "tool_call_id": id, "content": result})
}

func (c *chat) body() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}`, c.model)
	if !c.noTool {
		b.WriteString("," + reduce.RecoveryTool)
	}
	b.WriteString("]")
	if c.choice != "" {
		b.WriteString(`,"tool_choice":` + c.choice)
	}
	b.WriteString(`,"messages":[` + strings.Join(c.messages, ",") + "]}")
	return []byte(b.String())
}

// chain runs turns of one session as the actors would.
type chain struct {
	t        *testing.T
	compiler *compile.Compiler
	memory   *plan.Memory
	session  string
	stored   map[turn.Digest]string
	pin      func(turn.Evidence) turn.Pinned // nil: everything is proven
	facts    compile.Facts
}

func newChain(t *testing.T, change func(*compile.Settings)) *chain {
	t.Helper()
	settings := compile.Settings{Row: plan.Study(), Reduce: reduce.Settings{Preset: reduce.Default}}
	if change != nil {
		change(&settings)
	}
	c, err := compile.New(settings, key(), tokens.NewMemo(32<<20))
	require.NoError(t, err)
	return &chain{t: t, compiler: c, session: "s1", stored: map[turn.Digest]string{}}
}

func key() []byte { return []byte(strings.Repeat("k", 32)) }

func (c *chain) begin(body []byte) (*compile.Draft, turn.Reason) {
	return c.compiler.Begin(compile.Snapshot{Binding: turn.Binding{Session: c.session}, Memory: c.memory, Facts: c.facts}, body)
}

func (c *chain) turn(body []byte) compile.Outcome {
	c.t.Helper()
	draft, reason := c.begin(body)
	require.Equal(c.t, turn.Reason(""), reason)
	evidence := draft.Evidence()
	pinned := prove(evidence)
	if c.pin != nil {
		pinned = c.pin(evidence)
	}
	for _, a := range evidence.Artifacts {
		c.stored[a.Digest] = a.Text
	}
	out := draft.Finish(pinned)
	c.memory = c.memory.With(evidence.Nodes).With(out.Nodes)
	c.check(body, out)
	return out
}

func prove(evidence turn.Evidence) turn.Pinned {
	pinned := turn.Pinned{Proofs: map[turn.Digest]turn.Proof{}}
	for _, a := range evidence.Artifacts {
		id := a.Digest.ID()
		pinned.Proofs[a.Digest] = turn.Proof{Artifact: id, Shown: string(id[:2+turn.MinShownHex])}
	}
	return pinned
}

// check holds an outcome to what every turn promises.
func (c *chain) check(body []byte, out compile.Outcome) {
	t := c.t
	t.Helper()
	if out.Body == nil {
		require.NotEqual(t, turn.Reduced, out.Reason)
		require.Empty(t, out.Edits)
		return
	}
	before, err := request.Parse(body)
	require.NoError(t, err)
	after, err := request.Parse(out.Body)
	require.NoError(t, err)
	require.NoError(t, after.Check())
	require.Less(t, len(out.Body), len(body))
	require.Less(t, out.Tokens.Final.Tokens, out.Tokens.Raw.Tokens)
	require.Len(t, after.Messages, len(before.Messages))
	changed := map[string]bool{}
	for _, b := range out.Blocks {
		changed[fmt.Sprint(b.Message, b.Decision.Block)] = true
		require.Contains(t, c.stored, b.Decision.Before, "evidence was named before the form was shown")
		require.Equal(t, "tool", before.Messages[b.Message].Role)
		if b.Decision.Form.Hides() {
			require.NotEmpty(t, b.Decision.ShownID())
			require.True(t, strings.HasPrefix(string(b.Decision.Artifact), b.Decision.ShownID()))
		}
		require.LessOrEqual(t, len(b.Decision.Bases), turn.MaxBases)
		for _, base := range b.Decision.Bases {
			require.Less(t, base.Message, b.Message, "a base stands before what leans on it")
		}
	}
	for i, m := range before.Messages {
		require.Equal(t, m.Role, after.Messages[i].Role)
		for n, text := range m.Texts {
			if !changed[fmt.Sprint(i, text.Block)] {
				old, _ := before.Value(text)
				now, _ := after.Value(after.Messages[i].Texts[n])
				require.Equal(t, old, now, "message %d%s", i, text.Block)
			}
		}
	}
}

func toolText(t *testing.T, body []byte, i int) string {
	t.Helper()
	doc, err := request.Parse(body)
	require.NoError(t, err)
	text, err := doc.Value(doc.Messages[i].Texts[0])
	require.NoError(t, err)
	return text
}

// serviceLog is an ordinary log of n lines with one line of another shape.
func serviceLog(n int, odd string) string {
	var b strings.Builder
	for i := range n {
		if i == n/2 && odd != "" {
			b.WriteString(odd + "\n")
		}
		fmt.Fprintf(&b, "2026-11-30T10:%02d:%02dZ INFO  http request served path=/health status=200 took=%dms\n", i/60%60, i%60, 3+i%5)
	}
	return b.String()
}

func sourceFile(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%6d\tfunc handler%d(w http.ResponseWriter, r *http.Request) { serve(w, r, %d) }\n", i+1, i, i*7)
	}
	return b.String()
}
