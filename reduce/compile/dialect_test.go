package compile_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/internal/testkit"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/turn"
)

// spelling writes a chat request in one dialect.
type spelling struct {
	name string
	as   func(chat []byte) ([]byte, error)
}

func spellings() []spelling {
	return []spelling{
		{"chat", func(chat []byte) ([]byte, error) { return chat, nil }},
		{"anthropic", testkit.AsAnthropic},
		{"responses", testkit.AsResponses},
	}
}

// shownResults lists every string of every result as it stands in a body, and the form
// it has in the outcome.
func shownResults(t *testing.T, body []byte, out compile.Outcome) (texts, forms []string) {
	t.Helper()
	if out.Body != nil {
		body = out.Body
	}
	doc, err := request.Parse(body)
	require.NoError(t, err)
	for i := range doc.Messages {
		for _, r := range doc.Results(i) {
			for _, text := range r.Texts {
				value, err := doc.Value(text)
				require.NoError(t, err)
				form := ""
				for _, b := range out.Blocks {
					if b.Message == i && b.Decision.Block == text.Block {
						form = string(b.Decision.Form) + " " + string(b.Decision.Reason) + " " + b.Decision.Tool + " " + b.Decision.Kind
					}
				}
				texts, forms = append(texts, value), append(forms, form)
			}
		}
	}
	return texts, forms
}

// requireOnlyEdited demands that two bodies differ inside the edited strings alone.
func requireOnlyEdited(t *testing.T, before, after []byte, edits []turn.Edit) {
	t.Helper()
	old, err := request.Parse(before)
	require.NoError(t, err)
	doc, err := request.Parse(after)
	require.NoError(t, err)
	cut := func(d *request.Doc) string {
		spans := map[int]int{}
		for _, e := range edits {
			_, text, err := d.At(e.Pointer)
			require.NoError(t, err)
			spans[text.Span.Start] = text.Span.End
		}
		var rest strings.Builder
		from := 0
		for _, start := range slices.Sorted(maps.Keys(spans)) {
			rest.Write(d.Raw[from:start])
			rest.WriteString("§")
			from = spans[start]
		}
		rest.Write(d.Raw[from:])
		return rest.String()
	}
	require.True(t, cut(old) == cut(doc))
}

// spoken runs one conversation in every dialect.
type spoken struct {
	spelling
	chain *chain
	last  []byte // what was sent before, up to the end of its last message
}

func speakers(t *testing.T, change func(*compile.Settings)) []*spoken {
	var all []*spoken
	for _, s := range spellings() {
		all = append(all, &spoken{spelling: s, chain: newChain(t, change)})
	}
	return all
}

// turn sends one request and holds it to what must be the same in every dialect.
func (s *spoken) turn(t *testing.T, chat []byte) (compile.Outcome, []byte) {
	t.Helper()
	body, err := s.as(chat)
	require.NoError(t, err)
	before := bytes.Clone(body)
	out := s.chain.turn(body)
	require.Equal(t, before, body)
	sent := body
	if out.Body != nil {
		sent = out.Body
		requireRestored(t, body, sent, out.Edits, s.chain.stored)
		requireOnlyEdited(t, body, sent, out.Edits)
	}
	if s.last != nil {
		require.True(t, out.Epoch != nil || bytes.HasPrefix(sent, s.last), "%s: the prefix stays", s.name)
	}
	doc, err := request.Parse(sent)
	require.NoError(t, err)
	s.last = bytes.Clone(sent[:doc.Messages[len(doc.Messages)-1].Span.End])
	return out, body
}

// B5, B16: what a chat's results become, the same results become in every dialect.
func TestB5EveryDialectGetsTheFormsOfTheChat(t *testing.T) {
	t.Parallel()
	compared := map[string]int{}
	for _, s := range bundledSessions(t) {
		all := speakers(t, func(s *compile.Settings) { s.NoEpochs = true })
		turns := s.Turns()
		for n, one := range turns {
			if n%(1+len(turns)/8) != 0 && n != len(turns)-1 {
				continue // memory is asked all the same, about several messages at once
			}
			chat, err := request.WithTool(one.Request(), []byte(reduce.RecoveryTool))
			require.NoError(t, err)
			var texts, forms []string
			small := false
			for n, speaker := range all {
				out, body := speaker.turn(t, chat)
				gotTexts, gotForms := shownResults(t, body, out)
				small = small || out.Reason == turn.SmallRequest
				if n == 0 {
					texts, forms = gotTexts, gotForms
					continue
				}
				if small || out.Reason == turn.RoleOrder {
					continue // the size gate is over the whole request; the Messages API wants a user message first
				}
				require.Equal(t, forms, gotForms, "%s %s turn %d: %s", s.ID, speaker.name, one.Index, out.Reason)
				require.Equal(t, texts, gotTexts, "%s %s turn %d: %s", s.ID, speaker.name, one.Index, out.Reason)
				compared[speaker.name] += len(out.Blocks)
			}
		}
	}
	t.Log(compared)
	require.Greater(t, compared["anthropic"], 50)
	require.GreaterOrEqual(t, compared["responses"], compared["anthropic"])
}

// bundledSessions are the sessions that ship with the project, and those of the corpus
// that TOKEN_TERMINATOR_CORPUS names.
func bundledSessions(t *testing.T) []datasets.Session {
	t.Helper()
	names, err := fs.Glob(datasets.Files(), "sessions/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	var all []datasets.Session
	for _, name := range names {
		data, err := fs.ReadFile(datasets.Files(), name)
		require.NoError(t, err)
		got, problems := datasets.Read(name, data, datasets.Auto)
		require.Empty(t, problems)
		all = append(all, got...)
	}
	if dir := os.Getenv("TOKEN_TERMINATOR_CORPUS"); dir != "" {
		got, _ := datasets.Load([]string{filepath.Join(dir, "sessions")}, datasets.Auto)
		all = append(all, got...)
	}
	return all
}

// Random conversations, calls in parallel, ids used again, results in parts: the
// promises hold in every dialect, and the forms are the same ones.
func TestRandomConversationsInEveryDialect(t *testing.T) {
	t.Parallel()
	for run := range uint64(6) {
		w := &wild{rng: rand.New(rand.NewPCG(20261201, run))}
		all := speakers(t, func(s *compile.Settings) { s.NoEpochs = run%2 == 0 })
		talk := newChat()
		for n := range 8 {
			w.step(talk)
			var texts, forms []string
			for k, speaker := range all {
				out, body := speaker.turn(t, talk.body())
				gotTexts, gotForms := shownResults(t, body, out)
				if k == 0 {
					texts, forms = gotTexts, gotForms
				} else if run%2 == 0 {
					require.Equal(t, forms, gotForms, "run %d %s turn %d", run, speaker.name, n)
					require.Equal(t, texts, gotTexts, "run %d %s turn %d", run, speaker.name, n)
				}
			}
		}
	}
}

// A vault in any mood, a rewind or a restart breaks no promise in any dialect.
func TestFailingVaultsInEveryDialect(t *testing.T) {
	t.Parallel()
	for run := range uint64(4) {
		for _, s := range spellings()[1:] {
			w := &wild{rng: rand.New(rand.NewPCG(20261202, run))}
			speaker := &spoken{spelling: s, chain: newChain(t, nil)}
			speaker.chain.pin = w.pin
			talk := newChat()
			for range 10 {
				w.step(talk)
				_, body := speaker.turn(t, talk.body())
				if w.rng.IntN(4) == 0 {
					fresh := newChain(t, nil)
					fresh.memory, fresh.stored, fresh.pin = fresh.memory.With(nodesOf(t, speaker.chain, body)), speaker.chain.stored, w.pin
					speaker.chain = fresh
				}
			}
		}
	}
}

// An epoch puts the same results away in every dialect: what the user and the calls
// name stays in sight, though results stand in user messages in one of them, and the
// receipts stay after it.
func TestReceiptsInEveryDialect(t *testing.T) {
	t.Parallel()
	all := speakers(t, nil)
	talk := newChat()
	w := &wild{rng: rand.New(rand.NewPCG(20261203, 1))}
	wanted := prose("wanted", 100)
	talk.call("fetch", cmd("w"), wanted)
	turnOf := func() (texts []string, put int) {
		for n, speaker := range all {
			out, body := speaker.turn(t, talk.body())
			got, forms := shownResults(t, body, out)
			receipts := 0
			for _, form := range forms {
				if strings.HasPrefix(form, string(turn.Receipt)) {
					receipts++
				}
			}
			if n == 0 {
				texts, put = got, receipts
				continue
			}
			require.Equal(t, texts, got, speaker.name)
			require.Equal(t, put, receipts, speaker.name)
		}
		return texts, put
	}
	for i := range 5 {
		var calls, results []any
		for k, id := range []string{"a", "b", "c"} {
			text := prose(fmt.Sprint("old", i, k), 60)
			calls = append(calls, function(id, "fetch", `{"command":"x"}`))
			results = append(results, map[string]any{"role": "tool", "tool_call_id": id, "content": []any{text, marked(text)}[w.rng.IntN(2)]})
		}
		talk.raw(map[string]any{"role": "assistant", "content": "looking", "tool_calls": calls})
		for _, r := range results {
			talk.raw(r.(map[string]any))
		}
		_, put := turnOf()
		require.Zero(t, put)
	}
	talk.call("fetch", cmd("step"), "ok").user("What about " + named("wanted", 50) + "?")
	for _, speaker := range all {
		speaker.chain.facts.Cold = true
	}
	texts, put := turnOf()
	require.GreaterOrEqual(t, put, 3)
	require.Equal(t, wanted, texts[0], "the user named a value of it")
	for _, speaker := range all {
		speaker.chain.facts.Cold = false
	}
	talk.call("fetch", cmd("step"), "ok")
	_, again := turnOf()
	require.Equal(t, put, again)
}
