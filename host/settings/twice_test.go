package settings

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAKeyThatStandsTwiceIsNamed(t *testing.T) {
	t.Parallel()
	_, err := ParseFile("config.toml", []byte("mode = \"off\"\nhead_lines = 3\nmode = \"balanced\"\n"))
	require.EqualError(t, err, "config.toml line 3: key mode: it stands twice, first in line 1")
}
