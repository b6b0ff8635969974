package layout

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/kind"
	"token-terminator/tokens"
)

type result struct{ family, text, tool, args string }

// corpus is every output and every tool result of the corpus named by
// TOKEN_TERMINATOR_CORPUS, or the samples of this package.
func corpus(t *testing.T) []result {
	t.Helper()
	var all []result
	dir := os.Getenv("TOKEN_TERMINATOR_CORPUS")
	if dir == "" {
		for name, c := range samples {
			all = append(all, result{family: "samples/" + name, text: c.text})
		}
		return all
	}
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "outputs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(p)) == "repeats" {
			return err
		}
		b, err := os.ReadFile(p)
		all = append(all, result{family: "outputs/" + filepath.Base(filepath.Dir(p)), text: string(b)})
		return err
	}))
	files, err := filepath.Glob(filepath.Join(dir, "sessions/*.jsonl"))
	require.NoError(t, err)
	for _, f := range files {
		all = append(all, session(t, f)...)
	}
	return all
}

func session(t *testing.T, file string) (all []result) {
	h, err := os.Open(file)
	require.NoError(t, err)
	defer h.Close()
	b, err := bufio.NewReaderSize(h, 1<<20).ReadBytes('\n')
	if !errors.Is(err, io.EOF) {
		require.NoError(t, err)
	}
	var s struct {
		ID       string
		Messages []struct {
			Role, Content string
			ToolCallID    string `json:"tool_call_id"`
			ToolCalls     []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	require.NoError(t, json.Unmarshal(b, &s))
	type call struct{ name, args string }
	calls := map[string]call{}
	family, _, _ := strings.Cut(s.ID, "/")
	for _, m := range s.Messages {
		for _, c := range m.ToolCalls {
			calls[c.ID] = call{c.Function.Name, c.Function.Arguments}
		}
		if m.Role == "tool" {
			c := calls[m.ToolCallID]
			all = append(all, result{"sessions/" + family, m.Content, c.name, c.args})
		}
	}
	return all
}

// figures of one family or rule, in tokens.
type figures struct{ results, before, removed int }

type report map[string]*figures

func (r report) add(name string, before, after int) {
	if r[name] == nil {
		r[name] = &figures{}
	}
	r[name].results++
	r[name].before += before
	r[name].removed += before - after
}

func (r report) log(t *testing.T) {
	var names []string
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f := r[name]
		t.Logf("%-40s %4d results, %8d tokens, %7d removed (%.1f %%)", name, f.results, f.before, f.removed, 100*float64(f.removed)/float64(f.before))
	}
}

const floor = 200 // tokens from which a layout is tried

// TestLayoutsOverACorpus holds that no layout is larger, that every lossless one
// gives its bytes back and that no equivalent one changes a JSON value, and logs
// what each rule removes.
func TestLayoutsOverACorpus(t *testing.T) {
	t.Parallel()
	counter, err := tokens.Named("o200k_base")
	require.NoError(t, err)
	count := func(s string) int { return counter.Count([]byte(s)) }
	families, byRule := report{}, report{}
	for _, r := range corpus(t) {
		before := count(r.text)
		if before < floor {
			continue
		}
		k := kind.Detect(r.text, kind.Call{Tool: r.tool, Args: r.args})
		text, after := r.text, before
		if out, ok := Equivalent(r.text, k, count); ok {
			text, after = out, count(out)
			require.Less(t, after, before)
			byRule.add("equivalent, "+string(k), before, after)
			if json.Valid([]byte(r.text)) {
				require.Equal(t, tokensOf(t, r.text), tokensOf(t, out))
			}
		}
		for _, of := range slices.Compact([]string{text, r.text}) {
			out, names, ok := Choose(of, k, count)
			if !ok {
				continue
			}
			back, err := Restore(out)
			require.NoError(t, err)
			require.True(t, back == of, "not restored")
			require.Less(t, count(out), count(of))
			if of == text {
				byRule.add("lossless, "+strings.Join(names, "+"), after, count(out))
				after = count(out)
			}
		}
		families.add(r.family, before, after)
	}
	families.log(t)
	byRule.log(t)
}
