package evidence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

// series joins n lines made by line.
func series(n int, line func(i int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = line(i)
	}
	return out
}

func compressed(t *testing.T, lines []string, k kind.Kind) string {
	t.Helper()
	v, reason := obeys(t, strings.Join(lines, "\n")+"\n", k, form.Settings{})
	require.Empty(t, reason)
	return v.Head
}

func TestOddValuesStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line func(i int) string
		odd  string
	}{
		"a status among equal ones":     {func(i int) string { return fmt.Sprintf("served request %d with 200", i) }, "served request 200 with 500"},
		"a word in a key=value pair":    {func(i int) string { return fmt.Sprintf("n=%d state=ready", i) }, "n=200 state=draining"},
		"a duration far off":            {func(i int) string { return fmt.Sprintf("query %d took %d ms", i, 20+i*7%13) }, "query 200 took 98765 ms"},
		"a negative number":             {func(i int) string { return fmt.Sprintf("query %d took %d ms", i, 20+i*7%13) }, "query 200 took -7 ms"},
		"a counter that steps back":     {func(i int) string { return fmt.Sprintf("offset %d committed", 5000+i) }, "offset 17 committed"},
		"a counter that leaps":          {func(i int) string { return fmt.Sprintf("offset %d committed", 5000+i) }, "offset 990000 committed"},
		"a clock that leaps":            {func(i int) string { return fmt.Sprintf("10:%02d:%02d tick", i/60, i%60) }, "23:59:59 tick"},
		"a host seen once":              {func(i int) string { return fmt.Sprintf("ping 10.0.0.%d ok", i%5) }, "ping 10.9.9.9 ok"},
		"another unit":                  {func(i int) string { return fmt.Sprintf("call %d took %dms", i, i%9) }, "call 200 took 4s"},
		"another word":                  {func(i int) string { return fmt.Sprintf("volume %d attached", i) }, "volume 200 vanished"},
		"a new shape":                   {func(i int) string { return fmt.Sprintf("volume %d attached", i) }, "(rebalancing)"},
		"a name where others have many": {func(i int) string { return fmt.Sprintf("user u%c%c logged in from the web", 'a'+i%26, 'a'+i/26) }, "user zoe logged out from the web"},
	} {
		lines := series(400, c.line)
		lines[200] = c.odd
		require.Contains(t, compressed(t, lines, kind.Log), "\n"+c.odd+"\n", name)
	}
}

func TestTheOddOneOfFewStays(t *testing.T) {
	t.Parallel()
	lines := series(200, func(i int) string { return fmt.Sprintf("copied block %d", i) })
	for i := range 6 {
		lines[30*i+10] = "retry queue holds 3 jobs"
	}
	lines[100] = "retry queue holds 40000 jobs"
	require.Contains(t, compressed(t, lines, kind.Log), "retry queue holds 40000 jobs")
}

func TestCalmAndLoudLinesOfOneShape(t *testing.T) {
	t.Parallel()
	lines := series(300, func(i int) string { return fmt.Sprintf("pass %d: 0 errors", i) })
	lines[150] = "pass 150: 3 errors"
	require.Contains(t, compressed(t, lines, kind.Log), "pass 150: 3 errors")
}

func TestRepeatedBlocksAreNamedByTheirPlace(t *testing.T) {
	t.Parallel()
	block := series(9, func(i int) string { return fmt.Sprintf("\tat com.example.deep.Call%c.run(Call.java:%d)", 'A'+i, 10+i) })
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("request %c failed for want of %s", 'a'+i%26, strings.Repeat("x", i+1)))
		lines = append(lines, block...)
	}
	out := compressed(t, lines, kind.Stack)
	require.Contains(t, out, "[5 lines left out, same as lines 4-8]")
	require.Contains(t, out, strings.Join(block, "\n"))
	require.NotContains(t, out, "same as lines 14-18", "a note must point at lines that are shown")
}

func TestFailingTestsKeepWhatTheyPrint(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("=== RUN   TestThing%d", i))
		if i == 90 {
			for k := range 8 {
				lines = append(lines, fmt.Sprintf("    thing_test.go:%d: row %d differs", 40+k, k))
			}
			lines = append(lines, "--- FAIL: TestThing90 (0.01s)")
			continue
		}
		took := "0.00"
		if i == 33 {
			took = "7.25"
		}
		lines = append(lines, fmt.Sprintf("--- PASS: TestThing%d (%ss)", i, took))
	}
	out := compressed(t, append(lines, "FAIL", "FAIL\texample.com/x\t8.1s"), kind.Test)
	for k := range 8 {
		require.Contains(t, out, fmt.Sprintf("    thing_test.go:%d: row %d differs", 40+k, k))
	}
	require.Contains(t, out, "--- FAIL: TestThing90")
	require.Contains(t, out, "--- PASS: TestThing33 (7.25s)", "the slow pass")
	require.Contains(t, out, "FAIL\texample.com/x")
	require.Contains(t, out, "all passed or started]")
}

func TestAccountsOfFailuresStayWhole(t *testing.T) {
	t.Parallel()
	lines := series(300, func(i int) string { return fmt.Sprintf("  ✓ adds %d (1 ms)", i) })
	var account []string
	for i := range 40 {
		account = append(account, fmt.Sprintf("  ● sums › row %d", i), "", "    expect(received).toBe(expected)", "", fmt.Sprintf("    Expected: %d", i%4), fmt.Sprintf("    Received: %d", i%3), "",
			fmt.Sprintf("      at sum.test.js:%d:9", 10+i))
	}
	lines = append(append(lines, account...), "Tests: 40 failed, 300 passed")
	require.Contains(t, compressed(t, lines, kind.Test), strings.Join(account, "\n"))
}

func TestEventsOfFailingTestsStay(t *testing.T) {
	t.Parallel()
	var lines []string
	event := func(action, test, out string) {
		l := fmt.Sprintf(`{"Time":"2026-01-02T03:04:05Z","Action":"%s","Package":"p","Test":"%s"`, action, test)
		if out != "" {
			l += fmt.Sprintf(`,"Output":"%s\n"`, out)
		}
		lines = append(lines, l+"}")
	}
	for i := range 120 {
		name := fmt.Sprintf("Test%d", i)
		event("run", name, "")
		event("output", name, "=== RUN   "+name)
		if i == 60 {
			event("output", name, `    x_test.go:7: got \"a\", want \"b\"`)
			event("output", name, "--- FAIL: "+name+" (0.00s)")
			event("fail", name, "")
			continue
		}
		event("output", name, "--- PASS: "+name+" (0.00s)")
		event("pass", name, "")
	}
	out := compressed(t, lines, kind.Test)
	require.Contains(t, out, `got \"a\", want \"b\"`)
	require.Contains(t, out, `"Action":"fail","Package":"p","Test":"Test60"`)
	require.Less(t, strings.Count(out, "\n"), 40)
}

func TestReportsKeepFailedCases(t *testing.T) {
	t.Parallel()
	lines := []string{`<?xml version="1.0"?>`, `<testsuites tests="400" failures="1">`, `<testsuite name="a" failures="0" errors="0" tests="200">`}
	for i := range 200 {
		lines = append(lines, fmt.Sprintf(`  <testcase name="case %d" time="0.0%d"/>`, i, i%9))
	}
	lines = append(lines, "</testsuite>", `<testsuite name="b" failures="1" errors="0" tests="200">`)
	for i := range 200 {
		lines = append(lines, fmt.Sprintf(`  <testcase name="other %d" time="0.0%d">`, i, i%9))
		if i == 120 {
			lines = append(lines, `    <failure message="sum is 4">`, "      expected 5", "      at sum.js:3", "    </failure>")
		}
		lines = append(lines, "  </testcase>")
	}
	out := compressed(t, append(lines, "</testsuite>", "</testsuites>"), kind.Test)
	require.Contains(t, out, strings.Join([]string{`  <testcase name="other 120" time="0.03">`, `    <failure message="sum is 4">`, "      expected 5", "      at sum.js:3", "    </failure>", "  </testcase>"}, "\n"))
	require.Contains(t, out, `<testsuite name="b" failures="1"`)
}

func TestSearchNamesEveryFile(t *testing.T) {
	t.Parallel()
	var lines []string
	for f := range 30 {
		for i := range 12 {
			lines = append(lines, fmt.Sprintf("pkg/file%02d.go:%d:\tlog.Printf(\"step\", n)", f, 3+i*4))
		}
	}
	out := compressed(t, lines, kind.Search)
	for f := range 30 {
		require.Contains(t, out, fmt.Sprintf("pkg/file%02d.go:", f))
	}
	require.Contains(t, out, "[11 more hits in this file left out]")
}

func TestProgressGoesAndBuildErrorsStay(t *testing.T) {
	t.Parallel()
	lines := series(300, func(i int) string {
		return fmt.Sprintf("Downloading from central: https://repo.example/%c%d.jar", 'a'+i%26, i)
	})
	lines[150] = "[ERROR] /src/A.java:[12,3] cannot find symbol"
	lines[151] = "  symbol: class Missing"
	out := compressed(t, lines, kind.Build)
	require.Contains(t, out, lines[150]+"\n"+lines[151])
	require.Contains(t, out, "all of progress]")
}

func TestBuildErrorsKeepTheirDetail(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 60 {
		for k := range 6 {
			lines = append(lines, fmt.Sprintf("Compiling part_%d_%d v1.0", i, k))
		}
		lines = append(lines, fmt.Sprintf("src/%c.java:12: error: cannot find symbol", 'a'+i%26), "    symbol: class Missing", "    location: class Here")
	}
	out := compressed(t, lines, kind.Build)
	shown := strings.Count(out, "cannot find symbol")
	require.Greater(t, shown, 26)
	require.Equal(t, shown, strings.Count(out, "    symbol: class Missing\n    location: class Here"))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	long := strings.Join(series(400, func(i int) string { return fmt.Sprintf("copied block %d of the volume", i) }), "\n")
	prose := strings.Join(series(120, func(i int) string {
		return strings.Repeat(string(rune('a'+i%26)), 1+i%7) + " once upon a time there were " + strings.Repeat(string(rune('a'+i/5)), 2+i%9) + " and they left"
	}), "\n")
	for name, c := range map[string]struct {
		text string
		kind kind.Kind
		set  form.Settings
		want turn.Reason
	}{
		"too large":            {strings.Repeat("a\n", MaxBytes/2+1), kind.Log, form.Settings{}, turn.TooLarge},
		"no UTF-8":             {long + "\xff", kind.Log, form.Settings{}, turn.BadUnicode},
		"a kind without rules": {long, kind.JSON, form.Settings{}, turn.NoFormSmaller},
		"nothing to hide":      {"a\nb\nc\n", kind.Log, form.Settings{}, turn.NoFormSmaller},
		"empty":                {"", kind.Log, form.Settings{}, turn.NoFormSmaller},
		"over the budget":      {long, kind.Log, form.Settings{MaxTokens: 20}, turn.NoForcedFit},
		"prose":                {prose, kind.Plain, form.Settings{}, turn.NoFormSmaller},
	} {
		_, reason := Compress(c.text, c.kind, c.set)
		require.Equal(t, c.want, reason, name)
	}
}

func TestTightKeepsEvidence(t *testing.T) {
	t.Parallel()
	lines := series(600, func(i int) string { return fmt.Sprintf("%c copied block %d of the volume", 'a'+i%6, i) })
	lines[300] = "ERROR volume lost"
	text := strings.Join(lines, "\n")
	loose, reason := obeys(t, text, kind.Log, form.Settings{})
	require.Empty(t, reason)
	tight, reason := obeys(t, text, kind.Log, form.Settings{Tight: true})
	require.Empty(t, reason)
	require.Less(t, len(tight.Head), len(loose.Head))
	require.Contains(t, tight.Head, "ERROR volume lost")
}
