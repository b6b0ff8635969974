//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"

	"token-terminator/actors"
	"token-terminator/datasets"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

const (
	benchMessages = 400
	benchResults  = 187
	benchTokens   = 235_000
	benchModel    = "gpt-4o"
)

// benchTexts are the texts the requests are made of: recorded outputs that are UTF-8.
func benchTexts(tb testing.TB) []datasets.Output {
	outputs, err := datasets.Outputs()
	require.NoError(tb, err)
	return slices.DeleteFunc(outputs, func(o datasets.Output) bool { return !utf8.Valid(o.Text) || len(o.Text) < 2000 })
}

// stretch is about size bytes of whole lines of a text, from a random place.
func stretch(r *rand.Rand, text []byte, size int) string {
	from := r.IntN(len(text))
	if size >= len(text) {
		from = 0
	} else {
		from = min(from, len(text)-size)
	}
	part := text[from:]
	if cut := bytes.IndexByte(part, '\n'); from > 0 && cut >= 0 && cut < len(part)-1 {
		part = part[cut+1:]
	}
	part = part[:min(size, len(part))]
	if cut := bytes.LastIndexByte(part, '\n'); cut > 0 {
		part = part[:cut+1]
	}
	return string(bytes.ToValidUTF8(part, nil))
}

// conversation is the benchmark's request, message by message. It has results tool
// results among 400 messages and about 235,000 tokens; the rest are words of the user
// and the model. The same arguments give the same bytes.
func conversation(tb testing.TB, results int, salt uint64) []string {
	r := rand.New(rand.NewPCG(20261130, salt))
	texts := benchTexts(tb)
	sizes := []int{300, 700, 1400, 2800, 5200, 9000, 1000, 2000}
	pick := func(size int) (datasets.Output, string) {
		o := texts[r.IntN(len(texts))]
		return o, stretch(r, o.Text, size)
	}
	message := func(v any) string { return string(encoded(tb, v)) }
	out := []string{message(map[string]string{"role": "system", "content": strings.Repeat("Work with care. ", 300)})}
	for n := 0; len(out) < benchMessages; n++ {
		if len(out)+1 < benchMessages && results > 0 {
			o, text := pick(sizes[n%len(sizes)] * 13 / 10)
			id := fmt.Sprintf("call_%d_%d", salt, n)
			command := o.Command
			if command == "" {
				command = "cat " + o.Name
			}
			out = append(out,
				message(map[string]any{"role": "assistant", "content": fmt.Sprintf("Step %d: look at %s.", n, o.Name), "tool_calls": []any{map[string]any{
					"id": id, "type": "function", "function": map[string]any{"name": "bash", "arguments": string(encoded(tb, map[string]string{"command": command}))},
				}}}),
				message(map[string]any{"role": "tool", "tool_call_id": id, "content": text}))
			results--
			if n%8 != 7 {
				continue
			}
		}
		role := []string{"user", "assistant"}[n%2]
		_, text := pick(sizes[n%len(sizes)] * 2 / 3)
		out = append(out, message(map[string]string{"role": role, "content": fmt.Sprintf("Note %d.\n%s", n, text)}))
	}
	return out[:benchMessages]
}

func encoded(tb testing.TB, v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	require.NoError(tb, enc.Encode(v))
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// benchTools are 28 declarations of 36 KB, and the recovery tool.
func benchTools(tb testing.TB) string {
	all := []string{reduce.RecoveryTool}
	for i := range 28 {
		properties := map[string]any{}
		for k := range 8 {
			properties[fmt.Sprintf("argument_%d", k)] = map[string]string{"type": "string", "description": fmt.Sprintf("What argument %d of tool %d means, in a sentence that a person wrote.", k, i)}
		}
		all = append(all, string(encoded(tb, map[string]any{"type": "function", "function": map[string]any{
			"name": fmt.Sprintf("tool_%d", i), "description": "One of many tools.", "parameters": map[string]any{"type": "object", "properties": properties},
		}})))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func benchBody(messages []string, tools string) []byte {
	return []byte(`{"messages":[` + strings.Join(messages, ",") + `],"model":"` + benchModel + `","tools":` + tools + `}`)
}

// benchPipeline is a pipeline with nothing remembered, over a new vault file with
// synchronous=FULL, wired as the program wires it.
func benchPipeline(b *testing.B) (p *pipeline, stop func()) {
	v, err := vault.Open(filepath.Join(b.TempDir(), "vault"), vault.Options{FixedKey: true})
	require.NoError(b, err)
	c, err := compile.New(compile.Settings{Row: plan.Study()}, v.MarkerKey(), tokens.NewMemo(64<<20))
	require.NoError(b, err)
	p, err = startPipeline(c, v)
	require.NoError(b, err)
	return p, func() { require.NoError(b, p.stop(context.Background())) }
}

func benchTurn(b *testing.B, p *pipeline, session string, number int, body []byte) actors.TurnReduced {
	out := p.reduce(context.Background(), request.Scope{RequestPurpose: request.Word("conversation")}, actors.ReduceTurn{
		Binding: turn.Binding{Home: "bench", Session: session, Turn: uint64(number)}, Body: body,
	})
	if out.Reason != turn.Reduced && out.Reason != turn.NothingToReduce {
		b.Fatal(out.Reason)
	}
	return out
}

// runTimes are single runs: wall time, and processor time of the whole process, which
// other work on the machine disturbs less.
type runTimes struct{ wall, cpu []time.Duration }

// spread reports the median and the 99th percentile of single runs, and how often the
// median fits into the library's: "times" by the clock, "cpu-times" by processor time.
func (r *runTimes) spread(b *testing.B, library *[2]time.Duration) {
	slices.Sort(r.wall)
	slices.Sort(r.cpu)
	wall, cpu := r.wall[len(r.wall)/2], r.cpu[len(r.cpu)/2]
	if library[0] == 0 {
		*library = [2]time.Duration{wall, cpu}
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(wall), "p50-ms")
	b.ReportMetric(ms(r.wall[(len(r.wall)-1)*99/100]), "p99-ms")
	b.ReportMetric(ms(cpu), "p50-cpu-ms")
	b.ReportMetric(float64(library[0])/float64(wall), "times")
	b.ReportMetric(float64(library[1])/float64(max(cpu, 1)), "cpu-times")
}

func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timed runs f once per loop of the benchmark and keeps each run's times.
func timed(b *testing.B, before func(), f func()) *runTimes {
	r := &runTimes{}
	for b.Loop() {
		b.StopTimer()
		before()
		b.StartTimer()
		began, used := time.Now(), processTime(b)
		f()
		r.wall, r.cpu = append(r.wall, time.Since(began)), append(r.cpu, processTime(b)-used)
	}
	return r
}

// BenchmarkTurn runs whole turns through the actors, the compiler and a vault on
// disk: warm, two new messages on a conversation that is known; cold, 400 messages
// never seen, without and with 187 tool results. library is one count of the same
// request by the library. "times" is how often a turn's median fits into the
// library's in the same run.
func BenchmarkTurn(b *testing.B) {
	tools := benchTools(b)
	whole := benchBody(conversation(b, benchResults, 1), tools)
	plain := benchBody(conversation(b, 0, 2), tools)
	meter, err := tokens.NewMeter(benchModel, "", nil)
	require.NoError(b, err)
	require.InDelta(b, benchTokens, meter.JSON(whole).Tokens, benchTokens/10)
	require.InDelta(b, benchTokens, meter.JSON(plain).Tokens, benchTokens/10)
	var library [2]time.Duration
	b.Run("library", func(b *testing.B) {
		b.ReportMetric(float64(meter.JSON(whole).Tokens), "tokens")
		text := string(whole)
		timed(b, func() {}, func() { libraryTokens(b, text) }).spread(b, &library)
	})
	b.Run("warm", func(b *testing.B) { benchWarm(b, tools, &library) })
	for name, body := range map[string][]byte{"cold": plain, "cold_results": whole} {
		b.Run(name, func(b *testing.B) {
			var p *pipeline
			stop := func() {}
			took := timed(b, func() { stop(); p, stop = benchPipeline(b) }, func() { benchTurn(b, p, "s", 1, body) })
			stop()
			took.spread(b, &library)
		})
	}
}

func libraryTokens(b *testing.B, text string) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	require.NoError(b, err)
	_, err = codec.Count(text)
	require.NoError(b, err)
}

// warmMessages are those a conversation grows by, call and result in one turn,
// before the next conversation starts.
const warmMessages = 40

// turnEnds are the lengths from first on at which no call waits for its result.
func turnEnds(messages []string, first int) (ends []int) {
	for n := first; n <= len(messages); n++ {
		if !strings.Contains(messages[n-1], `"tool_calls"`) {
			ends = append(ends, n)
		}
	}
	return ends
}

func benchWarm(b *testing.B, tools string, library *[2]time.Duration) {
	p, stop := benchPipeline(b)
	defer stop()
	var all []string // another conversation each time, so that no text is known from the last
	var cuts []int
	session, number := 0, 1
	var body []byte
	var sent, edits, reply, fresh, total int
	last, lastOf := map[string]string{}, 0
	before := func() {
		if number++; number >= len(cuts) {
			session, number = session+1, 1
			all = conversation(b, benchResults, uint64(10+session))
			cuts = turnEnds(all, benchMessages-warmMessages)
			benchTurn(b, p, fmt.Sprint(session), 1, benchBody(all[:cuts[0]], tools))
		}
		body = benchBody(all[:cuts[number]], tools)
	}
	took := timed(b, before, func() {
		out := benchTurn(b, p, fmt.Sprint(session), 1+number, body)
		sent, edits, reply = len(body), len(out.Edits), 0
		known := lastOf == session
		for _, e := range out.Edits {
			size := len(e.Pointer) + len(e.Before.String()) + len(e.Value)
			if reply += size; known && last[e.Pointer] != e.Value {
				fresh += size
			}
			last[e.Pointer] = e.Value
		}
		if known {
			total += sent
		}
		lastOf = session
	})
	b.ReportMetric(100*float64(reply)/float64(sent), "reply-pct")
	b.ReportMetric(100*float64(fresh)/float64(max(total, 1)), "new-pct")
	b.ReportMetric(float64(sent)/1000, "request-kB")
	b.ReportMetric(float64(edits), "edits")
	took.spread(b, library)
}
