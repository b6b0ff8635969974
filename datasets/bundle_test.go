package datasets

import (
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBundledSessionsAreReadWhole(t *testing.T) {
	t.Parallel()
	sessions, err := Bundled()
	require.NoError(t, err)
	require.Len(t, sessions, 10)
	formats := map[Format]int{}
	for _, s := range sessions {
		formats[s.Format]++
		turns := s.Turns()
		require.NotEmpty(t, turns, s.ID)
		require.NotEmpty(t, s.Model, s.ID)
		require.True(t, json.Valid(turns[len(turns)-1].Request()), s.ID)
	}
	require.Equal(t, map[Format]int{Corpus: 9, ClaudeCode: 1}, formats)
}

func TestBundledOutputsCoverTheKinds(t *testing.T) {
	t.Parallel()
	outputs, err := Outputs()
	require.NoError(t, err)
	kinds, search := map[string]int{}, 0
	for _, o := range outputs {
		kinds[o.Kind]++
		require.NotEmpty(t, o.Text, o.Name)
		if o.Search() {
			search++
		}
	}
	for _, kind := range []string{"logs", "json", "gotest", "pytest", "stacktrace", "maven", "npm", "shell", "git", "javac", "kubectl", "test-report"} {
		require.NotZero(t, kinds[kind], kind)
	}
	require.GreaterOrEqual(t, search, 3)
}

// Every bundled file has a line in ATTRIBUTION.md with a licence whose text is
// there, and the whole bundle stays small.
func TestBundledFilesAreAttributed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ATTRIBUTION.md")
	require.NoError(t, err)
	lines := strings.Split(string(page), "\n")
	total := 0
	err = fs.WalkDir(bundled, ".", func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.IsDir() || p == "outputs/INDEX.csv" {
			return nil
		}
		data, err := bundled.ReadFile(p)
		require.NoError(t, err)
		total += len(data)
		found := false
		for _, line := range lines {
			if strings.HasPrefix(line, "| `"+p+"` |") {
				found = true
				cells := strings.Split(line, " | ")
				require.Contains(t, []string{"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0"}, cells[2], p)
				_, name, _ := strings.Cut(line, "](licences/")
				name, _, _ = strings.Cut(name, ")")
				_, err := os.Stat("licences/" + name)
				require.NoError(t, err, p)
			}
		}
		require.True(t, found, "no attribution for %s", p)
		return nil
	})
	require.NoError(t, err)
	require.Less(t, total, 3_500_000, "bytes of bundled data")
}
