package actors

import "github.com/asynkron/protoactor-go/actor"

// recorder hands answered turns to Config.Record, one at a time. A panic there is
// counted and changes nothing else.
type recorder struct {
	env  *wiring
	gone chan struct{}
}

func recorderProps(env *wiring, gone chan struct{}) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return &recorder{env: env, gone: gone} },
		actor.WithGuardian(neverRestart()))
}

// Receive implements actor.Actor.
func (r *recorder) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *RecordTurn:
		r.record(m)
	case *actor.Stopped:
		close(r.gone)
	}
}

func (r *recorder) record(m *RecordTurn) {
	defer func() {
		if v := recover(); v != nil {
			r.env.caught("recorder", m.Binding, v)
		}
	}()
	r.env.cfg.Record(*m)
}
