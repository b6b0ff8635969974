package strictjson

import (
	"strings"
	"testing"
)

// BenchmarkString measures one string literal of 64 KiB of each kind.
func BenchmarkString(b *testing.B) {
	for name, unit := range map[string]string{
		"plain":      "the quick brown fox jumps over the lazy dog and on ",
		"code":       `\tif err != nil {\n\t\treturn \"x\", err\n\t}\n`,
		"accents":    "le café est fermé à midi, déjà vu; ",
		"japanese":   "日本語のテキストです。",
		"surrogates": `\ud83d\ude00 `,
	} {
		b.Run(name, func(b *testing.B) {
			literal := []byte(`"` + strings.Repeat(unit, 65536/len(unit)) + `"`)
			b.SetBytes(int64(len(literal)))
			s := New(literal, 1)
			for b.Loop() {
				s.Pos = 0
				if _, err := s.String(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUnquote measures decoding of the same literals.
func BenchmarkUnquote(b *testing.B) {
	literal := []byte(`"` + strings.Repeat(`\tif err != nil {\n\t\treturn \"x\", err\n\t}\n`, 1500) + `"`)
	b.SetBytes(int64(len(literal)))
	var dst []byte
	for b.Loop() {
		dst = AppendUnquoted(dst[:0], literal)
	}
}
