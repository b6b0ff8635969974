package tokens

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/tiktoken-go/tokenizer"
)

// vocabularyOf reads an encoding's tokens out of the library: the index is the
// rank, "" where no token has it. size is the number of ranks, gaps included.
func vocabularyOf(name string, size int) ([]string, error) {
	codec, err := tokenizer.Get(tokenizer.Encoding(name))
	if err != nil {
		return nil, fmt.Errorf("read vocabulary %s: %w", name, err)
	}
	words := make([]string, size)
	id := make([]uint, 1)
	for rank := range words {
		id[0] = uint(rank)
		if word, err := codec.Decode(id); err == nil {
			words[rank] = word
		}
	}
	return words, nil
}

// maxKey is the longest token that fits a slot of the table, in bytes.
const maxKey = 15

// noRank is the rank of bytes that are no token.
const noRank = ^uint32(0)

// slot is the key of one token of at most maxKey bytes: the bytes, zero padded,
// and their number in the highest byte. hi = 0 is an empty slot.
type slot struct{ lo, hi uint64 }

// ranks finds the rank of a token by its bytes. It is never written after it was
// built. Three tables by length: all pairs of bytes, an open-addressing table of
// whole keys, a map for the few long ones.
type ranks struct {
	pairs   []uint32 // by two bytes, little-endian
	slots   []slot
	values  []uint32 // beside slots
	shift   uint
	filter  []uint64 // a bit for each hash of a key of slots; most of what is asked for is no token
	long    map[string]uint32
	longest int // bytes
}

// emptyRanks has 1<<logSize slots and room for a number of long tokens.
func emptyRanks(logSize, long int) *ranks {
	r := &ranks{
		pairs:  make([]uint32, 1<<16),
		slots:  make([]slot, 1<<logSize),
		values: make([]uint32, 1<<logSize),
		shift:  uint(64 - logSize),
		filter: make([]uint64, 1<<(filterBits-6)),
		long:   make(map[string]uint32, long),
	}
	for i := range r.pairs {
		r.pairs[i] = noRank
	}
	return r
}

// newRanks builds the table of a vocabulary; the index is the rank, "" no token.
func newRanks(words []string) *ranks {
	r := emptyRanks(bits.Len(uint(len(words)))+1, 0) // at most half full
	var padded [2 * 8]byte
	for rank, word := range words {
		r.longest = max(r.longest, len(word))
		switch {
		case word == "":
			continue
		case len(word) > maxKey:
			r.long[word] = uint32(rank)
			continue
		case len(word) == 2:
			r.pairs[int(word[0])|int(word[1])<<8] = uint32(rank)
		}
		padded = [2 * 8]byte{}
		copy(padded[:], word)
		k := keyAt(padded[:], 0, len(word))
		r.mark(k)
		at := int(k.hash() >> r.shift)
		for r.slots[at].hi != 0 {
			at = (at + 1) & (len(r.slots) - 1)
		}
		r.slots[at], r.values[at] = k, uint32(rank)
	}
	return r
}

// mark sets the filter's bit of a key.
func (r *ranks) mark(k slot) {
	h := k.hash()
	r.filter[h>>6&(1<<(filterBits-6)-1)] |= 1 << (h & 63)
}

// keyAt is the key of text[i:i+n], 1 <= n <= maxKey. text must have 16 bytes from i on.
func keyAt(text []byte, i, n int) slot {
	text = text[i : i+16]
	lo := binary.LittleEndian.Uint64(text)
	length := uint64(n) << 56
	if n <= 8 {
		unused := uint(64 - 8*n)
		return slot{lo << unused >> unused, length}
	}
	unused := uint(128 - 8*n)
	return slot{lo, binary.LittleEndian.Uint64(text[8:])<<unused>>unused | length}
}

// filterBits is the size of the filter, as a power of two of bits: small enough
// to stay near the processor, large enough to answer nine of ten questions.
const filterBits = 21

// hash mixes a key; its highest bits choose a slot, its lowest a bit of the filter.
func (k slot) hash() uint64 {
	h := (k.lo ^ bits.RotateLeft64(k.hi*0x9e3779b97f4a7c15, 32)) * 0xd6e8feb86659fd93
	return h ^ h>>29
}

// find is the rank of a key, noRank when it is no token.
func (r *ranks) find(k slot) uint32 {
	h := k.hash()
	if r.filter[h>>6&(1<<(filterBits-6)-1)]>>(h&63)&1 == 0 {
		return noRank
	}
	at := int(h >> r.shift)
	for {
		s := &r.slots[at]
		if *s == k {
			return r.values[at]
		}
		if s.hi == 0 {
			return noRank
		}
		at = (at + 1) & (len(r.slots) - 1)
	}
}

// has says whether a key is a token. Most keys it is asked for are.
func (r *ranks) has(k slot) bool {
	at := int(k.hash() >> r.shift)
	for {
		s := &r.slots[at]
		if *s == k {
			return true
		}
		if s.hi == 0 {
			return false
		}
		at = (at + 1) & (len(r.slots) - 1)
	}
}

// of is the rank of text[i:j], noRank when it is no token. text must have 16
// bytes from i on.
func (r *ranks) of(text []byte, i, j int) uint32 {
	switch n := j - i; {
	case n == 2:
		return r.pairs[int(text[i])|int(text[i+1])<<8]
	case n <= maxKey:
		return r.find(keyAt(text, i, n))
	case n <= r.longest:
		if rank, ok := r.long[string(text[i:j])]; ok {
			return rank
		}
	}
	return noRank
}
