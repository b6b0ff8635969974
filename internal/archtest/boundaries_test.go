package archtest

import (
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

// mayReach are the packages that may use a network or start a program, and what for.
var mayReach = map[string]map[string]string{
	"host":       {"net": "the daemon's own socket", "os/exec": "a client starts its daemon: this very program"},
	"cmd/tt":     {"net": "the listener of those pages, handed over"},
	"host/watch": {"net": "listens on loopback, asks nobody", "net/http": "pages on loopback", "net/netip": "what is loopback"},
}

// The daemon's socket is the only connection, the daemon itself the only program that
// is started, and no code is loaded.
func TestNothingOfOursUsesANetworkOrAnotherProgram(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		allowed := mayReach[s.pkg]
		for _, name := range s.imports {
			if name == "net/url" || allowed[name] != "" {
				continue // spelling of addresses is no connection
			}
			assert.Falsef(t, imported(name, "net", "os/exec", "plugin", "crypto/tls", "golang.org/x/net", "google.golang.org/grpc"),
				"%s imports %s", s.path, name)
		}
		for _, call := range []string{"exec.Command(", "syscall.Exec(", "os.StartProcess(", "syscall.ForkExec("} {
			if allowed["os/exec"] == "" {
				assert.NotContainsf(t, s.text, call, "%s starts a program", s.path)
			}
		}
	}
}

// The client starts what it was told to start; who tells it is the command alone, and
// it names its own program.
func TestOnlyThisProgramIsStarted(t *testing.T) {
	t.Parallel()
	starters := 0
	for _, s := range sources(t) {
		if s.test || !strings.Contains(s.text, "host.Starter{") {
			continue
		}
		starters++
		assert.Equal(t, "cmd/tt", s.pkg)
		assert.Contains(t, s.text, "os.Executable()")
	}
	assert.Equal(t, 1, starters)
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
