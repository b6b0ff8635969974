package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// chat wraps messages into a request.
func chat(messages string) []byte {
	return []byte(`{"model":"gpt-5.6-sol","messages":[` + messages + `]}`)
}

// mustParse parses a request that is expected to be fine.
func mustParse(t testing.TB, raw []byte) *Doc {
	t.Helper()
	d, err := Parse(raw)
	require.NoError(t, err)
	require.Equal(t, Chat, d.Dialect)
	return d
}

func values(t testing.TB, d *Doc, m Message) (texts []string) {
	t.Helper()
	for _, x := range m.Texts {
		v, err := d.Value(x)
		require.NoError(t, err)
		texts = append(texts, x.Block+"="+v)
	}
	return texts
}

func TestChatRequestIsFoundInItsBytes(t *testing.T) {
	t.Parallel()
	raw := []byte(`{ "messages" : [
  {"role":"system","content":[{"type":"text","text":"You are a coding agent.","cache_control":{"type":"ephemeral"}}]},
  {"role":"user","content":[{"type":"text","text":"Look at\nthis"},{"type":"image_url","image_url":{"url":"data:x"}},{"text":"here","type":"text"}]},
  {"role":"assistant","content":null,"tool_calls":[{"id":"call_a1","type":"function","function":{"name":"shell","arguments":"{\"command\":\"ls *.go\"}"}},
     {"function":{"arguments":"{\"broken\":","name":"shell"},"id":"call_a2","type":"function"}]},
  {"role":"tool","tool_call_id":"call_a1","content":"main.go\nsum.go","name":"shell"},
  {"role":"tool","tool_call_id":"call_a2","content":[{"type":"text","text":"  12 main.go"}]},
  {"\u0072ole":"assistant","refusal":null}
 ], "model":"gpt-5.6-terra","tool_choice":"auto",
 "tools":[{"type":"function","function":{"name":"shell","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}},{"name":"bare"},{"type":"custom","custom":{"name":"grammar"}}]}`)
	d := mustParse(t, raw)
	require.NoError(t, d.Check())
	require.Equal(t, "gpt-5.6-terra", d.Model)
	require.Equal(t, ToolChoice{Mode: "auto"}, d.ToolChoice)
	require.Len(t, d.Messages, 6)
	var texts [][]string
	var roles []string
	for i, m := range d.Messages {
		roles = append(roles, m.Role)
		texts = append(texts, values(t, d, m))
		require.True(t, json.Valid(raw[m.Span.Start:m.Span.End]), "span of message %d", i)
		require.Empty(t, m.Locked)
	}
	require.Equal(t, []string{"system", "user", "assistant", "tool", "tool", "assistant"}, roles)
	require.Equal(t, [][]string{
		{"/content/0/text=You are a coding agent."}, {"/content/0/text=Look at\nthis", "/content/2/text=here"}, nil,
		{"/content=main.go\nsum.go"}, {"/content/0/text=  12 main.go"}, nil,
	}, texts)
	require.True(t, d.Messages[1].Mixed)
	require.False(t, d.Messages[4].Mixed)
	calls := d.Messages[2].Calls
	require.Len(t, calls, 2)
	require.Equal(t, []string{"call_a1", "shell", "/tool_calls/0/function/arguments"}, []string{calls[0].ID, calls[0].Name, calls[0].Args.Block})
	require.True(t, calls[0].Valid)
	require.False(t, calls[1].Valid, "arguments that do not parse are recorded")
	args, err := d.Value(calls[1].Args)
	require.NoError(t, err)
	require.Equal(t, `{"broken":`, args, "and still readable")
	require.Equal(t, "shell", d.Messages[3].Name)
	require.Equal(t, "call_a1", d.Messages[3].CallID)
	var tools []string
	for _, tool := range d.Tools {
		require.True(t, json.Valid(raw[tool.Span.Start:tool.Span.End]))
		tools = append(tools, tool.Name)
	}
	require.Equal(t, []string{"shell", "bare", "grammar"}, tools)
}

func TestOddMessagesAreKeptAndLocked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		locked  turn.Reason
		mixed   bool
	}{
		"plain":                            {`{"role":"user","content":"x"}`, "", false},
		"unknown keys":                     {`{"role":"user","content":"x","weight":1,"x":{"a":[1,{}]}}`, "", false},
		"no content":                       {`{"role":"assistant"}`, "", false},
		"null calls":                       {`{"role":"assistant","content":"x","tool_calls":null,"function_call":null}`, "", false},
		"a repeated key":                   {`{"role":"tool","content":"a","content":"b"}`, turn.DuplicateKey, false},
		"a repeated key in a part":         {`{"role":"tool","content":[{"type":"text","text":"a","text":"b"}]}`, turn.DuplicateKey, false},
		"a repeated key in a call":         {`{"role":"assistant","tool_calls":[{"id":"a","id":"b","function":{"name":"f","arguments":"{}"}}]}`, turn.DuplicateKey, false},
		"a repeated key deep down":         {`{"role":"user","content":"x","meta":[{"a":{"k":1,"\u006b":2}}]}`, turn.DuplicateKey, false},
		"a lone surrogate":                 {`{"role":"tool","content":"a \ud800 b"}`, turn.LoneSurrogate, false},
		"a lone surrogate in a key":        {`{"role":"tool","content":"a","\udc00":1}`, turn.LoneSurrogate, false},
		"a lone surrogate in arguments":    {`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"\ude00"}}]}`, turn.LoneSurrogate, false},
		"a pair of surrogates":             {`{"role":"tool","content":"a \ud83d\ude00 b"}`, "", false},
		"a NUL escape":                     {`{"role":"tool","content":"a\u0000b"}`, "", false},
		"no role":                          {`{"content":"x"}`, turn.UnknownShape, false},
		"a role of another type":           {`{"role":7,"content":"x"}`, turn.UnknownShape, false},
		"an unknown role":                  {`{"role":"narrator","content":"x"}`, turn.UnknownShape, false},
		"content of another type":          {`{"role":"user","content":{"text":"x"}}`, turn.UnknownShape, false},
		"a call id of another type":        {`{"role":"tool","tool_call_id":5,"content":"x"}`, turn.UnknownShape, false},
		"calls of another type":            {`{"role":"assistant","tool_calls":{"id":"a"}}`, turn.UnknownShape, false},
		"a call of another type":           {`{"role":"assistant","tool_calls":["a"]}`, turn.UnknownShape, false},
		"a call without a function":        {`{"role":"assistant","tool_calls":[{"id":"a","function":null}]}`, turn.UnknownShape, false},
		"arguments that are an object":     {`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]}`, turn.UnknownShape, false},
		"a custom call":                    {`{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"free text"}}]}`, "", false},
		"a legacy call":                    {`{"role":"assistant","content":"x","function_call":{"name":"f","arguments":"{}"}}`, turn.UnknownShape, false},
		"a legacy result":                  {`{"role":"function","name":"f","content":"x"}`, turn.UnknownShape, false},
		"a part that is no object":         {`{"role":"user","content":["x",{"type":"text","text":"y"}]}`, "", true},
		"a part without a type":            {`{"role":"user","content":[{"text":"y"}]}`, "", true},
		"a text part without text":         {`{"role":"user","content":[{"type":"text","text":7}]}`, "", true},
		"a refusal part":                   {`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`, "", true},
		"an empty list":                    {`{"role":"user","content":[]}`, "", false},
		"thinking parts of some chat host": {`{"role":"assistant","content":[{"type":"thinking","thinking":"h"},{"type":"text","text":"x"}]}`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := chat(`{"role":"system","content":"s"},` + c.message + `,{"role":"user","content":"next"}`)
			d := mustParse(t, raw)
			require.Len(t, d.Messages, 3)
			require.Equal(t, c.locked, d.Messages[1].Locked)
			require.Equal(t, c.mixed, d.Messages[1].Mixed)
			require.Empty(t, d.Messages[0].Locked, "its neighbours are free")
			require.Empty(t, d.Messages[2].Locked)
			require.Equal(t, c.message, string(raw[d.Messages[1].Span.Start:d.Messages[1].Span.End]))
			out, err := d.Apply(nil)
			require.NoError(t, err)
			require.Equal(t, raw, out)
			_, err = d.Segments()
			require.NoError(t, err)
		})
	}
}

func TestBadInputNamesReasonPlaceAndAWayOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw          string
		reason       turn.Reason
		line, column int
	}{
		"empty":                             {"", turn.NotJSON, 1, 1},
		"only white space":                  {" \r\n\t", turn.NotJSON, 1, 1},
		"no JSON":                           {"hello", turn.NotJSON, 1, 1},
		"a byte order mark":                 {"\xef\xbb\xbf{}", turn.NotJSON, 1, 1},
		"UTF-16":                            {"\xff\xfe{\x00}\x00", turn.NotUTF8, 1, 1},
		"cut short":                         {"{\"messages\":[\r\n {\"role\":\"us", turn.NotJSON, 2, 13},
		"trailing data":                     {"{\"messages\":[]}\n{}", turn.NotJSON, 2, 1},
		"a trailing NUL":                    {"{\"messages\":[]}\x00", turn.NotJSON, 1, 16},
		"a raw NUL in a string":             {"{\"messages\":[{\"role\":\"user\",\"content\":\"a\x00\"}]}", turn.NotJSON, 1, 41},
		"a raw line break in a string":      {"{\"messages\":[{\"role\":\"user\",\"content\":\"a\r\n\"}]}", turn.NotJSON, 1, 41},
		"NaN":                               {`{"messages":[],"temperature":NaN}`, turn.NotJSON, 1, 30},
		"bytes that are no UTF-8":           {"{\"messages\":[{\"role\":\"user\",\"content\":\"é\xc3(\"}]}", turn.NotUTF8, 1, 41},
		"an encoded surrogate":              {"{\"messages\":[],\"a\":\"\xed\xa0\x80\"}", turn.NotUTF8, 1, 21},
		"a depth bomb in a message":         {`{"messages":[{"role":"user","content":` + strings.Repeat("[", 100_000), turn.TooDeep, 1, 100},
		"a depth bomb elsewhere":            {`{"metadata":` + strings.Repeat(`{"a":`, 100_000), turn.TooDeep, 1, 328},
		"a key twice":                       {`{"messages":[],"model":"a","model":"b"}`, turn.DuplicateKey, 1, 28},
		"a key twice, spelled differently":  {`{"messages":[],"\u006dessages":[]}`, turn.DuplicateKey, 1, 16},
		"the last key twice":                {`{"messages":[],"a":{"b":1,"b":2},"a":1}`, turn.DuplicateKey, 1, 34},
		"a list":                            {`[{"role":"user","content":"x"}]`, turn.UnknownShape, 1, 1},
		"a string":                          {`"x"`, turn.UnknownShape, 1, 1},
		"no messages":                       {`{"model":"x"}`, turn.UnknownShape, 1, 1},
		"null messages":                     {`{"messages":null}`, turn.UnknownShape, 1, 13},
		"messages of another type":          {"{\"model\":\"x\",\n\"messages\":{}}", turn.UnknownShape, 2, 12},
		"a message that is no object":       {`{"messages":["x"]}`, turn.UnknownShape, 1, 14},
		"messages and input":                {`{"messages":[],"input":"x"}`, turn.UnknownShape, 1, 1},
		"input of another type":             {"{\"model\":\"x\",\n\"input\":{}}", turn.UnknownShape, 2, 9},
		"an item that is no object":         {`{"input":["x"]}`, turn.UnknownShape, 1, 11},
		"chat and Anthropic in one request": {`{"messages":[{"role":"tool","content":[{"type":"tool_result"}]}]}`, turn.UnknownShape, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse([]byte(c.raw))
			require.Nil(t, d)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.ErrorIs(t, err, ErrRefused)
			require.ErrorIs(t, err, &Error{Reason: c.reason})
			require.NotErrorIs(t, err, &Error{Reason: turn.Busy})
			require.Equal(t, c.reason, ReasonOf(err), e.Error())
			require.True(t, e.Reason.Known())
			require.Equal(t, [2]int{c.line, c.column}, [2]int{e.Line, e.Column}, e.Error())
			require.Contains(t, e.Detail, "send", "the sentence says what to do")
		})
	}
	require.Equal(t, turn.Reason(""), ReasonOf(nil))
	require.Equal(t, turn.InternalError, ReasonOf(errors.New("x")))
}

func TestHundredMegabytesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	raw := append(chat(``), make([]byte, 100<<20)...)
	for name, read := range map[string]func([]byte) error{
		"parse":     func(b []byte) error { _, err := Parse(b); return err },
		"canonical": func(b []byte) error { _, err := Canonical(b); return err },
		"with tool": func(b []byte) error { _, err := WithTool(b, []byte(`{}`)); return err },
	} {
		require.Equal(t, turn.TooLarge, ReasonOf(read(raw)), name)
	}
}

func TestDialectsAreToldApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw     string
		dialect Dialect
		reason  turn.Reason
	}{
		"chat with text parts, cache marks and max_tokens": {`{"model":"m","max_tokens":65536,"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}`, Chat, ""},
		"chat with strings only":                           {`{"messages":[{"role":"user","content":"x"}],"max_tokens":5}`, Chat, ""},
		"chat with a null system field":                    {`{"messages":[{"role":"user","content":"x"}],"system":null,"input":null,"previous_response_id":null}`, Chat, ""},
		"chat whose text speaks of tool_use":               {`{"messages":[{"role":"user","content":"{\"type\":\"tool_use\"}"}]}`, Chat, ""},
		"chat with thinking and tool messages":             {`{"messages":[{"role":"system","content":"s"},{"role":"assistant","content":[{"type":"thinking","thinking":"t"}]}]}`, Chat, ""},
		"chat with wrapped tools and an image part":        {`{"messages":[{"role":"user","content":[{"type":"image"}]}],"tools":[{"type":"function","function":{"name":"f"}}]}`, Chat, ""},
		"Responses with a list":                            {`{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]},{"type":"function_call_output","call_id":"a","output":"x"}]}`, Responses, ""},
		"Responses with items without a type (B16)":        {`{"model":"m","input":[{"role":"user","content":"x"}]}`, Responses, ""},
		"Responses with a string (B16)":                    {`{"model":"m","input":"x","instructions":"y"}`, Responses, turn.DialectPassed},
		"Responses with kept history":                      {`{"model":"m","input":"x","previous_response_id":"resp_1"}`, Responses, turn.StatefulRequest},
		"Responses with a conversation":                    {`{"model":"m","input":"x","conversation":{"id":"conv_1"}}`, Responses, turn.StatefulRequest},
		"Responses with a reference to an item":            {`{"model":"m","input":[{"role":"user","content":"x"},{"type":"item_reference","id":"msg_1"}]}`, Responses, turn.StatefulRequest},
		"Responses with an item of nothing but an id":      {`{"model":"m","input":[{"id":"msg_1"},{"role":"user","content":"x"}]}`, Responses, turn.StatefulRequest},
		"Responses with empty input":                       {`{"model":"m","input":[]}`, Responses, ""},
		"chat with a conversation":                         {`{"messages":[{"role":"user","content":"x"}],"conversation":"c"}`, Chat, turn.StatefulRequest},
		"Anthropic with tool blocks (B5)":                  {`{"model":"m","messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}]}`, Anthropic, ""},
		"Anthropic with a system list":                     {`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"x"}]}`, Anthropic, ""},
		"Anthropic with a system string":                   {`{"model":"m","max_tokens":9,"system":"s","messages":[{"role":"user","content":"x"}]}`, Anthropic, ""},
		"Anthropic with input schemas only":                {`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"name":"Bash","input_schema":{}}]}`, Anthropic, ""},
		"Anthropic with thinking and nothing of chat":      {`{"model":"m","messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}]}`, Anthropic, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Parse([]byte(c.raw))
			require.Equal(t, c.reason, ReasonOf(err), "%v", err)
			require.NotNil(t, d)
			require.Equal(t, c.dialect, d.Dialect)
			if err != nil {
				require.Empty(t, d.Messages)
				require.Error(t, d.Check())
				require.Empty(t, d.Chain())
				return
			}
			checkSegments(t, d)
		})
	}
}

func TestArgumentsAreCheckedAsJSON(t *testing.T) {
	t.Parallel()
	for args, valid := range map[string]bool{
		`{}`: true, `{"a":[1,2,{"b":"c\n"}]}`: true, ` [1] `: true, `"x"`: true, ``: false, `{`: false, `{}{}`: false, `{'a':1}`: false,
		strings.Repeat("[", 70) + strings.Repeat("]", 70): false,
	} {
		literal := string(EscapeString(nil, args))
		d := mustParse(t, chat(`{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":`+literal+`}}]}`))
		require.Equal(t, valid, d.Messages[0].Calls[0].Valid, "%s", args)
		require.Empty(t, d.Messages[0].Locked)
		got, err := d.Value(d.Messages[0].Calls[0].Args)
		require.NoError(t, err)
		require.Equal(t, args, got)
	}
}

func TestValueRefusesWhatIsNoLiteral(t *testing.T) {
	t.Parallel()
	d := mustParse(t, chat(`{"role":"tool","content":"a \ud800 b"},{"role":"user","content":"x"}`))
	_, err := d.Value(d.Messages[0].Texts[0])
	require.ErrorIs(t, err, &Error{Reason: turn.LoneSurrogate})
	for _, span := range []Span{{}, {-1, 4}, {0, 1 << 30}, {0, 5}, {1, 4}, {5, 3}} {
		_, err := d.Value(Text{Span: span})
		require.ErrorIs(t, err, ErrNoText, fmt.Sprint(span))
	}
}
