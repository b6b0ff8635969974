package compile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/turn"
)

// prose is n lines of n shapes, so that no other form is smaller; name(i) stands in
// line i.
func prose(name string, n int) string {
	var b strings.Builder
	for i := range n {
		d := turn.Sum(named(name, i))
		b.WriteString(named(name, i))
		for k := range 12 {
			b.WriteString([]string{" and ", "; ", " (", ") ", ", or ", ": ", " = ", "? "}[d[k]%8] + []string{"this", "never", "two", "about"}[d[k]>>6])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func named(name string, i int) string { return turn.Sum(fmt.Sprint(name, i)).String()[:9] + "f1" }

// aged is a chat with one large result and enough answers after it.
func aged(c *chain, text string, later int) *chat {
	talk := newChat().call("fetch", cmd("a"), text)
	c.turn(talk.body())
	for i := range later { // what stands behind the result makes a warm epoch dear
		c.turn(talk.call("fetch", cmd(fmt.Sprint("step ", i)), prose(fmt.Sprint("later", i), 8)).body())
	}
	return talk
}

func TestEpoch_AColdCachePutsOldResultsAway(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := aged(c, prose("a", 100), 5)
	c.facts.Cold = true
	out := c.turn(talk.call("fetch", cmd("b"), "ok").body())
	require.NotNil(t, out.Epoch)
	require.Equal(t, plan.ColdEpoch, out.Epoch.Kind)
	require.Equal(t, turn.EpochCold, out.Epoch.Reason)
	require.Equal(t, 1, out.Epoch.Blocks)
	shown := toolText(t, out.Body, 3)
	require.True(t, strings.HasPrefix(shown, "[Token Terminator: fetch plain put away: 100 lines"), shown)
	c.facts.Cold = false
	next := c.turn(talk.call("fetch", cmd("c"), "ok").body())
	require.Nil(t, next.Epoch)
	require.Equal(t, shown, toolText(t, next.Body, 3))
}

func TestEpoch_WhatStaysInSight(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func() (*compile.Settings, *chat){
		"not old enough": func() (*compile.Settings, *chat) {
			return nil, steps(newChat().call("fetch", cmd("a"), prose("a", 100)), 4)
		},
		"an excluded tool": func() (*compile.Settings, *chat) {
			return nil, steps(newChat().call("TodoWrite", cmd("a"), prose("a", 100)), 9)
		},
		"a page of our own": func() (*compile.Settings, *chat) {
			return nil, steps(newChat().call("token_terminator", cmd("a"), prose("a", 100)), 9)
		},
		"a picture and words": func() (*compile.Settings, *chat) {
			return nil, steps(newChat().call("fetch", cmd("a"), []any{
				map[string]any{"type": "text", "text": prose("a", 100)}, map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:,"}},
			}), 9)
		},
		"no recovery tool": func() (*compile.Settings, *chat) {
			talk := steps(newChat().call("fetch", cmd("a"), prose("a", 100)), 9)
			talk.noTool = true
			return nil, talk
		},
		"a value the user names": func() (*compile.Settings, *chat) {
			return nil, steps(newChat().call("fetch", cmd("a"), prose("a", 100)), 9).user("what about " + named("a", 7) + "?")
		},
		"a value the last call names": func() (*compile.Settings, *chat) {
			return nil, steps(newChat().call("fetch", cmd("a"), prose("a", 100)), 9).call("fetch", cmd(named("a", 7)), "ok")
		},
		"a value a long task list names": func() (*compile.Settings, *chat) {
			list := strings.Repeat("- [x] look around\n", 9) + "- [ ] find " + named("a", 7)
			talk := newChat().call("fetch", cmd("a"), prose("a", 100)).call("todo", map[string]any{"list": list}, "ok")
			return nil, steps(talk, 9)
		},
		"a value a long message of the user names": func() (*compile.Settings, *chat) {
			talk := steps(newChat().call("fetch", cmd("a"), prose("a", 100)), 9)
			return nil, talk.user(strings.Repeat("And another thing.\n", 4000) + named("a", 7) + strings.Repeat("\nThat is all.", 4000))
		},
		"a read a call has just named": func() (*compile.Settings, *chat) {
			talk := steps(newChat().call("Read", map[string]any{"file_path": "/src/a.go"}, sourceFile(120)), 9)
			return nil, talk.call("bash", cmd("gofmt -l src/a.go"), "ok")
		},
		"a read a later call has named, when asked for": func() (*compile.Settings, *chat) {
			talk := newChat().call("Read", map[string]any{"file_path": "/src/a.go"}, sourceFile(120)).call("Edit", map[string]any{"file_path": "/src/a.go"}, "ok")
			return &compile.Settings{Plan: plan.Settings{StrictReads: true}}, steps(talk, 12)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings, talk := build()
			c := newChain(t, func(s *compile.Settings) {
				if settings != nil {
					s.Plan = settings.Plan
				}
			})
			c.facts.Cold = true
			require.Nil(t, c.turn(talk.body()).Epoch)
		})
	}
}

func steps(talk *chat, n int) *chat {
	for i := range n {
		talk.call("fetch", cmd(fmt.Sprint("step ", i)), "ok")
	}
	return talk
}

func TestEpoch_AReadIsPutAwayWhenItsPathIsNamedNoMore(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := newChat().call("Read", map[string]any{"file_path": "/src/a.go"}, sourceFile(120)).call("Edit", map[string]any{"file_path": "/src/a.go"}, "ok")
	c.facts.Cold = true
	out := c.turn(steps(talk, 12).body())
	require.NotNil(t, out.Epoch)
	require.Contains(t, toolText(t, out.Body, 3), "Read read put away: ")
}

func TestEpoch_WarmOnlyWhenTheForgoneRentReachesThePrice(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := newChat().call("fetch", cmd("a"), prose("a", 60))
	opened := 0
	for i := range 40 {
		out := c.turn(talk.call("fetch", cmd(fmt.Sprint("step ", i)), prose(fmt.Sprint(i), 1)).body())
		if e := out.Epoch; e != nil {
			opened++
			require.Equal(t, plan.WarmEpoch, e.Kind)
			require.GreaterOrEqual(t, e.Missed, e.Price)
			require.Positive(t, e.Price)
			require.Greater(t, i, 6)
		}
	}
	require.Equal(t, 1, opened)
}

// A fork that left the conversation before an epoch keeps the older form, byte for
// byte; one that goes on from it keeps the receipt; a restart changes neither.
func TestEpoch_TheRequestsOwnChainDecides(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	trunk := aged(c, prose("a", 100), 7)
	left, right := *trunk, *trunk
	left.messages, right.messages = append([]string(nil), trunk.messages...), append([]string(nil), trunk.messages...)
	c.facts.Cold = true
	l := c.turn(left.call("fetch", cmd("x"), "ok").body())
	require.NotNil(t, l.Epoch)
	c.facts.Cold = false
	r := c.turn(right.call("fetch", cmd("y"), "ok").body())
	require.Nil(t, r.Epoch)
	require.True(t, r.Body == nil, "nothing of it was ever shown smaller")
	stored, err := json.Marshal(append(nodesOf(t, c, left.body()), nodesOf(t, c, right.body())...))
	require.NoError(t, err)
	var nodes []turn.Node
	require.NoError(t, json.Unmarshal(stored, &nodes))
	again := newChain(t, nil)
	again.memory, again.stored = again.memory.With(nodes), c.stored
	require.Equal(t, toolText(t, l.Body, 3), toolText(t, again.turn(left.call("fetch", cmd("x2"), "ok").body()).Body, 3))
	require.True(t, again.turn(right.call("fetch", cmd("y2"), "ok").body()).Body == nil)
}

// What leaned on a block that goes is shown anew in the same epoch, and so is what
// leaned on that.
func TestEpoch_DependentsAreShownAnew(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	base := prose("a", 60)
	talk := aged(c, base, 4)
	copied := strings.Join(strings.SplitAfter(base, "\n")[:30], "") + prose("b", 20)
	before := c.turn(talk.call("fetch", cmd("copy"), copied).body())
	at := len(talk.messages) - 1
	require.Contains(t, toolText(t, before.Body, at), "[same as lines 1-30")
	c.facts.Cold = true
	out := c.turn(talk.call("fetch", cmd("more"), "ok").body())
	require.NotNil(t, out.Epoch)
	require.Equal(t, 1, out.Epoch.Rebased)
	require.Contains(t, toolText(t, out.Body, 3), "put away")
	require.Equal(t, copied, toolText(t, out.Body, at))
	next := c.turn(talk.call("fetch", cmd("again"), copied).body())
	require.Contains(t, toolText(t, next.Body, len(talk.messages)-1), "[same as result 6", "the text in sight is the base now")
}

func TestEpoch_IsTakenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := aged(c, prose("a", 100), 6)
	c.facts.Cold = true
	c.pin = func(ev turn.Evidence) turn.Pinned {
		pinned := prove(ev)
		delete(pinned.Proofs, turn.Sum(prose("a", 100)))
		return pinned
	}
	out := c.turn(talk.call("fetch", cmd("b"), prose("a", 101)).body())
	require.Nil(t, out.Epoch)
	require.True(t, out.Body == nil)
	require.True(t, out.Lowered, "what was pinned is replaced before the answer")
	require.Equal(t, turn.ProofMissing, out.Reason)
	c.pin = nil
	require.NotNil(t, c.turn(talk.call("fetch", cmd("c"), "ok").body()).Epoch)
}
