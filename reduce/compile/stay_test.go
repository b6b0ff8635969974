package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/compile"
	"token-terminator/turn"
)

// A request that must not change at all is sent whole, and what it showed for the
// first time stays whole when the next request is in order again.
func TestTurn_WhatABrokenRequestShowedStaysWhole(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := newChat().call("bash", cmd("tail a"), serviceLog(400, oddLine))
	first := c.turn(talk.body())
	require.Len(t, first.Blocks, 1)

	log := serviceLog(300, oddLine)
	talk.raw(map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{
		function("p1", "bash", `{"command":"tail b"}`), function("p2", "bash", `{"command":"tail c"}`),
	}}).raw(map[string]any{"role": "tool", "tool_call_id": "p1", "content": log})
	broken := c.turn(talk.body())
	require.Nil(t, broken.Body)
	require.Equal(t, turn.PairingBroken, broken.Reason)

	talk.raw(map[string]any{"role": "tool", "tool_call_id": "p2", "content": serviceLog(500, "")})
	mended := c.turn(talk.body())
	require.Equal(t, toolText(t, first.Body, 3), toolText(t, mended.Body, 3), "decided before: as it was")
	require.Equal(t, log, toolText(t, mended.Body, 5), "sent whole: whole")
	require.Less(t, len(toolText(t, mended.Body, 6)), len(serviceLog(500, "")), "new: with a form of its own")
}

// Whether a form pays under the smallest cacheable prefix depends on the number of
// calls; a form that was sent stays however that turns out later.
func TestTurn_ASentFormStaysWhenItWouldNotPayAnyMore(t *testing.T) {
	t.Parallel()
	c := newChain(t, func(s *compile.Settings) { s.Row.MinPrefix, s.NoEpochs = 3000, true })
	talk := &chat{model: "gpt-4o"}
	talk.user("Find out why the service fails.").call("bash", cmd("tail a"), serviceLog(300, oddLine))
	first := c.turn(talk.body())
	require.Len(t, first.Blocks, 1)
	require.Less(t, first.Tokens.Final.Tokens, 3000)
	last := first
	for i := range 30 {
		talk.raw(map[string]any{"role": "assistant", "content": "ok"}).user(fmt.Sprint("step ", i))
		last = c.turn(talk.body())
		require.NotNil(t, last.Body, "step %d: %s", i, last.Reason)
		require.True(t, strings.HasPrefix(string(last.Body), string(first.Body[:len(first.Body)-2])), "step %d", i)
	}
	require.Less(t, last.Tokens.Final.Tokens, 3000)
}
