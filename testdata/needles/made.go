package needles

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// arrays gives arrays of 160 uniform objects with one odd member each.
func arrays(percent int, r *rand.Rand) []Case {
	const n = 160
	at := n * percent / 100
	build := func(odd string) string {
		var b strings.Builder
		b.WriteString("[\n")
		for i := 0; i < n; i++ {
			if i == at {
				b.WriteString("  " + odd)
			} else {
				fmt.Fprintf(&b, `  {"id": %d, "host": "web-%02d", "status": "ok", "latency_ms": %d, "region": "%s", "note": "served from cache"}`,
					1000+i, r.IntN(24), 20+r.IntN(60), [...]string{"eu-west", "us-east", "ap-south"}[r.IntN(3)])
			}
			if i < n-1 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString("]\n")
		return b.String()
	}
	row := func(status string, latency int, note string) string {
		return fmt.Sprintf(`{"id": %d, "host": "web-07", "status": "%s", "latency_ms": %d, "region": "eu-west", "note": "%s"}`, 1000+at, status, latency, note)
	}
	name := fmt.Sprintf("160 objects at %d %%", percent)
	return []Case{
		{Class: JSONError, Name: name, Text: build(row("error", 44, "upstream refused the connection")), Needle: "upstream refused the connection", Tool: "http_get"},
		{Class: JSONValue, Name: name, Text: build(row("ok", 98765, "served from cache")), Needle: "98765", Tool: "http_get"},
		{Class: JSONUnique, Name: name, Text: build(row("ok", 47, "moved to the spare rack by hand")), Needle: "moved to the spare rack by hand", Tool: "http_get"},
	}
}

// searches gives a list of 220 hits with one odd hit, for a search over code and
// one over configuration.
func searches(percent int, r *rand.Rand) []Case {
	const n = 220
	at := n * percent / 100
	build := func(odd string, hit func(i int) string) string {
		var b strings.Builder
		for i := 0; i < n; i++ {
			if i == at {
				b.WriteString(odd + "\n")
				continue
			}
			b.WriteString(hit(i) + "\n")
		}
		return b.String()
	}
	code := fmt.Sprintf("internal/pay/handler_%02d.go:%d:\tdefer mu.Unlock() // held across the network call on purpose", at/10, 40+at)
	conf := fmt.Sprintf("deploy/env_%02d/values.yaml:%d:  replicas: 0  # parked until the audit is over", at/20, at)
	name := fmt.Sprintf("220 hits at %d %%", percent)
	return []Case{
		{Class: SearchHit, Name: name + ", code", Needle: code, Tool: "bash", Command: "grep -rn Unlock internal",
			Text: build(code, func(i int) string {
				return fmt.Sprintf("internal/pay/handler_%02d.go:%d:\tdefer s.mu.Unlock()", i/10, 20+7*i+r.IntN(5))
			})},
		{Class: SearchHit, Name: name + ", configuration", Needle: conf, Tool: "bash", Command: "rg -n replicas deploy",
			Text: build(conf, func(i int) string {
				return fmt.Sprintf("deploy/env_%02d/values.yaml:%d:  replicas: %d", i/20, 3+2*i, 2+r.IntN(3))
			})},
	}
}

// testRuns gives 300 tests with one failure, as go test -v and as pytest -v print them.
func testRuns(percent int, r *rand.Rand) []Case {
	const n = 300
	at := n * percent / 100
	var g, p strings.Builder
	p.WriteString("============================= test session starts ==============================\ncollected 300 items\n\n")
	goNeedle := fmt.Sprintf("    account_test.go:%d: balance after refund: got 118, want 120", 30+at)
	pyNeedle := fmt.Sprintf("tests/test_account_%02d.py::test_case_%03d FAILED", at/25, at)
	for i := 0; i < n; i++ {
		fmt.Fprintf(&g, "=== RUN   TestCase%03d\n", i)
		if i == at {
			g.WriteString(goNeedle + "\n")
			fmt.Fprintf(&g, "--- FAIL: TestCase%03d (0.0%ds)\n", i, r.IntN(9))
		} else {
			fmt.Fprintf(&g, "--- PASS: TestCase%03d (0.0%ds)\n", i, r.IntN(9))
		}
		state := "PASSED"
		if i == at {
			state = "FAILED"
		}
		fmt.Fprintf(&p, "tests/test_account_%02d.py::test_case_%03d %s [%3d%%]\n", i/25, i, state, (i+1)*100/n)
	}
	g.WriteString("FAIL\nFAIL\texample.com/bank/account\t0.512s\nFAIL\n")
	fmt.Fprintf(&p, "\n=================================== FAILURES ===================================\n________________________________ test_case_%03d ________________________________\n\n>       assert refund(account) == 120\nE       assert 118 == 120\n\ntests/test_account_%02d.py:%d: AssertionError\n", at, at/25, 30+at)
	fmt.Fprintf(&p, "=========================== short test summary info ============================\nFAILED tests/test_account_%02d.py::test_case_%03d - assert 118 == 120\n======================== 1 failed, 299 passed in 4.10s =========================\n", at/25, at)
	name := fmt.Sprintf("300 tests at %d %%", percent)
	return []Case{
		{Class: TestFail, Name: name + ", go", Text: g.String(), Needle: goNeedle, Tool: "bash", Command: "go test -v ./..."},
		{Class: TestFail, Name: name + ", pytest", Text: p.String(), Needle: pyNeedle, Tool: "bash", Command: "pytest -v"},
	}
}

// stacks gives a service's output of many equal traces, one of which has another
// cause, in Java and in Python.
func stacks(percent int, r *rand.Rand) []Case {
	const n = 40
	at := n * percent / 100
	var j, p strings.Builder
	jNeedle := "Caused by: java.net.SocketTimeoutException: read timed out after 1500 ms"
	pNeedle := "ConnectionResetError: [Errno 104] connection reset by ledger-3"
	for i := 0; i < n; i++ {
		cause := "Caused by: java.lang.IllegalStateException: pool is closed"
		end := "ValueError: order has no lines"
		if i == at {
			cause, end = jNeedle, pNeedle
		}
		fmt.Fprintf(&j, "2026-01-05 10:%02d:%02d ERROR [http-%d] request failed\njava.lang.RuntimeException: cannot load order\n", i, r.IntN(60), i%8)
		for f := 0; f < 24; f++ {
			fmt.Fprintf(&j, "\tat com.example.shop.layer%02d.Step.call(Step.java:%d)\n", f, 40+f)
		}
		j.WriteString(cause + "\n\tat com.example.shop.Pool.take(Pool.java:77)\n\t... 24 more\n")
		p.WriteString("Traceback (most recent call last):\n")
		for f := 0; f < 9; f++ {
			fmt.Fprintf(&p, "  File \"/srv/shop/layer_%02d.py\", line %d, in call\n    return self.next.call(order)\n", f, 40+f)
		}
		p.WriteString(end + "\n")
	}
	name := fmt.Sprintf("%d traces at %d %%", n, percent)
	return []Case{
		{Class: Stack, Name: name + ", java", Text: j.String(), Needle: jNeedle, Tool: "bash", Command: "kubectl logs shop"},
		{Class: Stack, Name: name + ", python", Text: p.String(), Needle: pNeedle, Tool: "bash", Command: "python3 load.py"},
	}
}
