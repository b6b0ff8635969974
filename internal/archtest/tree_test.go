package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "token-terminator"

// source is one parsed Go file.
type source struct {
	path    string // slash path from the module root
	pkg     string // directory from the module root, "." for the root
	test    bool
	lines   int
	imports []string
	file    *ast.File
	fset    *token.FileSet
	text    string
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(dir, "go.mod"))
	require.NoError(t, err, "the module root holds go.mod")
	return dir
}

func skipDir(name string) bool {
	return name == "testdata" || name == ".git" || name == "node_modules" || name == ".cache"
}

func sources(t *testing.T) []source {
	t.Helper()
	top := root(t)
	var all []source
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			// testdata/needles is Go code that commands import; other testdata is data.
			if skipDir(entry.Name()) && rel != "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		all = append(all, parse(t, path, rel))
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(all), 20, "the walk finds the tree")
	return all
}

func parse(t *testing.T, path, rel string) source {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, data, parser.ParseComments)
	require.NoError(t, err)
	s := source{
		path: rel, pkg: filepath.ToSlash(filepath.Dir(rel)), test: strings.HasSuffix(rel, "_test.go"),
		lines: strings.Count(string(data), "\n"), file: file, fset: fset, text: string(data),
	}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		s.imports = append(s.imports, name)
	}
	return s
}

func generated(s source) bool { return ast.IsGenerated(s.file) }
