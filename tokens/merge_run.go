package tokens

import "slices"

// isRun says whether a piece repeats one byte, such as a line of equal signs.
func isRun(piece []byte) bool {
	for _, other := range piece {
		if other != piece[0] {
			return false
		}
	}
	return true
}

// group is count parts next to each other, each of size times the piece's byte.
type group struct{ size, count int }

// maxGroupSteps bounds mergeRun; real vocabularies take about a dozen steps.
const maxGroupSteps = 256

// mergeRun is mergeByHeap for a piece of n times one byte, n > scanMerge. It
// merges whole groups at once, which is the same as one pair after the other as
// long as no merge makes a pair that would go first. ok is false when that
// happens, or when it takes too many steps: then nothing is known.
func (r *ranks) mergeRun(s *scratch, n int) (parts int, ok bool) {
	rank := func(size int) uint32 {
		if size > min(n, r.longest) {
			return noRank
		}
		return r.of(s.text, 0, size)
	}
	groups := append(s.groups[:0], group{1, n})
	defer func() { s.groups = groups }()
	for range maxGroupSteps {
		best, at, inside := noRank, 0, false
		for i, g := range groups {
			if v := rank(2 * g.size); g.count > 1 && v < best {
				best, at, inside = v, i, true
			}
			if i+1 < len(groups) {
				if v := rank(g.size + groups[i+1].size); v < best {
					best, at, inside = v, i, false
				}
			}
		}
		if best == noRank {
			for _, g := range groups {
				parts += g.count
			}
			return parts, true
		}
		if !inside {
			groups = joinGroups(groups, at)
			continue
		}
		g := groups[at]
		if rank(3*g.size) < best || rank(4*g.size) < best || at > 0 && rank(groups[at-1].size+2*g.size) < best {
			return 0, false
		}
		groups = doubleGroup(groups, at)
	}
	return 0, false
}

// doubleGroup joins the parts of a group two by two from the left.
func doubleGroup(groups []group, at int) []group {
	g := groups[at]
	groups[at] = group{2 * g.size, g.count / 2}
	if g.count%2 == 1 {
		groups = slices.Insert(groups, at+1, group{g.size, 1})
	}
	return groups
}

// joinGroups joins the last part of a group with the first of the next.
func joinGroups(groups []group, at int) []group {
	left, right := &groups[at], &groups[at+1]
	joined := group{left.size + right.size, 1}
	left.count--
	right.count--
	groups = slices.Insert(groups, at+1, joined)
	if groups[at+2].count == 0 {
		groups = slices.Delete(groups, at+2, at+3)
	}
	if groups[at].count == 0 {
		groups = slices.Delete(groups, at, at+1)
	}
	return groups
}
