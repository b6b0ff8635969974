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
		return 0
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
