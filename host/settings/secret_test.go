package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
)

const canary = "sk-canary-4711-0123456789abcdef"

// A key comes out of no printing, marshalling or logging, on its own or inside others.
func TestB35_ASecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	type hidden struct{ key Secret } // unexported: fmt cannot call methods of it
	s := ReadSecrets(func(name string) string {
		return map[string]string{"OPENROUTER_API_KEY": canary, "TOKEN_TERMINATOR_JEV_API_KEY": canary}[name]
	})
	require.Equal(t, canary, s.OpenRouter.Reveal())
	require.True(t, s.TypeSafe.Set())
	values := []any{s, &s, s.OpenRouter, &s.OpenRouter, []Secret{s.TypeSafe}, map[string]Secret{"k": s.TypeSafe}, hidden{s.TypeSafe}, &hidden{s.TypeSafe}}
	var out strings.Builder
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p", "%T"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		data, err := json.Marshal(v)
		require.NoError(t, err)
		out.Write(data)
		if data, err := toml.Marshal(map[string]any{"v": v}); err == nil {
			out.Write(data)
		}
	}
	var log bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&log, nil), slog.NewTextHandler(&log, nil)} {
		slog.New(h).Info("secrets", "one", s.OpenRouter, "all", s, "hidden", hidden{s.TypeSafe})
	}
	out.Write(log.Bytes())
	require.NotContains(t, out.String(), canary)
	require.NotContains(t, out.String(), fmt.Sprintf("%x", canary))
	require.Contains(t, out.String(), "[secret]")
	require.Equal(t, Secret{}, NewSecret(""))
	require.False(t, Secret{}.Set())
	require.Empty(t, Secret{}.Reveal())
}

func TestKeysAreToldFromOtherValues(t *testing.T) {
	t.Parallel()
	for _, key := range []string{canary, "sk-or-v1-" + strings.Repeat("0a", 32), "ghp_0123456789abcdefghij", "Bearer abcdefghijklmnop", "AKIAIOSFODNN7EXAMPLEX", "aB3" + strings.Repeat("xY7z", 10)} {
		require.True(t, looksSecret(key), key)
	}
	for _, plain := range []string{"", "balanced", "claude-opus-5-20260101", "~typesafe/jev-latest", "/home/user/models/Qwen2.5-32B-Instruct/tokenizer.json", strings.Repeat("0a", 32), "ours=50", "127.0.0.1:9464", "keyboard-layouts"} {
		require.False(t, looksSecret(plain), plain)
	}
	for _, name := range []string{"OPENROUTER_API_KEY", "TOKEN_TERMINATOR_JEV_API_KEY", "apikey", "client_secret", "PASSWORD", "GITHUB_ACCESS_TOKEN"} {
		require.True(t, SecretName(name), name)
	}
	for _, name := range []string{"TOKEN_TERMINATOR_MODE", "TOKEN_BUDGET", "TOKENIZER_JSON", "MAX_TOKENS", "TOKEN_SAFETY_MARGIN"} {
		require.False(t, SecretName(name), name)
	}
}

// A key that a user put in the wrong place comes out nowhere.
func TestPrivacy_NoOutputOfSettingsHoldsAKeyOrAValueOfAnEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{}
	for _, sp := range table {
		if len(sp.choices) > 0 || sp.unit != "" {
			env[Prefix+sp.name] = canary
		}
	}
	env[Prefix+"JEV_API_KEY"], env[Prefix+"NO_SUCH"], env["OPENROUTER_API_KEY"] = canary, canary, canary
	for _, c := range conversions {
		env[Prefix+c.name] = canary
	}
	s, err := Load(Sources{Env: env})
	require.NoError(t, err)
	data, err := json.Marshal(s.Show())
	require.NoError(t, err)
	require.NotContains(t, string(data)+strings.Join(s.Notices, "\n"), canary)
	_, err = Load(Sources{Flags: map[string]string{"MODE": canary}})
	require.NotContains(t, err.Error(), canary)
}
