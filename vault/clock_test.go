package vault_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// A clock that is set back while the vault fills, prunes and is opened again: every id
// that was given out still gives its text, and the forms of the session stay.
func TestAClockThatIsSetBackLosesNoEvidence(t *testing.T) {
	t.Parallel()
	ctx, clock, dir := context.Background(), faults.NewClock(), t.TempDir()
	options := vault.Options{CapacityBytes: 200_000, Now: clock.Now}
	v := mustOpen(t, dir, options)
	shown := map[string]string{}
	for i := range uint64(40) {
		clock.Move([]time.Duration{time.Hour, -3 * time.Hour, -100 * 24 * time.Hour, 300 * 24 * time.Hour}[i%4])
		ev := vaulttest.Evidence("s", i, fmt.Sprint("result ", i))
		ev.Artifacts[0].Args = fmt.Sprintf("%08d", i) + strings.Repeat("x", 10_000)
		ev.Nodes = []turn.Node{{Hash: turn.Sum(fmt.Sprint(i)), Index: int(i), Decisions: []turn.Decision{vaulttest.Decision("/content", fmt.Sprint("result ", i))}}}
		proof := vaulttest.MustPut(t, v, ev).Proofs[ev.Artifacts[0].Digest]
		shown[proof.Shown] = ev.Artifacts[0].Text
	}
	require.NoError(t, v.Close())
	clock.Move(-1000 * 24 * time.Hour)
	v = mustOpen(t, dir, options)
	st, err := v.Status(ctx)
	require.NoError(t, err)
	require.NotZero(t, st.Pruned)
	for id, text := range shown {
		a, err := v.Get(ctx, "s", id)
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	nodes, err := v.Nodes(ctx, "s")
	require.NoError(t, err)
	require.Len(t, nodes, 40)
	dropped, err := v.DropNodes(ctx, vault.UnusedNodes)
	require.NoError(t, err)
	require.Zero(t, dropped, "forms last used in the future are not unused")
	report, err := v.Verify(ctx)
	require.NoError(t, err)
	require.True(t, report.Sound(), "%+v", report)
}
