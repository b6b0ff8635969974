package evidence

// Bits of a line's severity.
const (
	sevError = 1 << iota
	sevWarning
	sevFailure
	sevPanic
)

// severity looks at the word s[i:j] and what stands around it. It knows words as
// they are and as ends of joined names (NullPointerException, test_failed). Words
// inside paths and file names, and counts of zero, are no severity.
func severity(s string, i, j int) uint8 {
	b := severeWord(s[i:j])
	if b == 0 {
		return exitStatus(s, i, j)
	}
	if i > 0 && (s[i-1] == '/' || s[i-1] == '\\' && i > 1 && s[i-2] != ' ') {
		return 0
	}
	if i > 0 && s[i-1] == '-' && (i == 1 || s[i-2] == '-' || s[i-2] == ' ') {
		return 0 // an option
	}
	if j < len(s) && (s[j] == '/' || s[j] == '_' || (s[j] == '.' || s[j] == '$') && j+1 < len(s) && class[s[j+1]]&inRun != 0) {
		return 0
	}
	if zeroBefore(s, i) || zeroAfter(s, j) {
		return 0
	}
	return b
}

// exitStatus recognises "exit code 3", "exited with 137", "exit status 1",
// "returncode=2" and "rc: 1": a word of leaving, then at most three words of filling,
// then a number that is not zero.
func exitStatus(s string, i, j int) uint8 {
	switch s[i:j] {
	case "exit", "exited", "Exit", "Exited", "exitcode", "exitCode", "ExitCode", "returncode", "rc", "status", "returned":
	default:
		return 0
	}
	word := s[i:j]
	for end := min(len(s), j+28); j < end; j++ {
		if class[s[j]] != isDigit {
			continue
		}
		if class[s[j-1]]&inRun != 0 {
			return 0
		}
		k := j
		for k < len(s) && class[s[k]] == isDigit {
			k++
		}
		n := integer(s, j, k)
		between := s[i+len(word) : j]
		switch {
		case n == 0 || k-j > 5 || k < len(s) && (class[s[k]]&inRun != 0 || s[k] == '.' && k+1 < len(s) && class[s[k+1]] == isDigit):
			return 0
		case word == "status" || word == "returned":
			// A status alone may be an HTTP status: only what stands right behind counts.
			if len(between) > 2 || n < 400 && (n > 255 || n >= 100) {
				return 0
			}
			return sevFailure
		case fillers(between):
			return sevFailure
		}
		return 0
	}
	return 0
}

// fillers says that a text between an exit word and its number holds nothing else
// than the usual words.
func fillers(t string) bool {
	for i := 0; i < len(t); {
		if class[t[i]]&inRun == 0 {
			if t[i] == ';' || t[i] == '/' {
				return false
			}
			i++
			continue
		}
		j := i
		for j < len(t) && class[t[j]]&inRun != 0 {
			j++
		}
		switch t[i:j] {
		case "with", "code", "Code", "status", "Status", "value", "non", "zero", "Error", "error", "is", "was":
		default:
			return false
		}
		i = j
	}
	return true
}

// zeroBefore says that "0 " or "no " stands before i.
func zeroBefore(s string, i int) bool {
	if i < 2 || s[i-1] != ' ' {
		return false
	}
	if s[i-2] == '0' && (i == 2 || class[s[i-3]] != isDigit && s[i-3] != '.') {
		return true
	}
	return i >= 3 && (s[i-3]|0x20) == 'n' && s[i-2] == 'o' && (i == 3 || s[i-4] == ' ')
}

// zeroAfter says that "=0", ": 0", "=null" and the like stand at j.
func zeroAfter(s string, j int) bool {
	for j < len(s) && (s[j] == '"' || s[j] == '\'') {
		j++
	}
	if j >= len(s) || s[j] != '=' && s[j] != ':' {
		return false
	}
	for j++; j < len(s) && s[j] == ' '; j++ {
	}
	rest := s[j:]
	for _, w := range [...]string{"0", "null", "none", "None", "nil", "false", "False", `""`, "-", "[]", "{}"} {
		if len(rest) >= len(w) && rest[:len(w)] == w {
			next := byte(' ')
			if len(rest) > len(w) {
				next = rest[len(w)]
			}
			return class[next]&inRun == 0 && next != '.' && next != '-'
		}
	}
	return false
}

// fold compares the end of w with a lower-case term without case.
func endsIn(w, term string) bool {
	if len(w) < len(term) {
		return false
	}
	w = w[len(w)-len(term):]
	for i := 0; i < len(term); i++ {
		if w[i]|0x20 != term[i] {
			return false
		}
	}
	return true
}

// severeWord gives the severity bits of a word.
func severeWord(w string) uint8 {
	if w[0] >= 0xE2 {
		return severeSign(w)
	}
	if len(w) > 2 && w[len(w)-1] == 's' && w[len(w)-2]|0x20 != 's' {
		w = w[:len(w)-1]
	}
	switch w[len(w)-1] | 0x20 {
	case 'r':
		if endsIn(w, "error") {
			return sevError
		}
	case 'n':
		switch {
		case endsIn(w, "exception"):
			return sevError
		case endsIn(w, "warn"):
			return sevWarning
		case endsIn(w, "assertion"), endsIn(w, "segmentation"):
			return sevFailure
		}
	case 'e':
		switch {
		case endsIn(w, "failure"):
			return sevFailure
		case endsIn(w, "severe") && len(w) == 6, endsIn(w, "unreachable"), endsIn(w, "unable") && len(w) == 6:
			return sevError
		case endsIn(w, "cause") && (len(w) == 5 || endsIn(w, "rootcause")):
			return sevError
		}
	case 'd':
		switch {
		case endsIn(w, "failed"), endsIn(w, "aborted"), endsIn(w, "killed"), endsIn(w, "crashed"), endsIn(w, "oomkilled"):
			return sevFailure
		case endsIn(w, "caused") && len(w) == 6, endsIn(w, "refused"), endsIn(w, "denied"), endsIn(w, "corrupted"):
			return sevError
		}
	case 'l':
		switch {
		case endsIn(w, "fatal"), endsIn(w, "critical"):
			return sevPanic
		case endsIn(w, "fail") && (len(w) == 4 || w[len(w)-4] == 'F'):
			return sevFailure
		}
	case 'g':
		switch {
		case endsIn(w, "warning"):
			return sevWarning
		case endsIn(w, "failing"):
			return sevFailure
		case endsIn(w, "emerg") && len(w) == 5:
			return sevPanic
		}
	case 'c':
		if endsIn(w, "panic") {
			return sevPanic
		}
	case 'k':
		if endsIn(w, "traceback") {
			return sevError
		}
	case 't':
		switch {
		case endsIn(w, "assert") && len(w) == 6, endsIn(w, "timeout") && len(w) == 7, endsIn(w, "corrupt"):
			return sevFailure
		case endsIn(w, "segfault"):
			return sevPanic
		}
	case 'h':
		if endsIn(w, "crash") {
			return sevFailure
		}
	case 'm':
		if endsIn(w, "oom") && len(w) == 3 {
			return sevFailure
		}
	}
	return 0
}

// severeSign knows the marks test runners and tools print for what went wrong.
func severeSign(w string) uint8 {
	switch w {
	case "✕", "✗", "✘", "✖", "❌":
		return sevFailure
	case "⚠", "⚠\ufe0f":
		return sevWarning
	}
	return 0
}
