package evidence

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/testdata/needles"
)

// benchText gives about size bytes of one kind, made of the bundled needle texts.
// Blocks carry a counter, so that no long run is a repeat of an earlier one.
func benchText(class string, size int) string {
	var parts []string
	if class == "log" {
		for _, l := range needles.Logs() {
			parts = append(parts, l.Text)
		}
	} else {
		for _, c := range needles.Cases(needles.Seed) {
			if strings.HasPrefix(c.Class, class) {
				parts = append(parts, c.Text)
			}
		}
	}
	var b strings.Builder
	b.Grow(size + 1024)
	for n := 0; b.Len() < size; n++ {
		for _, l := range strings.SplitAfter(parts[n%len(parts)], "\n") {
			if b.Len() >= size {
				break
			}
			if n >= len(parts) && l != "" {
				fmt.Fprintf(&b, "%d %s", b.Len(), l)
				continue
			}
			b.WriteString(l)
		}
	}
	return b.String()
}

var benchKinds = []struct {
	name string
	kind kind.Kind
}{{"log", kind.Log}, {"search", kind.Search}, {"test", kind.Test}, {"stack", kind.Stack}}

// BenchmarkReduce measures detection and reduction together.
func BenchmarkReduce(b *testing.B) {
	for _, k := range benchKinds {
		for _, size := range []int{1, 8} {
			text := benchText(k.name, size<<20-4096)
			b.Run(fmt.Sprintf("%s_%dMB", k.name, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					kind.Detect(text, kind.Call{})
					Compress(text, k.kind, form.Settings{})
				}
			})
		}
	}
}

// BenchmarkReduceSHA256 is the yardstick of BenchmarkReduce on the same bytes.
func BenchmarkReduceSHA256(b *testing.B) {
	text := []byte(benchText("log", 1<<20))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		sha256.Sum256(text)
	}
}
