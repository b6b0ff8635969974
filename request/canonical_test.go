package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

func TestCanonicalForm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, want string }{
		"already":                             {`{"a":[1,"x",{"b":null}],"c":""}`, `{"a":[1,"x",{"b":null}],"c":""}`},
		"white space":                         {" { \"a\" : [ 1 ,\r\n2 ] , \"b\" : { } , \"c\":[ ] } \n", `{"a":[1,2],"b":{},"c":[]}`},
		"white space in front only":           {"\n\t{\"a\":1}", `{"a":1}`},
		"white space before the end only":     {`{"a":1 }`, `{"a":1}`},
		"white space in an empty object only": {`{"a":{ }}`, `{"a":{}}`},
		"keys are sorted at every level":      {`{"b":{"z":1,"y":[{"d":1,"c":2}]},"a":2}`, `{"a":2,"b":{"y":[{"c":2,"d":1}],"z":1}}`},
		"keys are sorted by code point":       {`{"\ud83d\ude00":1,"\uffff":2,"é":3,"z":4,"Z":5,"":6}`, "{\"\":6,\"Z\":5,\"z\":4,\"é\":3,\"\uffff\":2,\"😀\":1}"},
		"lone surrogates sort by code point":  {`{"\ue000":1,"\ud800":2,"\ud7ff":3}`, "{\"\ud7ff\":3,\"\\ud800\":2,\"\ue000\":1}"},
		"a shorter key comes first":           {`{"ab":1,"a":2,"a\u0000":3}`, `{"a":2,"a\u0000":3,"ab":1}`},
		"repeated keys keep their order":      {`{"b":1,"a":2,"a":1,"\u0061":0}`, `{"a":2,"a":1,"a":0,"b":1}`},
		"strings in their shortest spelling":  {`"\u0041\/\u00e9\u2028\u2029\ud83d\ude00\u003c\u0026\u007f\u000A\u001F\u0008\""`, "\"A/é\u2028\u2029😀<&\x7f\\n\\u001f\\b\\\"\""},
		"lone surrogates as they are spelled": {`["\uD800","\udfff x\/","\ud800\ud83d\ude00"]`, `["\uD800","\udfff x/","\ud800😀"]`},
		"numbers as they are spelled":         {`[1.0,-0,1E+2,123456789012345678901234567890,0.10]`, `[1.0,-0,1E+2,123456789012345678901234567890,0.10]`},
		"a string alone":                      {` "x" `, `"x"`},
		"a number alone":                      {` 1 `, `1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Canonical([]byte(c.raw))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
			again, err := Canonical(got)
			require.NoError(t, err)
			require.Equal(t, c.want, string(again))
			require.Same(t, &got[0], &again[0], "what is canonical is not copied")
		})
	}
	for name, c := range map[string]struct {
		raw    string
		reason turn.Reason
	}{
		"not JSON": {`{"a":}`, turn.NotJSON}, "trailing": {`{} x`, turn.NotJSON}, "deep": {strings.Repeat("[", 65), turn.TooDeep}, "bytes": {"\"\xff\"", turn.NotUTF8},
	} {
		_, err := Canonical([]byte(c.raw))
		require.Equal(t, c.reason, ReasonOf(err), name)
	}
}

// encoding/json with sorted keys and without HTML escapes writes the canonical
// form, but for U+2028 and U+2029, control characters and number lexemes.
func TestCanonicalAgreesWithEncodingJSONOnSessions(t *testing.T) {
	t.Parallel()
	for _, s := range recorded(t) {
		raw := s.requestOf(len(s.messages))
		got, err := Canonical(raw)
		require.NoError(t, err)
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		var v any
		require.NoError(t, dec.Decode(&v))
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(v))
		want := strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSpace(b.String()))
		require.True(t, want == string(got), s.name)
	}
}

func TestManyUnsortedLevelsTakeLinearTime(t *testing.T) {
	t.Parallel()
	value := `"` + strings.Repeat("x", 1<<20) + `"`
	for range 60 {
		value = `{"b":` + value + `,"a":0}`
	}
	got, err := Canonical([]byte(value))
	require.NoError(t, err)
	require.Equal(t, len(value), len(got))
	require.True(t, bytes.HasPrefix(got, []byte(`{"a":0,"b":{"a":0,`)))
}

func TestDigestIgnoresCacheMarksOnly(t *testing.T) {
	t.Parallel()
	plain := `{"role":"user","content":"hi"}`
	digest := func(message string) turn.Digest { return mustParse(t, chat(message)).Digest(0) }
	require.Equal(t, turn.Sum(`{"content":"hi","role":"user"}`), digest(plain))
	for name, message := range map[string]string{
		"another order and spelling": ` { "content" : "\u0068i" , "role":"user"}`,
		"a mark on the message":      `{"role":"user","cache_control":{"type":"ephemeral"},"content":"hi"}`,
		"one text part":              `{"role":"user","content":[{"type":"text","text":"hi"}]}`,
		"a mark on the part":         `{"role":"user","content":[{"text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"},"type":"text"}]}`,
		"a mark of null":             `{"role":"user","content":[{"type":"text","cache_control":null,"text":"hi"}],"cache_control":null}`,
	} {
		require.Equal(t, digest(plain), digest(message), name)
	}
	two := digest(`{"role":"user","content":[{"type":"text","text":"hi"},{"type":"text","text":"hi"}]}`)
	require.Equal(t, two, digest(`{"role":"user","content":[{"type":"text","text":"hi"},{"cache_control":{},"type":"text","text":"hi"}]}`))
	different := map[turn.Digest]string{digest(plain): "plain", two: "two parts"}
	for name, message := range map[string]string{
		"another text":               `{"role":"user","content":"hi "}`,
		"another role":               `{"role":"tool","content":"hi"}`,
		"a name":                     `{"role":"user","name":"u","content":"hi"}`,
		"a part with another key":    `{"role":"user","content":[{"type":"text","text":"hi","x":1}]}`,
		"a part of another type":     `{"role":"user","content":[{"type":"input_text","text":"hi"}]}`,
		"a part without a type":      `{"role":"user","content":[{"text":"hi"}]}`,
		"a part with two texts":      `{"role":"user","content":[{"text":"hi","text":"hi"}]}`,
		"a text that is no string":   `{"role":"user","content":[{"type":"text","text":["hi"]}]}`,
		"no parts":                   `{"role":"user","content":[]}`,
		"a string part":              `{"role":"user","content":["hi"]}`,
		"a mark deeper down":         `{"role":"user","content":[{"type":"text","text":"hi","x":{"cache_control":1}}]}`,
		"the word as text":           `{"role":"user","content":"\"cache_control\":"}`,
		"a mark in a call's schema":  `{"role":"assistant","tool_calls":[{"id":"a","cache_control":1}]}`,
		"the same without that mark": `{"role":"assistant","tool_calls":[{"id":"a"}]}`,
	} {
		d := digest(message)
		require.NotContains(t, different, d, "%s equals %s", name, different[d])
		different[d] = name
	}
}

func TestChainExtends(t *testing.T) {
	t.Parallel()
	long := mustParse(t, chat(join(system, user, calls("a"), result("a"), said)))
	short := mustParse(t, chat(join(system, strings.Replace(user, `"u"`, `[{"type":"text","text":"u","cache_control":{}}]`, 1), calls("a"))))
	require.Equal(t, long.Chain()[:3], short.Chain())
	require.Equal(t, turn.Chain(turn.Chain(turn.Digest{}, long.Digest(0)), long.Digest(1)), long.Chain()[1])
}

// checkSegments holds what every Doc's segments must hold.
func checkSegments(t *testing.T, d *Doc) {
	t.Helper()
	seg, err := d.Segments()
	require.NoError(t, err)
	require.Len(t, seg.Messages, len(d.Messages))
	canonical, err := Canonical(d.Raw)
	require.NoError(t, err)
	whole := bytes.Clone(seg.Head)
	for _, part := range append(slices.Clone(seg.Messages), seg.Tail) {
		if len(part) > 0 {
			at := len(whole)
			require.True(t, at >= 2 && symbol(canonical[at-1]) && symbol(canonical[at-2]) && letter(canonical[at]), "cut at byte %d", at)
		}
		whole = append(whole, part...)
	}
	require.True(t, bytes.Equal(canonical, whole))
	require.False(t, bytes.ContainsAny(canonical, "\r\n"))
}

func TestSegments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		want []string // head, messages, tail
	}{
		"keys on both sides": {
			`{"tools":[],"messages":[{"role":"user","content":"a"},{"role":"tool","content":"b"}],"model":"m","max_tokens":5}`,
			[]string{`{"max_tokens":5,"messages":[{"`, `content":"a","role":"user"},{"`, `content":"b","role":"tool"}],"`, `model":"m","tools":[]}`},
		},
		"messages last": {
			`{"messages":[{"role":"user","content":"a"}],"a":1}`,
			[]string{`{"a":1,"messages":[{"`, `content":"a","role":"user"}]}`, ``},
		},
		"no messages": {`{"messages":[],"model":"m"}`, []string{`{"messages":[],"model":"m"}`, ``}},
		"an empty message joins the part before": {
			`{"messages":[{"role":"user"},{},{"role":"tool"}],"model":"m"}`,
			[]string{`{"messages":[{"`, `role":"user"},{},{"`, ``, `role":"tool"}],"`, `model":"m"}`},
		},
		"a first message without a letter joins the head": {
			`{"messages":[{"_a":1,"role":"user"},{"role":"tool"}],"model":"m"}`,
			[]string{`{"messages":[{"_a":1,"role":"user"},{"`, ``, `role":"tool"}],"`, `model":"m"}`},
		},
		"the last message without a letter, a tail without one": {
			`{"messages":[{"role":"user"},{"é":1}],"ñ":1}`,
			[]string{`{"messages":[{"`, `role":"user"},{"é":1}],"ñ":1}`, ``, ``},
		},
		"a key that needs an escape": {
			`{"messages":[{"\n":1,"role":"user"},{"\"":1}],"z":1}`,
			[]string{`{"messages":[{"\n":1,"role":"user"},{"\"":1}],"`, ``, ``, `z":1}`},
		},
		"an object named messages inside": {
			`{"model":"m","a":{"messages":[{"x":1}]},"messages":[{"role":"user","messages":[{"b":1}]}]}`,
			[]string{`{"a":{"messages":[{"x":1}]},"messages":[{"`, `messages":[{"b":1}],"role":"user"}],"`, `model":"m"}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := mustParse(t, []byte(c.raw))
			checkSegments(t, d)
			seg, err := d.Segments()
			require.NoError(t, err)
			got := []string{string(seg.Head)}
			for _, m := range seg.Messages {
				got = append(got, string(m))
			}
			require.Equal(t, c.want, append(got, string(seg.Tail)))
		})
	}
}

func TestSegmentsOfMessagesDoNotDependOnNeighbours(t *testing.T) {
	t.Parallel()
	for _, s := range recorded(t) {
		if len(s.messages) > 120 {
			continue
		}
		var before [][]byte
		for n := 1; n <= len(s.messages); n += 1 + len(s.messages)/8 {
			d := mustParse(t, s.requestOf(n))
			checkSegments(t, d)
			seg, err := d.Segments()
			require.NoError(t, err)
			for i := range max(0, len(before)-1) {
				require.True(t, bytes.Equal(before[i], seg.Messages[i]), "message %d of %d", i, n)
			}
			before = seg.Messages
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":{"z":1,"y":[{"d":1,"c":2}]},"a":2}`, `["\uD800\u0041\/","\ud83d\ude00"]`, ` { "a" : [ ] , "a":{ } } `, `{"\u0062":1,"a":1.0e5}`,
		`{"messages":[{"role":"u","content":"x"}],"a":1}`, `[[[{"":[]}]]]`, "\"\u2028\"", `1e999`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Canonical(raw)
		if err != nil {
			require.ErrorIs(t, err, ErrRefused)
			return
		}
		again, err := Canonical(bytes.Clone(got))
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
		whole := strictjson.New(raw, MaxDepth)
		require.NoError(t, whole.Skip())
		if whole.Lone < 0 { // encoding/json makes lone surrogates equal to each other
			require.Equal(t, decoded(t, raw), decoded(t, got))
		}
		checkSorted(t, strictjson.New(got, MaxDepth))
	})
}

func decoded(t *testing.T, raw []byte) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	return fmt.Sprintf("%#v", v)
}

// checkSorted walks a value and compares neighbouring keys.
func checkSorted(t *testing.T, s *strictjson.Scanner) {
	var last []byte
	first := true
	switch s.Peek() {
	case '{':
		require.NoError(t, s.Object(func(key strictjson.Str) error {
			name := bytes.Clone(s.Text(key))
			require.True(t, first || bytes.Compare(last, name) <= 0)
			last, first = name, false
			checkSorted(t, s)
			return nil
		}))
	case '[':
		require.NoError(t, s.Array(func(int) error { checkSorted(t, s); return nil }))
	default:
		require.NoError(t, s.Skip())
	}
}

func FuzzEscapeString(f *testing.F) {
	for _, seed := range []string{"", "a\"b\\c\n\x00\x1f\x7f\u2028é😀</script>", strings.Repeat("\\", 70)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		literal := EscapeString(nil, text)
		var back string
		require.NoError(t, json.Unmarshal(literal, &back))
		require.Equal(t, text, back)
		canonical, err := Canonical(literal)
		require.NoError(t, err)
		require.Equal(t, string(literal), string(canonical))
	})
}
