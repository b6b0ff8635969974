package evidence

import (
	"fmt"
	"os"
	"testing"

	"token-terminator/internal/testkit/corpusscore"
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/tokens"
)

const probeMarker = "[Token Terminator: 41 of 1,204 lines shown. Whole text: token_terminator action=artifact_get artifact_id=a_0123456789abcdef tag=01234567]"

func TestProbeScore(t *testing.T) {
	c, _ := tokens.Named("o200k_base")
	count := func(s string) int { return c.Count([]byte(s)) }
	var path string
	_ = path
	reduce := func(_, text string) string {
		k := kind.Detect(text, kind.Call{})
		switch k {
		case kind.Log, kind.Search, kind.Test, kind.Build, kind.Stack:
		case kind.NDJSON, kind.JSON:
			return text
		default:
			k = kind.Plain
		}
		n := count(text)
		if n < 400 {
			return text
		}
		v, r := Compress(text, k, form.Settings{})
		if r != "" {
			return text
		}
		out := v.Head + probeMarker
		if m := count(out); n-m < 64 || (n-m)*10 < n {
			return text
		}
		return out
	}
	scores, err := corpusscore.Run(os.DirFS(os.Getenv("TOKEN_TERMINATOR_CORPUS")), corpusscore.Families(), count, reduce)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scores {
		if s.Name == "json" { continue }
		fmt.Printf("== %-30s weighted %.1f%% plain %.1f%% larger %d\n", s.Name, s.Removed, s.Plain, s.Larger)
		if os.Getenv("V") != "" && s.Name != "logs without the four largest" {
			for _, f := range s.Files {
				fmt.Printf("   %5.2f%% %7d %5.1f%% %.90s\n", 100*f.Weight, f.Before, 100-100*float64(f.After)/float64(f.Before), f.Path)
			}
		}
	}
}
