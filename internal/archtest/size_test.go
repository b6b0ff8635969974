package archtest

import (
	"go/ast"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Caps in lines: what one reader holds in mind at once.
const (
	maxFile     = 500
	maxTestFile = 900
	maxFunc     = 60
)

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if generated(s) {
			continue
		}
		limit := maxFile
		if s.test {
			limit = maxTestFile
		}
		assert.LessOrEqualf(t, s.lines, limit, "%s has %d lines", s.path, s.lines)
		if s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			assert.LessOrEqualf(t, lines, maxFunc, "%s: func %s has %d lines", s.path, fn.Name.Name, lines)
		}
	}
}

func TestNamesSayWhatAThingIs(t *testing.T) {
	t.Parallel()
	vague := map[string]bool{
		"util": true, "utils": true, "common": true, "helpers": true, "helper": true, "manager": true,
		"service": true, "core": true, "base": true, "types": true, "misc": true,
	}
	for _, s := range sources(t) {
		assert.Falsef(t, vague[s.file.Name.Name], "%s: package name %q says nothing", s.path, s.file.Name.Name)
	}
}

func TestNoInitFunctions(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init() hides start-up work", s.path)
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	has := map[string]bool{}
	pkgs := map[string]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		pkgs[s.pkg] = s.path
		if s.file.Doc != nil {
			has[s.pkg] = true
		}
	}
	for pkg, path := range pkgs {
		assert.Truef(t, has[pkg], "package %s (%s) has no package comment", pkg, path)
	}
}
