package layout

import (
	"strings"

	"token-terminator/reduce/jsonscan"
)

// A beginning that most lines share, stated once. Other lines stand behind a
// backslash.

const (
	prefixSay   = "each line below starts with "
	prefixBut   = ", those after a backslash aside"
	minPrefix   = 8
	minCover    = 80 // percent of the lines that must start with it
	maxAttempts = 6
)

// quoted reads a JSON string literal at the start of s.
func quoted(s string) (value, rest string, ok bool) {
	nodes, end, err := jsonscan.Scan(nil, s, 0, 1)
	if err != nil || nodes[0].Kind != jsonscan.String {
		return "", "", false
	}
	value, ok = jsonscan.Decode(s[:end])
	return value, s[end:], ok
}

func quote(s string) string { return string(jsonscan.AppendString(nil, s)) }

func encodePrefix(text string) (says, body string, ok bool) {
	list := lines(text)
	p := commonPrefix(list)
	if len(p) < minPrefix {
		return "", "", false
	}
	out := make([]string, len(list))
	for i, line := range list {
		if rest, found := strings.CutPrefix(line, p); found {
			out[i] = rest
		} else {
			out[i] = `\` + line
			ok = true
		}
	}
	says = prefixSay + quote(p)
	if ok {
		says += prefixBut
	}
	return says, join(out, text), true
}

// commonPrefix finds the beginning, cut after a slash or a space, that would take
// the most bytes off all lines.
func commonPrefix(list []string) string {
	votes := map[string]int{}
	var order []string
	for i := 1; i < len(list); i++ {
		p := shared(list[i-1], list[i])
		if len(p) < minPrefix {
			continue
		}
		if votes[p]++; votes[p] == 1 && len(order) < 4096 {
			order = append(order, p)
		}
	}
	best, most := "", 0
	for range maxAttempts {
		next := ""
		for _, p := range order {
			if votes[p] > votes[next] {
				next = p
			}
		}
		if next == "" {
			break
		}
		votes[next] = 0
		if plain(next) {
			continue
		}
		gain, covered := 0, 0
		for _, line := range list {
			if strings.HasPrefix(line, next) {
				gain += len(next)
				covered++
			} else {
				gain--
			}
		}
		if gain > most && covered*100 >= minCover*len(list) {
			best, most = next, gain
		}
	}
	return best
}

// plain says whether a beginning should stay on its lines: indentation, or a word
// that makes the line evidence.
func plain(p string) bool {
	lower := strings.ToLower(p)
	for _, word := range []string{"err", "warn", "fail", "fatal", "panic", "exception", "critical"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return strings.TrimSpace(p) == ""
}

// shared is the common beginning of two lines up to its last slash or space.
func shared(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:1+strings.LastIndexAny(a[:n], "/ ")]
}

func restorePrefix(says, body string) (string, bool) {
	rest, ok := strings.CutPrefix(says, prefixSay)
	if !ok {
		return "", false
	}
	p, rest, ok := quoted(rest)
	if !ok || rest != "" && rest != prefixBut {
		return "", false
	}
	list := lines(body)
	if len(list)*len(p) > maxText+len(body) {
		return "", false
	}
	for i, line := range list {
		if plain, found := strings.CutPrefix(line, `\`); found && rest != "" {
			list[i] = plain
		} else {
			list[i] = p + line
		}
	}
	return join(list, body), true
}
