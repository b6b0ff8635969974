package reduce_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/reduce"
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/reduce/layout"
	"token-terminator/testdata/needles"
	"token-terminator/turn"
)

func bash(command string) kind.Call {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return kind.Call{Tool: "bash", Args: string(args)}
}

func settings(p reduce.Preset) reduce.Settings {
	return reduce.Settings{Preset: p, Floor: 200, Hiding: 400}
}

const id = turn.ArtifactID("a_0123456789abcdef0123456789abcdef")

func TestPresets_LosslessGivesTheBytesBackAndEquivalentTheValues(t *testing.T) {
	t.Parallel()
	outputs, err := datasets.Outputs()
	require.NoError(t, err)
	lossless, equivalent := 0, 0
	for _, o := range outputs {
		block := reduce.Block{Text: string(o.Text), Call: kind.Call{Tool: o.Tool}}
		proposals, _ := settings(reduce.Lossless).Propose(block, nil)
		for _, p := range proposals {
			require.Equal(t, turn.LayoutLossless, p.Reason, o.Name)
			back, err := layout.Restore(p.Text)
			require.NoError(t, err, o.Name)
			require.Equal(t, string(o.Text), back, o.Name)
			lossless++
		}
		proposals, _ = settings(reduce.Equivalent).Propose(block, nil)
		for _, p := range proposals {
			require.False(t, p.Form.Hides(), o.Name)
			equivalent++
			if p.Reason == turn.LayoutEquivalent && json.Valid(o.Text) {
				require.JSONEq(t, string(o.Text), p.Text, o.Name)
			}
		}
	}
	require.Positive(t, lossless)
	require.Positive(t, equivalent)
}

func TestPropose_RendersOneMarkerAsTheLastLine(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 500 {
		fmt.Fprintf(&log, "10:00:%02d INFO served request in %d ms\n", i%60, i%7)
	}
	proposals, _ := settings(reduce.Default).Propose(reduce.Block{Text: log.String(), Call: bash("tail log")}, nil)
	found := false
	for _, p := range proposals {
		text, at, n := p.Render(id, "deadbeef")
		if !p.Form.Hides() {
			require.Equal(t, -1, at)
			continue
		}
		found = true
		require.Equal(t, string(id[:10]), text[at:at+n])
		require.True(t, strings.HasSuffix(text, "of 500 lines shown. Whole text: token_terminator action=artifact_get artifact_id=a_01234567 tag=deadbeef]"))
	}
	require.True(t, found)
}

func TestPropose_KeepsJSONValidAndItsMarkerInside(t *testing.T) {
	t.Parallel()
	var records []map[string]any
	for i := range 200 {
		records = append(records, map[string]any{"id": i, "state": "ready", "node": fmt.Sprintf("n-%d", i%4)})
	}
	for name, value := range map[string]any{"array": records, "object": map[string]any{"items": records, "next": nil}} {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		proposals, why := settings(reduce.Default).Propose(reduce.Block{Text: string(text), Call: kind.Call{Tool: "list_nodes"}}, nil)
		require.NotEmpty(t, proposals, "%s %s", name, why)
		shown, at, n := proposals[len(proposals)-1].Render(id, "deadbeef")
		require.True(t, json.Valid([]byte(shown)), shown)
		require.Equal(t, "a_01234567", shown[at:at+n])
		require.Contains(t, shown, "records left out")
	}
}

func TestPropose_WorksInsideAnEnvelopeAndLeavesItsOtherKeysAlone(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 500 {
		fmt.Fprintf(&log, "10:00:%02d INFO served request in %d ms\n", i%60, i%7)
	}
	field, err := json.Marshal(log.String())
	require.NoError(t, err)
	text := `{"exit_code": 1, "output": ` + string(field) + `, "cwd": "/srv/app", "error": null}`
	proposals, why := settings(reduce.Default).Propose(reduce.Block{Text: text, Call: bash("tail log")}, nil)
	require.NotEmpty(t, proposals, why)
	shown, _, _ := proposals[len(proposals)-1].Render(id, "deadbeef")
	require.True(t, strings.HasPrefix(shown, `{"exit_code": 1, "output": "`))
	require.True(t, strings.HasSuffix(shown, `, "cwd": "/srv/app", "error": null}`))
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(shown), &got))
	require.Contains(t, got["[omitted]"], "artifact_id=a_01234567")
	require.NotContains(t, got["output"], "artifact_id=")
}

func TestPropose_RefusesWhatIsNotItsBusiness(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("10:00:01 INFO served request in 5 ms\n", 500)
	cases := map[string]struct {
		block reduce.Block
		want  turn.Reason
	}{
		"a tool on the fixed list":  {reduce.Block{Text: long, Call: kind.Call{Tool: "write_file"}}, turn.ExcludedTool},
		"our own pages":             {reduce.Block{Text: long, Call: kind.Call{Tool: reduce.RecoveryName}}, turn.RecoveredText},
		"text that is not Unicode":  {reduce.Block{Text: long + "\xff", Call: bash("x")}, turn.BadUnicode},
		"more than eight megabytes": {reduce.Block{Text: strings.Repeat("x", reduce.MaxResult+1), Call: bash("x")}, turn.TooLarge},
		"a few words":               {reduce.Block{Text: "done", Call: bash("x")}, turn.BelowFloor},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proposals, why := settings(reduce.Default).Propose(test.block, nil)
			require.Empty(t, proposals)
			require.Equal(t, test.want, why)
		})
	}
}

func TestPropose_ALosslessLayoutIsOfferedBesideAView(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"one line many times":   strings.Repeat("WARN cache miss for key user:42\n", 10_000),
		"three lines in turn":   strings.Repeat("start\nwork on the queue\nstop\n", 4000),
		"a short repeated text": strings.Repeat("10:00:00 INFO heartbeat ok\n", 200),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proposals, _ := settings(reduce.Default).Propose(reduce.Block{Text: text, Call: bash("tail log")}, nil)
			require.True(t, slices.ContainsFunc(proposals, func(p reduce.Proposal) bool { return p.Reason == turn.LayoutLossless }))
		})
	}
}

func TestMarker_TagsProveWhoseItIs(t *testing.T) {
	t.Parallel()
	key := []byte(strings.Repeat("k", 32))
	tag := reduce.Tag(key, id, "session")
	text, _, _ := reduce.Marker(1, 2, "lines", id, tag)
	resolve := func(prefix string) (turn.ArtifactID, bool) { return id, strings.HasPrefix(string(id), prefix) }
	require.True(t, reduce.HoldsMarker("words\n"+text, key, "session", resolve))
	require.False(t, reduce.HoldsMarker("words\n"+text, key, "another session", resolve))
	require.False(t, reduce.HoldsMarker(strings.Replace(text, tag, "00000000", 1), key, "session", resolve))
	require.False(t, reduce.HoldsMarker(strings.Replace(text, "a_01234567", "a_99999999", 1), key, "session", resolve))
}

func FuzzPropose(f *testing.F) {
	for _, l := range needles.Logs() {
		f.Add(l.Text[:min(len(l.Text), 3000)], "kubectl logs x")
	}
	f.Add(`{"output":"a\nb","exit_code":0}`, "go test ./...")
	f.Add("[Token Terminator: 1 of 2 lines shown. Whole text: token_terminator action=artifact_get artifact_id=a_", "")
	f.Fuzz(func(t *testing.T, text, command string) {
		s := settings(reduce.Default)
		s.Floor, s.Hiding = 1, 1
		proposals, _ := s.Propose(reduce.Block{Text: text, Call: bash(command)}, nil)
		for _, p := range proposals {
			shown, at, n := p.Render(id, "deadbeef")
			if p.Form.Hides() && shown[at:at+n] != string(id[:10]) {
				t.Fatalf("the id does not stand where it is said to: %q", shown)
			}
			if json.Valid([]byte(text)) && !json.Valid([]byte(shown)) {
				t.Fatalf("JSON became something else: %q", shown)
			}
		}
	})
}

func BenchmarkReduce(b *testing.B) {
	for _, size := range []int{1, 8} {
		var text strings.Builder
		for text.Len() < size*1_000_000 {
			for _, l := range needles.Logs() {
				text.WriteString(l.Text)
			}
		}
		log := text.String()[:size*1_000_000]
		s := settings(reduce.Default)
		s.Form = form.Settings{Count: func(t string) int { return len(t) / 4 }}
		b.Run(fmt.Sprintf("log_%dMB", size), func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				s.Propose(reduce.Block{Text: log, Call: bash("kubectl logs api")}, nil)
			}
		})
		b.Run(fmt.Sprintf("sha256_%dMB", size), func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				sha256.Sum256([]byte(log))
			}
		})
	}
}

// Inside an envelope a text is put back in its shortest spelling. Where the source was
// spelled in another way the bytes cannot be had back from the text, so the lossless
// preset leaves that field alone.
func TestPresets_LosslessHoldsInsideAnEnvelope(t *testing.T) {
	t.Parallel()
	var listing strings.Builder
	for i := range 120 {
		fmt.Fprintf(&listing, "%6d\tfunc é%d(w http.ResponseWriter, r *http.Request) { serve(w, r, %d) }\n", i+1, i, i)
	}
	field, err := json.Marshal(listing.String())
	require.NoError(t, err)
	text := `{"output": ` + string(field) + `, "exit_code": 0}`
	proposals, _ := settings(reduce.Lossless).Propose(reduce.Block{Text: text, Call: bash("cat a.go")}, nil)
	require.Len(t, proposals, 1)
	require.Equal(t, turn.LayoutLossless, proposals[0].Reason)
	var got struct{ Output string }
	require.NoError(t, json.Unmarshal([]byte(proposals[0].Text), &got))
	back, err := layout.Restore(got.Output)
	require.NoError(t, err)
	require.Equal(t, listing.String(), back)

	ascii := strings.ReplaceAll(text, "é", `\u00e9`)
	proposals, _ = settings(reduce.Lossless).Propose(reduce.Block{Text: ascii, Call: bash("cat a.go")}, nil)
	require.Empty(t, proposals)
	proposals, _ = settings(reduce.Equivalent).Propose(reduce.Block{Text: ascii, Call: bash("cat a.go")}, nil)
	require.Len(t, proposals, 1)
	require.Equal(t, turn.LayoutEquivalent, proposals[0].Reason)
}

// The kind of a reduced envelope is that of the text that was left out.
func TestPropose_AnEnvelopeIsOfTheKindOfWhatItHides(t *testing.T) {
	t.Parallel()
	var log, words strings.Builder
	for i := range 500 {
		fmt.Fprintf(&log, "2026-11-30T10:%02d:%02dZ INFO served request in %d ms\n", i/60, i%60, i%7)
	}
	for i := range 24 {
		fmt.Fprintf(&words, "chapter %d tells of %x and of nothing else\n", i, i*i*7919)
	}
	text, err := json.Marshal(map[string]string{"output": log.String(), "stderr": words.String()})
	require.NoError(t, err)
	proposals, why := settings(reduce.Default).Propose(reduce.Block{Text: string(text), Call: bash("tail log")}, nil)
	require.NotEmpty(t, proposals, why)
	last := proposals[len(proposals)-1]
	require.True(t, last.Form.Hides())
	require.Equal(t, kind.Log, last.Kind)
	require.Equal(t, turn.CompressedLog, last.Reason)
}
