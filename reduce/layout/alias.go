package layout

import (
	"slices"
	"strings"
)

// Long directories or site addresses that stand in many places, not only at the
// start of lines, stated once and written as a short sign.

const (
	aliasSay   = " stands for "
	aliasAnd   = ", "
	maxAliases = 3
	// maxAliasText bounds the texts beginnings are looked for in, in bytes: each of
	// three passes reads the whole text.
	maxAliasText = 2 << 20
	minAlias     = 12 // bytes of the text an alias stands for
	leastUses    = 4
	maxTracked   = 1 << 14 // distinct beginnings that are counted
)

var aliasSigns = []string{"~", "@", "§", "^"}

func encodeAliases(text string) (says, body string, ok bool) {
	if len(text) > maxAliasText {
		return "", "", false
	}
	sign := ""
	for _, s := range aliasSigns {
		if !strings.Contains(text, s+"1") && !strings.Contains(text, s+"2") && !strings.Contains(text, s+"3") {
			sign = s
			break
		}
	}
	if sign == "" {
		return "", "", false
	}
	body = text
	for n := 1; n <= maxAliases; n++ {
		p := bestBeginning(body, sign)
		if p == "" {
			break
		}
		alias := sign + string(rune('0'+n))
		body = strings.ReplaceAll(body, p, alias)
		if says != "" {
			says += aliasAnd
		}
		says += alias + aliasSay + quote(p)
	}
	return says, body, says != ""
}

func pathByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '/' || c == '.' || c == '-' || c == '_' || c == ':' || c == '%' || c == '+'
}

// bestBeginning is the beginning of paths, up to a slash, that takes the most
// bytes when it is written as an alias; "" when none is worth one.
func bestBeginning(text, sign string) string {
	counts := map[string]int{}
	var order []string
	for i := 0; i < len(text); {
		if !pathByte(text[i]) {
			i++
			continue
		}
		from := i
		if strings.HasSuffix(text[:i], sign) { // behind an alias stands the rest of a path
			from = len(text)
		}
		for i < len(text) && pathByte(text[i]) {
			if text[i] == '/' && i+1-from >= minAlias && i-from < 400 {
				p := text[from : i+1]
				n := counts[p]
				if n == 0 && len(order) < maxTracked {
					order = append(order, p)
				}
				if n > 0 || len(order) < maxTracked {
					counts[p] = n + 1
				}
			}
			i++
		}
	}
	best, most := "", 0
	for _, p := range order {
		n := counts[p]
		gain := (n-1)*(len(p)-3) - 8
		if n >= leastUses && gain > most {
			best, most = p, gain
		}
	}
	return best
}

func restoreAliases(says, body string) (string, bool) {
	type pair struct{ alias, text string }
	var pairs []pair
	for says != "" {
		alias, rest, ok := strings.Cut(says, aliasSay)
		if !ok || len(alias) > 3 || alias == "" || len(pairs) == maxAliases {
			return "", false
		}
		p, rest, ok := quoted(rest)
		if !ok {
			return "", false
		}
		pairs = append(pairs, pair{alias, p})
		if rest == "" {
			says = ""
		} else if says, ok = strings.CutPrefix(rest, aliasAnd); !ok {
			return "", false
		}
	}
	slices.Reverse(pairs)
	for _, p := range pairs {
		if strings.Count(body, p.alias)*len(p.text) > maxText+len(body) {
			return "", false
		}
		body = strings.ReplaceAll(body, p.alias, p.text)
	}
	return body, len(pairs) > 0
}
