package delta_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/delta"
	"token-terminator/tokens"
)

type session struct {
	Messages []message `json:"messages"`
}

type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// tally sums one family; carried weighs tokens by one cache write and a read in
// every later call, in hundredths.
type tally struct {
	results, tokens, saved, whole, argument, deltas, runs, carried, carriedSaved int
}

func (t *tally) add(o tally) {
	t.results += o.results
	t.tokens += o.tokens
	t.saved += o.saved
	t.whole += o.whole
	t.argument += o.argument
	t.deltas += o.deltas
	t.runs += o.runs
	t.carried += o.carried
	t.carriedSaved += o.carriedSaved
}

func (t tally) String() string {
	share := func(a, b int) float64 { return 100 * float64(a) / float64(max(1, b)) }
	return fmt.Sprintf("results %5d tokens %8d saved %7d = %4.1f%% (references %3.1f%%, bases in arguments %4.1f%%), carried %4.1f%%, deltas %4d runs %5d",
		t.results, t.tokens, t.saved, share(t.saved, t.tokens), share(t.whole, t.tokens), share(t.argument, t.tokens),
		share(t.carriedSaved, t.carried), t.deltas, t.runs)
}

var showsFile = regexp.MustCompile(`^\s*(?:cd \S+ && )?(?:cat(?: -n)?|sed -n '?[0-9,$p]+'?|head(?: -n? ?\d+)?|tail(?: -n? ?\+?\d+)?) ([^\s|;&>]+)\s*$`)

// fileOf is the file a call shows or writes, whether it reads it, and a name for it.
func fileOf(name, args string) (path, label string, read bool) {
	var a struct {
		FilePath string `json:"file_path"`
		Path     string
		Command  any
	}
	_ = json.Unmarshal([]byte(args), &a)
	command, _ := a.Command.(string)
	path = cmp.Or(a.FilePath, a.Path)
	read = slices.Contains([]string{"Read", "read", "read_file", "view"}, name) || name == "str_replace_editor" && command == "view"
	if m := showsFile.FindStringSubmatch(command); m != nil {
		path, read = m[1], true
	}
	label = name
	if path != "" {
		label += " " + filepath.Base(path)
	} else if command != "" {
		first, _, _ := strings.Cut(command[max(0, strings.LastIndex(command, "&& ")):], "\n")
		first = strings.TrimPrefix(first, "&& ")
		label += ": " + first[:min(len(first), 24)]
	}
	return path, label, read
}

// neverChanged are tools whose results stay as they are.
var neverChanged = []string{"Edit", "Write", "NotebookEdit", "TodoWrite", "MultiEdit", "write_file", "patch", "edit", "write"}

const floorTokens = 200

// walk shows every result of s through what stands before it.
func walk(t *testing.T, s session, count func(string) int) (sum tally) {
	t.Helper()
	ix := delta.NewIndex()
	calls := map[string]struct{ name, args string }{}
	later, results, written := 0, 0, map[int]bool{}
	for _, m := range s.Messages {
		if m.Role == "assistant" {
			later++
		}
	}
	for i, m := range s.Messages {
		if m.Role == "assistant" {
			later--
		}
		for _, c := range m.ToolCalls {
			calls[c.ID] = struct{ name, args string }{c.Function.Name, c.Function.Arguments}
			path, label, _ := fileOf(c.Function.Name, c.Function.Arguments)
			for _, a := range delta.Arguments(c.Function.Arguments) {
				written[ix.Len()] = true
				ix.Add(delta.Base{Message: i, Label: fmt.Sprintf("call %d (%s) %s", len(calls), label, a.Key), Path: path, Text: a.Value})
			}
		}
		if m.Role != "tool" {
			continue
		}
		results++
		c := calls[m.ToolCallID]
		path, label, read := fileOf(c.name, c.args)
		o := delta.Options{Count: count}
		if read {
			o.SamePathOnly = path
		}
		visible := m.Content
		one := tally{results: 1, tokens: count(visible)}
		if one.tokens >= floorTokens && !slices.Contains(neverChanged, c.name) {
			if r, ok := ix.Propose(visible, o); ok {
				requireSame(t, ix, r, visible)
				visible = r.Text
				one.saved, one.deltas, one.runs = one.tokens-count(visible), 1, r.Runs
				if r.Whole {
					one.whole = one.saved
				}
				for _, b := range r.Bases {
					if written[b] {
						one.argument += one.saved / len(r.Bases)
					}
				}
			}
		}
		weight := 125 + 10*later
		one.carried, one.carriedSaved = one.tokens*weight, one.saved*weight
		sum.add(one)
		ix.Add(delta.Base{Message: i, Block: "/content", Label: fmt.Sprintf("result %d (%s)", results, label), Path: path, Text: visible, IsRead: read})
	}
	return sum
}

func requireSame(t *testing.T, ix *delta.Index, r delta.Result, text string) {
	t.Helper()
	var used []delta.Base
	for _, b := range r.Bases {
		used = append(used, ix.Base(b))
	}
	back, err := delta.Expand(r.Text, used)
	require.NoError(t, err)
	require.Equal(t, text, back)
}

// TestSavedShareOfSessions walks the sessions of TOKEN_TERMINATOR_CORPUS, or one
// made here, checks every proposal and logs what each family saves.
func TestSavedShareOfSessions(t *testing.T) {
	t.Parallel()
	counter, err := tokens.Named("o200k_base")
	require.NoError(t, err)
	count := func(s string) int { return counter.Count([]byte(s)) }
	sessions := map[string][]session{"made here": {madeSession()}}
	if dir := os.Getenv("TOKEN_TERMINATOR_CORPUS"); dir != "" {
		sessions = readSessions(t, filepath.Join(dir, "sessions"))
	}
	var families []string
	for family := range sessions {
		families = append(families, family)
	}
	slices.Sort(families)
	var total tally
	var shares []float64
	for _, family := range families {
		var sum tally
		for _, s := range sessions[family] {
			one := walk(t, s, count)
			sum.add(one)
			if len(s.Messages) >= 30 {
				shares = append(shares, 100*float64(one.carriedSaved)/float64(max(1, one.carried)))
			}
		}
		t.Logf("%-20s %v", family, sum)
		total.add(sum)
	}
	t.Logf("%-20s %v", "total", total)
	slices.Sort(shares)
	if n := len(shares); n > 0 {
		t.Logf("sessions of 30 messages or more: %d, carried share %.1f / %.1f / %.1f", n, shares[n/4], shares[n/2], shares[n*3/4])
	}
	require.Greater(t, total.saved*100, total.tokens*10)
}

func readSessions(t *testing.T, dir string) map[string][]session {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	sessions := map[string][]session{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		require.NoError(t, err)
		var s session
		require.NoError(t, json.Unmarshal(raw, &s), f)
		family, _, _ := strings.Cut(filepath.Base(f), "--")
		sessions[family] = append(sessions[family], s)
	}
	return sessions
}

// madeSession writes a file, reads it, changes it, reads it again and runs a check
// after every change.
func madeSession() session {
	var s session
	call := func(name string, args map[string]any, result string) {
		raw, _ := json.Marshal(args)
		m := message{Role: "assistant"}
		m.ToolCalls = append(m.ToolCalls, struct {
			ID       string
			Function struct{ Name, Arguments string }
		}{ID: fmt.Sprint("call_", len(s.Messages))})
		m.ToolCalls[0].Function.Name, m.ToolCalls[0].Function.Arguments = name, string(raw)
		s.Messages = append(s.Messages, m, message{Role: "tool", ToolCallID: m.ToolCalls[0].ID, Content: result})
	}
	file := block(0, 60, "", "\n")
	call("Write", map[string]any{"file_path": "/a/steps.go", "content": file}, "written")
	for i := range 9 {
		call("Read", map[string]any{"file_path": "/a/steps.go"}, numberLines(file))
		file = strings.Replace(file, fmt.Sprintf("step%d(", 6*i), fmt.Sprintf("changed%d(", i), 1)
		call("Edit", map[string]any{"file_path": "/a/steps.go", "old_string": "step", "new_string": "changed"}, "done")
		call("Bash", map[string]any{"command": "go vet ./..."}, fmt.Sprintf("run %d\n%s%s", i, block(100, 30, "", "\n"), sourceText(uint64(500+i), 20)))
	}
	return s
}

func numberLines(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d→%s\n", i+1, line)
	}
	return b.String()
}
