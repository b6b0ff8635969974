package delta_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"token-terminator/reduce/delta"
)

// sourceText makes n lines that look like a program; equal seeds give equal lines.
func sourceText(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for range n {
		switch r.IntN(8) {
		case 0:
			b.WriteString("\n")
		case 1:
			b.WriteString("\t}\n")
		case 2:
			b.WriteString("\t\treturn nil, err\n")
		default:
			fmt.Fprintf(&b, "\t\tvalue%d := compute(%d, name%d) // a remark of some length\n", r.IntN(5000), r.IntN(90), r.IntN(700))
		}
	}
	return b.String()
}

// visibleTexts makes about size bytes of texts.
func visibleTexts(size int) []string {
	var texts []string
	for seed := uint64(0); size > 0; seed++ {
		texts = append(texts, sourceText(seed, 60+int(seed*37%400)))
		size -= len(texts[seed])
	}
	return texts
}

func BenchmarkAdd(b *testing.B) {
	texts := visibleTexts(1_700_000)
	b.SetBytes(1_700_000)
	for b.Loop() {
		ix := delta.NewIndex()
		for i, t := range texts {
			ix.Add(delta.Base{Label: fmt.Sprint("result ", i), Text: t})
		}
	}
}

func BenchmarkClone(b *testing.B) {
	ix := delta.NewIndex()
	for i, t := range visibleTexts(1_700_000) {
		ix.Add(delta.Base{Label: fmt.Sprint("result ", i), Text: t})
	}
	for b.Loop() {
		ix.Clone()
	}
}

func BenchmarkPropose(b *testing.B) {
	ix := delta.NewIndex()
	texts := visibleTexts(1_700_000)
	for i, t := range texts {
		ix.Add(delta.Base{Label: fmt.Sprint("result ", i), Text: t})
	}
	edited := strings.Split(strings.Repeat(texts[5]+texts[40], 20), "\n")
	for i := 10; i < len(edited); i += 50 {
		edited[i] += " edited"
	}
	cases := map[string]string{
		"new":       sourceText(1<<40, 10000),
		"edited":    strings.Join(edited, "\n"),
		"equal":     strings.Repeat("\t\treturn nil, err\n", 40000),
		"blank":     strings.Repeat("\n", 500000),
		"one_line":  strings.Repeat("x", 1_000_000),
		"same":      texts[9],
		"alternate": strings.Repeat("\t\treturn nil, err\n\t}\n\n", 20000),
	}
	for _, name := range []string{"new", "edited", "equal", "blank", "one_line", "same", "alternate"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(cases[name])))
			for b.Loop() {
				ix.Propose(cases[name], delta.Options{})
			}
		})
	}
}
