package tokens

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEncodingOfModel(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"gpt-4o": O200kBase, "gpt-4o-mini": O200kBase, "gpt-4o-2024-08-06": O200kBase, "chatgpt-4o-latest": O200kBase,
		"gpt-4.1": O200kBase, "gpt-4.1-nano": O200kBase, "gpt-4.5-preview": O200kBase,
		"gpt-5": O200kBase, "gpt-5-codex": O200kBase, "gpt-5.1-codex-max": O200kBase, "gpt-5.6-terra": O200kBase,
		"o1": O200kBase, "o1-preview": O200kBase, "o3-mini": O200kBase, "o4-mini": O200kBase, "gpt-oss-120b": O200kBase,
		"gpt-4": CL100kBase, "gpt-4-turbo": CL100kBase, "gpt-3.5-turbo-0125": CL100kBase, "gpt-35-turbo": CL100kBase,
		"text-embedding-3-small": CL100kBase, "text-davinci-003": P50kBase, "text-davinci-edit-001": P50kEdit, "davinci": R50kBase,
		// routes
		"openai/gpt-4o": O200kBase, "openrouter/openai/gpt-4o-mini": O200kBase, "azure/gpt-4": CL100kBase,
		"openai:gpt-4o": O200kBase, "openai-codex:gpt-5.4": O200kBase, "openrouter/openai:gpt-5": O200kBase,
		"openai/gpt-4o:online": O200kBase,
		// tuned models
		"ft:gpt-4o-mini-2024-07-18:org::abc": O200kBase, "ft:gpt-4.1-2025-04-14:org::x": O200kBase,
		"ft:gpt-4-0613:org": CL100kBase, "ft:gpt-3.5-turbo:org::id": CL100kBase, "ft:babbage-002:org": CL100kBase,
		// the alias, on known routes only
		"gpt-6.1-sol": O200kBase, "openai/gpt-6.1-sol": O200kBase, "openai-codex:gpt-6.1-sol": O200kBase,
		"openrouter/openai/gpt-6.1-sol": O200kBase, "azure/gpt-6.1-sol": "", "other:gpt-6.1-sol": "",
		"gpt-6.1-terra": "", "gpt-6.1-sol-2026-09-01": "", "gpt-6.1-solar": "",
		// the wide window
		"gpt-5.4-900k": O200kBase, "openai/gpt-5.6-sol-900k": O200kBase, "gpt-6.1-sol-900k": O200kBase,
		"gpt-5.4-2026-03-05-900k": O200kBase, "gpt-5.4-900k-900k": "", "gpt-5.5-900k": "", "gpt-4o-900k": "",
		"azure/gpt-5.4-900k": "", "gpt-5.4-2026-3-5-900k": "", "gpt-6-sol-900k": "", "gpt-daybreak-blue-latest-900k": "",
		"gpt-6-sol-2026-05-01-900k": "", "-900k": "",
		// nothing is guessed
		"": "", "/": "", "openai/": "", "gpt": "", "gpt-50": "", "gpt-4oo": "", "gpt-4.10": "", "o10": "", "o1x": "", "GPT-4o": "", "gpt-6-sol": "",
		"claude-opus-4-6": "", "anthropic/claude-sonnet-5": "", "gemini-3-pro-preview": "", "google/gemini-2.5-flash": "",
		"deepseek-v4-pro": "", "kimi-k3": "", "qwen/qwen3-coder": "", "meta-llama/llama-3.1-8b-instruct": "", "glm-5": "",
		"ft:claude": "", "ft:": "", "mygpt-4o": "", " gpt-4o": "",
	}
	for model, want := range cases {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			got, ok := EncodingOf(model)
			require.Equal(t, want, got)
			require.Equal(t, want != "", ok)
			c, ok := ForModel(model)
			require.Equal(t, want != "", ok)
			if ok {
				require.Equal(t, want, c.Name())
			}
		})
	}
}

func TestEveryCatalogueEntryNamesAnEncoding(t *testing.T) {
	t.Parallel()
	for _, list := range [][]named{exactNames, namePrefixes, routeAliases} {
		for _, e := range list {
			_, err := Named(e.encoding)
			require.NoError(t, err, e.name)
		}
	}
}
