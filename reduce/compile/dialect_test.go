package compile_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
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
		for at := 0; at < len(d.Raw); at++ {
			if end, ok := spans[at]; ok {
				rest.WriteString("§")
				at = end - 1
				continue
			}
			rest.WriteByte(d.Raw[at])
		}
		return rest.String()
	}
	require.Equal(t, cut(old), cut(doc))
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
		for _, one := range s.Turns() {
			chat, err := request.WithTool(one.Request(), []byte(reduce.RecoveryTool))
			require.NoError(t, err)
			var texts, forms []string
			for n, speaker := range all {
				out, body := speaker.turn(t, chat)
				gotTexts, gotForms := shownResults(t, body, out)
				if n == 0 {
					texts, forms = gotTexts, gotForms
					continue
				}
				require.Equal(t, forms, gotForms, "%s %s turn %d", s.ID, speaker.name, one.Index)
				require.Equal(t, texts, gotTexts, "%s %s turn %d", s.ID, speaker.name, one.Index)
				compared[speaker.name] += len(out.Blocks)
			}
		}
	}
	require.Greater(t, compared["anthropic"], 50)
	require.Equal(t, compared["anthropic"], compared["responses"])
}

// bundledSessions are the sessions that ship with the project, those a Messages API
// host could not have written aside.
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
	return all
}

// Random conversations, calls in parallel, ids used again, results in parts: the
// promises hold in every dialect, and the forms are the same ones.
func TestRandomConversationsInEveryDialect(t *testing.T) {
	t.Parallel()
	for run := range uint64(12) {
		w := &wild{rng: rand.New(rand.NewPCG(20261201, run))}
		all := speakers(t, func(s *compile.Settings) { s.NoEpochs = run%2 == 0 })
		talk := newChat()
		for n := range 10 {
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
	for run := range uint64(10) {
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
