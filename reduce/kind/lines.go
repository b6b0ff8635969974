package kind

import "strings"

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// maxPath bounds the path of a search hit, in bytes.
const maxPath = 300

// Hit takes a search hit apart: path is where its path ends and text where the
// found text starts. It knows path:line:text, path:line:column:text, the context
// lines path-line-text, the same after a revision (rev:path:line:text) and, with a
// path that has a slash or an ending, path:text. ok is false for any other line.
func Hit(l string) (path, text int, ok bool) {
	if l == "" || l[0] == ' ' || l[0] == '\t' || l[0] == '[' || l[0] == '<' || l[0] == '{' {
		return 0, 0, false
	}
	fallback := 0
	for i := 1; i < len(l) && i < maxPath; i++ {
		switch c := l[i]; c {
		case ' ', '\t', '"', '(', '=', '{', '<', ';', ',':
			return fallback, fallback + 1, fallback > 0
		case ':', '-':
			j := i + 1
			for j < len(l) && digit(l[j]) {
				j++
			}
			if j > i+1 && j < len(l) && l[j] == c && pathLike(l[:i]) && !clock(l, i) {
				return i, column(l, j+1), true
			}
			if c == ':' && fallback == 0 && pathLike(l[:i]) && letter(l[i-1]) && j == i+1 && !strings.HasPrefix(l[i:], "://") {
				fallback = i
			}
		}
	}
	return fallback, fallback + 1, fallback > 0
}

// column skips "12:" after a hit's line number.
func column(l string, i int) int {
	j := i
	for j < len(l) && digit(l[j]) {
		j++
	}
	if j > i && j < len(l) && l[j] == ':' {
		return j + 1
	}
	return i
}

// pathLike says that a text has a slash or a dot with a letter behind it.
func pathLike(p string) bool {
	for i := 0; i+1 < len(p); i++ {
		if p[i] == '/' || p[i] == '\\' || p[i] == '.' && letter(p[i+1]) {
			return true
		}
	}
	return false
}

// clock says that the colon at i stands inside a time of day.
func clock(l string, i int) bool {
	return i >= 2 && digit(l[i-1]) && digit(l[i-2]) && i+3 < len(l) && digit(l[i+1]) && digit(l[i+2]) && l[i+3] == ':'
}

var levels = [...]string{"INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL", "NOTICE", "CRITICAL", "info", "warn", "error", "debug"}

// logLine says that a line without its indent starts like a log record.
func logLine(t string) bool {
	if t[0] == '{' {
		return jsonRecord(t)
	}
	if strings.HasPrefix(t, "[INFO]") || strings.HasPrefix(t, "[ERROR]") || strings.HasPrefix(t, "[WARNING]") {
		return false // maven
	}
	head := t[:min(len(t), 120)]
	for i := 0; i+5 <= len(head); i++ {
		if digit(head[i]) && digit(head[i+1]) && head[i+2] == ':' && digit(head[i+3]) && digit(head[i+4]) && (i == 0 || !digit(head[i-1])) {
			return i < 60 || i+8 <= len(head) && head[i+5] == ':' && digit(head[i+6])
		}
	}
	head = head[:min(len(head), 64)]
	for _, w := range levels {
		if i := strings.Index(head, w); i >= 0 {
			before := i == 0 || strings.IndexByte("[ =|:<(\"\t", head[i-1]) >= 0
			end := i + len(w)
			after := end == len(head) || strings.IndexByte("] :|>)\"\t[", head[end]) >= 0
			if before && after && (w[0] < 'a' || i > 0 && head[i-1] != ' ') {
				return true
			}
		}
	}
	return strings.HasPrefix(t, "ts=") || strings.HasPrefix(t, "time=") || strings.HasPrefix(t, "level=") || epoch(t)
}

// jsonRecord says that a line is a log record in JSON.
func jsonRecord(t string) bool {
	if !strings.HasPrefix(t, `{"`) {
		return false
	}
	for _, key := range [...]string{`"level":`, `"msg":`, `"message":`, `"time":`, `"timestamp":`, `"ts":`, `"severity":`, `"@timestamp":`} {
		if strings.Contains(t, key) {
			return true
		}
	}
	return false
}

// epoch says that the line starts with seconds or milliseconds since 1970.
func epoch(t string) bool {
	n := 0
	for n < len(t) && digit(t[n]) {
		n++
	}
	return (n == 10 || n == 13) && t[0] == '1' && n < len(t) && strings.IndexByte(". \t,", t[n]) >= 0
}

// Frame says that a line is a stack frame or the head of a trace.
func Frame(l string) bool {
	t := strings.TrimLeft(l, " \t")
	for strings.HasPrefix(t, `\t`) {
		t = t[2:]
	}
	switch {
	case strings.HasPrefix(t, "at ") && strings.IndexAny(t, "(:/<") > 0:
		return true
	case strings.HasPrefix(t, "File \"") && strings.Contains(t, "\", line "):
		return true
	case strings.HasPrefix(t, "Traceback (most recent"), strings.HasPrefix(t, "Caused by: "), strings.HasPrefix(t, "Suppressed: "):
		return true
	case strings.HasPrefix(t, "goroutine ") && strings.HasSuffix(strings.TrimRight(t, "\r"), "]:"):
		return true
	case strings.HasPrefix(t, "... ") && strings.Contains(t, " more"):
		return true
	case len(t) > 2 && t[0] == '#' && digit(t[1]):
		return strings.Contains(t, "): ") || strings.Contains(t, " in ") || strings.Contains(t, " at ")
	case strings.HasPrefix(l, "\t/") && strings.Contains(l, ".go:"):
		return true
	}
	return false
}

var testWords = [...]string{"--- PASS:", "--- FAIL:", "--- SKIP:", "=== RUN", "=== PAUSE", "=== CONT", "ok  \t", "FAIL\t", "Tests run:", "test result: ",
	"# tests ", "not ok ", "TAP version", "Test Suites: ", "Tests: ", "Ran ", "FAIL ", "PASS ", "<testcase", "<testsuite", "<UnitTestResult", "<test-case",
	"=====", "_____", "running ", "Benchmark"}

// testLine says whether a line looks like a test runner's, and whether nothing
// else prints such a line.
func testLine(l, t string) (weak, strong bool) {
	for i, w := range testWords {
		if strings.HasPrefix(t, w) {
			switch {
			case i < 10:
				return true, true
			case w == "Ran ":
				return false, strings.Contains(t, " test") && strings.Contains(t, " in ")
			case w == "=====":
				return true, strings.Contains(t, "test session starts") || strings.Contains(t, " passed") || strings.Contains(t, " failed") || strings.Contains(t, " FAILURES ")
			case w == "running ", w == "Benchmark", w == "Tests: ":
				return strings.Contains(t, "test") || strings.Contains(t, "ns/op"), strings.Contains(t, "ns/op")
			case w == "<testcase", w == "<testsuite", w == "<UnitTestResult", w == "<test-case":
				return true, true
			}
			return true, false
		}
	}
	if t[0] == '{' {
		event := testEvent(t)
		return event, event
	}
	if strings.HasPrefix(t, "✓") || strings.HasPrefix(t, "✕") || strings.HasPrefix(t, "✔") || strings.HasPrefix(t, "√") || strings.HasPrefix(t, "●") {
		return true, false
	}
	if strings.HasPrefix(t, "test ") && (strings.HasSuffix(t, " ... ok") || strings.Contains(t, " ... FAILED")) {
		return true, true
	}
	if strings.Contains(l, "::") && (strings.Contains(l, " PASSED") || strings.Contains(l, " FAILED") || strings.Contains(l, " SKIPPED") || strings.Contains(l, " ERROR")) {
		return true, true
	}
	return false, false
}

var buildWords = [...]string{"[INFO]", "[ERROR]", "[WARNING]", "Downloading", "Downloaded", "Compiling ", "BUILD ", "npm ERR!", "npm error", "npm WARN", "npm warn",
	"make[", "make:", "gcc ", "cc ", "g++ ", "Collecting ", "Requirement already", "Installing ", "Get:", "Unpacking ", "Setting up ", "> Task ", "[CXX]", "[CC]", "Step ", "#"}

// buildLine says that a line without its indent looks like a compiler's or a
// build tool's.
func buildLine(t string) bool {
	for _, w := range buildWords {
		if w == "#" {
			if len(t) > 3 && t[0] == '#' && digit(t[1]) && (strings.Contains(t[:min(len(t), 12)], " ")) && !strings.Contains(t, "): ") {
				return true
			}
			continue
		}
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	for _, w := range [...]string{": error", ": warning", ": fatal error", " error TS", "error[E", "  error  ", "  warning  "} {
		if strings.Contains(t, w) {
			return true
		}
	}
	return false
}

func listingLine(l string) bool {
	if len(l) > 10 && strings.IndexByte("-dlbcps", l[0]) >= 0 && strings.Trim(l[1:10], "rwxsStT-") == "" {
		return true
	}
	return strings.HasPrefix(l, "├") || strings.HasPrefix(l, "│") || strings.HasPrefix(l, "└") ||
		len(l) > 12 && digit(l[0]) && (strings.HasPrefix(l[6:], " blob ") || strings.HasPrefix(l[6:], " tree "))
}

var codeWords = [...]string{"import ", "from ", "def ", "class ", "func ", "return ", "public ", "private ", "package ", "const ", "let ", "var ", "#include", "//", "/*", "* ", "if (", "for ", "@", "static ", "type ", "use ", "fn ", "end", "elif ", "else:"}

func codeLine(t string, indent int) bool {
	for _, w := range codeWords {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	switch t[len(t)-1] {
	case '{', '}', ';', ',':
		return true
	case ':', ')':
		return indent > 0
	}
	return false
}

// numberedLine recognises "  12\ttext" and "  12→text", as read tools print.
func numberedLine(t string) bool {
	i := 0
	for i < len(t) && digit(t[i]) {
		i++
	}
	return i > 0 && i < 8 && i < len(t) && (t[i] == '\t' || strings.HasPrefix(t[i:], "→"))
}

// blameLine recognises a line of git blame: a hash, then "(name date line)".
func blameLine(l string) bool {
	l = strings.TrimPrefix(l, "^")
	i := 0
	for i < len(l) && (digit(l[i]) || l[i] >= 'a' && l[i] <= 'f') {
		i++
	}
	if i < 7 || i > 40 || i == len(l) || l[i] != ' ' {
		return false
	}
	open := strings.IndexByte(l, '(')
	end := strings.IndexByte(l, ')')
	return open > 0 && end > open+16 && digit(l[end-1])
}
