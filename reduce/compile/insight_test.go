package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// idLog is an ordinary log whose lines carry ids that all differ: a view keeps few.
func idLog(n int, name string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "2026-11-30T10:%02d:%02dZ INFO  http request served id=%s path=/health status=200 took=%dms\n", i/60%60, i%60, named(name, i), 3+i%5)
	}
	return b.String()
}

// A result that is shown in part does not hold for the model what it leaves out: a
// value that the last call names must stay in sight where it still is.
func TestEpoch_WhatIsHiddenInPartKeepsNothingInSight(t *testing.T) {
	t.Parallel()
	value := named("a", 150)
	for name, build := range map[string]func(c *chain) *chat{
		"sent before": func(c *chain) *chat {
			talk := newChat().call("fetch", cmd("a"), prose("a", 200)).call("bash", cmd("tail service.log"), idLog(400, "a"))
			c.turn(talk.body())
			return steps(talk, 9).call("fetch", cmd("look for "+value), "ok")
		},
		"new in this turn": func(c *chain) *chat {
			talk := newChat().call("fetch", cmd("a"), prose("a", 200))
			c.turn(talk.body())
			return steps(talk, 9).call("bash", cmd("tail service.log # "+value), idLog(400, "a"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChain(t, nil)
			talk := build(c)
			c.facts.Cold = true
			out := c.turn(talk.body())
			shown := ""
			for i := 3; i < len(talk.messages); i += 2 {
				shown += toolText(t, out.Body, i)
			}
			require.Contains(t, shown, "[Token Terminator: ", "the log is shown in part or put away")
			require.Contains(t, shown, value)
		})
	}
}
