package strictjson

import (
	"encoding/binary"
	"math/bits"
)

const (
	lows = 0x7f7f7f7f7f7f7f7f
	// gather moves the highest bits of eight bytes into the highest byte.
	gather = 0x0002040810204081
)

// plain sets the high bit of each byte of x that may stand in a string as it is: it
// is no quote, no backslash and no control character. Flipping the second bit puts the
// quote right behind the control characters, so that one comparison finds both. The
// sums cannot carry from one byte into the next, so every mark is exact.
func plain(x uint64) uint64 {
	low := x & lows
	return ((low^ones*2)+ones*(0x7f-'"'+2))&((low^ones*'\\')+lows) | x
}

// plain8 has one bit for each byte of x, set where plain marks it.
func plain8(x uint64) uint64 { return plain(x) & highs * gather >> 56 }

// stops64 marks what is not plain in a block of 64 bytes, one bit for each byte. high
// is the union of the block, eight bytes at a time.
func stops64(b *[64]byte) (mask, high uint64) {
	x0, x1 := binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:])
	x2, x3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	mask = plain8(x0) | plain8(x1)<<8 | plain8(x2)<<16 | plain8(x3)<<24
	x4, x5 := binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:])
	x6, x7 := binary.LittleEndian.Uint64(b[48:]), binary.LittleEndian.Uint64(b[56:])
	mask |= plain8(x4)<<32 | plain8(x5)<<40 | plain8(x6)<<48 | plain8(x7)<<56
	return ^mask, x0 | x1 | x2 | x3 | x4 | x5 | x6 | x7
}

// blocks reads on from offset i in steps of 64 bytes. done says that at is the
// closing quote; otherwise the rest from at on has to be read word by word. Of text
// that is no ASCII, only the blocks that hold some are checked.
func (s *Scanner) blocks(i int, str *literal) (at int, done bool, err error) {
	data := s.Data
	over := uint64(0) // the bytes of the block at i that belong to an escape before it
	for ; len(data)-i > 64; i += 64 {
		b := (*[65]byte)(data[i:])
		mask, union := stops64((*[64]byte)(data[i:]))
		if union&highs == 0 {
			if str.from > 0 {
				str.valid(data, i)
			}
		} else if str.from == 0 {
			str.from = i
		}
		mask &^= over
		over = 0
		for mask != 0 {
			bit := bits.TrailingZeros64(mask) & 63
			if b[bit] == '\\' && shortest[b[bit+1]] {
				str.Escaped = true
				mask &^= 3 << bit
				over = uint64(bit+1) >> 6
				continue
			}
			at := i + bit
			n, err := s.stop(at, str)
			if err != nil || n == 0 {
				return at, err == nil, err
			}
			mask &^= (1<<(n&63) - 1) << bit
			over = 1<<max(bit+n-64, 0) - 1
		}
	}
	return i + bits.Len64(over), false, nil
}
