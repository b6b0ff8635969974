package evidence

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/testkit/corpusscore"
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/testdata/needles"
	"token-terminator/testdata/scenarios"
	"token-terminator/tokens"
)

const markerBytes = 150 // what the line that names the artifact adds

// shown gives a text as it would be shown, by evidence alone.
func shown(text, tool, command string) string {
	args, _ := json.Marshal(map[string]string{"command": command})
	k := kind.Detect(text, kind.Call{Tool: tool, Args: string(args)})
	v, reason := Compress(text, k, form.Settings{})
	if reason != "" {
		return text
	}
	return v.Head
}

func TestNeedlesStayVisible(t *testing.T) {
	t.Parallel()
	cases := needles.Cases(needles.Seed)
	require.Equal(t, cases, needles.Cases(needles.Seed), "the generator is not deterministic")
	for _, o := range needles.Check(cases, func(c needles.Case) string { return shown(c.Text, c.Tool, c.Command) }) {
		t.Logf("%-36s %d/%d visible, %d unchanged, size left %.2f", o.Class, o.Visible, o.Total, o.Unchanged, o.SizeLeft)
		require.NotZero(t, o.Total, o.Class)
		switch o.Class {
		case needles.Arbitrary:
		case needles.Hard:
			require.GreaterOrEqual(t, float64(o.Visible), 0.9*float64(o.Total), o.Lost)
			require.GreaterOrEqual(t, o.Total, 18)
		default:
			require.Empty(t, o.Lost, o.Class)
		}
	}
}

func TestScenariosKeepTheirEvidence(t *testing.T) {
	t.Parallel()
	results, err := scenarios.Run(func(s scenarios.Scenario) (string, error) {
		if s.Mixed || s.RetentionFails() || len(s.Text) < 1600 {
			return s.Text, nil // decided before this package is asked
		}
		return shown(s.Text, s.Tool, s.Command), nil
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(results), 15)
	for _, r := range results {
		require.Empty(t, r.Missing, r.Name)
		require.Empty(t, r.Fault, r.Name)
	}
}

// outputs gives the corpus to measure and whether it is the whole one. Without a
// corpus the bundled texts stand in for it.
func outputs(t *testing.T) (files fstest.MapFS, whole bool) {
	t.Helper()
	files = fstest.MapFS{}
	if dir := os.Getenv("TOKEN_TERMINATOR_CORPUS"); dir != "" {
		paths, err := filepath.Glob(filepath.Join(dir, "outputs", "*", "*"))
		require.NoError(t, err)
		for _, p := range paths {
			raw, err := os.ReadFile(p)
			require.NoError(t, err)
			rel, err := filepath.Rel(dir, p)
			require.NoError(t, err)
			files[filepath.ToSlash(rel)] = &fstest.MapFile{Data: raw}
		}
		return files, true
	}
	for _, l := range needles.Logs() {
		files["outputs/logs/"+l.Name] = &fstest.MapFile{Data: []byte(l.Text)}
	}
	for i, c := range needles.Cases(needles.Seed) {
		dir := map[string]string{needles.SearchHit: "shell/grep-", needles.TestFail: "gotest/"}[c.Class]
		if dir != "" {
			files["outputs/"+dir+string(rune('a'+i%26))] = &fstest.MapFile{Data: []byte(c.Text)}
		}
	}
	return files, false
}

func TestTokensRemoved(t *testing.T) {
	t.Parallel()
	files, whole := outputs(t)
	counter, err := tokens.Named(tokens.O200kBase)
	require.NoError(t, err)
	count := func(s string) int { return counter.Count([]byte(s)) }
	scores, err := corpusscore.Run(files, corpusscore.Families(), count, func(_, text string) string {
		before := count(text)
		if before < 400 {
			return text
		}
		out := shown(text, "", "")
		if out == text {
			return text
		}
		out += strings.Repeat("x ", markerBytes/4)
		if after := count(out); before-after < max(64, before/10) {
			return text
		}
		return out
	})
	require.NoError(t, err)
	least := map[string]float64{"logs": 45, "logs without the four largest": 30, "test output": 45, "search": 25}
	for _, s := range scores {
		floor, ours := least[s.Name]
		if !ours {
			continue
		}
		t.Logf("%-30s %.1f %% removed (%.1f %% by volume), %d files", s.Name, s.Removed, s.Plain, len(s.Files))
		require.Zero(t, s.Larger, s.Name)
		if whole {
			require.GreaterOrEqual(t, s.Removed, floor, s.Name)
		} else if s.Name != "logs without the four largest" {
			require.GreaterOrEqual(t, s.Removed, floor-10, s.Name)
		}
	}
}

func TestEveryOutputObeysTheLaw(t *testing.T) {
	t.Parallel()
	files, _ := outputs(t)
	for name, f := range files {
		text := string(f.Data)
		k := kind.Detect(text, kind.Call{})
		ks := []kind.Kind{k}
		if len(text) < 1<<20 {
			ks = append(ks, kind.Plain, kind.Log)
		}
		for _, k := range ks {
			v, reason := Compress(text, k, form.Settings{})
			if reason == "" {
				require.Less(t, len(v.Head), len(text), name)
				require.Empty(t, broken(text, v), "%s as %s", name, k)
			}
		}
	}
}
