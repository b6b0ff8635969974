package settings

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Whatever bytes stand in config.toml: settings in range, or an error that names the
// file and repeats no value.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		"mode = \"native\"\nhead_lines = 3\n", "head_lines = 99999999999999999999\n", "[a]\nb=1\n", "exclude_tools = [\"x\"]\n",
		"recovery_pct = nan\n", "recovery_pct = inf\n", "\xff\xfe", "enabled = true\nenabled = true\n", "jev_model = '''\nx\n'''\n", "mode.x = 1\n",
		"turn_timeout_ms = 1979-05-27\n", "a = [[[[[[[[", "openrouter_api_key = \"sk-canary-4711-0123456789abcdef\"\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile("config.toml", data)
		if err != nil {
			var told *FileError
			require.True(t, errors.As(err, &told))
			require.True(t, strings.HasPrefix(err.Error(), "config.toml"))
			require.NotContains(t, err.Error(), "sk-canary")
			require.True(t, utf8.ValidString(err.Error()))
			return
		}
		s, err := Load(Sources{File: file})
		require.NoError(t, err)
		inRange(t, s)
	})
}

// Whatever stands in an environment: settings in range, never an error.
func FuzzEnvironment(f *testing.F) {
	f.Add("MODE", "quiet", "HEAD_LINES", "-3")
	f.Add("INLINE_LEASES", "1e300", "VAULT_MAX_BYTES", "1e99")
	f.Add("NATIVE_MIN_CHARS", "0x10", "", "\xff")
	f.Add("RTK_PATH", "a\nb", "EXPERIMENT_ARMS", "a=50,b=50")
	f.Fuzz(func(t *testing.T, a, av, b, bv string) {
		s, err := Load(Sources{Env: env(a, av, b, bv)})
		require.NoError(t, err)
		inRange(t, s)
		inRange(t, s.ForSession(env(b, bv)))
		for _, notice := range s.Notices {
			require.True(t, utf8.ValidString(notice))
			require.NotContains(t, notice, "\n")
		}
	})
}

func inRange(t *testing.T, s Settings) {
	t.Helper()
	for _, sp := range table {
		trial := s.clone()
		switch v := sp.value(&trial).(type) {
		case int:
			require.NoError(t, sp.setNumber(sp.at(&trial), float64(v)), sp.name)
		case int64:
			require.NoError(t, sp.setNumber(sp.at(&trial), float64(v)), sp.name)
		case float64:
			require.NoError(t, sp.setNumber(sp.at(&trial), v), sp.name)
		case string:
			require.NoError(t, sp.setText(sp.at(&trial).(*string), v), sp.name)
		}
	}
	require.Less(t, s.LowWater, s.HighWater)
	require.LessOrEqual(t, s.PageChars, s.MaxPageChars)
}
