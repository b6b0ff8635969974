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

// plain sets the high bit of each byte of x that is neither a quote nor a
// backslash, and in the second result of each that is no control character. The
// sums cannot carry from one byte into the next, so every mark is exact.
func plain(x uint64) (text, printable uint64) {
	low := x & lows
	return ((low^ones*'"')+lows)&((low^ones*'\\')+lows) | x, (low + ones*0x60) | x
}

// stops64 marks the quotes and backslashes of the 64 bytes at data[i:], one bit
// for each byte. control is not zero when one of them is a control character;
// high is their union, eight at a time.
func stops64(data []byte, i int) (mask, control, high uint64) {
	data = data[i : i+64 : i+64]
	printable := uint64(highs)
	for k := 0; k < 64; k += 16 {
		x, y := binary.LittleEndian.Uint64(data[k:]), binary.LittleEndian.Uint64(data[k+8:])
		high |= x | y
		text, ok := plain(x)
		printable &= ok
		mask |= (text & highs * gather >> 56) << (k & 63)
		text, ok = plain(y)
		printable &= ok
		mask |= (text & highs * gather >> 56) << ((k + 8) & 63)
	}
	return ^mask, printable ^ highs, high
}

// blocks reads on from offset i in steps of 64 bytes. done says that at is the
// closing quote; otherwise the rest from at on has to be read word by word.
func (s *Scanner) blocks(i int, high uint64, str *Str) (at int, union uint64, done bool, err error) {
	next := i // bytes before it belong to an escape that was read
	for ; i+64 <= len(s.Data); i += 64 {
		mask, control, seen := stops64(s.Data, i)
		if control != 0 {
			break
		}
		high |= seen
		for ; mask != 0; mask &= mask - 1 {
			at := i + bits.TrailingZeros64(mask)
			if at < next {
				continue
			}
			if s.Data[at] == '"' {
				return at, high, true, nil
			}
			if at+1 < len(s.Data) && shortest[s.Data[at+1]] {
				str.Escaped = true
				next = at + 2
				continue
			}
			n, err := s.escape(at, str)
			if err != nil {
				return at, high, false, err
			}
			next = at + n
		}
	}
	return max(i, next), high, false, nil
}
