package request

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// pastOf is what is remembered of raw, by way of an earlier past.
func pastOf(t testing.TB, raw []byte, before *Past) *Past {
	doc, err := ParseAfter(raw, before)
	if err != nil {
		return nil
	}
	segments, err := doc.Segments()
	require.NoError(t, err)
	past := doc.NewPast(doc.Chain(), segments)
	return past
}

// sameAfter holds that raw reads the same with a past and without one.
func sameAfter(t testing.TB, raw []byte, past *Past) *Doc {
	want, wantErr := Parse(raw)
	got, gotErr := ParseAfter(raw, past)
	require.Equal(t, wantErr, gotErr)
	for _, scope := range []Scope{{}, {RequestPurpose: Word("conversation")}} {
		reason, allowed := scope.Decide(raw)
		after, allowedAfter := scope.DecideAfter(raw, past)
		require.Equal(t, reason, after)
		require.Equal(t, allowed, allowedAfter)
	}
	if want == nil {
		require.Nil(t, got)
		return nil
	}
	require.Equal(t, want.Messages, got.Messages)
	require.Equal(t, want.answers, got.answers)
	require.Equal(t, want.seen, got.seen)
	require.Equal(t, []any{want.Dialect, want.Model, want.Tools, want.ToolChoice, want.list, want.tools},
		[]any{got.Dialect, got.Model, got.Tools, got.ToolChoice, got.list, got.tools})
	if wantErr != nil {
		return got
	}
	require.Equal(t, want.Chain(), got.Chain())
	require.Equal(t, want.Check(), got.Check())
	plain, err := want.Segments()
	require.NoError(t, err)
	after, err := got.Segments()
	require.NoError(t, err)
	require.Equal(t, string(plain.Head), string(after.Head))
	require.Equal(t, string(plain.Tail), string(after.Tail))
	require.Equal(t, len(plain.Messages), len(after.Messages))
	for i := range plain.Messages {
		require.Equal(t, string(plain.Messages[i]), string(after.Messages[i]), "part %d", i)
	}
	return got
}

// pastMessages are messages with and without a place to cut, canonical and not, and
// some that lock themselves.
var pastMessages = []string{
	`{"content":"x","role":"user"}`, `{"role":"assistant","content":"a\u00e9\n"}`, `{"role":"system","content":"s"}`,
	`{ "role" : "user", "content":[{"type":"text","text":"t","cache_control":{"type":"ephemeral"}}] }`,
	`{"role":"user","content":"\ud800"}`, `{"role":"user","role":"user","content":"twice"}`, `{"1":2,"role":"user","content":"no letter first"}`,
	`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
	`{"role":"tool","tool_call_id":"c","content":"result"}`, `{"role":"robot","content":5}`, `{}`,
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}`, `7`, `{"role":"user","content":"` + "ü→🙂" + `"}`,
}

// pastBlocks and pastItems are messages of the other dialects.
var (
	pastBlocks = []string{
		`{"role":"user","content":"x"}`, `{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"c","name":"f","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"result","cache_control":{"type":"ephemeral"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"one"}]},{"type":"text","text":"and"}]}`,
		`{"role":"assistant","content":"a"}`, `{"role":"user","role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"twice"}]}`,
	}
	pastItems = []string{
		`{"role":"user","content":"x"}`, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`,
		`{"type":"function_call_output","call_id":"c","output":"result"}`, `{"type":"reasoning","encrypted_content":"e"}`,
		`{"type":"custom_tool_call","call_id":"d","name":"g","input":"i"}`, `{"type":"custom_tool_call_output","call_id":"d","output":"o"}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"t"}]}`, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"t"}]}`, `{}`,
	}
)

func TestWhatIsKnownOfAnEarlierRequestChangesNothing(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]struct{ heads, messages []string }{
		"chat":      {[]string{`{"messages":[`, `{"model":"m","messages":[`, "{ \"stream\":true,\n\"messages\" : [ ", `{"system":"x","messages":[`}, pastMessages},
		"anthropic": {[]string{`{"messages":[`, `{"system":"x","max_tokens":9,"messages":[`}, pastBlocks},
		"responses": {[]string{`{"input":[`, "{ \"model\":\"m\",\n\"input\" : [ "}, pastItems},
	} {
		t.Run(name, func(t *testing.T) {
			growAndChange(t, rand.New(rand.NewPCG(20261130, uint64(len(name)))), kind.heads, kind.messages)
		})
	}
}

func growAndChange(t *testing.T, r *rand.Rand, heads, pool []string) {
	tails := []string{`]}`, `],"model":"m"}`, "] , \"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}],\"a\":1}", `]`, `],"messages":[]}`, `],"system":"s"}`, `],"input":"x"}`}
	reused := 0
	for range 3000 {
		var messages []string
		for range r.IntN(8) {
			// Mostly the plain ones, so that much can be taken over.
			messages = append(messages, pool[min(r.IntN(len(pool)), r.IntN(len(pool)))])
		}
		head, tail := heads[r.IntN(len(heads))], tails[min(r.IntN(len(tails)), r.IntN(len(tails)))]
		var past *Past
		for range 4 {
			raw := []byte(head + strings.Join(messages, ",") + tail)
			if got := sameAfter(t, raw, past); got != nil {
				reused += got.Reused()
			}
			past = pastOf(t, raw, past)
			clear(raw) // a past holds nothing of the caller's
			switch r.IntN(6) {
			case 0:
				if len(messages) > 0 {
					messages[r.IntN(len(messages))] = pool[r.IntN(len(pool))]
				}
			case 1:
				messages = messages[:r.IntN(len(messages)+1)]
			case 2:
				tail = tails[r.IntN(len(tails))]
			default:
				for range 1 + r.IntN(2) {
					messages = append(messages, pool[min(r.IntN(len(pool)), r.IntN(len(pool)))])
				}
			}
		}
	}
	require.Greater(t, reused, 3000)
}

// FuzzParseAfter holds that what a request says does not depend on what is known of
// another one, whatever both are.
func FuzzParseAfter(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`), []byte(`,{"role":"user","content":"c"}]}`), uint16(70))
	f.Add([]byte(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`), []byte(`],"system":"s"}`), uint16(72))
	f.Add([]byte(`{"input":[{"role":"user","content":"a"},{"type":"reasoning"}]}`), []byte(`,{"type":"message","role":"user","content":"b"}]}`), uint16(60))
	f.Add([]byte(`{"messages":[{"content":"a","role":"user"},{"1":1}],"tools":[]}`), []byte(`{"1":2}]}`), uint16(45))
	f.Fuzz(func(t *testing.T, first, rest []byte, cut uint16) {
		past := pastOf(t, bytes.Clone(first), nil)
		sameAfter(t, first, past)
		sameAfter(t, append(first[:min(int(cut), len(first))], rest...), past)
	})
}

// TestApplyAfterWritesWhatApplyWrites edits conversations that grow, change and shrink,
// with edits that stay, change, come and go.
func TestApplyAfterWritesWhatApplyWrites(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(20261130, 10))
	for range 500 {
		var messages []string
		var past *Past
		var before *Edited
		for n := range 6 {
			switch r.IntN(5) {
			case 0:
				messages = messages[:r.IntN(len(messages)+1)]
			case 1:
				if len(messages) > 0 {
					messages[r.IntN(len(messages))] = fmt.Sprintf(`{"role":"tool","content":"changed %d \n"}`, n)
				}
			}
			for range 1 + r.IntN(3) {
				messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":"text %d é\n%s"}`, r.IntN(4), strings.Repeat("x", r.IntN(30))))
			}
			raw := []byte(`{"messages":[` + strings.Join(messages, ",") + `],"model":"m"}`)
			doc, err := ParseAfter(raw, past)
			require.NoError(t, err)
			var edits []turn.Edit
			var at []int
			for i := range doc.Messages {
				old, err := doc.Value(doc.Messages[i].Texts[0])
				require.NoError(t, err)
				if (i+len(old))%3 > 0 || r.IntN(9) == 0 {
					value := []string{"short", "a \"longer\" text\n"}[min(r.IntN(4)/2, i%2)]
					edits, at = append(edits, turn.Edit{Pointer: doc.Pointer(i, "/content"), Before: turn.Sum(old), Value: value}), append(at, i)
				}
			}
			if len(edits) > 0 && r.IntN(12) == 0 {
				edits[r.IntN(len(edits))].Before = turn.Sum("something else")
			}
			want, wantErr := doc.Apply(edits)
			got, gotErr := doc.ApplyAfter(edits, at, before)
			require.Equal(t, wantErr == nil, gotErr == nil)
			require.Equal(t, string(want), string(got))
			past, before = pastOf(t, raw, past), nil
			if gotErr == nil {
				before = NewEdited(edits, at, pastOf(t, got, nil))
			}
			clear(raw)
			clear(got)
		}
	}
}
