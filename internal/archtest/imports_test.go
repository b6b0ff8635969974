package archtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// mayImport is the import table: a package of ours -> the packages of ours it may
// use. Imports point down. A package that is missing here may import nothing of ours.
// cmd/tt wires everything and is not limited.
var mayImport = map[string][]string{
	"turn":                         {},
	"internal/amount":              {},
	"request":                      {"turn", "internal/strictjson"},
	"tokens":                       {"turn", "internal/strictjson"},
	"plan":                         {"turn"},
	"reduce/form":                  {},
	"reduce/kind":                  {},
	"reduce/jsonscan":              {"internal/strictjson"},
	"reduce/evidence":              {"turn", "reduce/form", "reduce/kind"},
	"reduce/structured":            {"turn", "reduce/form", "reduce/kind", "reduce/jsonscan"},
	"reduce/layout":                {"reduce/kind", "reduce/jsonscan"},
	"reduce/envelope":              {"reduce/form", "reduce/jsonscan"},
	"reduce/delta":                 {"turn"},
	"reduce":                       {"turn", "tokens", "reduce/form", "reduce/kind", "reduce/evidence", "reduce/structured", "reduce/layout", "reduce/envelope", "reduce/delta"},
	"reduce/compile":               {"turn", "request", "tokens", "plan", "reduce", "reduce/delta", "reduce/envelope", "reduce/kind"},
	"vault/codec":                  {"turn"},
	"vault/view":                   {},
	"vault/mention":                {},
	"vault":                        {"turn", "vault/codec", "vault/mention", "vault/view", "internal/sqlitefile", "internal/safefile"},
	"vault/vaulttest":              {"turn", "vault", "vault/codec", "vault/view", "internal/faults"},
	"actors":                       {"turn"},
	"host/wire":                    {"turn", "request", "internal/strictjson"},
	"host":                         {"turn", "request", "host/wire", "internal/safefile"},
	"ledger/split":                 {},
	"ledger":                       {"turn", "ledger/split", "internal/sqlitefile", "internal/safefile"},
	"ledger/book":                  {"turn", "actors", "ledger", "plan", "reduce/compile"},
	"host/settings":                {"ledger/split", "internal/safefile"},
	"host/logs":                    {"internal/safefile"},
	"host/watch":                   {"turn", "actors", "ledger", "vault"},
	"host/doctor":                  {"turn", "host/logs", "host/settings", "host/watch", "internal/amount", "internal/safefile", "internal/sqlitefile", "ledger", "vault"},
	"host/settings/apply":          {"actors", "host/settings", "ledger", "plan", "reduce", "reduce/compile", "reduce/form", "vault"},
	"datasets":                     {"turn", "request", "internal/amount", "internal/strictjson"},
	"reports":                      {"turn", "internal/amount"},
	"testdata/needles":             {},
	"testdata/scenarios":           {},
	"internal/sqlitefile":          {"internal/safefile"},
	"internal/testkit":             {},
	"internal/testkit/corpusscore": {},
}

// thirdParty is the allow-list: module path prefix -> who may import it, and why.
var thirdParty = []struct {
	prefix, reason string
	in             []string // packages; a trailing "!" means test files only
}{
	{"github.com/asynkron/protoactor-go", "the actor runtime stays behind one package", []string{"actors"}},
	{"modernc.org/sqlite", "one place opens databases, with the right pragmas", []string{"internal/sqlitefile"}},
	{"github.com/tiktoken-go/tokenizer", "vocabularies and the counting oracle", []string{"tokens", "cmd/tt!"}},
	{"github.com/dlclark/regexp2/v2", "interpreted split pattern, the scanner's oracle", []string{"tokens!"}},
	{"github.com/klauspost/compress/zstd", "bodies of the vault are packed in one place", []string{"vault/codec"}},
	{"golang.org/x/sys/unix", "who is on the other end of a socket, where the standard library does not say", []string{"host"}},
	{"github.com/pelletier/go-toml/v2", "config.toml is read in one place, strictly", []string{"host/settings"}},
	{"gopkg.in/natefinch/lumberjack.v2", "one log file, rotated in one place", []string{"host/logs"}},
	{"github.com/prometheus/client_golang", "metrics in a registry of their own", []string{"host/watch"}},
	{"github.com/stretchr/testify", "assertions", []string{"*!", "vault/vaulttest", "internal/testkit"}},
	{"go.uber.org/goleak", "goroutine leak checks", []string{"*!"}},
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "cmd/") {
			continue
		}
		allowed := mayImport[s.pkg]
		for _, name := range s.imports {
			own, ok := strings.CutPrefix(name, module+"/")
			if !ok {
				continue
			}
			assert.Truef(t, slices.Contains(allowed, own), "%s may not import %s", s.path, own)
		}
	}
}

func TestImportTableNamesRealPackages(t *testing.T) {
	t.Parallel()
	real := map[string]bool{}
	for _, s := range sources(t) {
		real[s.pkg] = true
	}
	for pkg, deps := range mayImport {
		assert.Truef(t, real[pkg], "import table names %s, which does not exist", pkg)
		for _, dep := range deps {
			assert.Truef(t, real[dep], "import table lets %s use %s, which does not exist", pkg, dep)
		}
	}
}

func TestThirdPartyImportsHaveOneHome(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range sources(t) {
		for _, name := range s.imports {
			first, _, _ := strings.Cut(name, "/")
			if !strings.Contains(first, ".") {
				continue // standard library or ours
			}
			ok := false
			for _, rule := range thirdParty {
				if name != rule.prefix && !strings.HasPrefix(name, rule.prefix+"/") {
					continue
				}
				used[rule.prefix] = true
				ok = permitted(s, rule.in)
			}
			assert.Truef(t, ok, "%s may not import %s", s.path, name)
		}
	}
	for _, rule := range thirdParty {
		assert.Truef(t, used[rule.prefix], "the allow-list names %s, which nobody imports", rule.prefix)
	}
}

func permitted(s source, in []string) bool {
	for _, pkg := range in {
		name, testOnly := strings.CutSuffix(pkg, "!")
		if testOnly && !s.test {
			continue
		}
		if name == "*" || name == s.pkg {
			return true
		}
	}
	return false
}

func TestEnvironmentIsReadInCommandsOnly(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "cmd/") || s.pkg == "internal/testkit" {
			continue
		}
		for _, call := range []string{"os.Getenv(", "os.LookupEnv(", "os.Environ("} {
			assert.NotContainsf(t, s.text, call, "%s reads the environment", s.path)
		}
	}
}
