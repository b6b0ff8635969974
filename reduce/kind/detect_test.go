package kind

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/testdata/needles"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	lines := func(l ...string) string { return strings.Repeat(strings.Join(l, "\n")+"\n", 12) }
	for name, c := range map[string]struct {
		text, command string
		want          Kind
	}{
		"nothing":                     {"", "", Plain},
		"a JSON document":             {"{\"a\": [1,\n 2]}\n", "", JSON},
		"a JSON array":                {"[\n  1, 2\n]", "", JSON},
		"a log that starts with [":    {lines("[2026-01-02T03:04:05] started", "[2026-01-02T03:04:06] stopped"), "", Log},
		"one value a line":            {lines(`{"a":1}`, `{"a":2}`), "", NDJSON},
		"go test -json":               {lines(`{"Action":"run","Package":"p","Test":"T"}`), "", Test},
		"go test -v":                  {lines("=== RUN   TestA", "--- PASS: TestA (0.00s)"), "", Test},
		"pytest":                      {lines("tests/test_a.py::test_b PASSED [ 1%]"), "", Test},
		"jest":                        {lines("PASS test/a.test.js", "  ✓ works (2 ms)"), "npx jest", Test},
		"a JUnit report":              {"<?xml version=\"1.0\"?>\n<testsuites tests=\"1\">\n", "", Test},
		"grep over files":             {lines("a/b.go:12:func x()", "a/c.go:3:\tx()"), "", Search},
		"grep with a revision":        {lines("HEAD:a/b.go:12:func x()"), "", Search},
		"grep without line numbers":   {lines("a/b.go:func x()", "a/c.go:  x"), "grep -r x a", Search},
		"service log":                 {lines("2026-01-02 03:04:05 INFO served"), "", Log},
		"access log":                  {lines(`10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" 200 5`), "", Log},
		"JSON records in a log":       {lines(`{"level":30,"msg":"a"}`, "** note"), "", Log},
		"Java trace":                  {lines("java.lang.X: y", "\tat a.b.C.d(C.java:1)", "\tat a.b.C.e(C.java:2)"), "", Stack},
		"maven":                       {lines("[INFO] Compiling 3 files", "[ERROR] A.java:[1,2] missing"), "mvn compile", Build},
		"a compiler's errors":         {lines("a.c:1:2: error: x", "  int y"), "make", Build},
		"a diff":                      {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "", Diff},
		"ls":                          {lines("-rw-r--r-- 1 root root 5 Jan 2 03:04 a"), "", Listing},
		"find":                        {lines("./a/b", "./a/c"), "find . -name x", Listing},
		"HTML":                        {"<!DOCTYPE html>\n<html>", "", HTML},
		"metrics":                     {"# HELP a b\n# TYPE a counter\na 1\n", "", Metrics},
		"CSV":                         {lines("a,b,c", "1,2,3"), "", CSV},
		"source text":                 {lines("def f(x):", "    return x;"), "", Code},
		"a read file by its command":  {lines("2026-01-02 03:04:05 INFO x"), "cat main.go", Read},
		"a numbered file":             {lines("    12\tpackage x"), "", Read},
		"a file window":               {"[File: /a.py (120 lines total)]\n1:import os\n", "", Read},
		"prose":                       {lines("The quick brown fox jumps over the lazy dog.", "It was not amused by this at all, we hear"), "", Plain},
		"git blame is no log":         {lines("0a1b2c3d4e (Ann Example 2026-01-02 03:04:05 +0000 12) x := 1"), "git blame x.go", Code},
		"a log read with cat":         {lines("started worker one", "stopped worker one"), "cat /var/log/app.log", Log},
		"test output of a hidden run": {lines("collected 3 items", "something odd"), "pytest -q", Test},
	} {
		call := Call{}
		if c.command != "" {
			call = shellCall(c.command)
		}
		require.Equal(t, c.want, Detect(c.text, call), name)
	}
}

func TestHit(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{
		"a/b.go:12:text":          {"a/b.go", "text"},
		"a/b.go-13-text":          {"a/b.go", "text"},
		"a/b.go:12:7:text":        {"a/b.go", "text"},
		"HEAD:a/b-c.go:12:text":   {"HEAD:a/b-c.go", "text"},
		"C:\\x\\b.go:12:text":     {"C:\\x\\b.go", "text"},
		"b.go:text":               {"b.go", "text"},
		"2026-01-02 03:04:05 x":   {"", ""},
		"http://example.com/ x":   {"", ""},
		"  indented a/b.go:1:x":   {"", ""},
		"plain words: and others": {"", ""},
	} {
		path, text, ok := Hit(line)
		require.Equal(t, want[0] != "", ok, line)
		if ok {
			require.Equal(t, want, [2]string{line[:path], line[text:]}, line)
		}
	}
}

func TestBundledLogsAreLineText(t *testing.T) {
	t.Parallel()
	for _, l := range needles.Logs() {
		require.Contains(t, []Kind{Log, Stack, Plain}, Detect(l.Text, Call{}), l.Name)
		require.NotEqual(t, Read, Detect(l.Text, shellCall("kubectl logs "+l.Name)), l.Name)
	}
}

func TestDetectIsTotalOverTheCorpus(t *testing.T) {
	t.Parallel()
	known := map[Kind]bool{}
	for _, k := range Kinds() {
		known[k] = true
	}
	texts := []string{"\x00\xff\xfe", strings.Repeat("[", 1<<16), strings.Repeat("\n", 1<<16), "\x1b["}
	if dir := os.Getenv("TOKEN_TERMINATOR_CORPUS"); dir != "" {
		paths, err := filepath.Glob(filepath.Join(dir, "outputs", "*", "*"))
		require.NoError(t, err)
		for _, p := range paths {
			raw, err := os.ReadFile(p)
			require.NoError(t, err)
			texts = append(texts, string(raw))
		}
	}
	for _, c := range needles.Cases(needles.Seed) {
		texts = append(texts, c.Text)
	}
	for _, text := range texts {
		require.True(t, known[Detect(text, Call{})])
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("{\"a\":1}\n", "ls")
	f.Add("a/b.go:1:x\n[1,", "grep -rn x")
	f.Add("\x1b[1m=== RUN\n--- PASS: x\n", "go test")
	f.Add("0123456 blob 0123456789abcdef\n", "")
	f.Fuzz(func(t *testing.T, text, command string) {
		k := Detect(text, shellCall(command))
		for _, known := range Kinds() {
			if k == known {
				return
			}
		}
		t.Fatalf("unknown kind %q", k)
	})
}
