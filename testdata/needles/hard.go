package needles

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Limits of the hard needle.
const (
	ordinaryLines = 8   // lines of one shape that make a line ordinary
	fewValues     = 0.3 // share of distinct values under which a slot is hard
	perPlace      = 3   // cases of a class near one place, each of another shape
	searchLines   = 100 // lines looked at from the place on
)

// replaced gives the hard and the arbitrary needle of a log near a place: the last
// number of an ordinary line becomes a value that occurs nowhere else. Each comes
// with as many digits as before, and once with one digit more.
func replaced(l Log, percent int, r *rand.Rand) []Case {
	lines := strings.Split(strings.TrimSuffix(l.Text, "\n"), "\n")
	shapes := map[string][]string{}
	for _, line := range lines {
		shape, last := mask(line)
		shapes[shape] = append(shapes[shape], last)
	}
	at := len(lines) * percent / 100
	held := numbers(l.Text)
	var out []Case
	done, used := map[string]int{}, map[string]bool{}
	for i := at; i < min(len(lines), at+searchLines); i++ {
		shape, last := mask(lines[i])
		values := shapes[shape]
		if last == "" || len(values) < ordinaryLines || used[shape] {
			continue
		}
		class := Arbitrary
		if float64(distinct(values)) < fewValues*float64(len(values)) {
			class = Hard
		}
		if done[class] >= perPlace {
			continue
		}
		done[class]++
		used[shape] = true
		for _, digits := range [...]int{len(last), len(last) + 1} {
			v := unseen(held, digits, r)
			if v == "" {
				continue
			}
			cut := strings.LastIndex(lines[i], last)
			line := lines[i][:cut] + v + lines[i][cut+len(last):]
			all := append([]string(nil), lines...)
			all[i] = line
			out = append(out, Case{
				Class: class, Name: fmt.Sprintf("%s at %d %%, line %d, %s becomes %s", l.Name, percent, i+1, last, v),
				Text: strings.Join(all, "\n") + "\n", Needle: line, Tool: "bash", Command: "kubectl logs " + l.Name,
			})
		}
	}
	return out
}

// mask replaces each run of digits and each longer hex word, and gives the last run
// of digits that stands outside such a word.
func mask(line string) (shape, last string) {
	var b strings.Builder
	for i := 0; i < len(line); {
		c := line[i]
		if j := i + wordLen(line[i:]); j-i >= 6 && hexWord(line[i:j]) {
			b.WriteByte('#')
			i = j
			continue
		}
		if c < '0' || c > '9' {
			b.WriteByte(c)
			i++
			continue
		}
		j := i
		for j < len(line) && line[j] >= '0' && line[j] <= '9' {
			j++
		}
		last = line[i:j]
		b.WriteByte('#')
		i = j
	}
	return b.String(), last
}

func wordLen(t string) int {
	n := 0
	for n < len(t) && (t[n] >= '0' && t[n] <= '9' || t[n]|0x20 >= 'a' && t[n]|0x20 <= 'z') {
		n++
	}
	return n
}

// hexWord says that a word has hex digits only, of both sorts.
func hexWord(w string) bool {
	digits, letters := 0, 0
	for i := 0; i < len(w); i++ {
		switch c := w[i] | 0x20; {
		case w[i] >= '0' && w[i] <= '9':
			digits++
		case c >= 'a' && c <= 'f':
			letters++
		default:
			return false
		}
	}
	return digits > 0 && letters > 0
}

func distinct(values []string) int {
	seen := map[string]bool{}
	for _, v := range values {
		seen[v] = true
	}
	return len(seen)
}

// unseen finds a number of so many digits that no line holds as a word.
func unseen(held map[string]bool, digits int, r *rand.Rand) string {
	if digits > 18 {
		return ""
	}
	low := int64(1)
	for i := 1; i < digits; i++ {
		low *= 10
	}
	for range 400 {
		v := strconv.FormatInt(low+r.Int64N(9*low), 10)
		if !held[v] {
			return v
		}
	}
	return ""
}

// numbers collects the runs of digits of a text.
func numbers(text string) map[string]bool {
	held := map[string]bool{}
	for i := 0; i < len(text); {
		j := i
		for j < len(text) && text[j] >= '0' && text[j] <= '9' {
			j++
		}
		if j > i {
			held[text[i:j]] = true
		}
		i = max(j, i+1)
	}
	return held
}
