package compile_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
)

func function(id, tool, args string) map[string]any {
	return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": tool, "arguments": args}}
}

// A log that shrinks well as a result stays byte for byte wherever else it stands
// (B2, B3, B4: no authority-bearing or non-text content changes its place or words).
func TestWordsOfOthersNeverChange(t *testing.T) {
	t.Parallel()
	log := serviceLog(400, oddLine)
	talk := newChat().
		raw(map[string]any{"role": "system", "content": log}).
		raw(map[string]any{"role": "developer", "content": log}).
		user(log).
		raw(map[string]any{"role": "assistant", "content": log}).
		raw(map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": log}, map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:,x"}},
		}}).
		call("bash", cmd(log), "ok")
	out := newChain(t, nil).turn(talk.body())
	require.Nil(t, out.Body)
	require.Equal(t, turn.NothingToReduce, out.Reason)

	// Beside a result that is shown smaller they stay as well.
	body := talk.call("bash", cmd("tail b"), serviceLog(500, oddLine)).body()
	before := bytes.Clone(body)
	out = newChain(t, nil).turn(body)
	require.Equal(t, before, body, "the caller's bytes stay")
	require.Len(t, out.Edits, 1)
	doc, err := request.Parse(out.Body)
	require.NoError(t, err)
	for i, m := range doc.Messages[:len(doc.Messages)-1] {
		require.Equal(t, talk.messages[i], string(out.Body[m.Span.Start:m.Span.End]), "message %d", i)
	}
}

// Each odd result stays whole with its reason, and the ordinary one beside it is
// reduced all the same (B11: one bad slot does not fail the request).
func TestOddResultsStayWholeAndHurtNoOther(t *testing.T) {
	t.Parallel()
	log := serviceLog(300, oddLine)
	picture := map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:,x"}}
	for name, c := range map[string]struct {
		result string // the tool message's JSON after its id
		want   turn.Reason
	}{
		"a picture beside the text":  {`"content":[{"type":"text","text":LOG},{"type":"image_url","image_url":{"url":"data:,x"}}]`, turn.MixedContent},
		"a part of an unknown type":  {`"content":[{"type":"audio","data":"AA"},{"type":"text","text":LOG}]`, turn.MixedContent},
		"a lone surrogate":           {`"content":"\ud800"` + `,"x":LOG`, turn.LoneSurrogate},
		"content given twice":        {`"content":LOG,"content":LOG`, turn.DuplicateKey},
		"content that is an object":  {`"content":{"text":LOG}`, ""},
		"a surrogate inside the log": {`"content":BADLOG`, turn.LoneSurrogate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			talk := newChat().raw(map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
				function("odd", "bash", `{"command":"a"}`), function("plain", "bash", `{"command":"tail b"}`),
			}})
			literal := string(request.EscapeString(nil, log))
			bad := literal[:len(literal)-1] + `\ud800"`
			odd := `{"role":"tool","tool_call_id":"odd",` + strings.NewReplacer("BADLOG", bad, "LOG", literal).Replace(c.result) + `}`
			talk.messages = append(talk.messages, odd)
			talk.raw(map[string]any{"role": "tool", "tool_call_id": "plain", "content": serviceLog(420, oddLine)})
			out := newChain(t, nil).turn(talk.body())
			require.Equal(t, turn.Reduced, out.Reason)
			require.Len(t, out.Blocks, 1)
			require.Equal(t, 4, out.Blocks[0].Message)
			require.Contains(t, string(out.Body), odd)
			if c.want != "" {
				require.NotEmpty(t, out.Kept)
				require.Equal(t, c.want, out.Kept[0].Reason)
			}
		})
	}
	nested := newChat().raw(map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{function("", "bash", `{}`)}}).
		raw(map[string]any{"role": "tool", "tool_call_id": "", "content": log})
	out := newChain(t, nil).turn(nested.body())
	require.Nil(t, out.Body)
	require.Equal(t, turn.NestedCall, out.Kept[0].Reason)

	texts := newChat().call("bash", cmd("a"), []any{map[string]any{"type": "text", "text": log}, map[string]any{"type": "text", "text": "end"}})
	require.Equal(t, turn.Reduced, newChain(t, nil).turn(texts.body()).Reason, "several text parts are text")
	mixed := newChat().call("bash", cmd("a"), []any{map[string]any{"type": "text", "text": log}, picture})
	require.Nil(t, newChain(t, nil).turn(mixed.body()).Body)
}

func TestFormsCanBeSwitchedOffOneByOne(t *testing.T) {
	t.Parallel()
	log, file := serviceLog(400, oddLine), strings.ReplaceAll(sourceFile(60), "     ", "")
	talk := newChat().call("bash", cmd("tail a"), log).call("bash", cmd("x"), file).call("bash", cmd("y"), file)
	for name, c := range map[string]struct {
		change func(*compile.Settings)
		never  []turn.Form
	}{
		"no hiding": {func(s *compile.Settings) { s.NoHiding = true }, []turn.Form{turn.Compressed}},
		"no delta":  {func(s *compile.Settings) { s.NoDelta = true }, []turn.Form{turn.Delta, turn.Reference}},
		"no layout": {func(s *compile.Settings) { s.NoLayout = true }, []turn.Form{turn.Layout}},
		"none": {
			func(s *compile.Settings) { s.NoLayout, s.NoDelta, s.NoHiding = true, true, true },
			[]turn.Form{turn.Layout, turn.Delta, turn.Reference, turn.Compressed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := newChain(t, c.change).turn(talk.body())
			for _, b := range out.Blocks {
				require.NotContains(t, c.never, b.Decision.Form)
			}
			require.Equal(t, name == "none", out.Body == nil)
		})
	}
}

// Evidence that does not fit the limit is never cut to fit: nothing is hidden.
func TestALimitIsNeverForced(t *testing.T) {
	t.Parallel()
	limit := func(n int) func(*compile.Settings) {
		return func(s *compile.Settings) { s.NoLayout, s.Reduce.Form.MaxTokens = true, n }
	}
	body := newChat().call("bash", cmd("tail a"), serviceLog(400, oddLine)).body()
	out := newChain(t, limit(50)).turn(body)
	require.Nil(t, out.Body)
	require.Equal(t, turn.NoForcedFit, out.Kept[0].Reason)
	require.Equal(t, turn.Reduced, newChain(t, limit(5000)).turn(body).Reason)
}

// What was measured is what leaves: the vault's longer ids are in, and nothing is
// added after the gate (A2, A21, B27).
func TestTheGateMeasuresTheBytesThatLeave(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	c.pin = func(ev turn.Evidence) turn.Pinned {
		pinned := prove(ev)
		for digest, proof := range pinned.Proofs {
			proof.Shown = string(proof.Artifact)
			pinned.Proofs[digest] = proof
		}
		return pinned
	}
	body := newChat().call("bash", cmd("tail a"), serviceLog(400, oddLine)).call("bash", cmd("b"), pick(2)).body()
	out := c.turn(body)
	require.Equal(t, turn.Reduced, out.Reason)
	counter, err := tokens.Named(tokens.O200kBase)
	require.NoError(t, err)
	for _, side := range []struct {
		bytes []byte
		want  tokens.Measure
	}{{body, out.Tokens.Raw}, {out.Body, out.Tokens.Final}} {
		canonical, err := request.Canonical(side.bytes)
		require.NoError(t, err)
		require.Equal(t, counter.Count(canonical), side.want.Tokens)
		require.Equal(t, len(canonical), side.want.Bytes)
	}
	doc, err := request.Parse(body)
	require.NoError(t, err)
	same, err := doc.Apply(out.Edits)
	require.NoError(t, err)
	require.Equal(t, string(out.Body), string(same), "the edits say the same as the body")
}

// A session that took a form keeps it when the vault fails later: what was sent is
// pinned already, what is new stays original.
func TestWhatWasSentStaysWhenTheVaultFailsLater(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := newChat().call("bash", cmd("tail a"), serviceLog(400, oddLine))
	first := c.turn(talk.body())
	c.pin = func(turn.Evidence) turn.Pinned { return turn.Pinned{Reason: turn.StorageUnavailable} }
	again := c.turn(talk.call("bash", cmd("tail b"), serviceLog(450, oddLine)).body())
	require.Equal(t, turn.Reduced, again.Reason)
	require.Len(t, again.Blocks, 1)
	require.Equal(t, toolText(t, first.Body, 3), toolText(t, again.Body, 3))
	require.Equal(t, serviceLog(450, oddLine), toolText(t, again.Body, 5))
}

// A request of which everything was decided comes back the same when it is asked
// again: no form is put on top of a form.
func TestDecidedMessagesAreAFixedPoint(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	body := newChat().call("bash", cmd("tail a"), serviceLog(400, oddLine)).call("bash", cmd("b"), pick(2)).call("bash", cmd("c"), sourceFile(90)).body()
	first := c.turn(body)
	require.NotNil(t, first.Body)
	for range 3 {
		again := c.turn(body)
		require.Equal(t, string(first.Body), string(again.Body))
		for _, b := range again.Blocks {
			require.False(t, b.New)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	good := compile.Settings{Row: plan.Study()}
	_, err := compile.New(good, key(), tokens.NewMemo(1<<20))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		settings compile.Settings
		key      []byte
	}{
		"a short marker key":  {good, key()[:31]},
		"no price row":        {compile.Settings{}, key()},
		"an unknown encoding": {compile.Settings{Row: plan.Study(), Assume: "nonsense"}, key()},
	} {
		_, err := compile.New(c.settings, c.key, tokens.NewMemo(1<<20))
		require.ErrorIs(t, err, compile.ErrBadSettings, name)
	}
}

// A model may call a tool by a name that is no Unicode. What is stored of the call must
// be, or the vault would refuse the turn and every one after it.
func TestABrokenToolNameCostsNothing(t *testing.T) {
	t.Parallel()
	body := newChat().call("bash~", cmd("tail log"), serviceLog(400, oddLine)).body()
	body = bytes.Replace(body, []byte("bash~"), []byte(`bash\ud800`), 1)
	draft, reason := newChain(t, nil).begin(body)
	require.Empty(t, reason)
	found := 0
	for _, node := range draft.Evidence().Nodes {
		for _, d := range node.Decisions {
			found++
			require.True(t, utf8.ValidString(d.Tool))
		}
	}
	require.Equal(t, 1, found)
}

// Every method of a draft answers for a request that passes too.
func TestADraftThatPassesAnswersEverything(t *testing.T) {
	t.Parallel()
	for name, odd := range map[string]string{
		"no call":  `{"role":"tool","tool_call_id":"zz","content":"a\nb\n"}`,
		"no id":    `{"role":"tool","content":"a\nb\n"}`,
		"function": `{"role":"function","name":"bash","content":"a\nb\n"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChain(t, nil)
			body := []byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"hi"},` + odd + `,{"role":"assistant","content":"done"}]}`)
			draft, reason := c.begin(body)
			if reason != "" {
				return // it has no draft at all
			}
			require.Empty(t, draft.Evidence().Artifacts)
			require.Empty(t, draft.Puttings())
			require.Equal(t, "gpt-4o", draft.Model())
			_, held := draft.Held(turn.Digest{})
			require.False(t, held)
			out := draft.Finish(turn.Pinned{})
			require.Nil(t, out.Body)
			require.NotEmpty(t, out.Reason)
			require.Empty(t, draft.Puttings())
		})
	}
}
