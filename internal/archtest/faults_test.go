package archtest

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

var faultRow = regexp.MustCompile(`(?m)^\| (A\d+|B\d+|E\d+|P3\.\d+) \| ([^|]{8,}) \| ([^|]{8,}) \|$`)

// Every known kind of fault has one row: a test, a property in words, or the release
// that brings the part it lives in.
func TestFaultsPageIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, match := range faultRow.FindAllStringSubmatch(document(t, "docs/faults.md"), -1) {
		assert.Falsef(t, seen[match[1]], "%s stands twice", match[1])
		seen[match[1]] = true
	}
	want := 0
	for prefix, n := range map[string]int{"A": 43, "B": 37, "E": 53, "P3.": 15} {
		want += n
		for i := range n {
			assert.Truef(t, seen[fmt.Sprint(prefix, i+1)], "docs/faults.md has no row %s%d", prefix, i+1)
		}
	}
	assert.Len(t, seen, want)
}
