package main

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/host/watch"
	"token-terminator/host/wire"
	"token-terminator/internal/testkit"
	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/turn"
)

var exchangeBlock = regexp.MustCompile("(?s)```exchange( new)?\n(.*?)```")

// exchange is one worked example of the protocol's page.
type exchange struct {
	fresh  bool // on a connection of its own
	halves []half
}

// half is one request or answer.
type half struct {
	request bool
	kind    wire.Kind
	body    string
}

// exchanges reads the protocol's page, in order.
func exchanges(t *testing.T) []exchange {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "protocol.md"))
	require.NoError(t, err)
	var all []exchange
	for i, block := range exchangeBlock.FindAllStringSubmatch(string(page), -1) {
		e := exchange{fresh: i == 0 || block[1] != ""}
		for _, line := range strings.Split(strings.TrimSpace(block[2]), "\n") {
			sign, rest, _ := strings.Cut(line, " ")
			if sign == "<" || sign == ">" {
				kind, err := strconv.Atoi(rest)
				require.NoError(t, err, line)
				e.halves = append(e.halves, half{sign == ">", wire.Kind(kind), ""})
				continue
			}
			e.halves[len(e.halves)-1].body += line + "\n"
		}
		all = append(all, e)
	}
	return all
}

// matches compares an answer with the one on the page, where "…" stands for anything.
func matches(t *testing.T, want, got any, at string) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		require.True(t, ok, at)
		for name := range g {
			require.Contains(t, w, name, "%s: the page does not show %s", at, name)
		}
		for name, value := range w {
			require.Contains(t, g, name, at)
			matches(t, value, g[name], at+"/"+name)
		}
	case []any:
		g, ok := got.([]any)
		require.True(t, ok, at)
		require.Len(t, g, len(w), at)
		for i := range w {
			matches(t, w[i], g[i], at+"/"+strconv.Itoa(i))
		}
	default:
		if want != "…" {
			require.Equal(t, want, got, at)
		}
	}
}

// talk is one connection of the page's client.
type talk struct {
	conn net.Conn
	r    *wire.Reader
}

func TestProtocol_ThePagesExchangesAreWhatTheDaemonDoes(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), nil)
	kinds := map[wire.Kind]bool{}
	var main *talk
	for _, block := range exchanges(t) {
		on := main
		if block.fresh {
			conn, err := net.Dial("unix", d.server.Info().Socket)
			require.NoError(t, err)
			defer conn.Close()
			require.NoError(t, conn.SetDeadline(time.Now().Add(testkit.Patience)))
			on = &talk{conn, wire.NewReader(bufio.NewReader(conn))}
		}
		if main == nil {
			main = on
		}
		for _, h := range block.halves {
			if h.request {
				kinds[h.kind] = true
				require.NoError(t, wire.WriteFrame(on.conn, h.kind, []byte(h.body)))
				continue
			}
			f, err := on.r.Next()
			require.NoError(t, err)
			require.Equal(t, h.kind, f.Kind)
			var want, got any
			require.NoError(t, json.Unmarshal([]byte(h.body), &want), h.body)
			require.NoError(t, json.Unmarshal(f.Body, &got))
			matches(t, want, got, strconv.Itoa(int(h.kind)))
		}
	}
	for kind := wire.KindHello; kind <= wire.KindStatus; kind++ {
		require.True(t, kinds[kind], "kind %d has an exchange", kind)
	}
}

var toolBlock = regexp.MustCompile("(?s)```tool ([a-z.]+)\n(.*?)```")

// The declarations the page shows are accepted in their dialect.
func TestProtocol_ThePagesRecoveryToolsAreAccepted(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "protocol.md"))
	require.NoError(t, err)
	blocks := toolBlock.FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, 3)
	for _, block := range blocks {
		require.Equal(t, request.Offered, (outer{tools: []byte("[" + block[2] + "]")}).offer(), block[1])
	}
	for _, name := range reduce.RecoveryParams() {
		require.Contains(t, string(page), "`"+name+"`")
	}
}

// A request that does not offer the recovery tool is told so, and status counts it.
func TestProtocol_AMissingRecoveryToolIsSaid(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), nil)
	c := d.client(nil, nil)
	good := chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400)))
	tool := func(props string) string {
		return strings.Replace(good, reduce.RecoveryTool, `{"type":"function","function":{"name":"token_terminator","parameters":{"properties":{`+props+`}}}}`, 1)
	}
	for i, one := range []struct{ body, notice string }{
		{good, ""},
		{tool(`"action":{},"artifact_id":{},"offset":{}`), ""},
		{tool(`"action":{},"artifact_id":{},"offset":{},"limit":{},"query":{},"colour":{}`), ""},
		{tool(`"action":{},"artifact_id":{}`), wire.NoticeToolIncomplete},
		{strings.Replace(good, reduce.RecoveryTool, "", 1), wire.NoticeToolMissing},
		{strings.Replace(good, `"messages":`, `"tool_choice":"none","messages":`, 1), wire.NoticeToolForbidden},
	} {
		out := askTurn(t, c, strconv.Itoa(i), 1, one.body)
		require.Equal(t, one.notice, out.Notice, i)
		require.Equal(t, one.notice == "", out.Edited, i)
	}
	raw, err := c.Status(patience(t))
	require.NoError(t, err)
	var got watch.Status
	require.NoError(t, json.Unmarshal(raw, &got))
	require.EqualValues(t, 3, got.Engine.NoRecoveryTool)
	require.Contains(t, strings.Join(got.Warnings, " "), "3 turns came without a recovery tool")
}

// What was not measured has no tokens on the wire.
func TestProtocol_AnUnmeasuredTurnHasNoTokens(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, filepath.Join(t.TempDir(), "vault"), nil)
	c := d.client(nil, nil)
	for i, body := range []string{
		`{"model":"gpt-4o","messages":[]}`, `{"model":"gpt-4o","messages":`, "{\"model\":\"gpt-4o\",\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}",
		strings.Replace(chatBody(toolCalls("a"), toolResult("a", "x")), `"tool_call_id":"a"`, `"tool_call_id":"b"`, 1),
	} {
		if out := askTurn(t, c, strconv.Itoa(i), 1, body); out.Tokens != nil {
			require.Positive(t, out.Tokens.Raw, i)
		}
	}
	require.Nil(t, askTurn(t, c, "broken", 1, `{"model":"gpt-4o","messages":[{}]}`).Tokens)
}

func TestProtocol_ThePythonClientDeclaresTheToolAndHasAUsage(t *testing.T) {
	t.Parallel()
	client := filepath.Join("..", "..", "docs", "client.py")
	words, err := exec.Command("python3", client).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(words), "usage: ")
	require.NotContains(t, string(words), "Traceback")
	folder := filepath.Join(t.TempDir(), "vault")
	startProcess(t, folder)
	body := strings.Replace(chatBody(toolCalls("a"), toolResult("a", serverLog(1, 400))), `"tools":[`+reduce.RecoveryTool+`],`, "", 1)
	file := filepath.Join(t.TempDir(), "request.json")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(body, `\ud800`, "", 1)), 0o600))
	out, err := exec.Command("python3", client, folder, "s", file).Output()
	require.NoError(t, err)
	var got struct {
		Answer  wire.TurnAnswer
		Request json.RawMessage
	}
	require.NoError(t, json.Unmarshal(out, &got))
	require.Len(t, got.Answer.Edits, 1)
	require.Empty(t, got.Answer.Notice)
	require.Equal(t, request.Offered, readOuter(got.Request).offer())
}

// The Python client on the protocol's page drives a turn and a recovery.
func TestProtocol_ThePythonClient(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "..", "docs", "client.py"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(source), "\n"), 40)
	folder := filepath.Join(t.TempDir(), "vault")
	startProcess(t, folder)
	log := serverLog(1, 400)
	body := chatBody(toolCalls("a"), toolResult("a", log))
	body = strings.Replace(body, `\ud800`, "", 1)
	file := filepath.Join(t.TempDir(), "request.json")
	require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
	cmd := exec.Command("python3", filepath.Join("..", "..", "docs", "client.py"), folder, "s", file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var got struct {
		Answer  wire.TurnAnswer
		Request struct {
			Messages []struct{ Content any }
		}
		Page struct{ Result recovered }
	}
	require.NoError(t, json.Unmarshal(out, &got))
	require.Equal(t, turn.Reduced, got.Answer.Reason)
	require.Len(t, got.Answer.Edits, 1)
	require.Equal(t, got.Answer.Edits[0].Value, got.Request.Messages[3].Content)
	require.True(t, strings.HasPrefix(log, got.Page.Result.Content))
	require.Equal(t, turn.Sum(log).String(), got.Page.Result.SHA256)
	require.Equal(t, len(log), got.Page.Result.TotalChars)
}
