package envelope

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var long = strings.Repeat("a line of \"output\"\n", 40)

func literal(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestOpenFindsTheFields(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string // pointers; nil: no envelope
	}{
		"a terminal result":      {`{"output": ` + literal(long) + `, "exit_code": 1, "error": null}`, []string{"/output"}},
		"with a hint":            {` {"output": ` + literal(long) + `, "exit_code": 0}` + "\n\n[Hint: use offset=50]", []string{"/output"}},
		"two streams":            {`{"stdout":` + literal(long) + `,"stderr":"warning","code":0}`, []string{"/stdout", "/stderr"}},
		"a list of blocks":       {`[{"type":"text","text":` + literal(long) + `},{"type":"image","data":"AAAA"},{"type":"text","text":"end"}]`, []string{"/0/text", "/2/text"}},
		"blocks in content":      {`{"content":[{"type":"text","text":` + literal(long) + `}],"isError":false}`, []string{"/content/0/text"}},
		"blocks in result":       {`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":` + literal(long) + `}]}}`, []string{"/result/content/0/text"}},
		"a long text, any key":   {`{"a/b~c":` + literal(long) + `,"id":7}`, []string{"/a~1b~0c"}},
		"a place is no text":     {`{"full_output_path":` + literal(long) + `}`, nil},
		"mostly data":            {`{"message":"ok","items":[` + strings.Repeat(`{"n":1},`, 200) + `{}]}`, nil},
		"a duplicate key":        {`{"output":` + literal(long) + `,"output":"x"}`, nil},
		"a duplicate in escapes": {`{"output":` + literal(long) + `,"\u006futput":"x"}`, nil},
		"a lone surrogate":       {`{"output":"\ud800` + strings.Repeat("x", 500) + `"}`, nil},
		"no JSON":                {`{"output": ` + long, nil},
		"plain":                  {long, nil},
		"empty":                  {"", nil},
		"a list of records":      {`[{"a":` + literal(long) + `},{"b":2}]`, nil},
		"an array of numbers":    {`[1,2,3]`, nil},
		"not UTF-8":              {"{\"output\":\"\xff" + strings.Repeat("x", 500) + "\"}", nil},
		"too deep":               {`{"output":` + literal(long) + `,"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, nil},
		"an empty text":          {`{"output":""}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, ok := Open(c.text)
			require.Equal(t, c.want != nil, ok)
			var got []string
			for _, f := range e.Fields() {
				got = append(got, f.Pointer)
			}
			require.Equal(t, c.want, got)
			if ok {
				same, err := e.Replace(nil)
				require.NoError(t, err)
				require.Equal(t, c.text, same)
			}
		})
	}
}

func TestReplaceKeepsEveryOtherByte(t *testing.T) {
	t.Parallel()
	text := "{ \"cwd\" : \"/a\\/b\",\t\"output\": " + literal(long) + " , \"n\": 1.50e3, \"stderr\":\"w\" }\n\nhint {\"x\"}"
	e, ok := Open(text)
	require.True(t, ok)
	got, err := e.Replace([]Change{{Field: 0, Text: "new \"text\"\n\x01é"}})
	require.NoError(t, err)
	require.Equal(t, "{ \"cwd\" : \"/a\\/b\",\t\"output\": \"new \\\"text\\\"\\n\\u0001é\" , \"n\": 1.50e3, \"stderr\":\"w\" }\n\nhint {\"x\"}", got)
}

func TestHidePutsTheMarkerBesideTheField(t *testing.T) {
	t.Parallel()
	e, ok := Open(`{"output": ` + literal(long) + `, "exit_code": 1} hint`)
	require.True(t, ok)
	v, err := e.Hide([]Change{{Field: 0, Text: "short"}}, 0)
	require.NoError(t, err)
	require.True(t, v.InJSON)
	require.Equal(t, `{"output": "short","[omitted]":"MARK", "exit_code": 1} hint`, v.Head+"MARK"+v.Tail)

	e, ok = Open(`{"[omitted]":1,"stdout":` + literal(long) + `,"stderr":"w"}`)
	require.True(t, ok)
	v, err = e.Hide([]Change{{Field: 1, Text: "W"}, {Field: 0, Text: "O"}}, 1)
	require.NoError(t, err)
	require.Equal(t, `{"[omitted]":1,"stdout":"O","stderr":"W","[omitted] 2":"MARK"}`, v.Head+"MARK"+v.Tail)
}

func TestBadChangesAreErrors(t *testing.T) {
	t.Parallel()
	e, ok := Open(`{"output":` + literal(long) + `}`)
	require.True(t, ok)
	for name, changes := range map[string][]Change{
		"no such field": {{Field: 1}}, "negative": {{Field: -1}}, "twice": {{Field: 0}, {Field: 0}}, "no UTF-8": {{Field: 0, Text: "\xff"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := e.Replace(changes)
			require.ErrorIs(t, err, ErrBadChange)
		})
	}
	_, err := e.Hide(nil, 1)
	require.ErrorIs(t, err, ErrBadChange)
	_, err = Envelope{}.Hide(nil, 0)
	require.ErrorIs(t, err, ErrBadChange)
}

func TestRandomEnvelopes(t *testing.T) {
	t.Parallel()
	seed := uint64(5)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 6))
	keys := []string{"output", "stderr", "exit_code", "note é", "data", `q"k`, "[omitted]", "[omitted] 2"}
	for range 500 {
		r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		var parts []string
		for _, k := range keys[:1+r.IntN(len(keys))] {
			value := []string{literal(strings.Repeat("é \"x\"\n", r.IntN(200))), "12", "null", `{"a":[1,"b"]}`}[r.IntN(4)]
			parts = append(parts, strings.Repeat(" ", r.IntN(3))+literal(k)+" : "+value)
		}
		text := "{" + strings.Join(parts, " ,") + "}" + []string{"", "\nhint"}[r.IntN(2)]
		if e, ok := Open(text); ok {
			check(t, text, e, "new\t"+strings.Repeat("\"é\\", r.IntN(5)))
		}
	}
}

// check changes each field in turn, with and without a marker, and holds that the
// rest of the JSON stays byte for byte, order included.
func check(t *testing.T, text string, e Envelope, fresh string) {
	t.Helper()
	for i := range e.Fields() {
		got, err := e.Replace([]Change{{Field: i, Text: fresh}})
		require.NoError(t, err)
		n := e.nodes[e.at[i]]
		require.Equal(t, text[:n.Start], got[:n.Start])
		require.True(t, strings.HasSuffix(got, text[n.End:]))
		var decoded string
		require.NoError(t, json.Unmarshal([]byte(got[n.Start:len(got)-len(text[n.End:])]), &decoded))
		require.Equal(t, fresh, decoded)

		v, err := e.Hide([]Change{{Field: i, Text: fresh}}, i)
		require.NoError(t, err)
		require.Equal(t, got[:len(got)-len(text[n.End:])], v.Head[:len(got)-len(text[n.End:])])
		require.Equal(t, `"`+text[n.End:], v.Tail)
		out := v.Head + "MARK" + v.Tail
		d := json.NewDecoder(strings.NewReader(out))
		var whole any
		require.NoError(t, d.Decode(&whole), out)
		require.Contains(t, fmt.Sprint(whole), "MARK")
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(`{"output": "`+strings.Repeat("x", 60)+`", "exit_code": 1}`, "new")
	f.Add(`[{"type":"text","text":"abc"},{"type":"image"}] hint`, "\"\\\n\x00")
	f.Add(`{"result":{"content":[{"type":"text","text":"abc"}]},"[omitted]":0}`, "é")
	f.Add(`{"output":"\ud83d\ude00","\u006f":1}`, "")
	f.Fuzz(func(t *testing.T, text, fresh string) {
		e, ok := Open(text)
		if !ok {
			return
		}
		if same, err := e.Replace(nil); err != nil || same != text {
			t.Fatalf("%q became %q", text, same)
		}
		for i := range e.Fields() {
			if _, err := e.Replace([]Change{{Field: i, Text: "\xff"}}); err == nil {
				t.Fatal("took a text that is no UTF-8")
			}
		}
		check(t, text, e, strings.ToValidUTF8(fresh, "?"))
	})
}
