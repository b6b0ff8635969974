package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"token-terminator/actors"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/reduce/kind"
	"token-terminator/request"
	"token-terminator/testdata/needles"
	"token-terminator/testdata/scenarios"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// evidenceBench runs texts through the pipeline over temporary vaults.
type evidenceBench struct {
	dir      string
	pipeline *pipeline
	broken   *pipeline // its vault refuses every write
	compiler *compile.Compiler
	meter    *tokens.Meter
	turns    uint64
}

var errNoRoom = errors.New("no space left on device")

func newEvidenceBench(s *stage) (*evidenceBench, error) {
	dir, err := os.MkdirTemp("", "token-terminator-bench-")
	if err != nil {
		return nil, storage(err)
	}
	b := &evidenceBench{dir: dir}
	b.compiler, err = compile.New(compile.Settings{Row: plan.Study()}, []byte(vault.FixedMarkerKey), tokens.NewMemo(64<<20))
	if err == nil {
		b.meter = b.compiler.Meter(defaultModel)
		b.pipeline, err = b.open("vault", nil)
	}
	if err == nil {
		b.broken, err = b.open("broken", func(point string) error {
			if strings.HasPrefix(point, "before begin") {
				return errNoRoom
			}
			return nil
		})
	}
	if err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *evidenceBench) open(name string, hook func(string) error) (*pipeline, error) {
	v, err := vault.Open(filepath.Join(b.dir, name), vault.Options{FixedKey: true, Hook: hook})
	if err != nil {
		return nil, storage(err)
	}
	return startPipeline(b.compiler, v)
}

func (b *evidenceBench) close() {
	for _, p := range []*pipeline{b.pipeline, b.broken} {
		if p != nil {
			_ = p.stop(context.Background())
		}
	}
	_ = os.RemoveAll(b.dir)
}

// count is tokens as they stand in a request.
func (b *evidenceBench) count(text string) int { return b.meter.JSONString(text).Tokens }

// scenario sends a request with one tool result and gives that result as sent.
func (b *evidenceBench) scenario(s scenarios.Scenario) (string, error) {
	args, err := json.Marshal(map[string]string{"command": s.Command})
	if err != nil {
		return "", err
	}
	var content any = s.Text
	if s.Mixed {
		content = []any{
			map[string]any{"type": "text", "text": s.Text},
			map[string]any{"type": "image_url", "image_url": map[string]string{"url": "data:image/png;base64,iVBORw0KGgo="}},
		}
	}
	body, err := json.Marshal(map[string]any{"model": defaultModel, "messages": []any{
		map[string]any{"role": "system", "content": strings.Repeat("You are a careful agent. ", 500)},
		map[string]any{"role": "user", "content": "What is wrong?"},
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{
			"id": "call_1", "type": "function", "function": map[string]any{"name": s.Tool, "arguments": string(args)}}}},
		map[string]any{"role": "tool", "tool_call_id": "call_1", "content": content},
	}})
	if err != nil {
		return "", err
	}
	in, err := request.WithTool(body, []byte(reduce.RecoveryTool))
	if err != nil {
		return "", err
	}
	b.turns++
	p := b.pipeline
	if s.RetentionFails() {
		p = b.broken
	}
	answer := p.system.Reduce(context.Background(), actors.ReduceTurn{
		Binding: turn.Binding{Engine: "bench", Session: s.Name, Turn: b.turns},
		Body:    in, Facts: request.Scope{RequestPurpose: request.Word("conversation")},
	})
	doc, err := request.Parse(answer.Body)
	if err != nil {
		return "", err
	}
	return doc.Value(doc.Messages[3].Texts[0])
}

// shown is one result on its own, as a model would see it.
func (b *evidenceBench) shown(text, tool, command string) string {
	call := kind.Call{Tool: tool}
	if command != "" {
		args, err := json.Marshal(map[string]string{"command": command})
		if err == nil {
			call.Args = string(args)
		}
	}
	return b.compiler.Single("bench", defaultModel, reduce.Block{Text: text, Call: call}).Decision.Text
}

func (b *evidenceBench) output(_, text string) string { return b.shown(text, "bash", "") }

func (b *evidenceBench) needles() []needleResult {
	outcomes := needles.Check(needles.Cases(needles.Seed), func(c needles.Case) string {
		return b.shown(c.Text, c.Tool, c.Command)
	})
	out := make([]needleResult, 0, len(outcomes))
	for _, o := range outcomes {
		out = append(out, needleResult{Outcome: o, Goal: needleGoal(o.Class), Percent: 100 * float64(o.Visible) / float64(max(1, o.Total))})
	}
	return out
}

// speedResult compares detection and reduction with hashing the same bytes.
type speedResult struct {
	Kind     string  `json:"kind"`
	Bytes    int     `json:"bytes"`
	Seconds  float64 `json:"seconds"`
	HashTime float64 `json:"sha256_seconds"`
	Ratio    float64 `json:"ratio"` // reduction's time ÷ hashing's time
}

// speed measures logs of one and eight megabytes; the best of five runs of each.
func (b *evidenceBench) speed() []speedResult {
	settings := reduce.Settings{Preset: reduce.Default}
	var out []speedResult
	for _, size := range []int{1_000_000, 8_000_000} {
		text := manyLogs(size)
		settings.Form.Count = func(t string) int { return len(t) / 4 } // reduction alone, no tokenizer
		block := reduce.Block{Text: text, Call: kind.Call{Tool: "bash", Args: `{"command":"kubectl logs api"}`}}
		work := bestOf(5, func() { settings.Propose(block, nil) })
		hash := bestOf(5, func() { _ = sha256.Sum256([]byte(text)) })
		out = append(out, speedResult{
			Kind: "log", Bytes: len(text), Seconds: work.Seconds(), HashTime: hash.Seconds(), Ratio: work.Seconds() / hash.Seconds(),
		})
	}
	return out
}

func manyLogs(size int) string {
	var b strings.Builder
	for b.Len() < size {
		for _, l := range needles.Logs() {
			b.WriteString(l.Text)
		}
	}
	text := b.String()[:size]
	return text[:strings.LastIndexByte(text, '\n')+1]
}

func bestOf(n int, do func()) time.Duration {
	best := time.Duration(1 << 62)
	for range n {
		began := time.Now()
		do()
		best = min(best, time.Since(began))
	}
	return best
}
