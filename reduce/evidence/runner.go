package evidence

import (
	"sort"
	"strings"
)

// Test-runner output: lines about tests that passed may go, whatever their shape;
// everything a failing test printed stays; the slowest passes stay.

const (
	slowShown   = 3   // passes shown because of their time
	slowSeconds = 1.0 // shortest time worth showing
)

// judgeTests marks foldable and protected lines of test-runner output.
func (s *source) judgeTests() {
	s.noise, s.fold = make([]bool, s.lines()), "all passed or started"
	head := strings.TrimLeft(s.text[:min(len(s.text), 512)], "\ufeff \t\r\n")
	switch {
	case strings.HasPrefix(head, "<"):
		s.reportXML()
	case s.countEvents() > 0:
		s.testEvents()
	default:
		s.testLines()
	}
	s.slowest()
}

// testLines handles the plain output of go test, pytest, jest, maven, cargo,
// unittest, gotestsum, TAP and ctest.
func (s *source) testLines() {
	failing := map[string]bool{}
	for i := range s.noise {
		if t, ok := strings.CutPrefix(strings.TrimLeft(s.line(i), " \t"), "--- FAIL: "); ok {
			failing[firstWord(t)] = true
		}
	}
	running, below, section := "", false, false
	for i := range s.noise {
		l := s.line(i)
		t := strings.TrimLeft(l, " \t")
		if section = failureSection(t, section); section && s.same[i] < 0 {
			s.mark(i, structure)
			continue
		}
		if name, ok := started(t); ok {
			running, below = name, false
			s.noise[i] = strings.HasSuffix(t, name) && (!failing[name] || strings.HasPrefix(t, "=== PAUSE") || strings.HasPrefix(t, "=== CONT"))
			continue
		}
		switch {
		case strings.HasPrefix(t, "--- FAIL: "):
			below = true
			s.mark(i, severe)
		case strings.HasPrefix(t, "--- "):
			below = false
			s.noise[i] = passedMark(t)
		case passedLine(t, s.sev[i] != 0):
			s.noise[i] = true
			below = false
		case t != "" && (below || failing[running] && running != "" && l != t):
			s.mark(i, structure)
		case summaryLine(t):
			s.mark(i, structure)
		}
	}
}

// failureSection says whether a line, without its indent, stands in a runner's account
// of failures; in says whether the line before did. It knows pytest, jest, cargo,
// unittest and surefire.
func failureSection(t string, in bool) bool {
	switch {
	case t == "":
		return in
	case strings.HasPrefix(t, "===="):
		return strings.Contains(t, " FAILURES ") || strings.Contains(t, " ERRORS ") || in && strings.Trim(t, "=") == ""
	case strings.HasPrefix(t, "● "), strings.HasPrefix(t, "---- ") && strings.HasSuffix(t, " stdout ----"), strings.Contains(t, "<<< FAILURE!"), strings.Contains(t, "<<< ERROR!"):
		return true
	case strings.HasPrefix(t, "FAIL: "), strings.HasPrefix(t, "ERROR: ") && strings.HasSuffix(t, ")"):
		return true
	}
	if !in {
		return false
	}
	for _, w := range [...]string{"PASS ", "FAIL ", "Tests:", "Test Suites:", "failures:", "test result:", "Ran ", "Results:", "[INFO] ", "Running ", "=== RUN", "ok  \t", "✓ ", "Snapshots:"} {
		if strings.HasPrefix(t, w) {
			return false
		}
	}
	return true
}

func firstWord(t string) string {
	if i := strings.IndexAny(t, " \t("); i >= 0 {
		return t[:i]
	}
	return t
}

// started reads "=== RUN   TestX" and its kin.
func started(t string) (string, bool) {
	if !strings.HasPrefix(t, "=== ") {
		return "", false
	}
	for _, w := range [...]string{"RUN ", "PAUSE ", "CONT ", "NAME "} {
		if rest, ok := strings.CutPrefix(t[4:], w); ok {
			return firstWord(strings.TrimLeft(rest, " ")), true
		}
	}
	return "", false
}

var summaryStarts = [...]string{"FAIL", "ok ", "PASS", "Tests run:", "Tests:", "Test Suites:", "test result:", "Ran ", "FAILED", "ERROR ", "E   ", "DONE ",
	"coverage:", "panic:", "# tests", "# fail", "# pass", "not ok", "✕", "✗", "✘", "×", "❌", "●", "BUILD "}

// summaryLine says that a line sums a run up or tells of a test that did not pass.
func summaryLine(t string) bool {
	for _, w := range summaryStarts {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	if strings.HasPrefix(t, "====") {
		return true
	}
	return strings.Contains(t, "::") && (strings.Contains(t, " FAILED") || strings.Contains(t, " ERROR"))
}

// slowest shows the passes that took longest. It looks for "(1.23s)", "(123 ms)",
// `"Elapsed":1.23` and `time="1.23"`.
func (s *source) slowest() {
	type pass struct {
		line int
		took float64
	}
	var slow []pass
	for i, folded := range s.noise {
		if folded && s.same[i] < 0 {
			if d := took(s.line(i)); d >= slowSeconds {
				slow = append(slow, pass{i, d})
			}
		}
	}
	sort.SliceStable(slow, func(i, j int) bool { return slow[i].took > slow[j].took })
	for _, p := range slow[:min(len(slow), slowShown)] {
		s.mark(p.line, structure)
	}
}

// took gives the seconds a line about a passed test names, 0 none.
func took(l string) float64 {
	for _, w := range [...]string{`"Elapsed":`, `time="`, "Time elapsed: "} {
		if i := strings.Index(l, w); i >= 0 {
			v, _ := leadingNumber(l[i+len(w):])
			return v
		}
	}
	if strings.HasPrefix(l, "ok  \t") {
		v, _ := leadingNumber(l[strings.LastIndexByte(l, '\t')+1:])
		return v
	}
	i := strings.LastIndexByte(l, '(')
	if i < 0 {
		return 0
	}
	v, rest := leadingNumber(l[i+1:])
	switch rest = strings.TrimLeft(rest, " "); {
	case strings.HasPrefix(rest, "ms"):
		return v / 1000
	case strings.HasPrefix(rest, "s"):
		return v
	}
	return 0
}

func leadingNumber(t string) (float64, string) {
	j := 0
	for j < len(t) && class[t[j]] == isDigit {
		j++
	}
	if j == 0 || j > 15 {
		return 0, t
	}
	v := integer(t, 0, j)
	if j+1 < len(t) && t[j] == '.' && class[t[j+1]] == isDigit {
		scale := 0.1
		for j++; j < len(t) && class[t[j]] == isDigit; j++ {
			v += scale * float64(t[j]-'0')
			scale /= 10
		}
	}
	return v, t[j:]
}
