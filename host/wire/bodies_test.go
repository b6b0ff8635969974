package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"token-terminator/request"
	"token-terminator/turn"
)

func errorsAs[T any](err error, into *T) bool { return errors.As(err, into) }

const turnBody = `{"id":3,"deadline_ms":1000,"binding":{"engine":"e","home":"/h","session":"s","generation":1,"turn":2,"attempt":1},` +
	`"scope":{"request_purpose":"conversation","is_internal":[],"api_call_count":"x"},"measure":{"name":"host","tokens":9},` +
	`"request_json":{"model" : "gpt-4o", "messages":[{"role":"user","content":"a\u00e4\ud83d\ude00\/"}]}}`

func TestTheRequestsOwnBytesArrive(t *testing.T) {
	t.Parallel()
	body := []byte(turnBody)
	req, err := Decode(KindTurn, body)
	require.NoError(t, err)
	got := req.(*Turn)
	require.Equal(t, `{"model" : "gpt-4o", "messages":[{"role":"user","content":"a\u00e4\ud83d\ude00\/"}]}`, string(got.RequestJSON))
	at := strings.Index(turnBody, `{"model"`)
	require.True(t, unsafe.Pointer(&body[at]) == unsafe.Pointer(&got.RequestJSON[0]), "the request is a part of the frame, not a copy")
	require.Equal(t, turn.Binding{Engine: "e", Home: "/h", Session: "s", Generation: 1, Turn: 2, Attempt: 1}, got.Binding)
	require.Equal(t, request.Scope{RequestPurpose: request.Word("conversation")}, got.Scope)
	require.Equal(t, &Measure{"host", 9}, got.Measure)
	require.Equal(t, Head{3, 1000}, got.Opening())
}

func TestTheRequestsOwnBytesAreSent(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"messages" : [ ] }`)
	in := &Turn{Head: Head{ID: 9, DeadlineMS: 5}, Binding: turn.Binding{Session: "s<&>\u2028"}, Scope: request.Scope{Purpose: request.Word("chat"), APICallCount: 2}, Detail: true, RequestJSON: raw}
	head, middle, tail, err := EncodeTurn(in)
	require.NoError(t, err)
	require.True(t, unsafe.Pointer(&raw[0]) == unsafe.Pointer(&middle[0]))
	back, err := Decode(KindTurn, append(append(append([]byte{}, head...), middle...), tail...))
	require.NoError(t, err)
	require.Equal(t, in, back)
}

func TestBodiesAreStrict(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 80) + strings.Repeat("]", 80)
	for name, c := range map[string]struct {
		kind   Kind
		body   string
		code   string
		reason turn.Reason
		field  string
		id     uint64
	}{
		"unknown kind":            {9, `{"id":4}`, Unsupported, turn.UnsupportedRequest, "", 4},
		"kind of an answer":       {KindTurn | Answer, `{"id":4}`, Unsupported, turn.UnsupportedRequest, "", 4},
		"unknown field":           {KindStatus, `{"id":4,"extra":1}`, Unsupported, turn.UnsupportedRequest, "extra", 4},
		"unknown field inside":    {KindTurn, `{"id":4,"binding":{"session":"s","colour":1}}`, Unsupported, turn.UnsupportedRequest, "colour", 4},
		"another case":            {KindStatus, `{"id":4,"Deadline_MS":1}`, Unsupported, turn.UnsupportedRequest, "Deadline_MS", 4},
		"content in a name":       {KindStatus, `{"id":4,"my secret \u00e4":1}`, Unsupported, turn.UnsupportedRequest, "my?secret??", 4},
		"twice":                   {KindStatus, `{"id":4,"id":5}`, BadFrame, turn.DuplicateKey, "", 5},
		"no id":                   {KindStatus, `{"deadline_ms":1}`, BadFrame, turn.NotJSON, "id", 0},
		"a negative id":           {KindStatus, `{"id":-1}`, BadFrame, turn.NotJSON, "id", 0},
		"no JSON":                 {KindStatus, `hello`, BadFrame, turn.NotJSON, "", 0},
		"nothing":                 {KindStatus, ``, BadFrame, turn.NotJSON, "", 0},
		"something behind":        {KindStatus, `{"id":4} x`, BadFrame, turn.NotJSON, "", 4},
		"a wrong type":            {KindStatus, `{"id":4,"deadline_ms":"soon"}`, BadFrame, turn.NotJSON, "deadline_ms", 4},
		"a broken request":        {KindTurn, `{"id":4,"request_json":{"messages":[}}`, BadFrame, turn.NotJSON, "request_json", 4},
		"a request that is cut":   {KindTurn, `{"id":4,"request_json":{"messages":[`, BadFrame, turn.NotJSON, "request_json", 4},
		"a request too deep":      {KindTurn, `{"id":4,"request_json":` + deep + `}`, BadFrame, turn.TooDeep, "request_json", 4},
		"a request without UTF-8": {KindTurn, "{\"id\":4,\"request_json\":{\"m\":\"\xff\"}}", BadFrame, turn.NotUTF8, "request_json", 4},
		"text that is no Unicode": {KindResult, `{"id":4,"text":"\ud800"}`, BadFrame, turn.LoneSurrogate, "text", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode(c.kind, []byte(c.body))
			var told *BodyError
			require.ErrorAs(t, err, &told)
			require.Equal(t, c.code, told.Code)
			require.Equal(t, c.reason, told.Reason)
			if c.code == Unsupported {
				require.Equal(t, c.field, told.Field)
			}
			require.Equal(t, c.id, told.ID)
			require.Equal(t, c.id != 0, told.HasID)
			require.NotContains(t, told.Error(), "secret ")
		})
	}
}

// A request may hold lone surrogates: the turn decides what that means.
func TestASurrogateInARequestIsNotTheFramesBusiness(t *testing.T) {
	t.Parallel()
	req, err := Decode(KindTurn, []byte(`{"id":1,"request_json":{"messages":[{"role":"user","content":"\ud800"}]},"detail":true}`))
	require.NoError(t, err)
	require.True(t, req.(*Turn).Detail)
}

func TestEveryKindHasABody(t *testing.T) {
	t.Parallel()
	for kind := KindHello; kind <= KindStatus; kind++ {
		require.True(t, kind.Known())
		req, err := Decode(kind, []byte(`{"id":18446744073709551615,"deadline_ms":7}`))
		require.NoError(t, err)
		require.Equal(t, Head{1<<64 - 1, 7}, req.Opening())
		out, err := Encode(req)
		require.NoError(t, err)
		back, err := Decode(kind, out)
		if kind != KindTurn && kind != KindCommand { // a request or arguments that are absent are null then
			require.NoError(t, err)
			require.Equal(t, req, back)
		}
	}
	require.False(t, Kind(0).Known())
	require.False(t, (KindTurn | Answer).Known())
}

func FuzzDecode(f *testing.F) {
	f.Add(byte(KindTurn), []byte(turnBody))
	f.Add(byte(KindHello), []byte(`{"id":1,"protocol":1,"client":"c","version":"0.1.0","home":"/h","env":{"TOKEN_TERMINATOR_MODE":"off"},"consent":{"jev":true}}`))
	f.Add(byte(KindResult), []byte(`{"id":1,"binding":{},"tool":"bash","exit_code":1,"args_digest":"","text":"x"}`))
	f.Add(byte(KindRecover), []byte(`{"id":1,"action":"artifact_get","artifact_id":"a_1234abcd","offset":3,"operator":{"a":1}}`))
	f.Add(byte(KindEvent), []byte(`{"id":1,"name":"usage","usage":{"input":3},"account":{"saved":1.5,"spent":2}}`))
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		kept := string(body)
		req, err := Decode(Kind(kind), body)
		require.Equal(t, kept, string(body), "a body is only read")
		if err != nil {
			var told *BodyError
			require.ErrorAs(t, err, &told)
			require.NotEmpty(t, told.Code)
			return
		}
		require.True(t, json.Valid(body))
		out, err := Encode(req)
		require.NoError(t, err)
		again, err := Decode(Kind(kind), out)
		require.NoError(t, err, "%s", out)
		require.Equal(t, req.Opening(), again.Opening())
	})
}
