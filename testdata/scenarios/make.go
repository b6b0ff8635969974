package scenarios

import (
	"fmt"
	"strings"
)

// Make names a generator of this package and how long its text is.
type Make struct {
	What  string `json:"what"`
	Lines int    `json:"lines"`
}

// text generates the text; false means that there is no such generator.
func (m Make) text() (string, bool) {
	var b strings.Builder
	switch m.What {
	case "warnings":
		m.warnings(&b)
	case "java":
		m.java(&b)
	case "python":
		m.python(&b)
	case "npm":
		m.npm(&b)
	case "pytest":
		m.pytest(&b)
	case "middle":
		m.middle(&b)
	case "json":
		m.json(&b)
	case "deep":
		m.deep(&b)
	case "html":
		m.html(&b)
	case "mixture":
		m.mixture(&b)
	default:
		return "", false
	}
	return b.String(), true
}

func (m Make) warnings(b *strings.Builder) {
	b.WriteString("$ make check\n")
	for range m.Lines {
		b.WriteString("WARNING: quota on /var/lib/data is nearly used up\n")
	}
	fmt.Fprintf(b, "check finished with %d warnings\n", m.Lines)
}

func (m Make) java(b *strings.Builder) {
	for i := range m.Lines {
		fmt.Fprintf(b, "2026-02-03 04:%02d:%02d INFO  [main] worker %d took batch %d\n", i/60%60, i%60, i%7, i)
		if i != m.Lines/2 {
			continue
		}
		b.WriteString("2026-02-03 04:20:00 ERROR [main] batch lost\njava.lang.IllegalStateException: ledger is closed for writing\n")
		b.WriteString("\tat com.example.ledger.Ledger.append(Ledger.java:118)\n\tat com.example.ledger.Batch.flush(Batch.java:64)\n")
		for f := range 40 {
			fmt.Fprintf(b, "\tat org.springframework.aop.framework.Step%d.proceed(Step.java:%d)\n", f, 100+f)
		}
		b.WriteString("Caused by: java.nio.file.FileSystemException: /data/ledger.db: no space left on device\n\tat java.base/sun.nio.fs.UnixException.translate(UnixException.java:100)\n\t... 42 more\n")
	}
}

func (m Make) python(b *strings.Builder) {
	for i := range m.Lines {
		fmt.Fprintf(b, "INFO:loader:row %d of table orders copied in %d ms\n", i, 3+i%5)
	}
	b.WriteString("Traceback (most recent call last):\n  File \"/srv/etl/copy.py\", line 88, in copy_row\n    target.write(row)\n")
	b.WriteString("  File \"/srv/etl/target.py\", line 31, in write\n    raise SchemaMismatch(row.table)\netl.target.SchemaMismatch: column total is missing in orders\n")
	b.WriteString("\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/srv/etl/main.py\", line 12, in <module>\n    run()\n")
	b.WriteString("RuntimeError: copy stopped at row 4711\n")
}

func (m Make) npm(b *strings.Builder) {
	b.WriteString("> shop@1.4.0 test\n> jest --verbose\n\n")
	for i := range m.Lines {
		fmt.Fprintf(b, "    ✓ adds item %d to the basket (%d ms)\n", i, 1+i%4)
	}
	b.WriteString("    ✕ refuses a coupon twice (7 ms)\n\n  ● basket › refuses a coupon twice\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 409\n    Received: 200\n\n")
	b.WriteString("      at Object.<anonymous> (test/basket.test.js:57:24)\n\n")
	fmt.Fprintf(b, "Tests:       1 failed, %d passed, %d total\n", m.Lines, m.Lines+1)
	b.WriteString("npm ERR! Test failed.  See above for more details.\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 1\n")
}

func (m Make) pytest(b *strings.Builder) {
	fmt.Fprintf(b, "============================= test session starts ==============================\nplatform linux -- Python 3.11.2, pytest-8.1.1\ncollected %d items\n\n", m.Lines)
	for i := range m.Lines {
		state := "PASSED"
		if i == m.Lines/2 {
			state = "FAILED"
		}
		fmt.Fprintf(b, "tests/test_rates.py::test_rate[%d] %s [%3d%%]\n", i, state, (i+1)*100/m.Lines)
	}
	fmt.Fprintf(b, "\n=================================== FAILURES ===================================\n________________________________ test_rate[%d] ________________________________\n\n    def test_rate(n):\n>       assert rate(n) == expected[n]\nE       assert 0.0725 == 0.075\n\ntests/test_rates.py:19: AssertionError\n", m.Lines/2)
	fmt.Fprintf(b, "=========================== short test summary info ============================\nFAILED tests/test_rates.py::test_rate[%d] - assert 0.0725 == 0.075\n======================== 1 failed, %d passed in 9.81s ========================\n", m.Lines/2, m.Lines-1)
}

func (m Make) middle(b *strings.Builder) {
	for i := range m.Lines {
		fmt.Fprintf(b, "10.0.%d.%d - - [03/Feb/2026:04:%02d:%02d +0000] \"GET /health HTTP/1.1\" 200 %d\n", i%4, i%200, i/60%60, i%60, 512+i%3)
		if i == m.Lines/2 {
			b.WriteString("failed to bind upstream pool: address 10.0.9.9:7443 already in use\n")
		}
		if i == m.Lines/3 {
			b.WriteString("10.0.2.7 - - [03/Feb/2026:04:11:06 +0000] \"GET /health HTTP/1.1\" 503 512\n")
		}
	}
}

func (m Make) json(b *strings.Builder) {
	b.WriteString("{\"page\": 1, \"items\": [\n")
	for i := range m.Lines {
		state, note := "ready", "ok"
		if i == m.Lines/2 {
			state, note = "error", "image pull denied for registry.example/shop:9"
		}
		fmt.Fprintf(b, `  {"id": %d, "name": "pod-%04d", "state": "%s", "restarts": %d, "note": "%s"}`, i, i, state, i%3, note)
		if i < m.Lines-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]}\n")
}

func (m Make) deep(b *strings.Builder) {
	for range m.Lines {
		b.WriteString(`{"child": `)
	}
	b.WriteString(`{"error": "leaf node refused the lease"}`)
	b.WriteString(strings.Repeat("}", m.Lines) + "\n")
}

func (m Make) html(b *strings.Builder) {
	b.WriteString("<!DOCTYPE html>\n<html><head><title>Status of the east region</title></head><body>\n<h1>Incident 2291</h1>\n<table>\n")
	for i := range m.Lines {
		fmt.Fprintf(b, "<tr><td>host-%03d</td><td>up</td></tr>\n", i)
	}
	b.WriteString("<tr><td>host-777</td><td class=\"bad\">down since 04:11</td></tr>\n</table>\n<p>See <a href=\"https://status.example/runbook#2291\">the runbook</a></p>\n</body></html>\n")
}

// mixture is what a script prints that calls several tools.
func (m Make) mixture(b *strings.Builder) {
	b.WriteString("== build ==\n")
	for i := range m.Lines {
		fmt.Fprintf(b, "Compiling crate_%d v0.%d.0\n", i, i%9)
	}
	b.WriteString("error[E0382]: borrow of moved value: `cart`\n  --> src/cart.rs:41:17\n   |\n41 |     total(&cart);\n   |           ^^^^^ value borrowed here after move\n== data ==\n{\n  \"retries\": 3,\n  \"last_error\": \"lease expired\"\n}\n== listing ==\n")
	for i := range m.Lines {
		fmt.Fprintf(b, "2026-02-03 04:%02d:%02d INFO copied object %d\n", i/60%60, i%60, i)
	}
	b.WriteString("process exited with code 101\n")
}
