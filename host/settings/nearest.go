package settings

import (
	"strings"
	"time"
)

func copyNumber(to, from any) {
	switch at := to.(type) {
	case *int:
		*at = *from.(*int)
	case *int64:
		*at = *from.(*int64)
	case *float64:
		*at = *from.(*float64)
	case *time.Duration:
		*at = *from.(*time.Duration)
	}
}

// orNearest is "; the nearest is NAME", or "" when no known name is near.
func orNearest(name string) string {
	if near := nearest(name); near != "" {
		return "; the nearest is " + near
	}
	return ""
}

// nearest is the known name with the fewest single-letter changes, at most a third of
// its length.
func nearest(name string) string {
	if len(name) > 100 {
		return ""
	}
	best, least := "", len(name)/3+1
	names := make([]string, 0, len(table)+len(conversions))
	for _, sp := range table {
		names = append(names, sp.name)
	}
	for _, c := range conversions {
		names = append(names, c.name)
	}
	for _, known := range names {
		if d := changes(strings.ToUpper(name), known); d < least {
			best, least = known, d
		}
	}
	return best
}

// changes counts the insertions, deletions and replacements between two words.
func changes(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
