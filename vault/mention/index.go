package mention

import (
	"cmp"
	"slices"
	"strings"
)

// unshown is how many digits a token must share with an artifact that was never shown:
// all that its id has.
const unshown = 32

// Index says which of a set of artifacts a token may stand for.
type Index struct{ entries []entry }

type entry struct {
	sha   string // 64 hex digits
	shown int    // digits of the prefix bound to it, or unshown
	at    int    // number in order of adding
}

// Add adds an artifact by the hex digits of its hash; shown is how many of them were
// shown, 0 when none were. Build must follow before Names.
func (ix *Index) Add(sha string, shown int) {
	if shown < MinHex {
		shown = unshown
	}
	ix.entries = append(ix.entries, entry{sha, shown, len(ix.entries)})
}

// Build sorts the index.
func (ix *Index) Build() {
	slices.SortFunc(ix.entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.sha, b.sha), cmp.Compare(a.at, b.at)) })
}

// Names calls found with the number (in order of adding) of every artifact that the
// token may stand for: one whose hash begins with it, or whose shown prefix it begins
// with, as when other digits follow an id without a gap.
func (ix *Index) Names(hex string, found func(at int)) {
	if len(hex) < MinHex {
		return
	}
	head := hex[:MinHex]
	first, _ := slices.BinarySearchFunc(ix.entries, head, func(e entry, h string) int { return cmp.Compare(e.sha, h) })
	for _, e := range ix.entries[first:] {
		if !strings.HasPrefix(e.sha, head) {
			return
		}
		n := min(len(hex), e.shown, len(e.sha))
		if hex[:n] == e.sha[:n] {
			found(e.at)
		}
	}
}
