package evidence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
)

// TestALineThatSaysMoreThanAPassStays puts one line among many that tell of passed
// tests and looks for it in the view.
func TestALineThatSaysMoreThanAPassStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		likes string
		odd   []string
	}{
		"go -v": {"=== RUN   TestAbc%d\n--- PASS: TestAbc%d (0.00s)\n", []string{
			"--- PASS: TestOdd (0.00s) exit status 2", "=== RUN   TestOdd connection refused", "Running cleanup... FAILED: cannot connect",
			"ok  \tpkg/odd\t0.01s [no tests to run]", "PASS pkg.TestOdd lost the very last one",
		}},
		"TAP": {"ok %d - opens the file %d\n", []string{"ok 7 - writes # SKIP no disk", "ok 8 - reads # TODO broken", "not ok 9 - closes the file"}},
		"pytest": {"tests/test_a.py::test_b%d PASSED [ 5%%]\ntests/test_a.py::test_c%d PASSED\n", []string{
			"tests/test_a.py::test_odd error: no route, retrying PASSED", "tests/test_a.py::test_odd PASSED [ 5%] lost watch", "tests/test_a.py::test_odd ERROR",
		}},
		"unittest": {"test_a%d (mod.C) ... ok\ntest_b%d (mod.C) ... ok\n", []string{"test_odd (mod.C) ... warning: deprecated call ... ok"}},
		"JSON": {`{"Action":"run","Package":"p","Test":"TestA%d"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA%d","Elapsed":0}` + "\n", []string{
			`{"Action":"attr","Package":"p","Test":"TestOdd","Key":"k","Value":"v"}`,
			`{"Action":"output","Package":"p","Test":"TestOdd","Output":"--- PASS: TestOdd (0.00s) lost\n"}`,
			`{"Action":"pass","Package":"p","Test":"TestOdd`,
		}},
		"TRX": {`<UnitTestResult testName="A%d" outcome="Passed" number="%d" />` + "\n", []string{
			`<UnitTestResult testName="Odd" outcome="Timeout" number="7" />`, `<UnitTestResult testName="Odd" outcome="Aborted" number="7" />`,
			`<UnitTestResult testName="Odd" outcome="Passed" number="7" /> killed`,
		}},
		"NUnit":  {`<test-case name="A%d" result="Passed" number="%d" />` + "\n", []string{`<test-case name="Odd" result="Warning" number="7" />`}},
		"vitest": {" ✓ opens file %d (%d ms)\n", []string{" ✓ opens file (8 ms) exit status 2", " × opens file (8 ms)"}},
	} {
		head := ""
		if strings.HasPrefix(c.likes, "<") {
			head = "<TestRun>\n"
		}
		for _, odd := range c.odd {
			t.Run(name+"/"+odd, func(t *testing.T) {
				t.Parallel()
				half := ""
				for i := range 150 {
					half += fmt.Sprintf(c.likes, i+1, i+1)
				}
				v, reason := Compress(head+half+odd+"\n"+half, kind.Test, form.Settings{})
				require.Empty(t, reason)
				require.Contains(t, v.Head, odd+"\n")
				require.Less(t, len(v.Head), len(half)/2)
			})
		}
	}
}

func TestAHitchInProgressStays(t *testing.T) {
	t.Parallel()
	half := ""
	for i := range 150 {
		half += fmt.Sprintf("Downloading lib%c%c-%d.tar.gz\nChecking lib%c%c%d\n", 'a'+i%7, 'b'+i%11, i, 'a'+i%7, 'b'+i%11, i)
	}
	for _, odd := range []string{"Checking libfoo... missing", "Downloading foo 404 Not Found", "Waiting for lock held by 8123", "Updating index... no", "Checking zlib.h... not found"} {
		v, reason := Compress(half+odd+"\n"+half, kind.Build, form.Settings{})
		require.Empty(t, reason)
		require.Contains(t, v.Head, odd+"\n")
	}
}
