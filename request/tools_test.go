package request

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

const recovery = `{"type":"function","function":{"name":"token_terminator","parameters":{"type":"object","properties":{"action":{"type":"string"},"artifact_id":{"type":"string"}},"required":["action"]}}}`

// B23: forms that hide text need the recovery tool, declared and not forbidden.
func TestB23OffersTheRecoveryTool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		want   bool
	}{
		"declared":                             {`"tools":[` + recovery + `]`, true},
		"declared among others":                {`"tools":[{"name":"x"},null,` + recovery + `]`, true},
		"declared twice, once without actions": {`"tools":[{"type":"function","function":{"name":"token_terminator"}},` + recovery + `]`, true},
		"bare declaration":                     {`"tools":[{"type":"function","name":"token_terminator","parameters":{"properties":{"artifact_id":{},"action":{}}}}]`, true},
		"choice auto":                          {`"tools":[` + recovery + `],"tool_choice":"auto"`, true},
		"choice required":                      {`"tools":[` + recovery + `],"tool_choice":"required"`, true},
		"choice null":                          {`"tools":[` + recovery + `],"tool_choice":null`, true},
		"choice of this tool":                  {`"tools":[` + recovery + `],"tool_choice":{"type":"function","function":{"name":"token_terminator"}}`, true},
		"choice of this tool, bare":            {`"tool_choice":{"type":"function","name":"token_terminator"},"tools":[` + recovery + `]`, true},
		"choice none":                          {`"tools":[` + recovery + `],"tool_choice":"none"`, false},
		"choice of another tool":               {`"tools":[` + recovery + `],"tool_choice":{"type":"function","function":{"name":"shell"}}`, false},
		"choice of allowed tools":              {`"tools":[` + recovery + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`, false},
		"choice we do not know":                {`"tools":[` + recovery + `],"tool_choice":"sometimes"`, false},
		"choice of another type":               {`"tools":[` + recovery + `],"tool_choice":1`, false},
		"not declared":                         {`"tools":[{"type":"function","function":{"name":"shell"}}]`, false},
		"no tools":                             {`"model":"m"`, false},
		"tools null":                           {`"tools":null`, false},
		"a parameter is missing":               {`"tools":[` + strings.Replace(recovery, `"artifact_id"`, `"id"`, 1) + `]`, false},
		"parameters of another shape":          {`"tools":[{"type":"function","function":{"name":"token_terminator","parameters":"action artifact_id"}}]`, false},
		"the name only in a description":       {`"tools":[{"type":"function","function":{"name":"x","description":"token_terminator"}}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := mustParse(t, []byte(`{"messages":[`+user+`],`+c.fields+`}`))
			require.Equal(t, c.want, d.Offers("token_terminator", "action", "artifact_id"))
			require.False(t, d.Offers("", "action"))
		})
	}
}

func TestOfferOfTellsWhyAToolIsNotOffered(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]Offer{
		`"model":"m"`: Undeclared,
		`"tools":[{"type":"function","function":{"name":"shell"}}]`:                                                  Undeclared,
		`"tools":[{"type":"function","function":{"name":"token_terminator"}}]`:                                       Incomplete,
		`"tools":[` + recovery + `]`:                                                                                 Offered,
		`"tools":[` + recovery + `],"tool_choice":"none"`:                                                            Forbidden,
		`"tools":[` + recovery + `],"tool_choice":{"type":"function","function":{"name":"shell"}}`:                   Forbidden,
		`"tools":[{"type":"function","function":{"name":"token_terminator"}}],"tool_choice":"none"`:                  Incomplete,
		`"tools":[{"name":"token_terminator","parameters":{"properties":{"action":{},"artifact_id":{},"more":{}}}}]`: Offered,
	} {
		d := mustParse(t, []byte(`{"messages":[`+user+`],`+fields+`}`))
		require.Equal(t, want, d.OfferOf("token_terminator", "action", "artifact_id"), fields)
	}
}

func TestWithToolChangesNothingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, want string }{
		"no tools":                     {`{"messages":[]}`, `{"messages":[],"tools":[T]}`},
		"no tools, white space":        {"\n{ \"messages\" : [ ] ,\"a\":1.0 \n} ", "\n{ \"messages\" : [ ] ,\"a\":1.0,\"tools\":[T] \n} "},
		"an empty request":             {`{}`, `{"tools":[T]}`},
		"an empty request, spaced":     {` { } `, ` {"tools":[T] } `},
		"empty tools":                  {`{"tools":[],"a":1}`, `{"tools":[T],"a":1}`},
		"empty tools, white space":     {`{"tools" : [ ` + "\n" + ` ] ,"a":1}`, `{"tools" : [T ` + "\n" + ` ] ,"a":1}`},
		"null tools":                   {`{"tools": null ,"a":1}`, `{"tools": [T] ,"a":1}`},
		"one tool":                     {`{"a":1,"tools":[{"name":"x"}]}`, `{"a":1,"tools":[{"name":"x"},T]}`},
		"two tools, white space":       {"{\"tools\":[ {\"name\":\"x\"} ,\r\n{\"name\":\"y\"}\t] }", "{\"tools\":[ {\"name\":\"x\"} ,\r\n{\"name\":\"y\"},T\t] }"},
		"a key spelled with an escape": {`{"\u0074ools":[1]}`, `{"\u0074ools":[1,T]}`},
		"tools inside other values":    {`{"a":{"tools":[]},"b":"\"tools\":[]"}`, `{"a":{"tools":[]},"b":"\"tools\":[]","tools":[T]}`},
		"odd bytes elsewhere":          {`{"messages":[{"content":"\ud800\/","content":1E400}]}`, `{"messages":[{"content":"\ud800\/","content":1E400}],"tools":[T]}`},
		"tools before other keys":      {`{"tools":[1],"a":{},"b":[]}`, `{"tools":[1,T],"a":{},"b":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := []byte(c.raw)
			out, err := WithTool(raw, []byte(recovery))
			require.NoError(t, err)
			require.Equal(t, strings.Replace(c.want, "T", recovery, 1), string(out))
			require.Equal(t, c.raw, string(raw))
			require.True(t, json.Valid(out))
		})
	}
	for name, c := range map[string]struct {
		raw, tool string
		reason    turn.Reason
	}{
		"tools of another type": {`{"tools":{}}`, recovery, turn.UnknownShape},
		"no object":             {`[]`, recovery, turn.UnknownShape},
		"a tool that is none":   {`{}`, `"x"`, turn.UnknownShape},
		"a tool cut short":      {`{}`, `{"a":`, turn.NotJSON},
		"two tools":             {`{}`, `{},{}`, turn.NotJSON},
		"tools twice":           {`{"tools":[],"tools":[]}`, recovery, turn.DuplicateKey},
		"a broken request":      {`{"tools":[`, recovery, turn.NotJSON},
		"an empty request":      {``, recovery, turn.NotJSON},
		"a tool too deep":       {`{}`, strings.Repeat(`{"a":`, 63) + `1` + strings.Repeat(`}`, 63), turn.TooDeep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := WithTool([]byte(c.raw), []byte(c.tool))
			require.Equal(t, c.reason, ReasonOf(err), "%v", err)
		})
	}
}

func TestWithToolOnSessions(t *testing.T) {
	t.Parallel()
	for _, s := range recorded(t) {
		raw := s.requestOf(len(s.messages))
		out, err := WithTool(raw, []byte(recovery))
		require.NoError(t, err)
		before, after := mustParse(t, raw), mustParse(t, out)
		require.True(t, after.Offers("token_terminator", "action"))
		require.Len(t, after.Tools, len(before.Tools)+1)
		require.Equal(t, before.Messages, after.Messages)
		want := string(raw[:len(raw)-1]) + `,"tools":[` + recovery + `]}`
		switch {
		case len(before.Tools) > 0:
			want = string(raw[:len(raw)-2]) + `,` + recovery + `]}`
		case before.tools != Span{}:
			want = string(raw[:len(raw)-2]) + recovery + `]}`
		}
		require.True(t, want == string(out), s.name)
	}
}

// A2: nothing internal leaves. What this package writes into a request is the
// caller's values and the declared tool, so no key of ours can appear in it.
func TestA2NothingInternalLeaves(t *testing.T) {
	t.Parallel()
	for _, s := range recorded(t) {
		raw := s.requestOf(len(s.messages))
		d := mustParse(t, raw)
		edits := someEdits(t, d)
		out, err := d.Apply(edits)
		require.NoError(t, err)
		require.Equal(t, keysOf(t, raw), keysOf(t, out))
		require.Equal(t, strings.Count(string(raw), "_tt_"), strings.Count(string(out), "_tt_"))
	}
}

// keysOf counts the keys of every object of a request, by path.
func keysOf(t *testing.T, raw []byte) map[string]int {
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	counts := map[string]int{}
	var walk func(v any, path string)
	walk = func(v any, path string) {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				counts[path+"/"+k]++
				walk(x, path+"/"+k)
			}
		case []any:
			for _, x := range v {
				walk(x, path+"/-")
			}
		}
	}
	walk(v, "")
	return counts
}
