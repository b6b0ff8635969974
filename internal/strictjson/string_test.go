package strictjson

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// plainString is the rules of String, one byte after the other. lone is the offset of
// the first lone surrogate, -1 without one.
func plainString(data []byte, start int) (str Str, lone int, fault Fault, offset int) {
	str, lone = Str{Start: start, Spelling: Spelling{Shortest: true}}, -1
	for i := start + 1; ; {
		switch {
		case i >= len(data):
			return str, lone, Ended, len(data)
		case data[i] == '"':
			str.End = i + 1
			for at := start; at < str.End; {
				r, n := utf8.DecodeRune(data[at:str.End])
				if r == utf8.RuneError && n == 1 {
					return str, lone, UTF8, at
				}
				at += n
			}
			return str, lone, "", 0
		case data[i] < 0x20:
			return str, lone, Syntax, i
		case data[i] != '\\':
			i++
			continue
		}
		str.Escaped = true
		if i+1 >= len(data) {
			return str, lone, Ended, len(data)
		}
		c := data[i+1]
		if c != 'u' {
			if !strings.ContainsRune(`"\/bfnrt`, rune(c)) {
				return str, lone, Syntax, i
			}
			str.Shortest = str.Shortest && c != '/'
			i += 2
			continue
		}
		unit, ok := hex4(data, i+2)
		if !ok && i+6 > len(data) {
			return str, lone, Ended, len(data)
		}
		if !ok {
			return str, lone, Syntax, i
		}
		low, paired := hex4(data, min(i+8, len(data)))
		paired = paired && data[i+6] == '\\' && data[i+7] == 'u' && low >= 0xdc00 && low < 0xe000
		switch {
		case unit >= 0xd800 && unit < 0xdc00 && paired:
			str.Shortest = false
			i += 6
		case unit >= 0xd800 && unit < 0xe000:
			str.Lone = true
			if lone < 0 {
				lone = i
			}
		default:
			spelled := string(AppendQuoted(nil, string(unit)))
			str.Shortest = str.Shortest && spelled == `"`+string(data[i:i+6])+`"`
		}
		i += 6
	}
}

// sameString reads the literal at start both ways.
func sameString(t *testing.T, data []byte, start int) {
	t.Helper()
	want, lone, fault, offset := plainString(data, start)
	s := New(data, 1)
	s.Pos = start
	got, err := s.String()
	if fault != "" {
		var e *Error
		require.ErrorAs(t, err, &e, "%q", data)
		require.Equal(t, fault, e.Fault, "%q", data)
		require.Equal(t, offset, e.Offset, "%q", data)
		return
	}
	require.NoError(t, err, "%q", data)
	require.Equal(t, want, got, "%q", data)
	require.Equal(t, want.End, s.Pos)
	require.Equal(t, lone, s.Lone, "%q", data)
}

// pieces are what strings are made of, right and wrong.
var pieces = []string{
	"a", "plain text of some length, ", strings.Repeat("x", 61), strings.Repeat("long ", 40), " ", "!", "#", "\x7f", "[", "]", "\x22", "\x5c",
	`\n`, `\t`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\u0001`, `\u001f`, `\u001F`, `\u0041`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\ud83d\n`,
	`\ud83d\u0041`, `\uD83D\uDE00`, `\u00`, `\uzzzz`, `\q`, "é", "ÿ", "日本語", "😀", "\u2028", "\x80", "\xc3", "\xe6\x97", "\xf0\x9f\x98", "\xff", "\xed\xa0\x80",
	"\xc0\xaf", "\xf4\x90\x80\x80", "\x00", "\x1f", "\n", "\t",
}

func TestStringAgreesWithOneByteAtATime(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 7))
	for range 60_000 {
		var b strings.Builder
		b.WriteString(strings.Repeat(" ", rng.IntN(3)))
		start := b.Len()
		b.WriteByte('"')
		good := rng.IntN(4) > 0 // mostly of the pieces that are right
		for range rng.IntN(24) {
			k := rng.IntN(len(pieces))
			if good {
				k = []int{0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 20, 23, 24, 25, 26, 28, 33, 35, 36}[rng.IntN(20)]
			}
			b.WriteString(pieces[k])
		}
		if rng.IntN(8) > 0 {
			b.WriteByte('"')
		}
		b.WriteString(strings.Repeat(", ", rng.IntN(40)))
		sameString(t, []byte(b.String()), start)
	}
}

func FuzzString(f *testing.F) {
	for _, p := range pieces {
		for _, n := range []int{0, 3, 31, 62, 63, 64, 127} {
			f.Add([]byte(strings.Repeat("a", n) + p + p + strings.Repeat("b", 70) + p + `",`))
		}
	}
	f.Fuzz(func(t *testing.T, inner []byte) { sameString(t, append([]byte(`"`), inner...), 0) })
}
