package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
)

func TestProbeCorpus(t *testing.T) {
	root := os.Getenv("TOKEN_TERMINATOR_CORPUS")
	dirs := []string{"logs", "gotest", "pytest", "test-report", "npm", "maven", "stacktrace", "javac"}
	if d := os.Getenv("DIRS"); d != "" {
		dirs = []string{d}
	}
	for _, d := range dirs {
		fs, _ := filepath.Glob(root + "/outputs/" + d + "/*")
		sort.Strings(fs)
		for _, f := range fs {
			b, _ := os.ReadFile(f)
			k := kind.Detect(string(b), kind.Call{})
			kk := k
			switch k {
			case kind.Log, kind.Search, kind.Test, kind.Build, kind.Stack:
			case kind.NDJSON:
				if d == "gotest" { kk = kind.Test } else { kk = kind.Log }
			default:
				kk = kind.Plain
			}
			v, r := Compress(string(b), kk, form.Settings{})
			n := len(b)
			if r == "" {
				n = len(v.Head)
			}
			fmt.Printf("%-12s %7d -> %7d %5.1f%% %-8s %s %d/%d  %.60s\n", d, len(b), n, 100-100*float64(n)/float64(len(b)), k, r, v.Shown, v.Total, filepath.Base(f))
			if o := os.Getenv("OUT"); o != "" && r == "" {
				os.WriteFile(o+"/"+filepath.Base(f), []byte(v.Head), 0o644)
			}
		}
	}
}
