package compile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/plan"
	"token-terminator/reduce/compile"
)

// A retry of a request is the same bytes however cold the cache is by then: without a
// new message nothing that was sent changes.
func TestEpoch_ARetryOpensNone(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := aged(c, prose("a", 100), 6)
	first := c.turn(talk.call("fetch", cmd("b"), prose("b", 60)).body())
	require.Nil(t, first.Epoch)
	c.facts.Cold = true
	for range 3 {
		again := c.turn(talk.body())
		require.Nil(t, again.Epoch)
		require.Equal(t, string(first.Body), string(again.Body))
	}
	opened := c.turn(talk.call("fetch", cmd("c"), "ok").body())
	require.NotNil(t, opened.Epoch)
	again := c.turn(talk.body())
	require.Nil(t, again.Epoch)
	require.Equal(t, string(opened.Body), string(again.Body), "and a retry of the epoch's own request shows what it showed")
}

func TestEpoch_ColdAsTheSessionsWarmthSays(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := aged(c, prose("a", 100), 6)
	var w plan.Warmth
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c.facts = compile.FactsOf(&w, now, "gpt-4o", plan.Study(), 0)
	require.Nil(t, c.turn(talk.call("fetch", cmd("b"), "ok").body()).Epoch)
	w.Answered(now.Add(time.Second))
	c.facts = compile.FactsOf(&w, now.Add(302*time.Second), "gpt-4o", plan.Study(), 0)
	out := c.turn(talk.call("fetch", cmd("c"), "ok").body())
	require.NotNil(t, out.Epoch)
	require.Equal(t, plan.ColdEpoch, out.Epoch.Kind)
	require.Equal(t, plan.ColdIdle, out.Epoch.Why)
}

func TestEpoch_ARequestOverTheWindowOpensOne(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := aged(c, prose("a", 100), 6)
	out := c.turn(talk.call("fetch", cmd("b"), "ok").body())
	require.Nil(t, out.Epoch)
	c.facts.Window = out.Tokens.Raw.Tokens
	out = c.turn(talk.call("fetch", cmd("c"), "ok").body())
	require.NotNil(t, out.Epoch)
	require.Equal(t, plan.WindowEpoch, out.Epoch.Kind)
}

// Three results lean on one text. When it goes, the first of them stands in for it, so
// the three are not three times as dear.
func TestEpoch_OneDependentStandsInForTheBaseOfAll(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	base := prose("a", 120)
	lines := strings.SplitAfter(base, "\n")
	talk := newChat().call("fetch", cmd("a"), base)
	talk.raw(map[string]any{"role": "assistant", "content": prose("said", 400)}).user("go on") // a warm epoch would be dear
	c.turn(talk.body())
	for i := range 5 {
		c.turn(talk.call("fetch", cmd(fmt.Sprint("step ", i)), "ok").body())
	}
	var at []int
	for i := range 3 { // too young to go
		c.turn(talk.call("fetch", cmd(fmt.Sprint("copy", i)), strings.Join(lines[:40], "")+prose(fmt.Sprint("own", i), 6)).body())
		at = append(at, len(talk.messages)-1)
	}
	c.facts.Cold = true
	out := c.turn(talk.call("fetch", cmd("more"), "ok").body())
	require.NotNil(t, out.Epoch)
	require.Contains(t, toolText(t, out.Body, 3), "put away")
	require.Equal(t, 3, out.Epoch.Rebased)
	require.NotContains(t, toolText(t, out.Body, at[0]), "[same as", "whole")
	for _, later := range at[1:] {
		require.Contains(t, toolText(t, out.Body, later), "[same as lines 1-40 of result 7")
	}
}

// On a route that does not cache every token is paid in full each time, so old results
// go as soon as they may.
func TestEpoch_ARouteWithoutACache(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	c.facts = compile.Facts{Cold: true, Why: plan.ColdUncached, Uncached: true}
	out := c.turn(steps(newChat().call("fetch", cmd("a"), prose("a", 30)), 5).body())
	require.NotNil(t, out.Epoch)
	require.Contains(t, toolText(t, out.Body, 3), "put away")
}
