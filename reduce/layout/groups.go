package layout

import "strings"

// Lines that share a file or a directory with the line before, under one heading.

const (
	groupSay  = `"= P" puts P before each line after it, "=" nothing`
	heading   = "= "
	noHeading = "="
)

// encodeGrep groups hits "path:12:text" and "path:text" by file.
func encodeGrep(text string) (says, body string, ok bool) {
	return encodeGroups(text, filePrefix)
}

// encodeDirectories groups paths by directory.
func encodeDirectories(text string) (says, body string, ok bool) {
	return encodeGroups(text, directoryPrefix)
}

// filePrefix is "path:" of a grep hit, "path::" of a test's name, or "path-" of a
// line around a hit; "" if the line starts with no path.
func filePrefix(line string) string {
	letter := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '"' || c == '(' || c == '\\':
			return ""
		case c == ':' && i > 1:
			if !letter || !strings.ContainsAny(line[:i], "./") {
				continue // a revision before the path
			}
			if i+1 < len(line) && line[i+1] == ':' {
				return line[:i+2]
			}
			return line[:i+1]
		case c == '-' && letter && digitsThen(line[i+1:], '-') && strings.ContainsRune(line[:i], '.'):
			return line[:i+1]
		case isLetter(c) || c >= 0x80:
			letter = true
		}
	}
	return ""
}

func digitsThen(s string, sign byte) bool {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i > 0 && i < len(s) && s[i] == sign
}

// directoryPrefix is the directory of a line that starts with a path, slash
// included; a date is no path.
func directoryPrefix(line string) string {
	end, letter := 0, false
	for end < len(line) && pathByte(line[end]) && line[end] != ':' {
		letter = letter || isLetter(line[end])
		end++
	}
	if !letter {
		return ""
	}
	return line[:1+strings.LastIndexByte(line[:end], '/')]
}

// isLetter says whether c is a letter.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func encodeGroups(text string, prefixOf func(string) string) (says, body string, ok bool) {
	list := lines(text)
	out := make([]string, 0, len(list)+16)
	current := ""
	next := ""
	if len(list) > 0 {
		next = prefixOf(list[0])
	}
	for i, line := range list {
		p := next
		next = ""
		if i+1 < len(list) {
			next = prefixOf(list[i+1])
		}
		switch {
		case p != "" && p == current:
		case p != "" && p == next:
			out = append(out, heading+p)
			current, ok = p, true
		case current != "":
			out = append(out, noHeading)
			current = ""
		}
		out = append(out, line[len(current):])
	}
	return groupSay, join(out, text), ok
}

func restoreGroups(says, body string) (string, bool) {
	if says != groupSay {
		return "", false
	}
	list := lines(body)
	out := make([]string, 0, len(list))
	current, size := "", 0
	for _, line := range list {
		if size += len(current) + len(line); size > maxText+len(body) {
			return "", false
		}
		if p, found := strings.CutPrefix(line, heading); found {
			current = p
			continue
		}
		if line == noHeading {
			current = ""
			continue
		}
		out = append(out, current+line)
	}
	return join(out, body), true
}
