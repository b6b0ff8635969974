package layout

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/kind"
	"token-terminator/tokens"
)

type result struct{ family, text, tool, args string }

func corpus(t *testing.T, dir string) []result {
	var all []result
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
	if len(b) == 0 {
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

func TestProbe(t *testing.T) {
	dir := os.Getenv("TOKEN_TERMINATOR_CORPUS")
	if dir == "" {
		return
	}
	c, err := tokens.Named("o200k_base")
	require.NoError(t, err)
	count := func(s string) int { return c.Count([]byte(s)) }
	type sum struct{ n, before, less, eq, both int }
	sums, rulesSum := map[string]*sum{}, map[string]*sum{}
	for _, r := range corpus(t, dir) {
		before := count(r.text)
		if before < 200 || !utf8.ValidString(r.text) {
			continue
		}
		k := kind.Detect(r.text, kind.Call{Tool: r.tool, Args: r.args})
		s := sums[r.family]
		if s == nil {
			s = &sum{}
			sums[r.family] = s
		}
		s.n++
		s.before += before
		text := r.text
		if out, ok := Equivalent(text, k, count); ok {
			s.eq += before - count(out)
			text = out
			if rs := rulesSum["equivalent "+string(k)]; rs == nil {
				rulesSum["equivalent "+string(k)] = &sum{}
			}
			rs := rulesSum["equivalent "+string(k)]
			rs.n++
			rs.before += before
			rs.less += before - count(out)
		}
		if out, _, ok := Choose(r.text, k, count); ok {
			back, err := Restore(out)
			require.NoError(t, err)
			require.Equal(t, r.text, back)
			s.less += before - count(out)
			require.Less(t, count(out), before)
		}
		if out, names, ok := Choose(text, k, count); ok {
			text = out
			name := strings.Join(names, "+")
			if rulesSum[name] == nil {
				rulesSum[name] = &sum{}
			}
			rs := rulesSum[name]
			rs.n++
			rs.before += before
			rs.less += before - count(out)
		}
		s.both += before - count(text)
	}
	show := func(m map[string]*sum) {
		var keys []string
		for k := range m {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			s := m[k]
			p := func(n int) float64 { return 100 * float64(n) / float64(s.before) }
			fmt.Printf("%-34s n=%4d tokens=%8d lossless %5.1f%% (%d) equivalent %5.1f%% both %5.1f%%\n", k, s.n, s.before, p(s.less), s.less, p(s.eq), p(s.both))
		}
	}
	show(sums)
	show(rulesSum)
}
