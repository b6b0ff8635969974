package evidence

import "strings"

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
		b = shortWord(s, i, j)
	}
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
	case "exit", "exited", "Exit", "Exited", "EXIT", "exitcode", "exitCode", "ExitCode", "returncode", "rc", "status", "returned":
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
		if n == 0 && k+1 < len(s) && s[k] == 'x' && word != "status" && fillers(between) {
			return hexStatus(s, k+1)
		}
		switch {
		case n == 0 || k-j > 5 || k < len(s) && (class[s[k]]&inRun != 0 || s[k] == '.' && k+1 < len(s) && class[s[k+1]] == isDigit):
			return 0
		case word == "status" || word == "returned":
			// A status alone may be an HTTP status: only what stands right behind counts.
			if word == "returned" && strings.HasPrefix(between, " code ") {
				return sevFailure
			}
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

// hexStatus reads the digits behind 0x.
func hexStatus(s string, k int) uint8 {
	for ; k < len(s) && class[s[k]]&(isDigit|isHex) != 0; k++ {
		if s[k] != '0' {
			return sevFailure
		}
	}
	return 0
}

// shortWord knows the short forms that loggers print: levels in capitals, and the key
// err with a value.
func shortWord(s string, i, j int) uint8 {
	switch s[i:j] {
	case "ERR", "ERRO", "EROR", "CRIT":
		return sevError
	case "WRN":
		return sevWarning
	case "err":
		if j+1 < len(s) && (s[j] == '=' || s[j] == ':') && s[j+1] != '=' {
			return sevError
		}
	}
	return 0
}

// klog gives the severity of a line that starts with a level letter and a date, as
// Kubernetes components print them: E1130 07:12:01.
func klog(s string) uint8 {
	if len(s) < 9 || s[5] != ' ' || class[s[6]] != isDigit || s[8] != ':' {
		return 0
	}
	switch s[0] {
	case 'E':
		return sevError
	case 'F':
		return sevPanic
	case 'W':
		return sevWarning
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
		case "with", "code", "Code", "CODE", "status", "Status", "value", "non", "zero", "Error", "error", "is", "was":
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
	said := s[j] == ':'
	for j++; j < len(s) && s[j] == ' '; j++ {
	}
	rest := s[j:]
	for _, w := range [...]string{"0", "null", "none", "None", "nil", "<nil>", "false", "False", `""`, "-", "[]", "{}"} {
		if len(rest) >= len(w) && rest[:len(w)] == w {
			next := byte(' ')
			if len(rest) > len(w) {
				next = rest[len(w)]
			}
			if said && w != "0" && goesOn(rest[len(w):]) {
				return false
			}
			return class[next]&inRun == 0 && next != '.' && next != '-'
		}
	}
	return false
}

// goesOn says that a message goes on with a word that is no key: "error: null pointer".
func goesOn(rest string) bool {
	if rest == "" || rest[0] != ' ' {
		return false
	}
	j := 1
	for j < len(rest) && class[rest[j]]&(inRun|isJoin) != 0 {
		j++
	}
	return j > 1 && (j == len(rest) || rest[j] != '=' && rest[j] != ':')
}

// endsIn compares the end of w with a lower-case term without case.
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

// term is one severity word in lower case, without a plural s.
type term struct {
	text  string
	whole bool // only as a word of its own, not as the end of a joined name
	bits  uint8
}

// terms lists the severity words by their last letter.
var terms = [26][]term{
	'c' - 'a': {{"panic", false, sevPanic}},
	'd' - 'a': {{"failed", false, sevFailure}, {"aborted", false, sevFailure}, {"killed", false, sevFailure}, {"crashed", false, sevFailure},
		{"caused", true, sevError}, {"refused", false, sevError}, {"denied", false, sevError}, {"corrupted", false, sevError},
		{"panicked", false, sevPanic}, {"timed", true, sevFailure}},
	'e' - 'a': {{"failure", false, sevFailure}, {"cause", true, sevError}, {"rootcause", false, sevError}, {"unreachable", false, sevError},
		{"severe", true, sevError}, {"unable", true, sevError}},
	'g' - 'a': {{"warning", false, sevWarning}, {"failing", false, sevFailure}, {"emerg", true, sevPanic}},
	'h' - 'a': {{"crash", false, sevFailure}},
	'k' - 'a': {{"traceback", false, sevError}},
	'l' - 'a': {{"fatal", false, sevPanic}, {"critical", false, sevPanic}, {"fail", true, sevFailure}, {"testfail", false, sevFailure}},
	'm' - 'a': {{"oom", true, sevFailure}},
	'n' - 'a': {{"exception", false, sevError}, {"warn", false, sevWarning}, {"assertion", false, sevFailure}, {"segmentation", false, sevFailure}},
	'r' - 'a': {{"error", false, sevError}},
	't' - 'a': {{"assert", true, sevFailure}, {"timeout", true, sevFailure}, {"corrupt", false, sevFailure}, {"segfault", false, sevPanic}, {"abort", true, sevFailure}},
}

// severeWord gives the severity bits of a word.
func severeWord(w string) uint8 {
	if w[0] >= 0xE2 {
		return severeSign(w)
	}
	if len(w) > 3 && w[len(w)-1] == 's' && w[len(w)-2]|0x20 != 's' {
		w = w[:len(w)-1]
	}
	last := w[len(w)-1] | 0x20
	if last < 'a' || last > 'z' {
		return 0
	}
	for _, t := range terms[last-'a'] {
		if endsIn(w, t.text) && (!t.whole || len(w) == len(t.text)) {
			return t.bits
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
