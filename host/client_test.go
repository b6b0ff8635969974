package host

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/host/wire"
	"token-terminator/internal/testkit"
	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/turn"
)

func (r *rig) client(change func(*Options)) *Client {
	r.t.Helper()
	o := Options{Folder: r.folder, Name: "t", Version: "0.1.0", Clock: r.clock}
	if change != nil {
		change(&o)
	}
	c, err := Dial(context.Background(), o)
	require.NoError(r.t, err)
	r.t.Cleanup(c.Close)
	return c
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	t.Cleanup(cancel)
	return ctx
}

func asked(body string) TurnRequest {
	return TurnRequest{Binding: turn.Binding{Session: "s"}, Scope: request.Scope{Purpose: request.Word("chat")}, Body: []byte(body)}
}

// longer is chat and one more call with its result.
func longer(first, second string) string {
	return strings.TrimSuffix(chat(first), "]}") + `,{"role":"assistant","content":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"b","content":"` + second + `"}]}`
}

func TestClient_AppliesEditsToItsOwnCopy(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	in := asked(chat("long result"))
	kept := bytes.Clone(in.Body)
	out := c.Turn(patient(t), in)
	require.True(t, out.Edited)
	require.Empty(t, out.Fallback)
	require.Equal(t, chat("lon"), string(out.Body))
	require.Equal(t, kept, in.Body)
	require.Equal(t, &wire.Tokens{Raw: 2, Final: 1, Measure: "exact"}, out.Tokens)
	require.Equal(t, ClientStats{Turns: 1, Edited: 1}, c.Stats())

	r.stub.set(func() { r.stub.pass = turn.NothingToReduce })
	out = c.Turn(patient(t), in)
	require.Equal(t, TurnResult{Body: in.Body, Reason: turn.NothingToReduce}, out)
}

func TestClient_AHostsOwnCounterIsAFurtherVeto(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	in := asked(chat("long result"))
	in.Count = func(body []byte) int { return -len(body) }
	out := c.Turn(patient(t), in)
	require.False(t, out.Edited)
	require.Equal(t, turn.NotSmallerTokens, out.Reason)
	in.Count = func(body []byte) int { return len(body) }
	require.True(t, c.Turn(patient(t), in).Edited)
}

func TestClient_TellsHowManyTurnsWentOutWithoutTheDaemon(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	r.stub.wedge.Shut()
	for range 2 {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			r.stub.wedge.AwaitStuck(t)
			cancel()
		}()
		require.Equal(t, Silent, c.Turn(ctx, asked(chat("x"))).Fallback)
	}
	r.stub.wedge.Release()
	require.Empty(t, c.Turn(patient(t), asked(chat("long result"))).Fallback)
	require.Empty(t, c.Turn(patient(t), asked(chat("long result"))).Fallback)
	require.Len(t, r.stub.event, 1)
	require.Equal(t, wire.EventFailOpen, r.stub.event[0].Name)
	require.Equal(t, 2, r.stub.event[0].Count)
}

func TestClient_ManyAskAtOnce(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	var all sync.WaitGroup
	for i := range 40 {
		all.Add(1)
		go func() {
			defer all.Done()
			result := strings.Repeat("x", 4+i)
			out := c.Turn(patient(t), asked(chat(result)))
			require.Equal(t, chat("xxx"), string(out.Body))
			status, err := c.Status(patient(t))
			require.NoError(t, err)
			require.JSONEq(t, `{"schema":1}`, string(status))
		}()
	}
	all.Wait()
	require.Equal(t, 1, r.Stats().Connections)
}

func TestClient_TheOtherKinds(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	b := turn.Binding{Session: "s"}
	a := c.Result(patient(t), wire.Result{Binding: b, Tool: "bash", Text: "text"})
	require.Equal(t, "t", *a.Text)
	require.Equal(t, wire.Refuse, c.Command(patient(t), wire.Command{Binding: b, Tool: "write_file", Args: []byte(`{}`)}).Decision)
	got, err := c.Recover(patient(t), wire.Recover{Binding: b, Action: "artifact_get", ArtifactID: "a_12345678"})
	require.NoError(t, err)
	require.JSONEq(t, `{"content":"whole"}`, string(got))
	_, err = c.Recover(patient(t), wire.Recover{Binding: b, Action: "artifact_get", ArtifactID: "a_00000000"})
	var refused *Refusal
	require.ErrorAs(t, err, &refused)
	require.Equal(t, wire.ErrorUnknown, refused.Code)
	require.NoError(t, c.Event(patient(t), wire.Event{Binding: b, Name: wire.EventUsage, Usage: &wire.Usage{Model: "m"}}))
	require.Equal(t, "m", r.stub.event[0].Usage.Model)
	require.NoError(t, c.Drain(patient(t)))
	<-r.Leaving()
}

// silence stops the daemon of a rig; the client does not know.
func (r *rig) silence() { require.NoError(r.t, r.Stop(context.Background())) }

func TestClient_WhenTheDaemonIsSilentOldEditsStayAndNewMessagesAreOriginal(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	require.True(t, c.Turn(patient(t), asked(chat("long result"))).Edited)
	r.silence()

	out := c.Turn(patient(t), asked(longer("long result", "another long result")))
	require.Equal(t, longer("lon", "another long result"), string(out.Body))
	require.Equal(t, Silent, out.Fallback)
	require.Equal(t, turn.Deadline, out.Reason)

	part := strings.Replace(longer("long result", "x"), `"content":"long result"`, `"content":[{"type":"text","text":"long result","cache_control":{"type":"ephemeral"}}]`, 1)
	out = c.Turn(patient(t), asked(part))
	require.Equal(t, strings.Replace(part, "long result", "lon", 1), string(out.Body), "a cache mark moves no form")

	other := asked(longer("long result", "x"))
	other.Binding.Session = "another"
	require.False(t, c.Turn(patient(t), other).Edited, "another session's edits")
	helper := asked(longer("long result", "x"))
	helper.Scope = request.Scope{Purpose: request.Word("title")}
	require.False(t, c.Turn(patient(t), helper).Edited, "a call that is none of our business")
	changed := asked(longer("long resulT", "x"))
	require.False(t, c.Turn(patient(t), changed).Edited, "a message that changed")
	s := c.Stats()
	require.EqualValues(t, 2, s.Reapplied)
	require.EqualValues(t, 5, s.Silent)
	require.EqualValues(t, 2, s.Broken, "after three failures it is not asked")
}

// With what hides text the recovery tool must be declared.
func TestClient_AReappliedEditNeedsTheToolItWasMadeWith(t *testing.T) {
	t.Parallel()
	require.Equal(t, reduce.RecoveryName, recoveryTool)
	require.Equal(t, reduce.RecoveryParams(), recoveryParams())
	r := serve(t, nil)
	c := r.client(nil)
	with := func(body string) string {
		return strings.Replace(body, `"model":"m"`, `"model":"m","tools":[`+reduce.RecoveryTool+`]`, 1)
	}
	require.True(t, c.Turn(patient(t), asked(with(chat("long result")))).Edited)
	r.silence()
	require.True(t, c.Turn(patient(t), asked(with(longer("long result", "x")))).Edited)
	require.False(t, c.Turn(patient(t), asked(longer("long result", "x"))).Edited)
}

func TestClient_AFailureOfTheDaemonIsNoDecision(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	require.True(t, c.Turn(patient(t), asked(chat("long result"))).Edited)
	for _, why := range []turn.Reason{turn.Busy, turn.Deadline, turn.InternalError, turn.Stopped, turn.Cancelled} {
		r.stub.set(func() { r.stub.pass = why })
		out := c.Turn(patient(t), asked(longer("long result", "x")))
		require.Equal(t, longer("lon", "x"), string(out.Body), why)
		require.Equal(t, Failed, out.Fallback)
	}
	// Where the evidence may be gone, nothing is shown that leans on it.
	r.stub.set(func() { r.stub.pass = turn.StorageUnavailable })
	require.False(t, c.Turn(patient(t), asked(longer("long result", "x"))).Edited)
	// What was decided to go out whole stays whole.
	r.stub.set(func() { r.stub.pass = turn.Busy })
	require.False(t, c.Turn(patient(t), asked(longer("long result", "x"))).Edited)
}

func TestClient_TheBreakerOpensForHalfAMinute(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	r.stub.wedge.Shut()
	slow := func() Why {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			r.stub.wedge.AwaitStuck(t)
			cancel()
		}()
		return c.Turn(ctx, asked(chat("x"))).Fallback
	}
	for range BreakAfter {
		require.Equal(t, Silent, slow())
	}
	require.Equal(t, Broken, c.Turn(context.Background(), asked(chat("x"))).Fallback)
	require.Equal(t, wire.Pass, c.Result(context.Background(), wire.Result{Text: "text"}).Decision)
	r.clock.Advance(BreakFor - time.Millisecond)
	require.Equal(t, Broken, c.Turn(context.Background(), asked(chat("x"))).Fallback)
	r.clock.Advance(time.Millisecond)
	require.Equal(t, Silent, slow(), "one may try")
	require.Equal(t, Broken, c.Turn(context.Background(), asked(chat("x"))).Fallback)
	r.stub.wedge.Release()
	r.clock.Advance(BreakFor)
	require.Empty(t, c.Turn(patient(t), asked(chat("long result"))).Fallback)
	require.Empty(t, c.Turn(patient(t), asked(chat("long result"))).Fallback)
}

// twisted is a backend whose answers do not fit.
type twisted struct {
	*stub
	edit turn.Edit
}

func (w *twisted) Open(*wire.Hello) (Desk, []string, error) { return w, nil, nil }

func (w *twisted) Turn(context.Context, *wire.Turn, time.Duration) wire.TurnAnswer {
	return wire.TurnAnswer{Decision: wire.Edit, Reason: turn.Reduced, Edits: []turn.Edit{w.edit}}
}

func TestClient_EditsThatDoNotFitAreNotApplied(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]turn.Edit{
		"another text":         {Pointer: "/messages/2/content", Before: turn.Sum("other"), Value: "x"},
		"the user's words":     {Pointer: "/messages/0/role", Before: turn.Sum("user"), Value: "x"},
		"no place":             {Pointer: "/messages/9/content", Before: turn.Sum("x"), Value: "x"},
		"a call's arguments":   {Pointer: "/messages/1/tool_calls/0/function/arguments", Before: turn.Sum("{}"), Value: ""},
		"a longer text":        {Pointer: "/messages/2/content", Before: turn.Sum("long result"), Value: strings.Repeat("y", 99)},
		"an edit with no gain": {Pointer: "/messages/2/content", Before: turn.Sum("long result"), Value: "gnol result"},
	} {
		r := serve(t, func(cfg *Config) { cfg.Backend = &twisted{cfg.Backend.(*stub), edit} })
		c := r.client(nil)
		out := c.Turn(patient(t), asked(chat("long result")))
		require.Equal(t, chat("long result"), string(out.Body), name)
		require.Equal(t, Misfits, out.Fallback)
		require.EqualValues(t, 1, c.Stats().Refused)
	}
}

func TestClient_ComesBackAfterARestart(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.client(nil)
	require.True(t, c.Turn(patient(t), asked(chat("long result"))).Edited)
	r.silence()
	require.Equal(t, Silent, c.Turn(patient(t), asked(chat("long result"))).Fallback)
	lease, err := Acquire(context.Background(), r.folder)
	require.NoError(t, err)
	again, err := Listen(lease, Config{Backend: newStub(), Version: "0.1.0", TempDir: r.cfg.TempDir, Clock: r.clock})
	require.NoError(t, err)
	defer func() { require.NoError(t, again.Stop(context.Background())) }()
	require.Empty(t, c.Turn(patient(t), asked(chat("long result"))).Fallback)
}

func TestClient_WithoutADaemonSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Dial(context.Background(), Options{Folder: dir})
	require.ErrorIs(t, err, ErrNoDaemon)
	require.NoError(t, os.WriteFile(filepath.Join(dir, InfoName), []byte(`{"pid":1,"socket":"`+filepath.Join(dir, "gone.sock")+`"}`), 0o600))
	_, err = Dial(context.Background(), Options{Folder: dir})
	require.ErrorIs(t, err, ErrSilent)
	require.NoError(t, os.WriteFile(filepath.Join(dir, InfoName), []byte(`not JSON`), 0o600))
	_, err = Dial(context.Background(), Options{Folder: dir})
	require.Error(t, err)
	c := NewClient(Options{Folder: dir})
	c.Close()
	require.Equal(t, Silent, c.Turn(context.Background(), asked(chat("x"))).Fallback)
}

func TestFallbackIsBounded(t *testing.T) {
	t.Parallel()
	f := newFallback(2000)
	for i := range 50 {
		doc, err := request.Parse([]byte(chat(strings.Repeat("x", 10+i))))
		require.NoError(t, err)
		f.accept("s", doc, []turn.Edit{{Pointer: "/messages/2/content", Before: turn.Sum(strings.Repeat("x", 10+i)), Value: "x"}})
		require.LessOrEqual(t, f.bytes, int64(2000))
		require.Len(t, f.order, len(f.at))
	}
	require.Positive(t, f.bytes)
}

func TestNewer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"0.2.0", "0.1.9", true}, {"0.1.10", "0.1.9", true}, {"1.0.0", "0.9.9", true}, {"v0.2.0", "0.1.0", true},
		{"0.1.0", "0.1.0", false}, {"0.1.0", "0.2.0", false}, {"0.1", "0.0.1", false}, {"x.y.z", "0.0.1", false}, {"0.1.0", "", false}, {"", "0.1.0", false},
	} {
		require.Equal(t, c.want, Newer(c.a, c.b), "%s %s", c.a, c.b)
	}
}

func TestSecretsAreNotSendable(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]string{"TOKEN_TERMINATOR_MODE": "off", "TOKEN_TERMINATOR_TOKEN_BUDGET": "true", "TOKEN_TERMINATOR_TOKENIZER_JSON": "/x=y"},
		Sendable([]string{"PATH=/bin", "TOKEN_TERMINATOR_MODE=off", "TOKEN_TERMINATOR_JEV_API_KEY=sk", "TOKEN_TERMINATOR_TOKEN_BUDGET=true", "TOKEN_TERMINATOR_TOKENIZER_JSON=/x=y", "OPENROUTER_API_KEY=sk"}))
}
