package evidence

import "strings"

// Test reports in XML (JUnit, TRX, NUnit and their kin), line by line: elements of
// tests that passed and of suites without failures may go.

var caseTags = [...]string{"<testcase", "<UnitTestResult", "<test-case", "<test "}

// failMarks are what a test element that did not simply pass holds.
var failMarks = [...]string{"<failure", "<error", "<skipped", "<ErrorInfo", "<system-err", "<rerunFailure", "<flakyFailure"}

// endings are the attributes that say how a test ended, goodEnds what they say of
// one that passed.
var (
	endings  = [...]string{` outcome="`, ` result="`, ` status="`}
	goodEnds = [...]string{"passed", "pass", "success", "completed", "run", "ok"}
)

func (s *source) reportXML() {
	n := s.lines()
	for i := 0; i < n; {
		t := strings.TrimSpace(s.line(i))
		tag := caseTag(t)
		switch {
		case tag != "":
			j := s.caseEnd(i, tag)
			s.testCase(i, j)
			i = j
			continue
		case strings.HasPrefix(t, "<testsuites"), strings.HasPrefix(t, "<TestRun"), strings.HasPrefix(t, "<test-run"), strings.HasPrefix(t, "<Counters"):
			s.mark(i, structure)
		case strings.Contains(t, "<testsuite") && !clean(t):
			s.mark(i, structure)
		case strings.HasPrefix(t, "<testsuite"), t == "</testsuite>", strings.HasPrefix(t, "<TestEntry "), strings.HasPrefix(t, "<properties"), strings.HasPrefix(t, "</properties"):
			s.noise[i] = markup(t)
		}
		i++
	}
}

func caseTag(t string) string {
	for _, tag := range caseTags {
		if i := strings.Index(t, tag); i >= 0 && (i == 0 || strings.HasPrefix(t, "<")) {
			return tag
		}
	}
	return ""
}

// caseEnd gives the line after the element that starts on line i.
func (s *source) caseEnd(i int, tag string) int {
	name := strings.TrimSpace(tag[1:])
	l := s.line(i)
	rest := l[strings.LastIndex(l, tag):]
	if end := strings.IndexByte(rest, '>'); end > 0 && rest[end-1] == '/' {
		return i + 1
	}
	closing := "</" + name
	for j := i; j < s.lines(); j++ {
		if j > i && strings.Contains(s.line(j), tag) {
			return j
		}
		if strings.Contains(s.line(j), closing) {
			return j + 1
		}
	}
	return i + 1
}

// testCase folds the lines i to j when the test passed and printed nothing odd,
// and keeps all of them when it did not pass.
func (s *source) testCase(i, j int) {
	failed := !clean(s.line(i)) || badEnd(s.line(i))
	for k := i; k < j && !failed; k++ {
		l := s.line(k)
		for _, m := range failMarks {
			failed = failed || strings.Contains(l, m)
		}
	}
	if failed {
		for k := i; k < j; k++ {
			s.mark(k, structure)
		}
		return
	}
	for k := i; k < j; k++ {
		t := strings.TrimSpace(s.line(k))
		s.noise[k] = t == "" || (k == i || strings.HasPrefix(t, "</")) && markup(t)
	}
}

// markup says that a line starts and ends with a tag.
func markup(t string) bool { return t != "" && t[0] == '<' && t[len(t)-1] == '>' }

// badEnd says that a test element names an ending other than a pass.
func badEnd(t string) bool {
	for _, key := range endings {
		_, rest, found := strings.Cut(t, key)
		if !found {
			continue
		}
		said, _, _ := strings.Cut(rest, `"`)
		good := false
		for _, w := range goodEnds {
			good = good || strings.EqualFold(said, w)
		}
		if !good {
			return true
		}
	}
	return false
}

// clean says that no suite on the line has failures or errors.
func clean(t string) bool {
	for _, key := range [...]string{`failures="`, `errors="`, `failed="`} {
		for rest := t; ; {
			i := strings.Index(rest, key)
			if i < 0 {
				break
			}
			rest = rest[i+len(key):]
			if rest == "" || rest[0] != '0' {
				return false
			}
		}
	}
	return true
}
