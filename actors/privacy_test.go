package actors

import (
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func jsonLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// A word planted in requests, panic values and errors reaches no log, whatever fails.
func TestNoLogHoldsContent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.letters = 2
	n := 0
	run := func(s *spot) {
		s.set(panicking)
		n++
		r.reduce(command("s", n))
		s.set(nil)
	}
	run(r.logic.begin)
	run(r.logic.finish)
	run(r.with)
	run(r.store.put)
	run(r.store.get)
	r.store.change(func(s *store) { s.putErr = errors.New("MARKER in an error") })
	r.reduce(command("s", 100))
	r.store.change(func(s *store) { s.putErr = nil })

	root := r.sys.system.Root
	nobody := actor.NewPID("nonhost", "nobody")
	text := []byte("MARKER to nobody")
	root.Send(nobody, &ReduceTurn{Body: text, reply: newReply()})
	root.Send(nobody, &PinEvidence{Evidence: turn.Evidence{Artifacts: []turn.Artifact{{Text: string(text)}}}})
	bare := root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if m, ok := ctx.Message().(string); ok {
			panic(m)
		}
	}, actor.WithGuardian(neverRestart())))
	root.Send(bare, "MARKER in a bare actor")
	testkitAwait(t, func() bool { return r.sys.Stats().DeadLetters == 2 })
	r.finish()

	logs := r.logs.String()
	require.Contains(t, logs, "[DeadLetter]")
	require.Contains(t, logs, "[ACTOR] Recovering")
	require.Contains(t, logs, `"msg":"panic caught"`)
	require.Contains(t, logs, `"err_type":"string"`)
	require.NotContains(t, logs, "MARKER")
}

func TestRedactorLeavesOnlyTypes(t *testing.T) {
	t.Parallel()
	var out safeBuffer
	log := slog.New(redactor{slog.NewJSONHandler(&out, nil)}).With("who", "MARKER").WithGroup("g")
	log.Info("MARKER as text", "message", "MARKER", slog.Group("deep", "x", "MARKER"), "err", errors.New("MARKER"))
	log.Info("[DeadLetter]", "n", 987_654)
	require.NotContains(t, out.String(), "MARKER")
	require.NotContains(t, out.String(), "987654")
	require.Contains(t, out.String(), "*errors.errorString")
}
