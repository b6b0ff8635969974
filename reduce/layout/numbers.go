package layout

import (
	"strconv"
	"strings"
)

// Line numbers of a read: "     1→text", "     1\ttext", "     1|text". The padding
// goes; the width is stated. A first line that lost its padding already (the host
// trimmed the result) is told apart.

const (
	numbersSay  = "line numbers were right-aligned in "
	numbersBar  = " columns before "
	numbersTrim = ", the first line's not"
	maxWidth    = 12
)

var separators = []struct{ sign, name string }{{"→", `"→"`}, {"\t", "a tab"}, {"|", `"|"`}, {":", `":"`}}

// numbered splits "  12→text" into the width of its number column and the rest.
func numbered(line, sign string) (spaces, digits int, ok bool) {
	for spaces < len(line) && line[spaces] == ' ' {
		spaces++
	}
	at := spaces
	for at < len(line) && line[at] >= '0' && line[at] <= '9' {
		at++
	}
	digits = at - spaces
	return spaces, digits, digits > 0 && strings.HasPrefix(line[at:], sign)
}

func encodeNumbers(text string) (says, body string, ok bool) {
	list := lines(text)
	for _, sep := range separators {
		width := 0
		for _, line := range list {
			if spaces, digits, found := numbered(line, sep.sign); found && spaces > 0 {
				width = spaces + digits
				break
			}
		}
		if width == 0 || width > maxWidth {
			continue
		}
		says = numbersSay + strconv.Itoa(width) + numbersBar + sep.name
		out := make([]string, len(list))
		for i, line := range list {
			out[i] = line
			spaces, digits, found := numbered(line, sep.sign)
			switch {
			case found && spaces+digits == width:
				out[i] = line[spaces:]
			case found && i == 0 && spaces == 0:
				says += numbersTrim
			}
		}
		return says, join(out, text), true
	}
	return "", "", false
}

func restoreNumbers(says, body string) (string, bool) {
	rest, ok := strings.CutPrefix(says, numbersSay)
	if !ok {
		return "", false
	}
	digits, name, ok := strings.Cut(rest, numbersBar)
	width, err := strconv.Atoi(digits)
	if !ok || err != nil || width < 1 || width > maxWidth {
		return "", false
	}
	name, trimmed := strings.CutSuffix(name, numbersTrim)
	for _, sep := range separators {
		if sep.name != name {
			continue
		}
		list := lines(body)
		for i, line := range list {
			if i == 0 && trimmed {
				continue
			}
			if spaces, n, found := numbered(line, sep.sign); found && spaces == 0 && n < width {
				list[i] = strings.Repeat(" ", width-n) + line
			}
		}
		return join(list, body), true
	}
	return "", false
}
