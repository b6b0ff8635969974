package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// bigRequest is a request of about 400 messages and 800 KB: prose, code with many
// escapes, JSON results, calls, and a tool list. The same seed gives the same bytes.
func bigRequest(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	var msgs []any
	msgs = append(msgs, map[string]any{"role": "system", "content": prose(rng, 4000)})
	for i := 0; len(msgs) < 400; i++ {
		id := fmt.Sprintf("call_%d", i)
		args, _ := json.Marshal(map[string]any{"command": prose(rng, 120), "note": "a \"quoted\" word\n"})
		msgs = append(msgs,
			map[string]any{"role": "assistant", "content": prose(rng, 80), "tool_calls": []any{map[string]any{
				"id": id, "type": "function", "function": map[string]any{"name": "shell", "arguments": string(args)}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": output(rng, i)})
	}
	var tools []any
	for i := range 30 {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
			"name": fmt.Sprintf("tool_%d", i), "description": prose(rng, 300), "parameters": map[string]any{
				"type": "object", "properties": map[string]any{"command": map[string]any{"type": "string"}}}}})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]any{"model": "gpt-5.6-sol", "messages": msgs, "tools": tools, "max_tokens": 8192})
	return bytes.TrimSpace(b.Bytes())
}

func prose(rng *rand.Rand, n int) string {
	words := []string{"the", "test", "fails", "because", "sum.go", "returns", "value", "of", "line", "42"}
	var b strings.Builder
	for b.Len() < n {
		if rng.IntN(200) == 0 {
			b.WriteString("naïve ")
		}
		b.WriteString(words[rng.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

func output(rng *rand.Rand, i int) string {
	var b strings.Builder
	for b.Len() < 3600 {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "2026-11-30T14:%02d:%02d INFO worker %d: %s\n", rng.IntN(60), rng.IntN(60), rng.IntN(9), prose(rng, 60))
		case 1:
			fmt.Fprintf(&b, "\tif x[%d] == \"%d\" {\n\t\treturn nil, fmt.Errorf(\"%%w\", err)\n\t}\n", rng.IntN(100), rng.IntN(1000))
		default:
			fmt.Fprintf(&b, `{"id":%d,"name":"%s","ok":true},`, rng.IntN(1e6), prose(rng, 20))
		}
	}
	return b.String()
}

// someEdits replaces every seventh tool result.
func someEdits(t testing.TB, d *Doc) []turn.Edit {
	var edits []turn.Edit
	for i, m := range d.Messages {
		if m.Role == "tool" && i%7 == 0 {
			old, err := d.Value(m.Texts[0])
			require.NoError(t, err)
			edits = append(edits, turn.Edit{Pointer: d.Pointer(i, m.Texts[0].Block), Before: turn.Sum(old), Value: "shorter: " + strings.ToValidUTF8(old[:min(100, len(old))], "")})
		}
	}
	return edits
}

// largest is the request of the session with the most messages.
func largest(all []session) []byte {
	most := all[0]
	for _, s := range all {
		if len(s.messages) > len(most.messages) {
			most = s
		}
	}
	return most.requestOf(len(most.messages))
}

// BenchmarkScanSplice compares the scan and the splice with copies of the same
// bytes and with decoding and encoding them, also by the best run of each: on a machine
// with other work the mean says more of that work. Run: go test -bench ScanSplice ./request
func BenchmarkScanSplice(b *testing.B) {
	raw := bigRequest(1)
	if os.Getenv("TOKEN_TERMINATOR_CORPUS") != "" {
		raw = largest(recorded(b))
	}
	d, err := Parse(raw)
	require.NoError(b, err)
	edits := someEdits(b, d)
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			least := time.Duration(math.MaxInt64)
			for b.Loop() {
				from := time.Now()
				err := f()
				least = min(least, time.Since(from))
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(least.Nanoseconds()), "best-ns/op")
		})
	}
	dst := make([]byte, len(raw))
	run("memcpy", func() error {
		copy(dst, raw)
		return nil
	})
	run("copy", func() error { // into new memory, which a new request needs
		dst = append(make([]byte, 0, len(raw)), raw...)
		return nil
	})
	run("parse", func() error {
		_, err := Parse(raw)
		return err
	})
	run("parse_and_apply", func() error {
		d, err := Parse(raw)
		if err != nil {
			return err
		}
		_, err = d.Apply(edits)
		return err
	})
	run("encoding_json", func() error {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		_, err := json.Marshal(v)
		return err
	})
}

// BenchmarkCanonical measures the canonical form, the cuts and the chain.
func BenchmarkCanonical(b *testing.B) {
	raw := bigRequest(1)
	unsorted := bytes.ReplaceAll(raw, []byte(`"role":"tool"`), []byte(`"a":1,"role":"tool"`))
	d, err := Parse(unsorted)
	require.NoError(b, err)
	canonical, err := Canonical(unsorted)
	require.NoError(b, err)
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
	run("already", func() { _, _ = Canonical(canonical) })
	run("unsorted", func() { _, _ = Canonical(unsorted) })
	run("segments", func() { _, _ = d.Segments() })
	run("chain", func() { d.Chain() })
}
