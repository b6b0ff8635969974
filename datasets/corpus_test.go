package datasets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// corpusSessions gives the sessions of the corpus named by the environment, or the
// bundled ones.
func corpusSessions(t *testing.T) []Session {
	t.Helper()
	dir := os.Getenv("TOKEN_TERMINATOR_CORPUS")
	if dir == "" {
		sessions, err := Bundled()
		require.NoError(t, err)
		return sessions
	}
	sessions, problems := Load([]string{filepath.Join(dir, "sessions"), filepath.Join(dir, "raw")}, Auto)
	require.Empty(t, problems)
	return sessions
}

// Every session is read whole: its turns keep their laws, its calls their results.
func TestEverySessionOfTheCorpus(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, s := range corpusSessions(t) {
		checkTurns(t, s)
		checkPairing(t, s)
		require.False(t, ids[s.DumpName()], s.ID)
		ids[s.DumpName()] = true
		answers := 0
		for i, m := range s.Messages {
			if i > 0 && roleOf(m) == "assistant" && roleOf(s.Messages[i-1]) != "assistant" {
				answers++
			}
		}
		require.Len(t, s.Turns(), answers, s.ID)
	}
}
