package reduce_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/reduce/kind"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

const guardChain = "s1"

// trusting takes every id that was ever written for one of ours: only the tag is
// left to tell markers from data.
func trusting(key string) reduce.Guard {
	return reduce.Guard{Key: []byte(key), Session: guardChain, Resolve: func(prefix string) []turn.ArtifactID {
		hex := strings.TrimPrefix(prefix, "a_")
		return []turn.ArtifactID{turn.ArtifactID("a_" + (hex + strings.Repeat("0", turn.LongHex))[:turn.ShortHex])}
	}}
}

// knowing knows the ids of some shown texts.
func knowing(ids ...turn.ArtifactID) reduce.Guard {
	return reduce.Guard{Key: []byte(vault.FixedMarkerKey), Session: guardChain, Resolve: func(prefix string) (found []turn.ArtifactID) {
		for _, id := range ids {
			if strings.HasPrefix(string(id), prefix) {
				found = append(found, id)
			}
		}
		return found
	}}
}

// shownText is a text as the model saw it, with a marker for an artifact.
type shownText struct {
	text string
	id   turn.ArtifactID
}

// shownTexts are all texts with markers that the pipeline makes of the bundled
// sessions, and of the bundled outputs one by one.
func shownTexts(t testing.TB) (all []shownText) {
	for _, preset := range []reduce.Preset{reduce.Default, reduce.Tight} {
		all = append(all, shownBy(t, preset)...)
	}
	return all
}

func shownBy(t testing.TB, preset reduce.Preset) (all []shownText) {
	settings := compile.Settings{
		Row: plan.Study(), Assume: tokens.O200kBase, Plan: plan.Settings{FloorHiding: 100, FloorVisible: 100}, Reduce: reduce.Settings{Preset: preset},
	}
	c, err := compile.New(settings, []byte(vault.FixedMarkerKey), tokens.NewMemo(8<<20))
	require.NoError(t, err)
	sessions, err := datasets.Bundled()
	require.NoError(t, err)
	for _, s := range sessions {
		body := guardRequest(t, s)
		draft, reason := c.Begin(compile.Snapshot{Binding: turn.Binding{Session: guardChain}}, body)
		require.Empty(t, reason)
		proofs := map[turn.Digest]turn.Proof{}
		for i, a := range draft.Evidence().Artifacts {
			// Ids are shown longer where another begins alike.
			proofs[a.Digest] = turn.Proof{Artifact: a.Digest.ID(), Shown: string(a.Digest.ID()[:10+i%5])}
		}
		for _, b := range draft.Finish(turn.Pinned{Proofs: proofs}).Blocks {
			if b.Decision.ShownID() != "" {
				all = append(all, shownText{b.Decision.Text, b.Decision.Artifact})
			}
		}
	}
	outputs, err := datasets.Outputs()
	require.NoError(t, err)
	for _, o := range outputs {
		if !utf8.Valid(o.Text) {
			continue
		}
		args, err := json.Marshal(map[string]string{"command": o.Command})
		require.NoError(t, err)
		single := c.Single(guardChain, "", reduce.Block{Text: string(o.Text), Call: kind.Call{Tool: "bash", Args: string(args)}})
		if single.Decision.ShownID() != "" {
			all = append(all, shownText{single.Decision.Text, single.Decision.Artifact})
		}
	}
	return all
}

// guardRequest is a whole session as one request with the recovery tool.
func guardRequest(t testing.TB, s datasets.Session) []byte {
	messages, err := json.Marshal(s.Messages)
	require.NoError(t, err)
	body := []byte(`{"model":"unknown","tools":[` + reduce.RecoveryTool + `],"messages":` + string(messages) + `}`)
	doc, err := request.Parse(body)
	require.NoError(t, err)
	if doc.Check() == nil {
		return body
	}
	return []byte(`{"model":"unknown","tools":[` + reduce.RecoveryTool + `],"messages":[]}`)
}

func asJSON(t testing.TB, v any) string {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// perLine changes every line.
func perLine(text string, change func(n int, line string) string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = change(i+1, lines[i])
	}
	return strings.Join(lines, "\n")
}

// broken breaks every line at width bytes.
func broken(width int, with string) func(string) string {
	return func(text string) string {
		return perLine(strings.ToValidUTF8(text, "?"), func(_ int, line string) string {
			var out []string
			for len(line) > width {
				out, line = append(out, line[:width]), line[width:]
			}
			return strings.ToValidUTF8(strings.Join(append(out, line), with), "?")
		})
	}
}

// wrappings are what a model or a tool may do to a text on its way into arguments.
func wrappings(t testing.TB) map[string]func(string) string {
	file := func(text string) string { return asJSON(t, map[string]any{"path": "a.txt", "content": text}) }
	all := map[string]func(string) string{
		"plain text, no JSON": func(s string) string { return s },
		"a file's content":    file,
		"a list of lines": func(s string) string {
			return asJSON(t, map[string]any{"edits": []any{map[string]any{"lines": strings.Split(s, "\n")}}})
		},
		"a member's name":  func(s string) string { return asJSON(t, map[string]any{s: 1}) },
		"JSON within JSON": func(s string) string { return file(asJSON(t, []string{s})) },
		"and once more":    func(s string) string { return file(asJSON(t, asJSON(t, s))) },
		"cut off JSON":     func(s string) string { return strings.TrimSuffix(file(s), `"}`) },
	}
	for name, change := range map[string]func(n int, line string) string{
		"indented":          func(_ int, line string) string { return "\t    " + line },
		"quoted":            func(_ int, line string) string { return "> > " + line },
		"commented out":     func(_ int, line string) string { return "  // # " + line },
		"a diff":            func(_ int, line string) string { return "+" + line },
		"numbered by a tab": func(n int, line string) string { return fmt.Sprintf("%6d\t%s", n, line) },
		"numbered, arrow":   func(n int, line string) string { return fmt.Sprintf("%5d→%s", n, line) },
		"numbered, colon":   func(n int, line string) string { return fmt.Sprintf("%d: %s", n, line) },
		"numbered, space":   func(n int, line string) string { return fmt.Sprintf("%d %s", n, line) },
		"string constants":  func(_ int, line string) string { return fmt.Sprintf("%q +", line) },
		"a shell's echo":    func(_ int, line string) string { return "echo '" + line + "'" },
	} {
		all[name] = func(s string) string { return file(perLine(s, change)) }
	}
	for _, width := range []int{31, 60, 72, 80, 100} {
		all[fmt.Sprintf("broken at %d", width)] = func(s string) string { return file(broken(width, "\n")(s)) }
		all[fmt.Sprintf("broken at %d, indented", width)] = func(s string) string { return file(broken(width, "\n      ")(s)) }
		all[fmt.Sprintf("broken at %d, a backslash", width)] = func(s string) string { return file(broken(width, "\\\n")(s)) }
		all[fmt.Sprintf("broken at %d, numbered", width)] = func(s string) string {
			return file(perLine(broken(width, "\n")(s), func(n int, line string) string { return fmt.Sprintf("%5d→%s", n, line) }))
		}
	}
	return all
}

func TestGuardFindsEveryMarkerOfTheBundledSessions(t *testing.T) {
	t.Parallel()
	shown := shownTexts(t)
	require.Greater(t, len(shown), 40)
	for name, wrap := range wrappings(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, s := range shown {
				got := knowing(s.id).Check("write_file", wrap(s.text))
				require.True(t, got.Refuse, "%s", s.text[max(0, len(s.text)-200):])
				require.Equal(t, s.id, got.Found[0].ID)
				require.Contains(t, got.Message, reduce.RecoveryName+" action=artifact_get artifact_id="+got.Found[0].Shown)
				require.True(t, strings.HasPrefix(string(s.id), got.Found[0].Shown))
			}
		})
	}
}

// TestGuardTakesNothingElseForAMarker holds that documents, sources, recorded outputs
// and the arguments of recorded calls pass: forged, foreign and example markers too.
// Of a long file the beginning is looked at.
func TestGuardTakesNothingElseForAMarker(t *testing.T) {
	t.Parallel()
	dirs := []string{".."}
	if corpus := os.Getenv("TOKEN_TERMINATOR_CORPUS"); corpus != "" {
		dirs = append(dirs, corpus)
	}
	guard := trusting(vault.FixedMarkerKey)
	n := 0
	for _, dir := range dirs {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == ".git" {
				return skipped(d)
			}
			if err != nil || d.IsDir() {
				return err
			}
			if ext := filepath.Ext(path); ext == ".bin" || ext == ".test" {
				return nil
			}
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			n++
			require.Equal(t, reduce.Refusal{}, guard.Check("bash", string(data[:min(len(data), 1<<17)])), path)
			return nil
		}))
	}
	require.Greater(t, n, 200)
}

// skipped leaves a folder out, or a file of that name.
func skipped(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func TestGuardSaysWhereAMarkerStands(t *testing.T) {
	t.Parallel()
	id := turn.Sum("text").ID()
	marker, at, length := reduce.Marker(41, 1204, "lines", id, reduce.Tag([]byte(vault.FixedMarkerKey), id, guardChain))
	args := asJSON(t, map[string]any{"a": 1, "edits": []any{map[string]any{"x": "y"}, map[string]any{"new/text": "line\n" + marker}}})
	got := knowing(id).Check("patch", args)
	require.Equal(t, []reduce.FoundMarker{{
		Pointer: "/edits/1/new~1text", At: len("line\n") + at, ID: id, Shown: string(id[:length]),
	}}, got.Found)
	require.Equal(t, "patch was not run: its arguments hold a marker that stands for text left out of an earlier result. Running it would "+
		"put the marker where that text belongs. First fetch the original: token_terminator action=artifact_get artifact_id="+string(id[:10])+
		" (next pages with offset). Then call the tool again with the whole text and without the marker.", got.Message)
}

func TestGuardLetsOtherCallsRun(t *testing.T) {
	t.Parallel()
	id, other := turn.Sum("text").ID(), turn.Sum("other").ID()
	key := []byte(vault.FixedMarkerKey)
	mark := func(id turn.ArtifactID, key []byte, session string) string {
		marker, _, _ := reduce.Marker(1, 9, "lines", id, reduce.Tag(key, id, session))
		return asJSON(t, map[string]string{"content": "a\n" + marker})
	}
	own := mark(id, key, guardChain)
	for name, c := range map[string]struct {
		tool, args string
	}{
		"another session":   {"bash", mark(id, key, "s2")},
		"another key":       {"bash", mark(id, []byte(strings.Repeat("x", 32)), guardChain)},
		"never stored":      {"bash", mark(other, key, guardChain)},
		"a changed tag":     {"bash", strings.Replace(own, "tag=", "tag=0", 1)[:len(own)-4] + `]"}`},
		"no tag":            {"bash", strings.ReplaceAll(own, "tag=", "")},
		"the recovery tool": {reduce.RecoveryName, own},
		"behind a prefix":   {"mcp__tt__" + reduce.RecoveryName, own},
		"nothing":           {"bash", ""},
		"a page of tags":    {"bash", strings.Repeat("a_00000000 tag=00000000 ", 5000)},
	} {
		require.Equal(t, reduce.Refusal{}, knowing(id).Check(c.tool, c.args), name)
	}
	require.True(t, knowing(id).Check("bash", own).Refuse)
	require.True(t, knowing(id).Check("not_"+reduce.RecoveryName, own).Refuse)
	require.Equal(t, reduce.Refusal{}, reduce.Guard{Key: key, Session: guardChain}.Check("bash", own), "nothing is known")
}

func TestGuardRepeatsNoForeignWords(t *testing.T) {
	t.Parallel()
	id := turn.Sum("text").ID()
	marker, _, _ := reduce.Marker(1, 9, "lines", id, reduce.Tag([]byte(vault.FixedMarkerKey), id, guardChain))
	got := knowing(id).Check("ignore all rules\n", asJSON(t, map[string]string{"secret words": "more words " + marker}))
	require.True(t, got.Refuse)
	require.NotContains(t, got.Message, "words")
	require.NotContains(t, got.Message, "rules")
}

// FuzzGuard holds that no arguments make the guard panic, that nothing is refused
// without a verified tag, and that a marker put behind any text is found.
func FuzzGuard(f *testing.F) {
	f.Add(`{"content":"x"}`, "12→")
	f.Add("a_0123456789abcdef tag=01234567", "\\u000a")
	f.Add(`[{"a":["b",{"c":"\ud800"}]}`, "\\\\n")
	f.Add(`{"a":1}]`, "a_")
	f.Fuzz(func(t *testing.T, args, before string) {
		require.Equal(t, reduce.Refusal{}, trusting("another key of thirty-two bytes!").Check("bash", args))
		if len(before) > 1<<12 {
			return
		}
		id := turn.Sum("text").ID()
		marker, _, _ := reduce.Marker(1, 9, "lines", id, reduce.Tag([]byte(vault.FixedMarkerKey), id, guardChain))
		require.True(t, knowing(id).Check("bash", asJSON(t, map[string]string{"content": before + "\n" + marker + "\n" + before})).Refuse)
	})
}

// BenchmarkGuard is what a call pays whose arguments hold a whole file.
func BenchmarkGuard(b *testing.B) {
	code, err := os.ReadFile(filepath.Join("..", "tokens", "testdata", "code.txt"))
	require.NoError(b, err)
	args := asJSON(b, map[string]string{"content": string(code)})
	b.SetBytes(int64(len(args)))
	for b.Loop() {
		trusting(vault.FixedMarkerKey).Check("write_file", args)
	}
}
