package host

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/host/wire"
	"token-terminator/internal/testkit"
	"token-terminator/turn"
)

func TestEveryKindIsAnswered(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	answer := c.ask(wire.KindTurn, turnFrame("2", chat("long result")))
	require.Equal(t, "edit", answer["decision"])
	require.Equal(t, float64(2), answer["id"])
	edit := answer["edits"].([]any)[0].(map[string]any)
	require.Equal(t, "/messages/2/content", edit["pointer"])
	require.Equal(t, turn.Sum("long result").String(), edit["sha256_before"])
	require.Equal(t, "lon", edit["value"])
	require.Equal(t, map[string]any{"raw": 2.0, "final": 1.0, "measure": "exact"}, answer["tokens"])
	require.Equal(t, r.folder, r.stub.turns[0].Home, "the home is the daemon's own spelling")

	require.Equal(t, "t", c.ask(wire.KindResult, `{"id":3,"binding":{"session":"s"},"tool":"x","args_digest":"","text":"text"}`)["text"])
	require.Equal(t, "own_marker", c.ask(wire.KindCommand, `{"id":4,"binding":{"session":"s"},"tool":"write_file","args":{}}`)["refuse"])
	require.Equal(t, map[string]any{"content": "whole"}, c.ask(wire.KindRecover, `{"id":5,"binding":{"session":"s"},"action":"artifact_get","artifact_id":"a_12345678"}`)["result"])
	require.Equal(t, true, c.ask(wire.KindEvent, `{"id":6,"binding":{"session":"s"},"name":"compaction"}`)["ok"])
	require.Equal(t, map[string]any{"schema": 1.0}, c.ask(wire.KindStatus, `{"id":7}`)["status"])

	require.Equal(t, "unknown", c.ask(wire.KindRecover, `{"id":8,"binding":{"session":"s"},"action":"artifact_get","artifact_id":"a_00000000"}`)["error"])
	other := c.ask(wire.KindRecover, `{"id":9,"binding":{"session":"s"},"action":"artifact_get","artifact_id":"a_ffffffff"}`)
	require.Equal(t, map[string]any{"id": 9.0, "error": "internal_error"}, other, "foreign error text stays inside")
	require.Equal(t, "wrong_home", c.ask(wire.KindTurn, `{"id":10,"binding":{"session":"s","home":"/somewhere/else"},"scope":{},"request_json":{}}`)["error"])
}

func TestUnknownKindsFieldsAndGarbageLeaveTheConnectionUsable(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	require.Equal(t, map[string]any{"id": 2.0, "error": "unsupported"}, c.ask(9, `{"id":2}`))
	require.Equal(t, map[string]any{"id": 3.0, "error": "unsupported", "message": "colour"}, c.ask(wire.KindStatus, `{"id":3,"colour":1}`))
	require.Equal(t, map[string]any{"error": "bad_frame"}, c.ask(wire.KindStatus, `not json at all`))
	_, err := c.conn.Write([]byte{0, 0, 0, 0}) // a frame without a kind
	require.NoError(t, err)
	_, answer := c.next()
	require.Equal(t, "unsupported", answer["error"])
	require.Equal(t, map[string]any{"id": 4.0, "decision": "pass", "reason": "not_json"}, c.ask(wire.KindTurn, turnFrame("4", `{"messages":[}`)))
	require.Equal(t, map[string]any{"id": 5.0, "error": "unsupported", "message": "a connection has one hello"}, c.ask(wire.KindHello, `{"id":5,"protocol":1}`))
	require.Equal(t, "edit", c.ask(wire.KindTurn, turnFrame("6", chat("long result")))["decision"])
	require.EqualValues(t, 4, r.Stats().BadFrames-1)
}

func TestALongFrameIsDiscardedAndAHostileOneEndsTheConnection(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	size := wire.MaxFrame + 1
	head := `{"id":2,"binding":{"session":"s"},"scope":{},"request_json":{"x":"`
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(size)), byte(wire.KindTurn))
	frame = append(frame, head...)
	frame = append(frame, strings.Repeat("y", size-1-len(head))...)
	_, err := c.conn.Write(frame)
	require.NoError(t, err)
	kind, answer := c.next()
	require.Equal(t, wire.KindTurn|wire.Answer, kind)
	require.Equal(t, map[string]any{"id": 2.0, "decision": "pass", "reason": "too_large"}, answer)
	require.Equal(t, "edit", c.ask(wire.KindTurn, turnFrame("3", chat("long result")))["decision"])

	_, err = c.conn.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	require.NoError(t, err)
	_, answer = c.next()
	require.Equal(t, "too_large", answer["error"])
	_, err = c.r.Next()
	require.Error(t, err)
	require.EqualValues(t, 2, r.Stats().LongFrames)
}

func TestTheFirstFrameIsAHello(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	for name, c := range map[string]struct {
		kind wire.Kind
		body string
		want string
	}{
		"a turn":           {wire.KindTurn, turnFrame("1", chat("x")), "hello_first"},
		"another protocol": {wire.KindHello, `{"id":1,"protocol":2}`, "unsupported"},
		"another home":     {wire.KindHello, `{"id":1,"protocol":1,"home":"/somewhere/else"}`, "wrong_home"},
		"a key":            {wire.KindHello, `{"id":1,"protocol":1,"env":{"TOKEN_TERMINATOR_JEV_API_KEY":"k"}}`, "secret_in_env"},
		"not ours":         {wire.KindHello, `{"id":1,"protocol":1,"env":{"PATH":"/bin"}}`, "bad_setting"},
		"a wrong setting":  {wire.KindHello, `{"id":1,"protocol":1,"env":{"TOKEN_TERMINATOR_MODE":"bad"}}`, "bad_setting"},
	} {
		conn := r.dial()
		require.Equal(t, c.want, conn.ask(c.kind, c.body)["error"], name)
		require.Equal(t, float64(1), conn.ask(wire.KindHello, `{"id":2,"protocol":1,"home":"`+homeOf(r.folder)+`"}`)["protocol"], "%s: it may try again", name)
	}
}

func TestAnotherUserIsTurnedAway(t *testing.T) {
	t.Parallel()
	for name, peer := range map[string]func(net.Conn) (int, error){
		"another uid":  func(net.Conn) (int, error) { return os.Geteuid() + 1, nil },
		"nobody knows": func(net.Conn) (int, error) { return 0, errNoPeer },
	} {
		r := serve(t, func(c *Config) { c.PeerUID = peer })
		c := r.dial()
		_ = wire.WriteFrame(c.conn, wire.KindHello, []byte(`{"id":1,"protocol":1}`))
		_, err := c.r.Next()
		require.Error(t, err, name)
		require.Empty(t, r.stub.hello)
		require.EqualValues(t, 1, r.Stats().Foreign)
	}
}

func TestThePeerIsKnown(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	conn, err := net.Dial("unix", r.Info().Socket)
	require.NoError(t, err)
	defer conn.Close()
	uid, err := peerUID(conn)
	require.NoError(t, err)
	require.Equal(t, os.Geteuid(), uid)
	one, other := net.Pipe()
	defer one.Close()
	defer other.Close()
	_, err = peerUID(one)
	require.ErrorIs(t, err, errNoPeer)
}

func TestWithoutUnixSocketsATokenIsWanted(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.TCP = true })
	info, err := ReadInfo(r.folder)
	require.NoError(t, err)
	require.Len(t, info.Token, 64)
	require.True(t, strings.HasPrefix(info.Address, "127.0.0.1:"))
	require.Equal(t, "wrong_token", r.dial().ask(wire.KindHello, `{"id":1,"protocol":1}`)["error"])
	require.Equal(t, "wrong_token", r.dial().ask(wire.KindHello, `{"id":1,"protocol":1,"token":"`+strings.Repeat("0", 64)+`"}`)["error"])
	client, err := Dial(context.Background(), Options{Folder: r.folder, Version: "0.1.0"})
	require.NoError(t, err)
	defer client.Close()
	require.Equal(t, "test", client.Welcome().Engine)
}

func TestAPanicIsAnAnswer(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	r.stub.set(func() { r.stub.panic = true })
	for kind, body := range map[wire.Kind]string{
		wire.KindTurn:    turnFrame("2", chat("x")),
		wire.KindResult:  `{"id":2,"binding":{"session":"s"},"text":"x"}`,
		wire.KindCommand: `{"id":2,"binding":{"session":"s"},"args":{}}`,
	} {
		answer := c.ask(kind, body)
		require.Equal(t, "pass", answer["decision"])
		require.Equal(t, "internal_error", answer["reason"])
	}
	for kind, body := range map[wire.Kind]string{
		wire.KindRecover: `{"id":2,"binding":{"session":"s"},"action":"x"}`,
		wire.KindEvent:   `{"id":2,"binding":{"session":"s"},"name":"usage"}`,
		wire.KindStatus:  `{"id":2}`,
	} {
		require.Equal(t, "internal_error", c.ask(kind, body)["error"])
	}
	require.Equal(t, "internal_error", r.dial().ask(wire.KindHello, `{"id":2,"protocol":1}`)["error"])
	r.stub.set(func() { r.stub.panic = false })
	require.Equal(t, "edit", c.ask(wire.KindTurn, turnFrame("3", chat("long result")))["decision"])
	require.EqualValues(t, 7, r.Stats().Panics)
}

func TestADeadlineIsKeptWhoeverIsSlow(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	r.stub.wedge.Shut()
	for id, f := range map[string]struct {
		kind  wire.Kind
		body  string
		after time.Duration
	}{
		"2": {wire.KindTurn, turnFrame("2", chat("x")), TurnLimit + backstop},
		"3": {wire.KindTurn, strings.Replace(turnFrame("3", chat("x")), `"binding"`, `"deadline_ms":5000,"binding"`, 1), 4*time.Second + backstop},
		"4": {wire.KindResult, `{"id":4,"deadline_ms":500,"binding":{"session":"s"},"text":"x"}`, ResultLimit},
		"5": {wire.KindRecover, `{"id":5,"binding":{"session":"s"},"action":"x"}`, RecoverLimit},
	} {
		armed := r.clock.Armed()
		c.send(f.kind, f.body)
		r.stub.wedge.AwaitStuck(t)
		r.clock.AwaitArmed(t, armed+1)
		r.clock.Advance(f.after)
		kind, answer := c.next()
		require.Equal(t, f.kind|wire.Answer, kind)
		if f.kind == wire.KindRecover {
			require.Equal(t, map[string]any{"id": 5.0, "error": "deadline"}, answer)
			continue
		}
		require.Equal(t, "deadline", answer["reason"], id)
	}
}

func TestAnswersComeOutOfOrder(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	r.stub.wedge.Shut()
	c.send(wire.KindTurn, turnFrame("2", chat("long result")))
	r.stub.wedge.AwaitStuck(t)
	require.Equal(t, float64(3), c.ask(wire.KindStatus, `{"id":3}`)["id"])
	r.stub.wedge.Release()
	_, answer := c.next()
	require.Equal(t, float64(2), answer["id"])
}

func TestAClientThatGoesHarmsNobody(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	stay := r.greeted()
	inFrame := r.greeted()
	_, err := inFrame.conn.Write(append(binary.BigEndian.AppendUint32(nil, 1000), byte(wire.KindTurn), '{'))
	require.NoError(t, err)
	require.NoError(t, inFrame.conn.Close())
	inTurn := r.greeted()
	r.stub.wedge.Shut()
	inTurn.send(wire.KindTurn, turnFrame("2", chat("long result")))
	r.stub.wedge.AwaitStuck(t)
	require.NoError(t, inTurn.conn.Close())
	require.Eventually(t, func() bool { return r.Stats().Connections == 1 }, testkit.Patience, time.Millisecond)
	require.Zero(t, r.Stats().Open)
	r.stub.wedge.Release()
	require.Equal(t, "edit", stay.ask(wire.KindTurn, turnFrame("3", chat("long result")))["decision"])
	require.Eventually(t, func() bool { return r.bytes.Load() == 0 }, testkit.Patience, time.Millisecond)
}

func TestTooMuchAtOnceIsBusyAndCounted(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.MaxConns, c.MaxBytes = 2, 4096 })
	c := r.greeted()
	_ = r.greeted()
	_, answer := r.dial().next()
	require.Equal(t, "busy", answer["error"])
	big := turnFrame("2", chat(strings.Repeat("x", 5000)))
	require.Equal(t, map[string]any{"id": 2.0, "decision": "pass", "reason": "busy"}, c.ask(wire.KindTurn, big))
	require.Equal(t, "edit", c.ask(wire.KindTurn, turnFrame("3", chat("long result")))["decision"])
	s := r.Stats()
	require.EqualValues(t, 1, s.Crowded)
	require.EqualValues(t, 1, s.BusyFrames)
}

func TestAnUnusedDaemonLeaves(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	r.clock.Advance(DefaultIdle - time.Second)
	c.ask(wire.KindStatus, `{"id":2}`)
	r.clock.Advance(DefaultIdle - time.Second)
	select {
	case <-r.Leaving():
		t.Fatal("it was used")
	default:
	}
	r.stub.wedge.Shut()
	c.send(wire.KindTurn, strings.Replace(turnFrame("3", chat("long result")), `"binding"`, `"deadline_ms":86400000,"binding"`, 1))
	r.stub.wedge.AwaitStuck(t)
	r.clock.Advance(2 * DefaultIdle)
	select {
	case <-r.Leaving():
		t.Fatal("it works")
	default:
	}
	r.stub.wedge.Release()
	_, answer := c.next()
	require.Equal(t, "edit", answer["decision"])
	require.Eventually(t, func() bool { return r.Stats().Open == 0 }, testkit.Patience, time.Millisecond)
	r.clock.Advance(2 * DefaultIdle)
	<-r.Leaving()
}

func TestStopUnderLoadLosesNoAnswer(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	const clients, each = 8, 40
	r.stub.wedge.Shut()
	type tallied struct{ edits, stopped int }
	done := make(chan tallied, clients)
	for range clients {
		c := r.greeted()
		go func() {
			var got tallied
			defer func() { done <- got }()
			for range each {
				if wire.WriteFrame(c.conn, wire.KindTurn, []byte(turnFrame("2", chat("long result")))) != nil {
					return
				}
			}
			for range each {
				f, err := c.r.Next()
				switch {
				case err != nil:
					return
				case strings.Contains(string(f.Body), `"edit"`):
					got.edits++
				case strings.Contains(string(f.Body), `"stopped"`):
					got.stopped++
				}
			}
		}()
	}
	require.Eventually(t, func() bool { return r.Stats().Frames >= clients*each+clients }, testkit.Patience, time.Millisecond)
	stopped := make(chan error, 1)
	go func() { stopped <- r.Stop(context.Background()) }()
	require.Eventually(t, func() bool { return r.Stats().Leaving }, testkit.Patience, time.Millisecond)
	require.NoFileExists(t, filepath.Join(r.folder, InfoName))
	r.stub.wedge.Release()
	require.NoError(t, <-stopped)
	total := tallied{}
	for range clients {
		got := <-done
		total.edits += got.edits
		total.stopped += got.stopped
	}
	require.Equal(t, clients*each, total.edits+total.stopped)
	require.Equal(t, clients*each, total.edits, "what was read before the stop is worked on")
	require.Equal(t, 1, r.stub.shut)
	_, err := net.Dial("unix", r.Info().Socket)
	require.Error(t, err)
}

// What arrives after the stop began, and before the connection ends, is answered too.
func TestAFrameThatComesLateIsAnsweredStopped(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	r.stub.wedge.Shut()
	c.send(wire.KindTurn, turnFrame("2", chat("long result")))
	r.stub.wedge.AwaitStuck(t)
	stopped := make(chan error, 1)
	go func() { stopped <- r.Stop(context.Background()) }()
	require.Eventually(t, func() bool { return r.Stats().Leaving }, testkit.Patience, time.Millisecond)
	require.Equal(t, map[string]any{"id": 3.0, "decision": "pass", "reason": "stopped"}, c.ask(wire.KindTurn, turnFrame("3", chat("x"))))
	require.Equal(t, map[string]any{"id": 4.0, "error": "stopped"}, c.ask(wire.KindStatus, `{"id":4}`))
	r.stub.wedge.Release()
	_, answer := c.next()
	require.Equal(t, "edit", answer["decision"])
	require.NoError(t, <-stopped)
	_, err := c.r.Next()
	require.True(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
}

func TestAStopThatIsOutOfPatienceGivesUpWhatHangs(t *testing.T) {
	t.Parallel()
	r := serve(t, nil)
	c := r.greeted()
	r.stub.wedge.Shut()
	c.send(wire.KindTurn, turnFrame("2", chat("long result")))
	r.stub.wedge.AwaitStuck(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, r.Stop(ctx), context.Canceled)
	require.ErrorIs(t, r.stopErr, context.Canceled)
	r.stub.wedge.Release()
	require.Eventually(t, func() bool { return r.bytes.Load() == 0 }, testkit.Patience, time.Millisecond)
	r.stopErr = nil // the rig stops again
}
