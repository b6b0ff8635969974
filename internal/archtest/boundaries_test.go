package archtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// imported says whether name is pkg or below it.
func imported(name string, pkgs ...string) bool {
	for _, pkg := range pkgs {
		if name == pkg || strings.HasPrefix(name, pkg+"/") {
			return true
		}
	}
	return false
}

// networked is who may use which package of the network, and what for.
var networked = map[string][]string{
	"host/watch": {"net", "net/http", "net/netip"}, // listens on loopback, asks nobody
}

// Nothing of ours opens a connection to another machine, starts another program or loads code.
func TestNothingOfOursUsesANetworkOrAnotherProgram(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, name := range s.imports {
			if name == "net/url" {
				continue // spelling of addresses, no connection
			}
			if slices.Contains(networked[s.pkg], name) {
				continue
			}
			assert.Falsef(t, imported(name, "net", "os/exec", "plugin", "crypto/tls", "golang.org/x/net", "google.golang.org/grpc"),
				"%s imports %s", s.path, name)
		}
		for _, call := range []string{"exec.Command(", "syscall.Exec(", "os.StartProcess(", "syscall.ForkExec("} {
			assert.NotContainsf(t, s.text, call, "%s starts a program", s.path)
		}
	}
}

// What decides how a text is shown sees only the request: no file, no clock, no chance.
func TestDecisionsSeeTheRequestOnly(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, s := range sources(t) {
		if s.test || !imported(s.pkg, "turn", "request", "plan", "reduce") {
			continue
		}
		seen++
		for _, name := range s.imports {
			assert.Falsef(t, imported(name, "os", "io/fs", "io/ioutil", "path/filepath", "syscall", "math/rand", "crypto/rand", "database/sql", "unsafe"),
				"%s imports %s", s.path, name)
		}
		assert.NotContainsf(t, s.text, "time.Now(", "%s reads the clock", s.path)
		assert.NotContainsf(t, s.text, "go func(", "%s starts a goroutine", s.path)
	}
	assert.Greater(t, seen, 60, "the walk finds the stages")
}
