// Package amount writes numbers of things for people: "1 session", "1,204 sessions".
// It imports nothing of this program.
package amount

import "strconv"

// Of writes n with the noun that fits it; the plural is the noun and an s.
func Of(n int, noun string) string {
	if n == 1 || n == -1 {
		return Number(n) + " " + noun
	}
	return Number(n) + " " + noun + "s"
}

// Number writes an integer with a comma after every three digits.
func Number(n int) string {
	digits, sign := strconv.Itoa(n), ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	out := make([]byte, 0, len(digits)+len(digits)/3)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, digits[i])
	}
	return sign + string(out)
}
