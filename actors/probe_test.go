package actors

import (
	"context"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"token-terminator/internal/testkit"
	"token-terminator/turn"
)

// stand plays an actor: it records what it receives and answers only when the test
// says so.
type stand struct {
	pid *actor.PID
	got *testkit.Probe[letter]
}

type letter struct {
	msg    Message
	sender *actor.PID
}

func (r *rig) stand() *stand {
	s := &stand{got: testkit.NewProbe[letter]()}
	s.pid = r.sys.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if m, ok := ctx.Message().(Message); ok {
			s.got.Record(letter{m, ctx.Sender()})
		}
	}))
	r.t.Cleanup(func() { r.sys.system.Root.Stop(s.pid) })
	return s
}

func received[M Message](s *stand) []letter {
	var out []letter
	for _, l := range s.got.All() {
		if _, ok := l.msg.(M); ok {
			out = append(out, l)
		}
	}
	return out
}

// alone starts one Compiler between two stands.
func (r *rig) alone() (compiler *actor.PID, session, writer *stand) {
	session, writer = r.stand(), r.stand()
	env := r.wiringCopy()
	env.writer = writer.pid
	compiler = r.sys.system.Root.Spawn(compilerProps(env))
	r.t.Cleanup(func() { r.sys.system.Root.Stop(compiler) })
	return compiler, session, writer
}

func (r *rig) wiringCopy() *wiring {
	e := r.sys.env
	return &wiring{
		cfg: e.cfg, clock: e.clock, log: e.log, tally: e.tally, turns: e.turns, pins: e.pins,
		writer: e.writer, cpu: e.cpu, life: e.life,
	}
}

func (r *rig) order(compiler *actor.PID, session *stand, ctx context.Context) turn.Binding {
	b := turn.Binding{Engine: "tt", Home: "home", Session: "s", Generation: 1, Turn: 1, Attempt: 1}
	cmd := command("s", 1)
	r.sys.system.Root.RequestWithCustomSender(compiler, &CompileTurn{Binding: b, cmd: &cmd, ctx: ctx}, session.pid)
	return b
}

func proofFor(b turn.Binding) *EvidencePinned {
	d := turn.SumBytes(command("s", 1).Body)
	return &EvidencePinned{Binding: b, Pinned: turn.Pinned{
		Proofs: map[turn.Digest]turn.Proof{d: {Artifact: d.ID(), Shown: string(d.ID())}},
	}}
}

// What the VaultWriter's answers may do on their way, and what the Compiler makes of
// it: exactly one answer.
func TestCompilerAnswersOnceWhateverComesBack(t *testing.T) {
	t.Parallel()
	other := turn.Binding{Session: "another"}
	cases := map[string]struct {
		lowered bool
		play    func(b turn.Binding) []Message // what the writer's stand sends, in order
		want    turn.Reason                    // of a failure
		edited  bool
	}{
		"in order":  {play: func(b turn.Binding) []Message { return []Message{proofFor(b)} }, edited: true},
		"twice":     {play: func(b turn.Binding) []Message { return []Message{proofFor(b), proofFor(b), proofFor(b)} }, edited: true},
		"a failure": {play: func(b turn.Binding) []Message { return []Message{&EvidencePinned{Binding: b, Failure: turn.VaultFull}} }, want: turn.VaultFull},
		"failure, then proof": {play: func(b turn.Binding) []Message {
			return []Message{&EvidencePinned{Binding: b, Failure: turn.VaultFull}, proofFor(b)}
		}, want: turn.VaultFull},
		"another turn's proof first": {play: func(b turn.Binding) []Message {
			return []Message{proofFor(other), &FormsAccepted{Binding: other}, proofFor(b)}
		}, edited: true},
		"acceptance before proof": {lowered: true, play: func(b turn.Binding) []Message {
			return []Message{&FormsAccepted{Binding: b}, proofFor(b), &FormsAccepted{Binding: b}}
		}, edited: true},
		"acceptance refused": {lowered: true, play: func(b turn.Binding) []Message {
			return []Message{proofFor(b), &FormsAccepted{Binding: b, Failure: turn.StorageUnavailable}, &FormsAccepted{Binding: b}}
		}, want: turn.StorageUnavailable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.logic.lowered = c.lowered
			compiler, session, writer := r.alone()
			b := r.order(compiler, session, context.Background())
			asked := writer.got.Await(t, 1)[0]
			require.Equal(t, b, asked.msg.(*PinEvidence).Evidence.Binding)
			require.Equal(t, compiler.Id, asked.sender.Id)
			require.Empty(t, session.got.All(), "no answer before the proof")
			asked.msg.(*PinEvidence).ticket.release()
			for _, m := range c.play(b) {
				r.sys.system.Root.Send(compiler, m)
			}
			got := session.got.Await(t, 1)[0].msg.(*TurnCompiled)
			r.drainMailbox(compiler)
			require.Len(t, received[*TurnCompiled](session), 1)
			require.Equal(t, b, got.Binding)
			require.Equal(t, c.want, got.Failure)
			require.Equal(t, c.edited, got.Outcome.Edited)
		})
	}
}

// drainMailbox returns when everything sent to the Compiler pid before was handled: a
// second order is answered with a failure, to its own asker.
func (r *rig) drainMailbox(pid *actor.PID) {
	mark := turn.Binding{Session: "mark"}
	probe := r.stand()
	r.sys.system.Root.RequestWithCustomSender(pid, &CompileTurn{Binding: mark}, probe.pid)
	last := probe.got.Await(r.t, 1)[0].msg.(*TurnCompiled)
	require.Equal(r.t, turn.InternalError, last.Failure)
	require.Equal(r.t, mark, last.Binding)
}

func TestCompilerWhoseTurnIsOverPinsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	compiler, session, writer := r.alone()
	ctx, cancel := context.WithCancel(context.Background())
	r.logic.evidence.set(cancel)
	r.order(compiler, session, ctx)
	got := session.got.Await(t, 1)[0].msg.(*TurnCompiled)
	require.Equal(t, turn.Deadline, got.Failure)
	require.Empty(t, writer.got.All())
}

func TestCompilerWithoutAWriterFailsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.letters = 1
	session := r.stand()
	env := r.wiringCopy()
	env.writer = actor.NewPID("nonhost", "nobody")
	compiler := r.sys.system.Root.Spawn(compilerProps(env))
	r.order(compiler, session, context.Background())
	got := session.got.Await(t, 1)[0].msg.(*TurnCompiled)
	require.Equal(t, turn.StorageUnavailable, got.Failure)
	_, bytes := r.sys.env.pins.load()
	require.Zero(t, bytes, "the undelivered pin gave its place back")
	r.sys.system.Root.Stop(compiler)
}

// Two turns of one session whose proofs come back in the other order.
func TestSessionTakesAnswersInAnyOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	writer := r.stand()
	env := r.wiringCopy()
	env.writer = writer.pid
	root := r.sys.system.Root
	session := root.Spawn(sessionProps(env, keyOf(claim("s"))))
	var cmds []*ReduceTurn
	for n := range 2 {
		cmd := command("s", n)
		cmd.reply, cmd.body = newReply(), bodyKeyOf(cmd.Body)
		cmds = append(cmds, &cmd)
		root.Send(session, &cmd)
	}
	load := writer.got.Await(t, 1)[0].msg.(*LoadForms)
	root.Send(session, &FormsLoaded{Binding: load.Binding})
	root.Send(session, &FormsLoaded{Binding: load.Binding}) // a second one changes nothing
	asked := writer.got.Await(t, 3)[1:]
	for i := range asked {
		l := asked[len(asked)-1-i]
		pin := l.msg.(*PinEvidence)
		pin.ticket.release()
		a := pin.Evidence.Artifacts[0]
		root.Send(l.sender, &EvidencePinned{Binding: pin.Binding, Pinned: turn.Pinned{
			Proofs: map[turn.Digest]turn.Proof{a.Digest: {Artifact: a.Digest.ID(), Shown: string(a.Digest.ID())}},
		}})
	}
	for _, cmd := range cmds {
		got := <-cmd.reply.ch
		requireSmall(t, *cmd, got)
	}
	root.Stop(session)
}

func TestTurnWhoseCompilerIsKilledGetsTheOriginal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.letters = 1 // the store's late answer
	r.store.put.wedge.Shut()
	cmd := command("s", 1)
	out := r.begin(context.Background(), cmd)
	r.store.put.wedge.AwaitStuck(t)
	r.sys.system.Root.Stop(r.pid("compiler"))
	requireOriginal(t, cmd, r.await(out), turn.InternalError)
	r.release()
	next := command("s", 2)
	requireSmall(t, next, r.reduce(next))
}

// A session whose own questions reach nobody answers at once, and asks again next time.
func TestSessionWithoutAWriterFailsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.letters = 2
	env := r.wiringCopy()
	env.writer = actor.NewPID("nonhost", "nobody")
	root := r.sys.system.Root
	session := root.Spawn(sessionProps(env, keyOf(claim("s"))))
	for n := range 2 {
		cmd := command("s", n)
		cmd.reply, cmd.body = newReply(), bodyKeyOf(cmd.Body)
		root.Send(session, &cmd)
		got := <-cmd.reply.ch
		require.Equal(t, turn.StorageUnavailable, got.Reason)
	}
	root.Stop(session)
}

// Even a panic of the Sessions actor itself is an answer, and the actor goes on.
func TestPanicOfTheDoorIsAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.sys.env.spawned = func(string, *actor.PID) { panic("door") }
	cmd := command("s", 1)
	got := r.reduce(cmd)
	requireOriginal(t, cmd, got, turn.InternalError)
	require.Equal(t, int64(1), r.sys.Stats().Panics)
	require.Zero(t, r.sys.Stats().TurnsInFlight)
}
