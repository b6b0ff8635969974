package compile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// A turn names the originals behind the ids it shows again and can give their texts;
// those the vault misses, or shows under another id, are shown as they were in this
// request and are back in the next.
func TestTurn_IDsTheVaultLostAreShownAsOriginals(t *testing.T) {
	t.Parallel()
	one, two := serviceLog(300, "ERROR disk one"), serviceLog(290, "ERROR disk two")
	other := turn.Proof{Artifact: turn.Sum(one).ID(), Shown: string(turn.Sum(one).ID())[:20]}
	for name, pin := range map[string]func(turn.Evidence) turn.Pinned{
		"missing": func(ev turn.Evidence) turn.Pinned {
			p := prove(ev)
			p.Missing = []turn.Digest{turn.Sum(one)}
			return p
		},
		"under another id": func(ev turn.Evidence) turn.Pinned {
			p := prove(ev)
			p.Proofs[turn.Sum(one)] = other
			return p
		},
		"missing, and nothing new was stored": func(turn.Evidence) turn.Pinned {
			return turn.Pinned{Missing: []turn.Digest{turn.Sum(one)}, Reason: turn.ReadBackFailed}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChain(t, nil)
			talk := newChat().call("bash", map[string]any{"command": "make one"}, one)
			first := c.turn(talk.body())
			require.Len(t, first.Edits, 1)
			talk.call("bash", map[string]any{"command": "make two"}, two)
			second := c.turn(talk.body())
			require.Len(t, second.Edits, 2)

			talk.user("go on").call("bash", map[string]any{"command": "make three"}, serviceLog(280, "ERROR disk three"))
			draft, reason := c.begin(talk.body())
			require.Empty(t, reason)
			ev := draft.Evidence()
			require.Equal(t, []turn.Digest{turn.Sum(one), turn.Sum(two)}, ev.Held)
			for n, text := range []string{one, two} {
				a, ok := ev.Source.Held(ev.Held[n])
				require.True(t, ok)
				require.Equal(t, text, a.Text)
				require.Equal(t, turn.Sum(text), a.Digest)
				require.Equal(t, "bash", a.Tool)
				require.NotEmpty(t, a.CallID)
			}
			_, ok := ev.Source.Held(turn.Sum("another"))
			require.False(t, ok)

			c.pin = pin
			hurt := c.turn(talk.body())
			require.Equal(t, turn.Reduced, hurt.Reason)
			require.Equal(t, one, toolText(t, hurt.Body, 3))
			require.Contains(t, hurt.Edits, second.Edits[1], "what stands stays small")
			c.pin = nil
			talk.user("go on")
			healed := c.turn(talk.body())
			require.Equal(t, second.Edits, healed.Edits[:2], "and the bytes are those of before")
		})
	}
}

// When all that a request shows is lost, the original goes out and says why.
func TestTurn_WhenEveryIDIsLostTheOriginalSaysWhy(t *testing.T) {
	t.Parallel()
	c := newChain(t, nil)
	talk := newChat().call("bash", map[string]any{"command": "make one"}, serviceLog(300, "ERROR"))
	require.Len(t, c.turn(talk.body()).Edits, 1)
	talk.user("go on")
	c.pin = func(ev turn.Evidence) turn.Pinned { return turn.Pinned{Missing: ev.Held} }
	out := c.turn(talk.body())
	require.Nil(t, out.Body)
	require.Equal(t, turn.ProofMissing, out.Reason)
}
