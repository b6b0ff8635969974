package structured

import "math/bits"

const (
	mulA = 0x9e3779b97f4a7c15
	mulB = 0xd6e8feb86659fd93
)

func mix(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v^mulA, mulB)
	return hi ^ lo
}

// hashText is a 64-bit hash of s, for equality counts only.
func hashText(s string) uint64 {
	h := uint64(len(s)) * mulA
	for len(s) >= 8 {
		v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = mix(h, v)
		s = s[8:]
	}
	var v uint64
	for i := range len(s) {
		v |= uint64(s[i]) << (8 * i)
	}
	return mix(h, v)
}

// hashShape hashes s with every run of ASCII letters and digits that holds a digit
// put as one sign, so that ids, counts and times fall together.
func hashShape(s string) uint64 {
	h := uint64(mulB)
	for i := 0; i < len(s); {
		from, digit := i, false
		for i < len(s) && class[s[i]] != other {
			digit = digit || class[s[i]] == number
			i++
		}
		switch {
		case digit:
			h = mix(h, '#')
		case i > from:
			h = mix(h, hashText(s[from:i]))
		default:
			h = mix(h, uint64(s[i])<<8)
			i++
		}
	}
	return h
}

const (
	other = iota
	letter
	number
)

var class = func() (t [256]uint8) {
	for c := range 256 {
		switch {
		case c >= '0' && c <= '9':
			t[c] = number
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = letter
		}
	}
	return t
}()

// severityWords are stems, by first letter; a text that holds one anywhere is evidence.
var severityWords = [26][]string{
	0:         {"abort", "assert"},
	'c' - 'a': {"critical", "crash", "corrupt", "cancelled", "cause"},
	'd' - 'a': {"denied", "deadlock"},
	'e' - 'a': {"error", "exception"},
	'f' - 'a': {"fail", "fatal"},
	'k' - 'a': {"killed"},
	'o' - 'a': {"oomkill", "out of memory"},
	'p' - 'a': {"panic"},
	'r' - 'a': {"refused", "rejected"},
	's' - 'a': {"segfault", "sigkill", "sigsegv"},
	't' - 'a': {"timeout", "timed out", "traceback"},
	'u' - 'a': {"unauthorized", "unhandled", "unreachable"},
	'w' - 'a': {"warn"},
}

// severe says whether s holds a severity word, in any case.
func severe(s string) bool {
	for i := 0; i+4 <= len(s); i++ {
		c := s[i] | 0x20
		if c < 'a' || c > 'z' {
			continue
		}
		for _, w := range severityWords[c-'a'] {
			if s[i+1]|0x20 == w[1] && foldedPrefix(s[i:], w) {
				return true
			}
		}
	}
	return false
}

func foldedPrefix(s, lower string) bool {
	if len(s) < len(lower) {
		return false
	}
	for i := range len(lower) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// meaning is what a key's name says about its values.
type meaning uint8

const (
	nothing  meaning = iota
	troubles         // a value that is there says failure
	success          // a value that is false says failure
	exits            // a number that is not zero says failure
	httpish          // a number from 400 to 599 says failure
)

var meanings = map[string]meaning{
	"err": troubles, "error": troubles, "errors": troubles, "exception": troubles, "exceptions": troubles,
	"failure": troubles, "failures": troubles, "failed": troubles, "fault": troubles, "traceback": troubles,
	"panic": troubles, "errormessage": troubles, "errorcode": troubles, "lasterror": troubles, "stacktrace": troubles,
	"warning": troubles, "warnings": troubles, "errorcount": troubles, "failurecount": troubles, "restartcount": troubles,
	"ok": success, "success": success, "successful": success, "succeeded": success, "passed": success, "healthy": success,
	"ready": success, "valid": success, "issuccess": success,
	"exitcode": exits, "exitstatus": exits, "returncode": exits, "rc": exits,
	"status": httpish, "statuscode": httpish, "httpstatus": httpish, "code": httpish, "responsecode": httpish,
}

// meaningOf looks a key up without its case, underscores and dashes.
func meaningOf(key string) meaning {
	if len(key) > 24 {
		return nothing
	}
	var folded [24]byte
	n := 0
	for i := range len(key) {
		c := key[i]
		if c == '_' || c == '-' || c == '.' {
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		folded[n] = c
		n++
	}
	return meanings[string(folded[:n])]
}
