package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// copied is a chat with a text, a copy of most of it, and enough short answers after both.
func copied(c *chain) (talk *chat, base string) {
	base = prose("a", 120)
	talk = newChat().call("fetch", cmd("a"), base)
	talk.raw(map[string]any{"role": "assistant", "content": prose("said", 400)}).user("go on") // a warm epoch would be dear
	c.turn(talk.body())
	lines := strings.SplitAfter(base, "\n")
	c.turn(talk.call("fetch", cmd("copy"), strings.Join(lines[:100], "")+prose("own", 6)).body())
	for i := range 6 {
		c.turn(talk.call("fetch", cmd(fmt.Sprint("step ", i)), "ok").body())
	}
	return talk, base
}

const copyAt = 7 // the message of the copy

func TestEpoch_AnOldCopyGoesWithItsBase(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk, _ := copied(c)
	c.facts.Cold = true
	out := c.turn(talk.call("fetch", cmd("more"), "ok").body())
	require.NotNil(t, out.Epoch)
	require.Equal(t, 2, out.Epoch.Blocks)
	require.Zero(t, out.Epoch.Rebased)
	require.Contains(t, toolText(t, out.Body, 3), "put away")
	require.Contains(t, toolText(t, out.Body, copyAt), "put away")
	c.facts.Cold = false
	next := c.turn(talk.call("fetch", cmd("again"), "ok").body())
	require.Equal(t, toolText(t, out.Body, copyAt), toolText(t, next.Body, copyAt))
}

func TestEpoch_ACopyThatIsNamedStaysInSight(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk, _ := copied(c)
	c.facts.Cold = true
	out := c.turn(talk.user("what about " + named("own", 3) + "?").body())
	require.NotContains(t, toolText(t, out.Body, copyAt), "put away")
	if out.Epoch != nil {
		require.Contains(t, toolText(t, out.Body, copyAt), named("a", 50), "its base went, so it is whole")
	}
}

// What the open task says counts whole, whatever its length; a status is a value like any
// other outside of a task list.
func TestEpoch_WhatMentions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of its own\n", 9) + named("a", 7)
	for name, c := range map[string]struct {
		tool string
		args map[string]any
		kept bool
	}{
		"a long text of the task":    {"todo_list", map[string]any{"items": []any{map[string]any{"content": long}}}, true},
		"the status of a task":       {"todo_list", map[string]any{"items": []any{map[string]any{"status": named("a", 7)}}}, false},
		"the status of another call": {"fetch", map[string]any{"status": named("a", 7)}, true},
		"a text that is written":     {"fetch", map[string]any{"content": long}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := newChain(t, nil)
			chain.facts.Cold = true
			out := chain.turn(steps(newChat().call("fetch", cmd("a"), prose("a", 100)), 9).call(c.tool, c.args, "ok").body())
			require.Equal(t, c.kept, out.Epoch == nil)
		})
	}
	chain := newChain(t, nil)
	chain.facts.Cold = true
	talk := steps(newChat().call("fetch", cmd("a"), prose("a", 100)), 9).user(long)
	require.Nil(t, chain.turn(talk.body()).Epoch, "what the user says counts whole")
}
