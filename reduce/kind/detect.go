package kind

import "strings"

// The sample Detect looks at: lines from the start, spread over the middle, and
// from the end; of each line at most sampleWidth bytes.
const (
	sampleHead  = 120
	sampleMid   = 120
	sampleTail  = 60
	sampleWidth = 400
)

// Detect says what the text is. The call may be zero.
func Detect(text string, c Call) Kind {
	trimmed := strings.TrimLeft(text, " \t\r\n\ufeff")
	if trimmed == "" {
		return Plain
	}
	if _, read := c.ReadPath(); read {
		return Read
	}
	if strings.HasPrefix(trimmed, "[File: ") && strings.Contains(first(trimmed), " lines total)]") {
		return Read
	}
	command := c.Command()
	if k := whole(trimmed, command); k != "" {
		return k
	}
	f := look(sample(text))
	hint := hintOf(command, c.tool())
	if k := f.clear(hint); k != "" {
		return k
	}
	return f.likely(hint)
}

func first(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i]
	}
	return text
}

// whole recognises documents by their first bytes.
func whole(text, command string) Kind {
	line := strings.TrimSpace(first(text))
	low := strings.ToLower(line[:min(len(line), 64)])
	switch {
	case strings.HasPrefix(low, "<!doctype html"), strings.HasPrefix(low, "<html"):
		return HTML
	case strings.HasPrefix(low, "<?xml"), strings.HasPrefix(low, "<testsuite"), strings.HasPrefix(low, "<testrun"):
		return xmlKind(text)
	case strings.HasPrefix(line, "diff --git "), strings.HasPrefix(line, "Index: "):
		return Diff
	case strings.HasPrefix(line, "# HELP "), strings.HasPrefix(line, "# TYPE "):
		return Metrics
	case text[0] == '{' || text[0] == '[':
		return jsonKind(text, command)
	}
	return ""
}

func xmlKind(text string) Kind {
	head := text[:min(len(text), 4096)]
	for _, w := range [...]string{"<testsuite", "<TestRun", "<test-run", "<testng-results", "<assemblies", "<UnitTest"} {
		if strings.Contains(head, w) {
			return Test
		}
	}
	if strings.Contains(strings.ToLower(head), "<html") {
		return HTML
	}
	return XML
}

// jsonKind tells a JSON document from a log whose lines start with a bracket, and
// from one JSON value a line.
func jsonKind(text, command string) Kind {
	if !opensJSON(text) {
		return ""
	}
	line := strings.TrimRight(first(text), " \t\r")
	if len(line) == len(strings.TrimRight(text, " \t\r\n")) {
		return JSON
	}
	last := line[len(line)-1]
	if line[0] == '{' && last == '}' || line[0] == '[' && last == ']' && len(line) > 2 {
		return ndjsonKind(text, command)
	}
	end := strings.TrimRight(text, " \t\r\n")
	if last := end[len(end)-1]; last == '}' || last == ']' {
		return JSON
	}
	if strings.Count(text[:min(len(text), 8192)], "\n  ") > 2 {
		return JSON // cut short; the reducer of JSON refuses it
	}
	return ""
}

// opensJSON looks at the bytes after the first bracket.
func opensJSON(text string) bool {
	rest := strings.TrimLeft(text[1:min(len(text), 256)], " \t\r\n")
	if rest == "" {
		return false
	}
	c := rest[0]
	if text[0] == '{' {
		return c == '"' || c == '}'
	}
	switch {
	case c == '{' || c == '[' || c == '"' || c == ']':
		return true
	case c == '-' || c >= '0' && c <= '9':
		i := strings.IndexAny(rest, ",] \n\r\t")
		if i < 0 {
			return false
		}
		after := strings.TrimLeft(rest[i:], " \t\r\n")
		return strings.Trim(rest[:i], "+-.0123456789eE") == "" && after != "" && (after[0] == ',' || after == "]")
	}
	return strings.HasPrefix(rest, "true") || strings.HasPrefix(rest, "false") || strings.HasPrefix(rest, "null")
}

func ndjsonKind(text, command string) Kind {
	objects, others, events := 0, 0, 0
	for _, l := range sample(text) {
		l = strings.TrimSpace(l)
		switch {
		case l == "":
		case l[0] == '{' || l[0] == '[' && opensJSON(l):
			objects++
			if testEvent(l) {
				events++
			}
		default:
			others++
		}
	}
	switch {
	case events*2 > objects+others:
		return Test
	case others == 0 && objects > 1:
		return NDJSON
	case objects > 9*others:
		return NDJSON
	case others > 0 && goTool(command, "test"):
		return Test
	}
	return ""
}

// testEvent recognises a line of go test -json.
func testEvent(l string) bool {
	if !strings.HasPrefix(l, "{") || !strings.Contains(l, `"Action":"`) {
		return false
	}
	return strings.HasPrefix(l, `{"Action":"`) || strings.Contains(l, `"Package":"`) || strings.Contains(l, `"Test":"`)
}

func goTool(command, verb string) bool {
	for _, s := range split(command) {
		if s.name() == "go" && len(s.words) > 1 && s.words[1] == verb {
			return true
		}
	}
	return false
}

// sample picks lines of the text, each cut to sampleWidth.
func sample(text string) []string {
	out := make([]string, 0, sampleHead+sampleMid+sampleTail)
	rest := text
	for len(out) < sampleHead && rest != "" {
		l := first(rest)
		out = append(out, l[:min(len(l), sampleWidth)])
		rest = rest[min(len(rest), len(l)+1):]
	}
	if len(rest) > 64<<10 {
		step := len(rest) / (sampleMid + 1)
		for i := 1; i <= sampleMid; i++ {
			out = appendLineAt(out, rest, i*step)
		}
	} else {
		for n := 0; n < sampleMid && rest != ""; n++ {
			l := first(rest)
			out = append(out, l[:min(len(l), sampleWidth)])
			rest = rest[min(len(rest), len(l)+1):]
		}
	}
	tail := rest[max(0, len(rest)-16<<10):]
	for n := 0; n < sampleTail && tail != ""; n++ {
		tail = strings.TrimSuffix(tail, "\n")
		i := strings.LastIndexByte(tail, '\n')
		l := tail[i+1:]
		out = append(out, l[:min(len(l), sampleWidth)])
		tail = tail[:max(0, i)]
	}
	return out
}

// appendLineAt adds the line after the next line end past offset at.
func appendLineAt(out []string, text string, at int) []string {
	window := text[at:min(len(text), at+4096)]
	i := strings.IndexByte(window, '\n')
	if i < 0 {
		return out
	}
	l := first(window[i+1:])
	return append(out, l[:min(len(l), sampleWidth)])
}
