package tokens

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// Classes of a code point, as the patterns of the encodings use them. U and L
// are the two character sets of o200k_base's word rule.
const (
	inU     uint8       = 1 << iota // Lu, Lt, Lm, Lo, M
	inL                             // Ll, Lm, Lo, M
	letter                          // L
	number                          // N
	space                           // White_Space
	newline                         // CR, LF
	wide                            // not ASCII: the byte alone says nothing
	mark    = inU | inL             // together with letter unset: M
)

const (
	notSymbol = letter | number | space // outside [^\s\p{L}\p{N}]
	notPrefix = letter | number | newline
)

func isMark(class uint8) bool { return class&(mark|letter) == mark }

// blockBits is the size of one block of the class table, as a power of two.
const blockBits = 7

// classes maps bytes and code points to their classes, by the Unicode tables of
// the Go release.
type classes struct {
	ascii [256]uint8 // wide from 0x80 on
	index [(utf8.MaxRune + 1) >> blockBits]uint16
	block [][1 << blockBits]uint8
}

// sharedClasses builds the table once, when an encoding first counts.
var sharedClasses = sync.OnceValue(newClasses)

func newClasses() *classes {
	flat := make([]uint8, utf8.MaxRune+1)
	mark := func(table *unicode.RangeTable, class uint8) {
		for _, r := range table.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				flat[c] |= class
			}
		}
		for _, r := range table.R32 {
			for c := r.Lo; c <= r.Hi; c += r.Stride {
				flat[c] |= class
			}
		}
	}
	mark(unicode.Lu, inU|letter)
	mark(unicode.Lt, inU|letter)
	mark(unicode.Lm, inU|inL|letter)
	mark(unicode.Lo, inU|inL|letter)
	mark(unicode.Ll, inL|letter)
	mark(unicode.M, inU|inL)
	mark(unicode.N, number)
	mark(unicode.White_Space, space)
	flat['\r'] |= newline
	flat['\n'] |= newline

	c := &classes{}
	seen := map[[1 << blockBits]uint8]uint16{}
	for i := range c.index {
		var b [1 << blockBits]uint8
		copy(b[:], flat[i<<blockBits:])
		at, known := seen[b]
		if !known {
			at = uint16(len(c.block))
			seen[b] = at
			c.block = append(c.block, b)
		}
		c.index[i] = at
	}
	copy(c.ascii[:utf8.RuneSelf], flat)
	for i := utf8.RuneSelf; i < len(c.ascii); i++ {
		c.ascii[i] = wide
	}
	return c
}

// at is the class and the length in bytes of the code point at text[i]. A byte
// that is no UTF-8 is a symbol of one byte.
func (c *classes) at(text []byte, i int) (class uint8, size int) {
	if b := text[i]; b < utf8.RuneSelf {
		return c.ascii[b], 1
	}
	r, size := utf8.DecodeRune(text[i:])
	return c.block[c.index[r>>blockBits]][r&(1<<blockBits-1)], size
}
