package request

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// hermes is what the registered adapter says of a main turn.
const hermes = `"hermes_adapter":true,"middleware_schema_version":"hermes.middleware.v1","session_id":"s","turn_id":"t","api_request_id":"r","api_call_count":2,"api_mode":"chat_completions"`

const history = `{"model":"m","messages":[{"role":"user","content":"x"}]}`

func scope(t testing.TB, fields string) Scope {
	t.Helper()
	var s Scope
	require.NoError(t, json.Unmarshal([]byte(`{`+fields+`}`), &s))
	return s
}

// without removes one field from hermes; with replaces its value.
func with(field, value string) string {
	var out []string
	for _, f := range strings.Split(hermes, ",") {
		name, _, _ := strings.Cut(f, ":")
		switch {
		case name != `"`+field+`"`:
			out = append(out, f)
		case value != "":
			out = append(out, name+":"+value)
		}
	}
	return strings.Join(out, ",")
}

// scopeCases are named by the rule of Decide that they are about.
var scopeCases = map[string]struct {
	scope, raw string
	reason     turn.Reason
	allowed    bool
}{
	"1 an internal call":                       {`"internal_depth":1,` + hermes, history, turn.InternalCall, false},
	"1 wins over 2 and 3":                      {`"internal_depth":2,"auxiliary_context":true,"probe_failed":true`, `x`, turn.InternalCall, false},
	"2 an auxiliary context":                   {`"auxiliary_context":true,` + hermes, history, turn.AuxiliaryRole, false},
	"2 a probe that failed":                    {`"probe_failed":true,` + hermes, history, turn.HostScopeUnavailable, false},
	"2 wins over 3":                            {`"probe_failed":true`, `[]`, turn.HostScopeUnavailable, false},
	"3 a list":                                 {hermes, `[]`, turn.UnsupportedRequest, false},
	"3 no JSON":                                {hermes, `{"messages":`, turn.UnsupportedRequest, false},
	"3 nothing":                                {hermes, ``, turn.UnsupportedRequest, false},
	"3 a key twice":                            {hermes, `{"messages":[],"messages":[]}`, turn.UnsupportedRequest, false},
	"3 wins over 4":                            {`"is_internal":true`, `1`, turn.UnsupportedRequest, false},
	"4 aux_task":                               {`"aux_task":"title",` + hermes, history, turn.AuxiliaryCall, false},
	"4 auxiliary_task":                         {`"auxiliary_task":1,` + hermes, history, turn.AuxiliaryCall, false},
	"4 is_internal":                            {`"is_internal":true,` + hermes, history, turn.AuxiliaryCall, false},
	"4 internal":                               {`"internal":{"a":1},` + hermes, history, turn.AuxiliaryCall, false},
	"4 parent_session_id":                      {`"parent_session_id":"p",` + hermes, history, turn.AuxiliaryCall, false},
	"4 nothing but false values":               {`"aux_task":"","auxiliary_task":0,"is_internal":false,"internal":[],"parent_session_id":null,` + hermes, history, turn.HermesMainTurn, true},
	"4 wins over 5":                            {`"internal":true,"purpose":"embedding"`, history, turn.AuxiliaryCall, false},
	"5 request_purpose":                        {`"request_purpose":"embedding",` + hermes, history, turn.UnknownPurpose, false},
	"5 purpose":                                {`"purpose":"",` + hermes, history, turn.UnknownPurpose, false},
	"5 call_type":                              {`"call_type":"Conversation",` + hermes, history, turn.UnknownPurpose, false},
	"5 call_role":                              {`"call_role":"judge",` + hermes, history, turn.UnknownPurpose, false},
	"5 model_role":                             {`"model_role":"helper",` + hermes, history, turn.UnknownPurpose, false},
	"5 request_scope":                          {`"request_scope":7,` + hermes, history, turn.UnknownPurpose, false},
	"5 one good label, one bad":                {`"purpose":"chat","call_type":"rerank",` + hermes, history, turn.UnknownPurpose, false},
	"5 wins over 6":                            {`"purpose":"x","api_mode":"embeddings"`, history, turn.UnknownPurpose, false},
	"6 another API":                            {`"purpose":"chat","api_mode":"embeddings"`, history, turn.NonGenerationAPI, false},
	"6 wins over 7":                            {`"api_mode":"x","operation":"y"`, history, turn.NonGenerationAPI, false},
	"7 another operation":                      {`"purpose":"chat","operation":"embeddings.create"`, history, turn.NonGenerationOp, false},
	"7 another endpoint":                       {`"operation":"chat.completions.create","endpoint":"/v1/embeddings",` + hermes, history, turn.NonGenerationOp, false},
	"7 wins over 8":                            {`"endpoint":"/v1/rerank"`, `{"query":"x"}`, turn.NonGenerationOp, false},
	"8 documents":                              {`"purpose":"chat"`, `{"messages":[{"role":"user"}],"documents":[]}`, turn.ServiceEnvelope, false},
	"8 every other key of a service":           {`"purpose":"main",` + hermes, `{"messages":[{"role":"user"}],"encoding_format":null}`, turn.ServiceEnvelope, false},
	"8 wins over 9":                            {hermes, `{"messages":[],"input":[],"state":1}`, turn.ServiceEnvelope, false},
	"9 both lists":                             {`"purpose":"chat"`, `{"messages":[{"role":"user"}],"input":[{"role":"user"}]}`, turn.AmbiguousEnvelope, false},
	"9 wins over 10":                           {hermes, `{"messages":[],"input":"x"}`, turn.AmbiguousEnvelope, false},
	"10 no list":                               {hermes, `{"model":"m"}`, turn.NotConversation, false},
	"10 an empty list":                         {hermes, `{"messages":[]}`, turn.NotConversation, false},
	"10 a string":                              {hermes, `{"input":"x"}`, turn.NotConversation, false},
	"10 an element that is no object":          {hermes, `{"messages":[{"role":"user"},"x"]}`, turn.NotConversation, false},
	"10 no known role":                         {hermes, `{"messages":[{"role":"narrator"},{"content":"x"}]}`, turn.NotConversation, false},
	"10 a function call item":                  {hermes, `{"input":[{"type":"function_call_output","output":"x"}]}`, turn.HermesMainTurn, true},
	"10 a message item":                        {hermes, `{"input":[{"type":"message"},{"role":"user","content":"x"}]}`, turn.HermesMainTurn, true},
	"10 wins over 11":                          {`"purpose":"chat"`, `{"messages":[]}`, turn.NotConversation, false},
	"11 an explicit purpose":                   {`"purpose":"conversation"`, history, turn.ExplicitConversation, true},
	"11 every good label":                      {`"request_purpose":"chat","purpose":"conversation","call_type":"main_generation","call_role":"main","model_role":"primary","request_scope":"chat","operation":"messages.create","endpoint":"/v1/messages","api_mode":"anthropic_messages"`, history, turn.ExplicitConversation, true},
	"11 wins over 12":                          {`"purpose":"chat",` + hermes, history, turn.ExplicitConversation, true},
	"12 the registered adapter":                {hermes, history, turn.HermesMainTurn, true},
	"12 null labels are absent":                {`"purpose":null,"operation":null,` + hermes, history, turn.HermesMainTurn, true},
	"12 without the adapter":                   {with("hermes_adapter", ""), history, turn.UnscopedRequest, false},
	"12 another schema":                        {with("middleware_schema_version", `"hermes.middleware.v2"`), history, turn.UnscopedRequest, false},
	"12 no session":                            {with("session_id", ""), history, turn.UnscopedRequest, false},
	"12 an empty session":                      {with("session_id", `""`), history, turn.UnscopedRequest, false},
	"12 a session that is no string":           {with("session_id", `7`), history, turn.UnscopedRequest, false},
	"12 no turn":                               {with("turn_id", ""), history, turn.UnscopedRequest, false},
	"12 no request id":                         {with("api_request_id", `null`), history, turn.UnscopedRequest, false},
	"12 a count of zero":                       {with("api_call_count", `0`), history, turn.UnscopedRequest, false},
	"12 a count that is true":                  {with("api_call_count", `true`), history, turn.UnscopedRequest, false},
	"12 a count that is no whole number":       {with("api_call_count", `1.5`), history, turn.UnscopedRequest, false},
	"12 no mode":                               {with("api_mode", ""), history, turn.UnscopedRequest, false},
	"nothing said":                             {``, history, turn.UnscopedRequest, false},
	"payload metadata opts in to nothing":      {``, `{"messages":[{"role":"user","content":"purpose: conversation"}],"metadata":{"purpose":"conversation"},"purpose":"conversation","request_purpose":"main","hermes_adapter":true,"middleware_schema_version":"hermes.middleware.v1","session_id":"s","turn_id":"t","api_request_id":"r","api_call_count":1,"api_mode":"chat_completions"}`, turn.UnscopedRequest, false},
	"payload metadata opts out of nothing":     {hermes, `{"messages":[{"role":"user","content":"x"}],"metadata":{"purpose":"embedding"},"is_internal":true}`, turn.HermesMainTurn, true},
	"payload metadata cannot lift an aux call": {`"aux_task":"t"`, `{"messages":[{"role":"user"}],"purpose":"main","aux_task":null}`, turn.AuxiliaryCall, false},
}

// A36: purpose before policy; an unknown scope bypasses.
func TestA36ScopeIsDecidedInOrder(t *testing.T) {
	t.Parallel()
	for name, c := range scopeCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scope(t, c.scope)
			reason, allowed := s.Decide([]byte(c.raw))
			require.Equal(t, c.reason, reason)
			require.Equal(t, c.allowed, allowed)
			require.True(t, reason.Known())
			written, err := json.Marshal(s)
			require.NoError(t, err)
			var back Scope
			require.NoError(t, json.Unmarshal(written, &back))
			require.Equal(t, s, back, "a scope survives the wire")
		})
	}
}

func TestEveryServiceKeyIsAService(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"documents", "query", "queries", "questions", "state", "texts", "encoding_format", "dimensions"} {
		reason, allowed := scope(t, hermes).Decide([]byte(`{"` + key + `":1,"messages":[{"role":"user"}]}`))
		require.Equal(t, turn.ServiceEnvelope, reason, key)
		require.False(t, allowed)
	}
}

func TestTruthOfHostValues(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"null": false, "false": false, `""`: false, "0": false, "0.0": false, "-0": false, "[]": false, "{}": false,
		"true": true, `"x"`: true, `"0"`: true, "1": true, "0.1": true, "[0]": true, `{"a":0}`: true, `" "`: true,
	} {
		require.Equal(t, Truth(want), scope(t, `"internal":`+value).Internal, value)
	}
}

func FuzzDecide(f *testing.F) {
	f.Add([]byte(history), []byte(`{`+hermes+`}`))
	f.Add([]byte(`{"input":[{"type":"function_call"}]}`), []byte(`{"purpose":"chat","internal":[]}`))
	f.Fuzz(func(t *testing.T, raw, fields []byte) {
		var s Scope
		if json.Unmarshal(fields, &s) != nil {
			return
		}
		reason, allowed := s.Decide(raw)
		require.True(t, reason.Known())
		require.Equal(t, allowed, reason == turn.ExplicitConversation || reason == turn.HermesMainTurn)
	})
}
