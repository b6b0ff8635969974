package tokens

import (
	"errors"
	"fmt"
	"sync"
)

// ErrUnknownEncoding says that no encoding of that name is known.
var ErrUnknownEncoding = errors.New("unknown token encoding")

// Counter counts the tokens of a text. It is exact, safe for concurrent use and
// takes linear time. The text is UTF-8 of less than 2 GiB; it is not kept.
type Counter interface {
	Name() string
	Count(text []byte) int
}

// Names of the encodings.
const (
	O200kBase  = "o200k_base"
	CL100kBase = "cl100k_base"
	P50kBase   = "p50k_base"
	P50kEdit   = "p50k_edit"
	R50kBase   = "r50k_base"
)

// Ranks of an encoding, gaps included.
const (
	o200kSize  = 200_000
	cl100kSize = 100_257
	p50kSize   = 50_281
	r50kSize   = 50_257
)

// encodings are the counters there are. Each has its tables from the first count on:
// those that measure requests read them from the program, the older ones build them.
var encodings = []*counter{
	newCounter(O200kBase, o200kEnd, tablesOf(prebuiltTables(O200kBase, prebuilt{o200kTable, o200kDigest}))),
	newCounter(CL100kBase, cl100kEnd, tablesOf(prebuiltTables(CL100kBase, prebuilt{cl100kTable, cl100kDigest}))),
	newCounter(P50kBase, r50kEnd, p50kTables),
	newCounter(P50kEdit, r50kEnd, p50kTables),
	newCounter(R50kBase, r50kEnd, tablesOf(builtTables(R50kBase, r50kSize))),
}

// p50kTables are shared: the two encodings differ in special tokens only.
var p50kTables = tablesOf(builtTables(P50kBase, p50kSize))

// Named returns the counter of an encoding, always the same one for the same
// name. It is cheap: tables are read or built by the first count. Unknown names are
// ErrUnknownEncoding.
func Named(encoding string) (Counter, error) {
	for _, c := range encodings {
		if c.name == encoding {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownEncoding, encoding)
}

// tables are what one encoding counts with. They are only read.
type tables struct {
	classes *classes
	ranks   *ranks
}

// tablesOf returns what makes an encoding's tables, once.
func tablesOf(ranksOf func() *ranks) func() *tables {
	return sync.OnceValue(func() *tables {
		return &tables{classes: sharedClasses(), ranks: ranksOf()}
	})
}

// builtTables returns what builds an encoding's ranks from the library's vocabulary.
func builtTables(name string, size int) func() *ranks {
	return func() *ranks {
		words, err := vocabularyOf(name, size)
		if err != nil {
			panic("tokens: " + err.Error()) // the library is pinned and has it
		}
		return newRanks(words)
	}
}

// counter is an encoding: how text falls into pre-tokens, and the ranks by which
// these are merged into tokens.
type counter struct {
	name    string
	end     scanner
	tables  func() *tables
	scratch sync.Pool // of *scratch
}

func newCounter(name string, end scanner, tables func() *tables) *counter {
	return &counter{name: name, end: end, tables: tables}
}

func (c *counter) Name() string { return c.name }

func (c *counter) Count(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	t := c.tables()
	s, ok := c.scratch.Get().(*scratch)
	if !ok {
		s = new(scratch)
	}
	n := 0
	for i := 0; i < len(text); {
		end := c.end(t.classes, text, i)
		if end-i == 1 {
			n++ // every byte is a token
		} else {
			n += t.ranks.tokens(s, text, i, end)
		}
		i = end
	}
	c.scratch.Put(s)
	return n
}

// tokens is how many tokens the pre-token text[i:end] has.
func (r *ranks) tokens(s *scratch, text []byte, i, end int) int {
	n := end - i
	if n > maxKey {
		if n <= r.longest {
			if _, ok := r.long[string(text[i:end])]; ok {
				return 1
			}
		}
		return r.pieceTokens(s, text[i:end])
	}
	var k slot
	if i+16 <= len(text) {
		k = keyAt(text, i, n)
	} else {
		var padded [16]byte
		copy(padded[:], text[i:end])
		k = keyAt(padded[:], 0, n)
	}
	if r.has(k) {
		return 1
	}
	cached := &s.cache[k.hash()>>(64-cacheBits)]
	if cached.lo == k.lo && cached.hi<<4>>4 == k.hi {
		return int(cached.hi >> countBits)
	}
	count := r.pieceTokens(s, text[i:end])
	*cached = slot{k.lo, k.hi | uint64(count)<<countBits}
	return count
}
