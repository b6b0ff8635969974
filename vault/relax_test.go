package vault_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

func TestRelaxLosesNothing(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "one"))
	require.NoError(t, v.Relax(ctx))
	a, err := v.Get(ctx, "s", idOf("one"))
	require.NoError(t, err)
	require.Equal(t, "one", a.Text)
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 2, "two"))
	mustSound(t, v)
	require.NoError(t, v.Close())
	require.ErrorIs(t, v.Relax(ctx), vault.ErrClosed)
}
