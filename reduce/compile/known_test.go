package compile_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/reduce"
)

// TestWhatTheLastTurnReadChangesNoByte runs recorded sessions turn by turn, with forks
// and retries, through one compiler and through a new one for each turn: what goes out
// and what is measured is the same.
func TestWhatTheLastTurnReadChangesNoByte(t *testing.T) {
	t.Parallel()
	sessions, err := datasets.Bundled()
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(20261130, 11))
	reduced := 0
	for _, s := range sessions {
		if len(s.Messages) > 120 {
			s.Messages = s.Messages[:120]
		}
		kept := newChain(t, nil)
		for n := 3; n <= len(s.Messages); n += 1 + r.IntN(8) {
			end := n
			if r.IntN(5) == 0 {
				end = 1 + r.IntN(n) // a fork, or an undone step
			}
			messages, err := json.Marshal(s.Messages[:end])
			require.NoError(t, err)
			body := fmt.Appendf(nil, `{"model":"gpt-4o","tools":[%s],"messages":%s,"user":"%d"}`, reduce.RecoveryTool, messages, r.IntN(2))
			fresh := newChain(t, nil)
			fresh.memory, fresh.stored = kept.memory, kept.stored
			want := fresh.turn(body)
			got := kept.turn(body)
			require.Equal(t, want.Reason, got.Reason)
			require.Equal(t, string(want.Body), string(got.Body))
			require.Equal(t, want.Edits, got.Edits)
			require.Equal(t, want.Tokens, got.Tokens)
			require.Equal(t, want.Nodes, got.Nodes)
			require.Equal(t, want.Kept, got.Kept)
			require.Equal(t, want.Epoch, got.Epoch)
			clear(body)
			if len(got.Edits) > 0 {
				clear(got.Body) // a host may do with them what it likes
				reduced++
			}
		}
	}
	require.Greater(t, reduced, 10)
}
