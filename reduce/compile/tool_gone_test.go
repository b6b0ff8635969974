package compile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func TestTurn_WhenRecoveryIsNotOfferedAnyMoreHiddenTextComesBack(t *testing.T) {
	t.Parallel()
	log := serviceLog(400, oddLine)
	cases := map[string]func(*chat){
		"the declaration is gone":       func(c *chat) { c.noTool = true },
		"tool_choice forbids the call":  func(c *chat) { c.choice = `"none"` },
		"tool_choice names another one": func(c *chat) { c.choice = `{"type":"function","function":{"name":"bash"}}` },
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChain(t, nil)
			talk := newChat().call("bash", cmd("tail a"), log).call("bash", cmd("tail a"), log).
				call("Read", map[string]any{"file_path": "/a.go"}, sourceFile(80)).
				call("Read", map[string]any{"file_path": "/a.go"}, sourceFile(80))
			first := c.turn(talk.body())
			require.Contains(t, string(first.Body), "artifact_id=a_")

			without := *talk
			change(&without)
			out := c.turn(without.user("go on").body())
			sent := string(without.body())
			if out.Body != nil {
				sent = string(out.Body)
			}
			require.Zero(t, strings.Count(sent, "artifact_id=a_"), "no id without the tool")
			require.Contains(t, sent, "[same as ", "what hides nothing stays as it was")

			// What is new in such a turn leans on nothing that will be hidden again.
			without.call("bash", cmd("tail a"), log)
			out = c.turn(without.body())
			for _, b := range out.Blocks {
				for _, base := range b.Decision.Bases {
					require.NotContains(t, []int{3, 5}, base.Message)
				}
			}

			again := c.turn(talk.user("go on").body())
			require.Equal(t, toolText(t, first.Body, 3), toolText(t, again.Body, 3), "offered again, the same bytes again")
			require.Equal(t, turn.Reduced, again.Reason)
		})
	}
}
