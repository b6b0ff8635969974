package compile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/request"
	"token-terminator/turn"
)

// wild makes results and whole turns of random sessions.
type wild struct {
	rng  *rand.Rand
	seen []string // earlier results, so that texts come again whole, in part or edited
}

func (w *wild) text() string {
	if len(w.seen) > 0 && w.rng.IntN(3) == 0 {
		old := w.seen[w.rng.IntN(len(w.seen))]
		switch lines := strings.SplitAfter(old, "\n"); w.rng.IntN(4) {
		case 0:
			return old
		case 1:
			return strings.Join(lines[w.rng.IntN(len(lines)):], "")
		case 2:
			lines[w.rng.IntN(len(lines))] = "a line that was changed\n"
			return strings.Join(lines, "")
		default:
			return strings.ReplaceAll(old, "\n", "\r\n")
		}
	}
	n := 1 + w.rng.IntN(250)
	switch w.rng.IntN(9) {
	case 0, 1:
		return serviceLog(n, oddLine)
	case 2:
		return sourceFile(n / 3)
	case 3:
		return fmt.Sprintf(`{"items":[%s{"id":0,"state":"gone","n":1.50e3}]}`, strings.Repeat(`{"id": 1, "name": "abc", "state": "ready"}, `, n))
	case 4:
		inner, _ := json.Marshal(serviceLog(n, "Traceback (most recent call last):"))
		return `{"output": ` + string(inner) + `, "exit_code": 1}`
	case 5:
		return strings.Repeat("\x1b[32mok\x1b[0m 10%\r20%\r", n) + "done\n"
	case 6:
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "/usr/lib/node/modules/%d/index.js:%d: ünïcode 👩‍🚀 \u2028 %x\n", i%9, i, w.rng.Uint64())
		}
		return b.String()
	case 7:
		return "[Token Terminator: 1 of 2 lines shown. Whole text: token_terminator action=artifact_get artifact_id=a_00112233 tag=00000000]\n" + serviceLog(n, "")
	}
	return strings.Repeat("a word\x00", n%7)
}

// step adds an answer with one or two calls and their results, ids used again.
func (w *wild) step(c *chat) {
	tools := []string{"bash", "Read", "TodoWrite", "token_terminator", "fetch"}
	var calls, results []any
	for i := range 1 + w.rng.IntN(2) {
		id, tool := fmt.Sprintf("call_%d", i), tools[w.rng.IntN(len(tools))]
		text := w.text()
		w.seen = append(w.seen, text)
		args, _ := json.Marshal(map[string]any{"command": "run it", "file_path": "/src/a.go", "content": w.seen[w.rng.IntN(len(w.seen))]})
		calls = append(calls, function(id, tool, string(args)))
		var content any = text
		if w.rng.IntN(5) == 0 {
			content = []any{map[string]any{"type": "text", "text": text}, map[string]any{"type": "text", "text": "and " + text}}
		}
		results = append(results, map[string]any{"role": "tool", "tool_call_id": id, "content": content})
	}
	c.raw(map[string]any{"role": "assistant", "content": nil, "tool_calls": calls})
	w.rng.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	for _, r := range results {
		c.raw(r.(map[string]any))
	}
	if w.rng.IntN(4) == 0 {
		c.user("go on, " + w.text())
	}
}

// pin answers as a vault in any mood: all proven, some proofs missing, longer ids,
// another id after a collision, or nothing stored.
func (w *wild) pin(ev turn.Evidence) turn.Pinned {
	pinned := prove(ev)
	switch w.rng.IntN(5) {
	case 0:
		return turn.Pinned{Reason: turn.VaultFull}
	case 1:
		for _, a := range ev.Artifacts {
			if w.rng.IntN(2) == 0 {
				delete(pinned.Proofs, a.Digest)
			}
		}
	case 2:
		for digest, proof := range pinned.Proofs {
			if w.rng.IntN(2) == 0 {
				proof.Artifact = digest.LongID()
			}
			proof.Shown = string(proof.Artifact[:2+turn.MinShownHex+w.rng.IntN(20)])
			pinned.Proofs[digest] = proof
		}
	}
	return pinned
}

// Over random sessions with failing vaults, rewinds and restarts: the caller's bytes
// stay; what goes out is the original or strictly smaller and gives the original back
// from the old strings its forms name; and it begins with the bytes of the turn before.
func TestRandomSessionsKeepEveryPromise(t *testing.T) {
	t.Parallel()
	seed := uint64(20261130)
	t.Logf("seed %d", seed)
	reduced := 0
	for run := range uint64(25) {
		w := &wild{rng: rand.New(rand.NewPCG(seed, run))}
		c := newChain(t, nil)
		c.pin = w.pin
		talk := newChat()
		type sent struct {
			messages int
			bytes    []byte // up to the end of the last message
		}
		var past []sent
		for range 12 {
			if len(past) > 2 && w.rng.IntN(6) == 0 { // a rewind: the session goes on from an earlier turn
				past = past[:1+w.rng.IntN(len(past)-1)]
				talk.messages = talk.messages[:past[len(past)-1].messages:past[len(past)-1].messages]
			}
			w.step(talk)
			body := talk.body()
			before := bytes.Clone(body)
			out := c.turn(body)
			require.Equal(t, string(before), string(body), "run %d", run)
			bytesOut := body
			if out.Body != nil {
				reduced++
				bytesOut = out.Body
				requireRestored(t, body, out.Body, out.Edits, c.stored)
			}
			if n := len(past); n > 0 {
				require.True(t, out.Epoch != nil || bytes.HasPrefix(bytesOut, past[n-1].bytes), "run %d, turn %d", run, n)
			}
			doc, err := request.Parse(bytesOut)
			require.NoError(t, err)
			past = append(past, sent{len(talk.messages), bytesOut[:doc.Messages[len(doc.Messages)-1].Span.End]})
			if w.rng.IntN(5) == 0 { // a restart: only what was stored comes back
				fresh := newChain(t, nil)
				fresh.memory, fresh.stored, fresh.pin = fresh.memory.With(nodesOf(t, c, body)), c.stored, w.pin
				c = fresh
			}
		}
	}
	require.Greater(t, reduced, 100)
}

// requireRestored puts the old strings back and demands the caller's request.
func requireRestored(t *testing.T, body, out []byte, edits []turn.Edit, stored map[turn.Digest]string) {
	t.Helper()
	doc, err := request.Parse(out)
	require.NoError(t, err)
	var back []turn.Edit
	for _, e := range edits {
		old, ok := stored[e.Before]
		require.True(t, ok, "%s has no stored original", e.Pointer)
		back = append(back, turn.Edit{Pointer: e.Pointer, Before: turn.Sum(e.Value), Value: old})
	}
	restored, err := doc.Apply(back)
	require.NoError(t, err)
	want, err := request.Canonical(body)
	require.NoError(t, err)
	got, err := request.Canonical(restored)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
}
