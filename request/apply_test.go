package request

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func edit(pointer, old, value string) turn.Edit {
	return turn.Edit{Pointer: pointer, Before: turn.Sum(old), Value: value}
}

// B37: numbers beyond 64 bits, escapes and white space that nobody edited survive.
func TestB37EditsLeaveAllOtherBytesAlone(t *testing.T) {
	t.Parallel()
	raw := []byte("{ \"seed\" : 123456789012345678901234567890.10e+2 ,\r\n\t\"messages\":[ " +
		`{"role":"system","content":"\u0041\/\ud83d\ude00"} , {"role":"assistant" , "content" : "\u00e9\/" ,"x":"\ud800","x2":1E400,"tool_calls":[]},` +
		`{"tool_call_id":"a","content":"old\n\u2028 \u003c" , "role":"tool"},{"role":"tool","tool_call_id":"b","content":[{"type":"text" ,"text": "p1"},{"text":"p2","type":"text"}]} ] ,"stop":[ ] } ` + "\n")
	d := mustParse(t, raw)
	out, err := d.Apply([]turn.Edit{
		edit("/messages/3/content/1/text", "p2", "q\"2\\"), edit("/messages/2/content", "old\n\u2028 <", "new\n\x00\u2028é"),
		edit("/messages/3/content/0/text", "p1", ""),
	})
	require.NoError(t, err)
	want := strings.NewReplacer(`"old\n\u2028 \u003c"`, "\"new\\n\\u0000\u2028é\"", `"p1"`, `""`, `"p2"`, `"q\"2\\"`).Replace(string(raw))
	require.Equal(t, want, string(out))
	require.Equal(t, string(raw), string(d.Raw), "the caller's bytes stay")
}

func TestApplyRefusesTheWholeSet(t *testing.T) {
	t.Parallel()
	raw := chat(join(system, `{"role":"developer","content":"d"}`, user, calls("a"), result("a"), function("f"),
		`{"role":"tool","content":"x \ud800"}`, `{"role":"tool","content":"x","content":"x"}`, `{"role":"narrator","content":"x"}`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"t"}]}`))
	d := mustParse(t, raw)
	good := edit("/messages/4/content", "r", "s")
	for name, c := range map[string]struct {
		edit turn.Edit
		want error
	}{
		"a system message":        {edit("/messages/0/content", "s", "x"), ErrNotEditable},
		"a developer message":     {edit("/messages/1/content", "d", "x"), ErrNotEditable},
		"a legacy result":         {edit("/messages/5/content", "r", "x"), ErrNotEditable},
		"a lone surrogate":        {edit("/messages/6/content", "x", "y"), ErrNotEditable},
		"a repeated key":          {edit("/messages/7/content", "x", "y"), ErrNotEditable},
		"an unknown role":         {edit("/messages/8/content", "x", "y"), ErrNotEditable},
		"arguments of a call":     {edit("/messages/3/tool_calls/0/function/arguments", "{}", "{}"), ErrNoString},
		"null content":            {edit("/messages/3/content", "", "x"), ErrNoString},
		"a part that is an image": {edit("/messages/9/content/0/image_url/url", "u", "x"), ErrNoString},
		"a part that is absent":   {edit("/messages/9/content/2/text", "t", "x"), ErrNoString},
		"a message that is none":  {edit("/messages/10/content", "r", "x"), ErrNoString},
		"a leading zero":          {edit("/messages/04/content", "r", "x"), ErrNoString},
		"a negative index":        {edit("/messages/-1/content", "r", "x"), ErrNoString},
		"the index after the end": {edit("/messages/-/content", "r", "x"), ErrNoString},
		"a huge index":            {edit("/messages/99999999999999999999/content", "r", "x"), ErrNoString},
		"the model's name":        {edit("/model", "gpt-5.6-sol", "x"), ErrNoString},
		"the whole request":       {edit("", "", "x"), ErrNoString},
		"no pointer":              {edit("messages/4/content", "r", "x"), ErrNoString},
		"a bad tilde":             {edit("/messages/4/content~2", "r", "x"), ErrNoString},
		"a tilde at the end":      {edit("/messages/4/content~", "r", "x"), ErrNoString},
		"another key":             {edit("/messages/4/role", "tool", "x"), ErrNoString},
		"a string that changed":   {edit("/messages/2/content", "another", "x"), ErrChanged},
		"the same string twice":   {good, ErrTwice},
		"text that is no UTF-8":   {edit("/messages/2/content", "u", "\xff"), ErrBadValue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := d.Apply([]turn.Edit{good, c.edit})
			require.ErrorIs(t, err, c.want)
			require.Nil(t, out)
		})
	}
	out, err := d.Apply([]turn.Edit{good, edit("/messages/9/content/1/text", "t", "u"), edit("/messages/2/content", "u", "v")})
	require.NoError(t, err)
	require.Len(t, out, len(raw))
}

func TestPointersFollowRFC6901(t *testing.T) {
	t.Parallel()
	for pointer, want := range map[string][]string{
		"": nil, "/": {""}, "/a/b": {"a", "b"}, "/a~1b/c~0d": {"a/b", "c~d"}, "/~01": {"~1"}, "/~10": {"/0"}, "//": {"", ""},
	} {
		tokens, ok := splitPointer(pointer)
		require.True(t, ok)
		require.Equal(t, want, tokens)
		require.Equal(t, pointer, joinPointer(tokens...))
	}
	for _, bad := range []string{"a", "/~", "/~2", "/a~/b"} {
		_, ok := splitPointer(bad)
		require.False(t, ok, bad)
	}
	d := mustParse(t, chat(join(user, calls("a"))))
	require.Equal(t, "/messages/1/content/0/text", d.Pointer(1, "/content/0/text"))
	i, args, err := d.At("/messages/1/tool_calls/0/function/arguments")
	require.NoError(t, err)
	require.Equal(t, 1, i)
	require.Equal(t, d.Messages[1].Calls[0].Args, args)
	parts := make([]string, 120)
	for k := range parts {
		parts[k] = `{"type":"text","text":"x"}`
	}
	d = mustParse(t, chat(`{"role":"user","content":[`+join(parts...)+`]}`))
	for _, text := range d.Messages[0].Texts {
		_, found, err := d.At(d.Pointer(0, text.Block))
		require.NoError(t, err)
		require.Equal(t, text, found)
	}
}

// Random edits on the bundled sessions: the new texts are read back, and with the
// old texts put back the request is the old one in canonical form.
func TestRandomEditsReadBack(t *testing.T) {
	t.Parallel()
	seed := uint64(20261130)
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, s := range recorded(t) {
		if len(s.messages) > 200 {
			continue
		}
		raw := s.requestOf(len(s.messages))
		d := mustParse(t, raw)
		var edits, back []turn.Edit
		for i, m := range d.Messages {
			if (m.Role != "tool" && m.Role != "assistant") || rng.IntN(2) == 0 {
				continue
			}
			for _, text := range m.Texts {
				old, err := d.Value(text)
				require.NoError(t, err)
				value := strings.Repeat("x\"\\\n\u2028é😀\x01", rng.IntN(4))
				edits = append(edits, edit(d.Pointer(i, text.Block), old, value))
				back = append(back, edit(d.Pointer(i, text.Block), value, old))
			}
		}
		rng.Shuffle(len(edits), func(i, j int) { edits[i], edits[j] = edits[j], edits[i] })
		out, err := d.Apply(edits)
		require.NoError(t, err)
		changed := mustParse(t, out)
		for _, e := range edits {
			_, text, err := changed.At(e.Pointer)
			require.NoError(t, err)
			got, err := changed.Value(text)
			require.NoError(t, err)
			require.Equal(t, e.Value, got)
		}
		again, err := changed.Apply(back)
		require.NoError(t, err)
		want, err := Canonical(raw)
		require.NoError(t, err)
		got, err := Canonical(again)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range [][]byte{
		chat(join(system, user, calls("a", "b"), result("a"), result("b"), said, legacy, function("f"))),
		chat(`{"role":"tool","content":[{"type":"text","text":"x\n\u00e9"},{"type":"image_url"}]}`),
		[]byte(`{"model":"m","input":[{"role":"user","content":"x"}]}`), []byte(`{"messages":[],"tools":[{"name":"a"},null],"tool_choice":{"type":"function","function":{"name":"a"}}}`),
		chat(`{"role":"assistant","content":"\ud800","tool_calls":[{"id":1,"function":{"arguments":"{"}}]}`), []byte("{\"messages\":[{\"content\":\"a\",\"content\":\"b\"}]}\x00"),
		[]byte(" {\r\n\"messages\" : [ { } ] }\n"), []byte(strings.Repeat(`{"messages":[`, 70)),
	} {
		f.Add(seed, "new\n\"text\"")
	}
	f.Fuzz(func(t *testing.T, raw []byte, value string) {
		before := bytes.Clone(raw)
		d, err := Parse(raw)
		require.Equal(t, before, raw)
		if d == nil {
			require.ErrorIs(t, err, ErrRefused)
			return
		}
		require.True(t, json.Valid(raw), "accepted %q", raw)
		if err != nil {
			return
		}
		_ = d.Check()
		require.Len(t, d.Chain(), len(d.Messages))
		same, err := d.Apply(nil)
		require.NoError(t, err)
		require.Equal(t, raw, same)
		checkSegments(t, d)
		checkEdit(t, d, strings.ToValidUTF8(value, "?"))
	})
}

// checkEdit replaces every text that may be replaced and compares what is left.
func checkEdit(t *testing.T, d *Doc, value string) {
	t.Helper()
	var edits []turn.Edit
	var want []byte
	from := 0
	for i, m := range d.Messages {
		if m.Locked != "" || m.Role == "system" || m.Role == "developer" {
			continue
		}
		for k, text := range m.Texts {
			if !d.editable(&d.Messages[i], k) {
				continue
			}
			old, err := d.Value(text)
			require.NoError(t, err)
			edits = append(edits, edit(d.Pointer(i, text.Block), old, value))
			want = append(append(want, d.Raw[from:text.Span.Start]...), EscapeString(nil, value)...)
			from = text.Span.End
		}
	}
	want = append(want, d.Raw[from:]...)
	out, err := d.Apply(edits)
	require.NoError(t, err)
	require.Equal(t, string(want), string(out))
	changed, err := Parse(out)
	require.NoError(t, err)
	for _, e := range edits {
		_, text, err := changed.At(e.Pointer)
		require.NoError(t, err)
		got, err := changed.Value(text)
		require.NoError(t, err)
		require.Equal(t, value, got)
	}
}
