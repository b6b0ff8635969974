package request

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// parseAs parses a request of a dialect that is expected to be fine.
func parseAs(t testing.TB, dialect Dialect, raw []byte) *Doc {
	t.Helper()
	d, err := Parse(raw)
	require.NoError(t, err)
	require.Equal(t, dialect, d.Dialect)
	return d
}

// messagesAPI wraps messages into a request of the Messages API.
func messagesAPI(messages string) []byte {
	return []byte(`{"model":"claude-sonnet-5-5","max_tokens":8192,"system":"s","messages":[` + messages + `]}`)
}

// responses wraps items into a Responses request.
func responses(items string) []byte {
	return []byte(`{"model":"gpt-6.2-sol","instructions":"s","input":[` + items + `],"store":false}`)
}

// shown tells of each message its role, its texts, its calls and its results.
func shown(t testing.TB, d *Doc) (out []string) {
	t.Helper()
	for i, m := range d.Messages {
		line := m.Role
		for _, c := range m.Calls {
			args, err := d.Value(c.Args)
			require.NoError(t, err)
			line += " call " + c.ID + " " + c.Name + " " + c.Args.Block + "=" + args
		}
		inResults := 0
		for _, r := range d.Results(i) {
			line += " result " + r.CallID
			if r.Answers.Message >= 0 {
				line += " of " + d.Messages[r.Answers.Message].Calls[r.Answers.Call].Name
			}
			if r.Mixed {
				line += " mixed"
			}
			for _, x := range r.Texts {
				v, err := d.Value(x)
				require.NoError(t, err)
				line += " " + x.Block + "=" + v
				inResults++
			}
		}
		require.Equal(t, len(d.Results(i)) > 0, d.IsResult(i))
		if len(m.Texts) > inResults {
			line += " texts " + strings.Join(values(t, d, m), " ")
		}
		if m.Locked != "" {
			line += " locked " + string(m.Locked)
		}
		out = append(out, line)
	}
	return out
}

func TestAnthropicRequestIsFoundInItsBytes(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"model":"claude-sonnet-5-5","max_tokens":8192,
  "system":[{"type":"text","text":"You are a coding agent.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
  "tools":[{"name":"Bash","description":"Run a command.","input_schema":{"type":"object","properties":{"command":{"type":"string"}}}},{"type":"web_search_20250305","name":"web_search"}],
  "tool_choice":{"type":"auto","disable_parallel_tool_use":true},
  "messages":[
    {"role":"user","content":[{"type":"text","text":"List the Go files."},{"type":"image","source":{"type":"base64","data":"AA"}}]},
    {"role":"assistant","content":[{"type":"thinking","thinking":"Look first.","signature":"c2ln"},{"type":"redacted_thinking","data":"x"},{"type":"text","text":"Looking."},
      {"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls *.go"}},{"input":{ },"name":"Read","id":"b","type":"tool_use","cache_control":{"type":"ephemeral"}},
      {"type":"server_tool_use","id":"srv","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srv","content":[{"type":"text","text":"not ours"}]}]},
    {"role":"user","content":[
      {"type":"tool_result","tool_use_id":"b","is_error":false,"content":[{"type":"text","text":"one"},{"type":"image","source":{}},{"type":"text","text":"two"}],"cache_control":{"type":"ephemeral"}},
      {"content":"main.go\nsum.go","tool_use_id":"a","type":"tool_result"},
      {"type":"text","text":"go on"}]},
    {"role":"assistant","content":"Done."},
    {"role":"user","content":"thanks"}]}`)
	d := parseAs(t, Anthropic, raw)
	require.NoError(t, d.Check())
	require.Equal(t, ToolChoice{Mode: "auto"}, d.ToolChoice)
	require.Equal(t, []string{
		"user texts /content/0/text=List the Go files.",
		`assistant call a Bash /content/3/input={"command":"ls *.go"} call b Read /content/4/input={ } texts /content/2/text=Looking.`,
		"user result b of Read mixed /content/0/content/0/text=one /content/0/content/2/text=two result a of Bash /content/1/content=main.go\nsum.go" +
			" texts /content/0/content/0/text=one /content/0/content/2/text=two /content/1/content=main.go\nsum.go /content/2/text=go on",
		"assistant texts /content=Done.", "user texts /content=thanks",
	}, shown(t, d))
	require.Equal(t, "/messages/2/content/1/content", d.Pointer(2, "/content/1/content"))
	checkSegments(t, d)
}

func TestResponsesRequestIsFoundInItsBytes(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"model":"gpt-6.2-sol","instructions":"You are a coding agent.","input":[
    {"role":"developer","content":"Be short."},
    {"type":"message","role":"user","content":[{"type":"input_text","text":"List the Go files."},{"type":"input_image","image_url":"data:x"}]},
    {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hidden"}],"content":[{"type":"text","text":"hidden"}],"encrypted_content":"b3BhcXVl"},
    {"type":null,"role":"assistant","content":[{"type":"output_text","text":"Looking.","annotations":[]},{"type":"refusal","refusal":"no"}]},
    {"type":"function_call","id":"fc_1","call_id":"a","name":"shell","arguments":"{\"command\":\"ls\"}","status":"completed"},
    {"call_id":"b","input":"free text","name":"patch","type":"custom_tool_call"},
    {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
    {"output":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:x"},{"type":"input_text","text":"two"}],"call_id":"b","type":"custom_tool_call_output"},
    {"type":"function_call_output","call_id":"a","output":"main.go\nsum.go"},
    {"type":"computer_call_output","call_id":"zz","output":{"type":"computer_screenshot","image_url":"data:x"}},
    {"type":"brand_new","content":"never looked into","output":"nor this"}
  ],"tools":[{"type":"function","name":"shell","parameters":{"type":"object","properties":{"command":{}}}},{"type":"custom","name":"patch"}],"tool_choice":"auto","store":false}`)
	d := parseAs(t, Responses, raw)
	require.NoError(t, d.Check())
	require.Equal(t, []string{
		"developer texts /content=Be short.", "user texts /content/0/text=List the Go files.", "assistant",
		"assistant texts /content/0/text=Looking.", `assistant call a shell /arguments={"command":"ls"}`, "assistant call b patch /input=free text", "assistant",
		"tool result b of patch mixed /output/0/text=one /output/2/text=two", "tool result a of shell /output=main.go\nsum.go", "tool", "assistant",
	}, shown(t, d))
	require.Equal(t, "/input/8/output", d.Pointer(8, "/output"))
	require.Equal(t, []string{"shell", "patch"}, []string{d.Tools[0].Name, d.Tools[1].Name})
	message, call, ok := d.CallOf(8)
	require.Equal(t, []any{4, 0, true}, []any{message, call, ok})
	checkSegments(t, d)
}

func TestOddBlocksAndItemsAreKeptAndLocked(t *testing.T) {
	t.Parallel()
	anthropic := func(m string) []byte { return messagesAPI(`{"role":"user","content":"x"},` + m) }
	items := func(m string) []byte { return responses(`{"role":"user","content":"x"},` + m) }
	for name, c := range map[string]struct {
		raw    []byte
		locked turn.Reason
	}{
		"a call without an id":               {anthropic(`{"role":"assistant","content":[{"type":"tool_use","name":"f","input":{}}]}`), turn.UnknownShape},
		"a call whose input is a string":     {anthropic(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"x"}]}`), turn.UnknownShape},
		"a result without an id":             {anthropic(`{"role":"user","content":[{"type":"tool_result","content":"x"}]}`), turn.UnknownShape},
		"a result with an id of no string":   {anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":5,"content":"x"}]}`), turn.UnknownShape},
		"a result whose content is a number": {anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":5}]}`), turn.UnknownShape},
		"a result without content":           {anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`), ""},
		"a result with null content":         {anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":null}]}`), ""},
		"a repeated key in a result":         {anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x","content":"y"}]}`), turn.DuplicateKey},
		"a repeated key in a call's input":   {anthropic(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"k":1,"k":2}}]}`), turn.DuplicateKey},
		"content twice":                      {anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}],"content":[{"type":"text","text":"y"}]}`), turn.DuplicateKey},
		"a lone surrogate in a result":       {anthropic(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"\ud800"}]}`), turn.LoneSurrogate},
		"a block of an unknown type":         {anthropic(`{"role":"user","content":[{"type":"new","content":{"a":[1]},"input":5,"id":6}]}`), ""},
		"an unknown role":                    {anthropic(`{"role":"narrator","content":"x"}`), turn.UnknownShape},

		"an item without type and role":        {items(`{"content":"x"}`), turn.UnknownShape},
		"an item type of no string":            {items(`{"type":7,"role":"user","content":"x"}`), turn.UnknownShape},
		"a message with an unknown role":       {items(`{"role":"tool","content":"x"}`), turn.UnknownShape},
		"a message whose content is an object": {items(`{"role":"user","content":{}}`), turn.UnknownShape},
		"an output without an id":              {items(`{"type":"function_call_output","output":"x"}`), turn.UnknownShape},
		"an output without output":             {items(`{"type":"function_call_output","call_id":"a"}`), turn.UnknownShape},
		"an output that is an object":          {items(`{"type":"function_call_output","call_id":"a","output":{"x":1}}`), turn.UnknownShape},
		"a call item without a name":           {items(`{"type":"function_call","call_id":"a","arguments":"{}"}`), turn.UnknownShape},
		"a call item with arguments of no string": {
			items(`{"type":"function_call","call_id":"a","name":"f","arguments":{}}`), turn.UnknownShape},
		"a repeated key in an output":     {items(`{"type":"function_call_output","call_id":"a","output":"x","output":"y"}`), turn.DuplicateKey},
		"a lone surrogate in an output":   {items(`{"type":"function_call_output","call_id":"a","output":"\udc00"}`), turn.LoneSurrogate},
		"an item of an unknown type":      {items(`{"type":"new","content":7,"output":{"a":1}}`), ""},
		"arguments that do not parse":     {items(`{"type":"function_call","call_id":"a","name":"f","arguments":"{"}`), ""},
		"a message of an empty part list": {items(`{"role":"user","content":[]}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse(c.raw)
			require.NoError(t, err)
			require.Len(t, d.Messages, 2)
			require.Equal(t, c.locked, d.Messages[1].Locked)
			require.Empty(t, d.Messages[0].Locked)
			out, err := d.Apply(nil)
			require.NoError(t, err)
			require.Equal(t, c.raw, out)
			checkSegments(t, d)
			for _, text := range d.Messages[1].Texts {
				if c.locked == "" || c.locked == turn.LoneSurrogate {
					continue
				}
				old, err := d.Value(text)
				require.NoError(t, err)
				_, err = d.Apply([]turn.Edit{edit(d.Pointer(1, text.Block), old, "n")})
				require.ErrorIs(t, err, ErrNotEditable)
			}
		})
	}
}

func TestOnlyResultsAndAnswersChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw     []byte
		pointer string
		old     string
		want    error
	}{
		"a result's string":    {messagesAPI(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"old"}]}`), "/messages/0/content/0/content", "old", nil},
		"a result's text":      {messagesAPI(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"old"}]}]}`), "/messages/0/content/0/content/0/text", "old", nil},
		"an answer":            {messagesAPI(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"text","text":"old"}]}`), "/messages/1/content/0/text", "old", nil},
		"words behind results": {messagesAPI(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"},{"type":"text","text":"old"}]}`), "/messages/0/content/1/text", "old", ErrNotEditable},
		"words before results": {messagesAPI(`{"role":"user","content":[{"type":"text","text":"old"},{"type":"tool_result","tool_use_id":"a","content":"r"}]}`), "/messages/0/content/0/text", "old", ErrNotEditable},
		"a user's string":      {messagesAPI(`{"role":"user","content":"old"}`), "/messages/0/content", "old", ErrNotEditable},
		"thinking":             {messagesAPI(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"old","text":"old"}]}`), "/messages/1/content/0/text", "old", ErrNoString},
		"a call's input":       {messagesAPI(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`), "/messages/1/content/0/input", "{}", ErrNoString},
		"a server's result":    {messagesAPI(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"mcp_tool_result","tool_use_id":"a","content":[{"type":"text","text":"old"}]}]}`), "/messages/1/content/0/content/0/text", "old", ErrNoString},
		"the system text":      {messagesAPI(`{"role":"user","content":"x"}`), "/system", "s", ErrNoString},

		"an output":                 {responses(`{"type":"function_call_output","call_id":"a","output":"old"}`), "/input/0/output", "old", nil},
		"an output's part":          {responses(`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"old"}]}`), "/input/0/output/0/text", "old", nil},
		"a custom output":           {responses(`{"type":"custom_tool_call_output","call_id":"a","output":"old"}`), "/input/0/output", "old", nil},
		"an answer item":            {responses(`{"role":"assistant","content":[{"type":"output_text","text":"old"}]}`), "/input/0/content/0/text", "old", nil},
		"a user's item":             {responses(`{"role":"user","content":"old"}`), "/input/0/content", "old", ErrNotEditable},
		"a developer's item":        {responses(`{"role":"developer","content":"old"}`), "/input/0/content", "old", ErrNotEditable},
		"a call's arguments":        {responses(`{"type":"function_call","call_id":"a","name":"f","arguments":"old"}`), "/input/0/arguments", "old", ErrNoString},
		"reasoning":                 {responses(`{"type":"reasoning","content":[{"type":"text","text":"old"}]}`), "/input/0/content/0/text", "old", ErrNoString},
		"a hosted tool's output":    {responses(`{"type":"shell_call_output","call_id":"a","output":"old"}`), "/input/0/output", "old", ErrNoString},
		"the pointer of a chat":     {responses(`{"type":"function_call_output","call_id":"a","output":"old"}`), "/messages/0/output", "old", ErrNoString},
		"the instructions":          {responses(`{"role":"user","content":"x"}`), "/instructions", "s", ErrNoString},
		"content beside the output": {responses(`{"type":"function_call_output","call_id":"a","output":"x","content":"old"}`), "/input/0/content", "old", ErrNoString},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse(c.raw)
			require.NoError(t, err)
			out, err := d.Apply([]turn.Edit{edit(c.pointer, c.old, "a \"new\"\n\u2028text")})
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, strings.Replace(string(c.raw), `"old"`, "\"a \\\"new\\\"\\n\u2028text\"", 1), string(out))
		})
	}
}

// A list of more than ten results is searched in the order they stand.
func TestManyResultsInOneMessage(t *testing.T) {
	t.Parallel()
	var uses, answers []string
	for i := range 23 {
		id := itoa(i)
		uses = append(uses, `{"type":"tool_use","id":"`+id+`","name":"f","input":{}}`)
		content := `"r` + id + `"`
		if i%2 == 1 {
			content = `[{"type":"text","text":"r` + id + `"},{"type":"image"},{"type":"text","text":"s` + id + `"}]`
		}
		answers = append(answers, `{"type":"tool_result","tool_use_id":"`+id+`","content":`+content+`}`)
	}
	d := parseAs(t, Anthropic, messagesAPI(`{"role":"user","content":"x"},{"role":"assistant","content":[`+join(uses...)+`]},{"role":"user","content":[`+join(answers...)+`,{"type":"text","text":"u"}]}`))
	require.NoError(t, d.Check())
	require.Len(t, d.Results(2), 23)
	k := 0
	for n, r := range d.Results(2) {
		require.Equal(t, Caller{1, n}, r.Answers)
		for _, text := range r.Texts {
			message, found, err := d.At(d.Pointer(2, text.Block))
			require.NoError(t, err)
			require.Equal(t, 2, message)
			require.Equal(t, text, found)
			require.True(t, d.editable(&d.Messages[2], k))
			k++
		}
	}
	require.False(t, d.editable(&d.Messages[2], k))
}

func TestHostileDialectBodies(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	for name, c := range map[string]struct {
		raw    []byte
		reason turn.Reason
	}{
		"a depth bomb in a call's input": {messagesAPI(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":` + deep + `}}]}`), turn.TooDeep},
		"a depth bomb in a result":       {messagesAPI(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + deep + `}]}`), turn.TooDeep},
		"a depth bomb in an output":      {responses(`{"type":"function_call_output","call_id":"a","output":` + deep + `}`), turn.TooDeep},
		"input twice":                    {[]byte(`{"model":"m","input":[],"input":[]}`), turn.DuplicateKey},
		"messages twice":                 {[]byte(`{"model":"m","system":"s","messages":[],"messages":[]}`), turn.DuplicateKey},
		"cut in a block":                 {[]byte(`{"system":"s","messages":[{"role":"user","content":[{"type":"tool_result"`), turn.NotJSON},
		"both dialects":                  {[]byte(`{"system":"s","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`), turn.UnknownShape},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(c.raw)
			require.Equal(t, c.reason, ReasonOf(err), "%v", err)
		})
	}
	many := strings.TrimSuffix(strings.Repeat(`{"type":"tool_use","id":"a","name":"f","input":{}},`, 20_000), ",")
	answers := strings.TrimSuffix(strings.Repeat(`{"type":"tool_result","tool_use_id":"a","content":"x"},`, 20_000), ",")
	d := parseAs(t, Anthropic, messagesAPI(`{"role":"user","content":"x"},{"role":"assistant","content":[`+many+`]},{"role":"user","content":[`+answers+`]}`))
	require.NoError(t, d.Check())
	items := strings.Repeat(`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},`, 20_000) +
		strings.TrimSuffix(strings.Repeat(`{"type":"function_call_output","call_id":"a","output":"x"},`, 20_000), ",")
	require.NoError(t, parseAs(t, Responses, responses(items)).Check())
}

func TestArgumentsInABlockAreReadAsTheyStand(t *testing.T) {
	t.Parallel()
	d := parseAs(t, Anthropic, messagesAPI(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input": { "b" : "\u00e9", "a":1.0 } }]}`))
	args, err := d.Value(d.Messages[0].Calls[0].Args)
	require.NoError(t, err)
	require.Equal(t, `{ "b" : "\u00e9", "a":1.0 }`, args)
	require.True(t, d.Messages[0].Calls[0].Valid)
	span := d.Messages[0].Calls[0].Args.Span
	for _, bad := range []Span{{span.Start, span.End - 1}, {span.Start, span.End + 1}, {0, 5}} {
		_, err := d.Value(Text{Span: bad})
		require.ErrorIs(t, err, ErrNoText)
	}
}

// dialectSeeds are requests of every shape.
func dialectSeeds() [][]byte {
	return [][]byte{
		messagesAPI(`{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{"k":"v"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r\u00e9"}],"cache_control":{"type":"ephemeral"}},{"type":"text","text":"go on"}]}`),
		messagesAPI(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x","content":"\ud800"}]}`),
		[]byte(`{"messages":[{"role":"assistant","content":[{"type":"redacted_thinking"}]}],"tool_choice":{"type":"any"},"tools":[{"name":"t","input_schema":{"properties":{"action":{}}}}]}`),
		responses(`{"role":"user","content":[{"type":"input_text","text":"x"}]},{"type":"reasoning","encrypted_content":"e"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"r"},{"type":"input_image"}]}`),
		responses(`{"type":"custom_tool_call","call_id":"a","name":"f","input":"free"},{"type":"custom_tool_call_output","call_id":"a","output":"r"},{"id":"msg"},{}`),
		[]byte(`{"input":[{"type":5,"output":[[["x"]]],"content":{}}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}}`),
	}
}

// fuzzDialect holds every accepted body to what parsing, checking and editing keep.
func fuzzDialect(t *testing.T, raw []byte, value string) {
	before := bytes.Clone(raw)
	d, err := Parse(raw)
	require.Equal(t, before, raw)
	if err != nil {
		require.ErrorIs(t, err, ErrRefused)
		return
	}
	require.True(t, json.Valid(raw))
	paired := d.Check()
	chain := d.Chain()
	require.Len(t, chain, len(d.Messages))
	checkSegments(t, d)
	checkEdit(t, d, strings.ToValidUTF8(value, "?"))
	for i, m := range d.Messages {
		for _, r := range d.Results(i) {
			if paired == nil {
				require.GreaterOrEqual(t, r.Answers.Message, 0)
			}
			if r.Answers.Message >= 0 {
				require.Less(t, r.Answers.Message, i)
				require.Equal(t, r.CallID, d.Messages[r.Answers.Message].Calls[r.Answers.Call].ID)
			}
		}
		for _, text := range m.Texts {
			_, found, err := d.At(d.Pointer(i, text.Block))
			require.NoError(t, err)
			if m.Locked == "" {
				require.Equal(t, text, found)
			}
		}
	}
}

func FuzzAnthropic(f *testing.F) {
	for _, seed := range dialectSeeds() {
		f.Add(seed, "new\n\"text\"")
	}
	f.Fuzz(fuzzDialect)
}

func FuzzResponses(f *testing.F) {
	for _, seed := range dialectSeeds() {
		f.Add(seed[1:len(seed)-1], "new\n\"text\"")
	}
	f.Fuzz(func(t *testing.T, inner []byte, value string) {
		fuzzDialect(t, append(append([]byte{'{'}, inner...), '}'), value)
	})
}

// A text part with members that may give places in its text (citations, annotations)
// is no plain text: the part's text must not change under them. Marks and members that
// are empty say nothing.
func TestATextWithMoreToItIsNoPlainText(t *testing.T) {
	t.Parallel()
	for members, mixed := range map[string]bool{
		`"citations":[{"start_char_index":3}]`: true, `"annotations":[ {"start_index":3} ]`: true, `"logprobs":{"x":1}`: true,
		`"span":4`: true, `"lang":"de"`: true, `"final":true`: true,
		`"citations":null`: false, `"annotations":[ ]`: false, `"meta":{}`: false, `"note":""`: false, `"final":false`: false,
		`"cache_control":{"type":"ephemeral"}`: false, `"prompt_cache_breakpoint":{}`: false,
	} {
		part := func(kind string) string { return `[{"type":"` + kind + `",` + members + `,"text":"words"}]` }
		for dialect, raw := range map[Dialect][]byte{
			Chat: []byte(`{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"c","content":` + part("text") + `}]}`),
			Anthropic: messagesAPI(`{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":` + part("text") + `}]}`),
			Responses: responses(`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":` + part("input_text") + `}`),
		} {
			d := parseAs(t, dialect, raw)
			results := d.Results(len(d.Messages) - 1)
			require.Len(t, results, 1)
			require.Equal(t, mixed, results[0].Mixed, "%s %s", dialect, members)
			require.Len(t, results[0].Texts, 1, "it is still a text, which may name values")
		}
	}
}
