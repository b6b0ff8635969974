package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/testdata/scenarios"
)

// Every benchmark scenario lists the exact strings that must stay visible, and the
// kinds of text the safety model names are all there.
func TestScenarios_EachListsItsEvidence(t *testing.T) {
	t.Parallel()
	all, err := scenarios.Load()
	require.NoError(t, err)
	names := map[string]scenarios.Scenario{}
	for _, s := range all {
		require.NotEmpty(t, s.Evidence, s.Name)
		require.NotEmpty(t, s.About, s.Name)
		names[s.Name] = s
	}
	for _, name := range []string{
		"short", "warnings-10000", "java-stack", "python-stack", "npm-test-failing", "pytest-failing", "error-in-the-middle",
		"json-large", "json-deep", "json-broken", "html", "html-broken", "mixed-content", "retention-fails",
	} {
		require.Contains(t, names, name)
	}
	require.True(t, names["mixed-content"].Mixed)
	require.True(t, names["retention-fails"].RetentionFails())
}
