package archtest

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func document(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(data)
}

// tests is every test, benchmark and fuzz function: "pkg Name" and "Name".
func tests(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil {
				found[s.pkg+" "+fn.Name.Name] = true
			}
		}
	}
	return found
}

var testName = regexp.MustCompile("`([a-z0-9/_]+) ((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+)`")

func TestDocumentsNameTestsThatExist(t *testing.T) {
	t.Parallel()
	have := tests(t)
	for _, name := range []string{"docs/coverage.md", "docs/faults.md"} {
		matches := testName.FindAllStringSubmatch(document(t, name), -1)
		require.NotEmptyf(t, matches, "%s names tests", name)
		for _, match := range matches {
			assert.Truef(t, have[match[1]+" "+match[2]], "%s names %s in %s, which does not exist", name, match[2], match[1])
		}
	}
}

var (
	seedRow  = regexp.MustCompile(`(?m)^\| (S[0-3]\.\d+) \| (test|doc|decision|later) \| (.+) \|$`)
	docLine  = regexp.MustCompile("^`([A-Za-z_./-]+)`: \"([^\"]+)\"")
	laterRow = regexp.MustCompile(`^(A2|B1|C1|D)\b`)
)

// seedCounts is how many numbered requirements each of the four founding documents has.
var seedCounts = map[string]int{"S0": 222, "S1": 33, "S2": 46, "S3": 45}

func TestCoverageMapsEveryRequirement(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	count := map[string]int{}
	for _, match := range seedRow.FindAllStringSubmatch(document(t, "docs/coverage.md"), -1) {
		id, how, where := match[1], match[2], match[3]
		assert.Falsef(t, seen[id], "%s stands twice", id)
		seen[id] = true
		count[id[:2]]++
		switch how {
		case "test":
			assert.Regexpf(t, testName, where, "%s: a test row names `package TestName`", id)
		case "doc":
			place := docLine.FindStringSubmatch(where)
			if assert.NotNilf(t, place, "%s: a doc row reads `file`: \"words that stand there\"", id) {
				assert.Containsf(t, document(t, place[1]), place[2], "%s: %s no longer says so", id, place[1])
			}
		case "later":
			assert.Regexpf(t, laterRow, where, "%s: a later row names the release that brings it", id)
		}
	}
	assert.Equal(t, seedCounts, count)
}

func TestReasonsPageIsComplete(t *testing.T) {
	t.Parallel()
	page := document(t, "docs/reasons.md")
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| .{8,} \\|$")
	listed := map[string]bool{}
	for _, match := range row.FindAllStringSubmatch(page, -1) {
		assert.Falsef(t, listed[match[1]], "%s stands twice", match[1])
		listed[match[1]] = true
		assert.Truef(t, turn.Reason(match[1]).Known(), "docs/reasons.md explains %s, which is no reason", match[1])
	}
	for _, reason := range turn.Reasons() {
		assert.Truef(t, listed[string(reason)], "docs/reasons.md does not explain %s", reason)
	}
}

func TestDependenciesAreNamedWithReasonAndVersion(t *testing.T) {
	t.Parallel()
	page := document(t, "docs/DEPENDENCIES.md")
	direct := regexp.MustCompile(`(?m)^\t(\S+) (v\S+)$`)
	matches := direct.FindAllStringSubmatch(document(t, "go.mod"), -1)
	require.NotEmpty(t, matches)
	for _, match := range matches {
		assert.Containsf(t, page, "| `"+match[1]+"` | "+match[2]+" |", "docs/DEPENDENCIES.md names %s at %s", match[1], match[2])
	}
}

func TestTextFilesAreCleanUTF8(t *testing.T) {
	t.Parallel()
	top := root(t)
	for _, pattern := range []string{"*.md", "docs/*.md", ".ci/*", "cmd/*/*.go", "*/*.go", "*/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.IsDir() {
				continue
			}
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Truef(t, utf8.Valid(data), "%s is UTF-8", file)
			for _, mojibake := range []string{"\u00c3\u00a9", "\u00e2\u20ac", "\u00c2\u00a0"} {
				assert.NotContainsf(t, string(data), mojibake, "%s holds text decoded twice", file)
			}
		}
	}
}
