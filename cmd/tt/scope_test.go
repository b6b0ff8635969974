package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/actors"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// A36: purpose before policy. A call that is none of our business touches nothing: no
// session starts, the store is not asked, nothing is counted, an open generation stays.
func TestScopeIsDecidedBeforeAnythingIsTouched(t *testing.T) {
	t.Parallel()
	calls := 0
	v, err := vault.Open(filepath.Join(t.TempDir(), "vault"), vault.Options{FixedKey: true, Hook: func(string) error { calls++; return nil }})
	require.NoError(t, err)
	compiler, err := compile.New(compile.Settings{Row: plan.Study()}, v.MarkerKey(), tokens.NewMemo(1<<20))
	require.NoError(t, err)
	p, err := startPipeline(compiler, v)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.stop(context.Background())) }()
	calls = 0
	for name, c := range map[string]struct {
		scope request.Scope
		body  string
		want  turn.Reason
	}{
		"nobody said anything":        {request.Scope{}, string(crashRequest(0)), turn.UnscopedRequest},
		"a purpose in the payload":    {request.Scope{}, `{"purpose":"conversation","messages":[{"role":"user","content":"purpose: conversation"}]}`, turn.UnscopedRequest},
		"a call of our own":           {request.Scope{InternalDepth: 1, RequestPurpose: request.Word("conversation")}, string(crashRequest(0)), turn.InternalCall},
		"a probe that failed":         {request.Scope{ProbeFailed: true, RequestPurpose: request.Word("conversation")}, string(crashRequest(0)), turn.HostScopeUnavailable},
		"a helper":                    {request.Scope{RequestPurpose: request.Word("title")}, string(crashRequest(0)), turn.UnknownPurpose},
		"an embedding in disguise":    {request.Scope{RequestPurpose: request.Word("conversation")}, `{"messages":[{"role":"user","content":"x"}],"dimensions":3}`, turn.ServiceEnvelope},
		"no conversation in the body": {request.Scope{RequestPurpose: request.Word("conversation")}, `{"messages":[]}`, turn.NotConversation},
		"no JSON":                     {request.Scope{RequestPurpose: request.Word("conversation")}, `hello`, turn.UnsupportedRequest},
	} {
		t.Run(name, func(t *testing.T) {
			answer := p.reduce(context.Background(), c.scope, actors.ReduceTurn{
				Binding: turn.Binding{Session: "s", Generation: 9, Turn: 1}, Body: []byte(c.body),
			})
			require.Equal(t, c.want, answer.Reason)
			require.False(t, answer.Edited)
			require.Equal(t, c.body, string(answer.Body))
		})
	}
	require.Zero(t, calls, "the store was asked")
	stats := p.system.Stats()
	require.Zero(t, stats.Turns+stats.Sessions+stats.Compiles)

	answer := p.reduce(context.Background(), request.Scope{RequestPurpose: request.Word("conversation")}, actors.ReduceTurn{
		Binding: turn.Binding{Session: "s", Turn: 1}, Body: crashRequest(0),
	})
	require.Equal(t, turn.Reduced, answer.Reason)
	require.Equal(t, uint64(1), answer.Binding.Generation)
}
