package evidence

import "strings"

// event is what one line of go test -json says. Texts are the JSON literals'
// bytes, not decoded.
type event struct {
	action, pkg, test, output string
}

// readEvent reads a line of go test -json without decoding it.
func readEvent(l string) (event, bool) {
	if len(l) < 2 || l[0] != '{' || l[len(l)-1] != '}' {
		return event{}, false
	}
	e := event{action: member(l, `"Action":"`)}
	if e.action == "" {
		return event{}, false
	}
	e.pkg, e.test, e.output = member(l, `"Package":"`), member(l, `"Test":"`), member(l, `"Output":"`)
	return e, true
}

// member gives the bytes of a string member up to its closing quote.
func member(l, key string) string {
	i := strings.Index(l, key)
	if i < 0 {
		return ""
	}
	rest := l[i+len(key):]
	for j := 0; j < len(rest); j++ {
		switch rest[j] {
		case '\\':
			j++
		case '"':
			return rest[:j]
		}
	}
	return rest
}

// countEvents looks at the first lines only.
func (s *source) countEvents() int {
	n := 0
	for i := 0; i < min(s.lines(), 40); i++ {
		if _, ok := readEvent(s.line(i)); ok {
			n++
		}
	}
	return n
}

// testEvents handles go test -json: events of tests that passed may go, the output
// of failing tests and of packages stays.
func (s *source) testEvents() {
	failing := map[string]bool{}
	for i := range s.noise {
		if l := s.line(i); strings.Contains(l, `"Action":"fail"`) {
			if e, ok := readEvent(l); ok && e.test != "" {
				failing[e.pkg+"\x00"+e.test] = true
			}
		}
	}
	for i := range s.noise {
		l := s.line(i)
		e, ok := readEvent(l)
		if !ok {
			if t := strings.TrimLeft(l, " \t"); passedLine(t, s.sev[i] != 0) || strings.HasPrefix(t, "go: downloading ") {
				s.noise[i] = true
			}
			continue
		}
		failed := failing[e.pkg+"\x00"+e.test]
		switch {
		case e.action == "fail" || e.action == "build-fail":
			s.mark(i, severe)
		case e.action == "output" || e.action == "build-output":
			s.noise[i] = starting(e.output) || !failed && passing(e.output)
			if failed && !s.noise[i] || e.test == "" && !passing(e.output) {
				s.mark(i, structure)
			}
		case e.action == "skip" && e.test != "":
			s.mark(i, structure)
		default:
			s.noise[i] = e.action == "run" || e.action == "pass" || e.action == "pause" || e.action == "cont" || e.action == "start"
		}
	}
}

// starting reads the output "=== RUN   TestX".
func starting(out string) bool {
	t := strings.TrimSuffix(out, `\n`)
	name, ok := started(t)
	return ok && strings.HasSuffix(t, name)
}

// passing says that an output event tells of a passed test or holds nothing.
func passing(out string) bool {
	t := strings.TrimSuffix(strings.TrimLeft(out, " \t"), `\n`)
	if t == "" || t == "PASS" || passedMark(t) {
		return true
	}
	rest, ok := strings.CutPrefix(t, `ok  \t`)
	return ok && passedPackage(strings.ReplaceAll(rest, `\t`, "\t"))
}
