package tokens

// scanMerge is the longest piece, in bytes, that is merged by looking for the
// lowest rank each time; longer ones take a heap. Both merge the same pairs: the
// lowest rank first, among equal ranks the leftmost.
const scanMerge = 32

// scratch is what one count needs beside its tables; one goroutine's at a time.
type scratch struct {
	text       []byte               // the piece, with 16 bytes of padding
	cache      [1 << cacheBits]slot // pieces that are no token, and their counts
	prev, next []int32
	ranks      []uint32
	heap       []uint64
	groups     []group
}

// cacheBits is the size of the cache of pieces that are no token themselves, as
// a power of two of 16-byte slots. It is keyed by the whole piece.
const cacheBits = 13

// countBits shifts a piece's count into the highest four bits of its cached slot,
// above its length.
const countBits = 60

// maxKeptPiece is the longest piece whose scratch space is kept, in bytes.
const maxKeptPiece = 256 << 10

// pieceTokens is how many tokens a piece that is no token has.
func (r *ranks) pieceTokens(s *scratch, piece []byte) int {
	s.text = append(s.text[:0], piece...)
	s.text = append(s.text, make([]byte, 16)...)
	if len(piece) <= scanMerge {
		return r.mergeByScan(s.text, len(piece))
	}
	if isRun(piece) {
		if n, ok := r.mergeRun(s, len(piece)); ok {
			return n
		}
	}
	n := r.mergeByHeap(s, len(piece))
	if len(piece) > maxKeptPiece {
		s.text, s.prev, s.next, s.ranks, s.heap = nil, nil, nil, nil, nil
	}
	return n
}

// mergeByScan counts what is left when no pair of text[:n] merges any more.
func (r *ranks) mergeByScan(text []byte, n int) int {
	var start [scanMerge + 2]uint8 // start[i] is where part i begins; the last is n
	var rank [scanMerge + 1]uint32 // rank[i] is that of parts i and i+1 joined
	for i := range n {
		start[i] = uint8(i)
		rank[i] = noRank
	}
	start[n] = uint8(n)
	for i := range n - 1 {
		rank[i] = r.pairs[int(text[i])|int(text[i+1])<<8]
	}
	parts := n
	for parts > 1 {
		best, at := noRank, 0
		for i, v := range rank[:parts-1] {
			if v < best {
				best, at = v, i
			}
		}
		if best == noRank {
			break
		}
		copy(start[at+1:parts], start[at+2:parts+1])
		copy(rank[at+1:parts-1], rank[at+2:parts])
		parts--
		rank[at] = noRank
		if at+1 < parts {
			rank[at] = r.of(text, int(start[at]), int(start[at+2]))
		}
		if at > 0 {
			rank[at-1] = r.of(text, int(start[at-1]), int(start[at+1]))
		}
	}
	return parts
}

// mergeByHeap is mergeByScan for pieces of any length, in n log n. A part is named
// by where it begins; the heap holds rank and place of pairs in one number and
// keeps outdated ones, which are known by their rank.
func (r *ranks) mergeByHeap(s *scratch, n int) int {
	s.prev, s.next, s.ranks = grown(s.prev, n), grown(s.next, n), grown(s.ranks, n)
	heap := s.heap[:0]
	for i := range n {
		s.prev[i], s.next[i] = int32(i-1), int32(i+1)
		s.ranks[i] = noRank
		if i+1 < n {
			s.ranks[i] = r.pairs[int(s.text[i])|int(s.text[i+1])<<8]
		}
		if s.ranks[i] != noRank {
			heap = append(heap, uint64(s.ranks[i])<<32|uint64(i))
		}
	}
	for i := len(heap) / heapWidth; i >= 0; i-- {
		siftDown(heap, i)
	}
	parts := n
	for len(heap) > 0 {
		top := heap[0]
		i := int(uint32(top))
		if s.ranks[i] != uint32(top>>32) {
			heap = pop(heap)
			continue
		}
		joined := int(s.next[i])
		after := int(s.next[joined])
		s.ranks[joined] = noRank
		s.next[i] = int32(after)
		parts--
		s.ranks[i] = noRank
		if after < n {
			s.prev[after] = int32(i)
			s.ranks[i] = r.of(s.text, i, int(s.next[after]))
		}
		heap = replaceTop(heap, s.ranks[i], i)
		if before := int(s.prev[i]); before >= 0 {
			s.ranks[before] = r.of(s.text, before, after)
			if v := s.ranks[before]; v != noRank {
				heap = push(heap, uint64(v)<<32|uint64(before))
			}
		}
	}
	s.heap = heap
	return parts
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// replaceTop takes the heap's top out and puts the pair at place i in, unless it
// has no rank.
func replaceTop(heap []uint64, rank uint32, i int) []uint64 {
	if rank == noRank {
		return pop(heap)
	}
	heap[0] = uint64(rank)<<32 | uint64(i)
	siftDown(heap, 0)
	return heap
}

func pop(heap []uint64) []uint64 {
	last := len(heap) - 1
	heap[0] = heap[last]
	heap = heap[:last]
	siftDown(heap, 0)
	return heap
}

func push(heap []uint64, v uint64) []uint64 {
	heap = append(heap, v)
	i := len(heap) - 1
	for i > 0 {
		parent := (i - 1) / heapWidth
		if heap[parent] <= v {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = v
	return heap
}

// heapWidth is how many children a node of the heap has.
const heapWidth = 4

func siftDown(heap []uint64, i int) {
	if i >= len(heap) {
		return
	}
	v := heap[i]
	for {
		child := heapWidth*i + 1
		if child >= len(heap) {
			break
		}
		least := child
		for k := child + 1; k < min(child+heapWidth, len(heap)); k++ {
			if heap[k] < heap[least] {
				least = k
			}
		}
		if v <= heap[least] {
			break
		}
		heap[i] = heap[least]
		i = least
	}
	heap[i] = v
}
