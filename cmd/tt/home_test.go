package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHomeIsFoundInOrder(t *testing.T) {
	t.Parallel()
	user, hermes := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(hermes, ".hermes"), 0o700))
	for name, c := range map[string]struct {
		flag string
		env  map[string]string
		want string
	}{
		"the flag first":             {"/f", map[string]string{"TOKEN_TERMINATOR_HOME": "/t", "HERMES_HOME": "/h", "HOME": hermes}, "/f"},
		"then our variable":          {"", map[string]string{"TOKEN_TERMINATOR_HOME": "/t", "HERMES_HOME": "/h", "HOME": hermes}, "/t"},
		"then the host's":            {"", map[string]string{"HERMES_HOME": "/h", "HOME": hermes, "XDG_DATA_HOME": "/x"}, "/h"},
		"then the host's usual home": {"", map[string]string{"HOME": hermes, "XDG_DATA_HOME": "/x"}, filepath.Join(hermes, ".hermes")},
		"then the data home":         {"", map[string]string{"HOME": user, "XDG_DATA_HOME": "/x"}, "/x"},
		"then its default":           {"", map[string]string{"HOME": user}, filepath.Join(user, ".local", "share")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := homeFolder(&stage{getenv: func(key string) string { return c.env[key] }}, c.flag)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(c.want, "token-terminator"), got)
		})
	}
}
