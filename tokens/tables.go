package tokens

import (
	"crypto/sha256"
	_ "embed" // the tables are part of the program
	"encoding/binary"
	"errors"
	"fmt"
)

// The rank tables of the two encodings that measure requests are made once, from
// the library's vocabulary, and ship inside the program. They are kept in the
// order of the hash table's slots, so that reading one is a single pass that
// writes memory from front to back, needs no hash to find a place, and does not
// depend on the machine's byte order or word size:
//
//	magic, log2 of the slots, number of short tokens, number of long tokens
//	the filter's words, little-endian
//	short: empty slots before it << 4 | bytes, rank (3 bytes), the bytes
//	long:  bytes, rank (3 bytes), the bytes
//
// gapOnly is a short entry without a token: fifteen empty slots.
//
//go:generate go test -run ^TestTablesAreTheLibrarysVocabulary$ -count=1 . -args -write-tables
var (
	//go:embed tables/o200k_base.bin
	o200kTable []byte
	//go:embed tables/cl100k_base.bin
	cl100kTable []byte
)

const (
	tableMagic  = "TTR1"
	tableHeader = len(tableMagic) + 1 + 4 + 4
	gapOnly     = 15 << 4
	rankBytes   = 3
	filterBytes = 1 << filterBits / 8
	maxLogSlots = 24
)

// prebuilt is one embedded table and what it must hash to.
type prebuilt struct {
	data   []byte
	digest [sha256.Size]byte
}

var errTableDamaged = errors.New("the token table inside the program is damaged")

// ranks reads the table after checking it against its digest.
func (p prebuilt) ranks() (*ranks, error) {
	if sha256.Sum256(p.data) != p.digest {
		return nil, errTableDamaged
	}
	return readTable(p.data)
}

// readTable is the inverse of what the generator writes. Data that is no table is
// an error, never a panic.
func readTable(data []byte) (*ranks, error) {
	if len(data) < tableHeader+filterBytes || string(data[:len(tableMagic)]) != tableMagic {
		return nil, errTableDamaged
	}
	logSize := int(data[len(tableMagic)])
	short := int(binary.LittleEndian.Uint32(data[len(tableMagic)+1:]))
	long := int(binary.LittleEndian.Uint32(data[len(tableMagic)+5:]))
	if logSize > maxLogSlots || short < 0 || long < 0 || short >= 1<<logSize || long > len(data) {
		return nil, errTableDamaged
	}
	r := emptyRanks(logSize, long)
	for i := range r.filter {
		r.filter[i] = binary.LittleEndian.Uint64(data[tableHeader+8*i:])
	}
	rest, ok := r.readShort(data[tableHeader+filterBytes:], short)
	if !ok || !r.readLong(rest, long) {
		return nil, errTableDamaged
	}
	return r, nil
}

// readShort fills the slots and returns what follows the short tokens.
func (r *ranks) readShort(data []byte, count int) ([]byte, bool) {
	at := 0
	for count > 0 {
		if len(data) < 1+rankBytes+16 { // a key is read as 16 bytes; the long tokens stand behind
			return nil, false
		}
		head := data[0]
		at += int(head >> 4)
		n := int(head & 15)
		if n == 0 {
			if head != gapOnly {
				return nil, false
			}
			data = data[1:]
			continue
		}
		if at >= len(r.slots) {
			return nil, false
		}
		rank := uint32(data[1]) | uint32(data[2])<<8 | uint32(data[3])<<16
		k := keyAt(data, 1+rankBytes, n)
		r.slots[at], r.values[at] = k, rank
		if n == 2 {
			r.pairs[k.lo&0xffff] = rank
		}
		r.longest = max(r.longest, n)
		at++
		count--
		data = data[1+rankBytes+n:]
	}
	return data, true
}

// readLong fills the map of long tokens; nothing may follow them.
func (r *ranks) readLong(data []byte, count int) bool {
	for range count {
		if len(data) == 0 || len(data) < 1+rankBytes+int(data[0]) || int(data[0]) <= maxKey {
			return false
		}
		n := int(data[0])
		r.long[string(data[1+rankBytes:1+rankBytes+n])] = uint32(data[1]) | uint32(data[2])<<8 | uint32(data[3])<<16
		r.longest = max(r.longest, n)
		data = data[1+rankBytes+n:]
	}
	return len(data) == 0
}

// prebuiltTables returns what reads an embedded table, once.
func prebuiltTables(name string, p prebuilt) func() *ranks {
	return func() *ranks {
		r, err := p.ranks()
		if err != nil {
			panic(fmt.Sprintf("tokens: %s: %v", name, err)) // the program's own bytes changed: no count can be trusted
		}
		return r
	}
}
