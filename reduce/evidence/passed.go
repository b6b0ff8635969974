package evidence

import "strings"

// Lines about passed tests may go, so they are recognised as a whole: a line that
// says more than a runner says of a passed test is judged like any other.

// passedLine says that a line tells of passed tests only. t has no indent; loud says
// that it holds a severity word, which a test's name may.
func passedLine(t string, loud bool) bool {
	if t == "" {
		return false
	}
	if t[0] >= 0x80 {
		for _, w := range [...]string{"✓ ", "✔ ", "√ ", "✅ "} {
			if strings.HasPrefix(t, w) {
				i := strings.LastIndex(t, "ms)")
				return i < 0 || i+3 == len(t)
			}
		}
		return false
	}
	switch t[0] {
	case 'P':
		if strings.HasPrefix(t, "PASS ") {
			n := names(t[5:])
			return n == 1 || n == 2 && !loud
		}
	case 'o':
		if strings.HasPrefix(t, "ok  \t") {
			return passedPackage(t[5:])
		}
		return strings.HasPrefix(t, "ok ") && len(t) > 3 && class[t[3]] == isDigit && !directive(t) // TAP
	case '?':
		return strings.HasPrefix(t, "?   \t") && strings.HasSuffix(t, "[no test files]")
	case '[':
		if strings.HasPrefix(t, "[INFO] ") {
			return mavenPassed(t[7:], loud)
		}
	case 'R', 'T':
		if mavenPassed(t, loud) {
			return true
		}
	case '.':
		return dots(t)
	}
	return passedName(t, loud)
}

// passedName knows the lines that name a test first and say last how it ended.
func passedName(t string, loud bool) bool {
	if strings.Contains(t, "::") {
		if rest, ok := strings.CutPrefix(t, "PASSED "); ok {
			return !loud || alone(rest)
		}
		i := strings.LastIndex(t, " PASSED")
		return i > 0 && percent(t[i+len(" PASSED"):]) && ofOneTest(t[:i], loud)
	}
	for _, end := range [...]string{" ... ok", " ... OK"} {
		if name, ok := strings.CutSuffix(t, end); ok {
			return ofOneTest(strings.TrimPrefix(name, "test "), loud)
		}
	}
	if i := strings.Index(t, ".py "); i > 0 && strings.IndexByte(t[:i], ' ') < 0 {
		return dots(strings.TrimLeft(t[i+4:], " "))
	}
	return strings.Contains(t, "   Passed  ") && strings.Contains(t, "Test ") && strings.HasSuffix(t, " sec")
}

// ofOneTest says that a text is a test's name, with its class or its parameters
// behind, and no message.
func ofOneTest(t string, loud bool) bool {
	t = strings.TrimRight(t, " ")
	return t != "" && (!loud || alone(t) || t[len(t)-1] == ')' || t[len(t)-1] == ']')
}

// alone says that a text is one word.
func alone(t string) bool { return strings.IndexByte(t, ' ') < 0 }

// passedMark reads "--- PASS: TestX (0.00s)".
func passedMark(t string) bool {
	name, ok := strings.CutPrefix(t, "--- PASS: ")
	if !ok {
		return false
	}
	_, took, _ := strings.Cut(name, " ")
	return took == "" || took[0] == '(' && seconds(strings.Trim(took, "()"))
}

// passedPackage reads what stands behind go test's ok: a package and its time. Its
// coverage, or that it had no tests to run, is worth a look.
func passedPackage(t string) bool {
	_, took, ok := strings.Cut(t, "\t")
	return ok && (took == "(cached)" || seconds(took))
}

// seconds reads 0.123s.
func seconds(t string) bool {
	v, rest := leadingNumber(t)
	return rest == "s" && v >= 0
}

// names counts the words of a line that are no times.
func names(t string) int {
	n := 0
	for _, w := range strings.Fields(t) {
		w = strings.Trim(w, "()[]")
		if _, rest := leadingNumber(w); w != "" && w != "cached" && rest != "" && rest != "s" && rest != "ms" {
			n++
		}
	}
	return n
}

// directive says that a TAP line was skipped or is still to do.
func directive(t string) bool {
	i := strings.LastIndexByte(t, '#')
	if i < 0 {
		return false
	}
	word := strings.TrimLeft(t[i+1:], " ")
	return len(word) >= 4 && (strings.EqualFold(word[:4], "skip") || strings.EqualFold(word[:4], "todo"))
}

// percent says that a text is nothing or a runner's progress, "  [ 12%]".
func percent(t string) bool {
	t = strings.TrimSpace(t)
	return t == "" || t[0] == '[' && strings.HasSuffix(t, "%]")
}

// dots says that the text is a progress line of passed tests, "....... [ 12%]".
func dots(t string) bool {
	n := 0
	for n < len(t) && (t[n] == '.' || t[n] == ' ') {
		n++
	}
	return n > 0 && percent(t[n:])
}

func mavenPassed(t string, loud bool) bool {
	switch {
	case strings.HasPrefix(t, "Running "):
		return alone(t[8:]) || !loud && strings.HasSuffix(t, ")")
	case strings.HasPrefix(t, "Tests run: "):
		return strings.Contains(t, "Failures: 0, Errors: 0, Skipped: 0") && (strings.Contains(t, " - in ") || strings.Contains(t, " -- in "))
	}
	return false
}
