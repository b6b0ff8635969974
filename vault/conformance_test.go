package vault_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

func TestConformanceSQLite(t *testing.T) {
	t.Parallel()
	vaulttest.Run(t, func(t *testing.T, o vault.Options) vaulttest.Store {
		return mustOpen(t, t.TempDir(), o)
	})
}

func TestConformanceMemory(t *testing.T) {
	t.Parallel()
	vaulttest.Run(t, func(t *testing.T, o vault.Options) vaulttest.Store {
		m, err := vault.NewMemory(o)
		require.NoError(t, err)
		return m
	})
}

func mustOpen(t testing.TB, dir string, o vault.Options) *vault.Vault {
	t.Helper()
	v, err := vault.Open(dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, v.Close()) })
	return v
}
