package tokens

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCount holds that splits and counts equal the oracle's for every text.
func FuzzCount(f *testing.F) {
	for _, s := range hostile {
		f.Add(s + "a" + s)
	}
	f.Add("x\n \nb")
	f.Add("Don't STOP'S it'ſ\r\n\r\n  //-/\n12345 \u0301AB\u0301")
	f.Add(strings.Repeat("=", 100) + strings.Repeat(" ", 100) + strings.Repeat("ab", 40))
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			for _, c := range encodings {
				if n := c.Count([]byte(text)); n > len(text) || n == 0 {
					t.Fatalf("%s counts %d tokens in %q", c.name, n, text)
				}
			}
			return
		}
		for _, c := range encodings {
			agree(t, c.name, text)
		}
	})
}

// FuzzCuts holds that every cut SafeCut proves is additive, in any bytes.
func FuzzCuts(f *testing.F) {
	for i, s := range hostile {
		f.Add(s + hostile[len(hostile)-1-i] + "a")
	}
	f.Add("a\n//-b\n/-c'd''e")
	f.Add(`{"content":"it's\n","role":"tool"},{"content":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 300 {
			text = text[:300]
		}
		cutsHold(t, text)
	})
}
