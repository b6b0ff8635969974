package actors

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/asynkron/protoactor-go/actor"

	"token-terminator/turn"
)

var (
	errWriterPanicked = errors.New("vault writer: panic caught, commands answered")
	errReopen         = errors.New("vault writer: store does not open again")
)

// vaultWriter is the only user of the Store and the only actor that may block on the
// disk. It commits in groups: the first pin of a batch sends FlushPins to itself,
// which lands behind everything that is waiting, and again as long as the batch grew
// meanwhile. So a batch forms under load and costs a single caller nothing.
type vaultWriter struct {
	env      *wiring
	shelf    *shelf
	gone     chan struct{}
	batch    []pinJob // not yet answered
	items    int      // artifacts in batch
	bytes    int64    // of their texts
	inHand   *pinJob  // received and not yet in batch
	flushing bool     // FlushPins is on its way
	seen     int      // turns in batch when it was sent
}

// shelf holds what outlives a restart of the writer.
type shelf struct {
	store  Store
	opened bool
}

type pinJob struct {
	asker *actor.PID
	msg   *PinEvidence
	size  int64
}

func writerProps(env *wiring, gone chan struct{}) *actor.Props {
	s := &shelf{store: env.cfg.Store}
	strategy := actor.NewOneForOneStrategy(writerRestarts, writerWindow, actor.DefaultDecider)
	return actor.PropsFromProducer(func() actor.Actor {
		return &vaultWriter{env: env, shelf: s, gone: gone}
	}, actor.WithGuardian(strategy))
}

// Receive implements actor.Actor.
func (w *vaultWriter) Receive(ctx actor.Context) {
	defer w.answerIfPanicked(ctx)
	switch m := ctx.Message().(type) {
	case *actor.Started:
		w.open()
	case *PinEvidence:
		w.collect(ctx, m)
	case *FlushPins:
		w.flushing = false
		if w.seen < len(w.batch) {
			w.callFlush(ctx, m.Binding)
			runtime.Gosched() // whoever is about to ask shares the commit
			return
		}
		w.flush(ctx)
	case *AcceptForms:
		why := turn.Reason("")
		if err := w.shelf.store.Accept(w.env.life, m.Binding.Session, m.Nodes); err != nil {
			w.renew(err) // what the nodes lean on went with the store: no second try
			why = w.failed("accept", m.Binding, err, turn.StorageUnavailable)
		}
		ctx.Respond(&FormsAccepted{Binding: m.Binding, Failure: why})
	case *LoadForms:
		out := &FormsLoaded{Binding: m.Binding}
		nodes, err := w.shelf.store.Nodes(w.env.life, m.Binding.Session)
		if w.renew(err) {
			nodes, err = w.shelf.store.Nodes(w.env.life, m.Binding.Session)
		}
		if out.Nodes = nodes; err != nil {
			out.Nodes, out.Failure = nil, w.failed("load", m.Binding, err, turn.StorageUnavailable)
		}
		ctx.Respond(out)
	case *actor.Stopping:
		w.flush(ctx)
	case *actor.Stopped:
		close(w.gone)
	}
}

// open does nothing the first time; after a restart it lets the store be reopened.
func (w *vaultWriter) open() {
	if !w.shelf.opened {
		w.shelf.opened = true
		return
	}
	w.env.tally.restarts.Add(1)
	if w.env.cfg.Reopen == nil {
		return
	}
	store, err := w.env.cfg.Reopen(w.shelf.store)
	if err != nil || store == nil {
		panic(errReopen)
	}
	w.shelf.store = store
}

func (w *vaultWriter) collect(ctx actor.Context, m *PinEvidence) {
	job := pinJob{asker: ctx.Sender(), msg: m, size: weigh(m.Evidence)}
	items := len(m.Evidence.Artifacts)
	if len(w.batch) > 0 && (w.items+items > w.env.cfg.BatchItems || w.bytes+job.size > w.env.cfg.BatchBytes) {
		w.inHand = &job
		w.flush(ctx)
		w.inHand = nil
	}
	w.batch = append(w.batch, job)
	w.items += items
	w.bytes += job.size
	if !w.flushing {
		w.callFlush(ctx, m.Binding)
	}
}

func (w *vaultWriter) callFlush(ctx actor.Context, b turn.Binding) {
	w.flushing, w.seen = true, len(w.batch)
	ctx.Send(ctx.Self(), &FlushPins{Binding: b})
}

// flush commits the batch and answers everyone in it.
func (w *vaultWriter) flush(ctx actor.Context) {
	if len(w.batch) == 0 {
		return
	}
	all := make([]turn.Evidence, len(w.batch))
	for i, job := range w.batch {
		all[i] = job.msg.Evidence
	}
	results := w.putAll(all)
	w.env.tally.batches.Add(1)
	w.env.tally.batchedTurns.Add(int64(len(all)))
	jobs := w.takeBatch()
	for i, job := range jobs {
		out := &EvidencePinned{Binding: job.msg.Binding, Failure: turn.StorageUnavailable}
		if i < len(results) {
			out.Pinned, out.Failure = results[i].Pinned, w.outcome(job.msg.Binding, results[i])
			out.Pinned.Binding = job.msg.Binding
		}
		job.answer(ctx, out)
	}
}

// putAll stores a batch. The turns that found the store gone are tried once more in the
// one that was opened in its place.
func (w *vaultWriter) putAll(all []turn.Evidence) []PutResult {
	results := w.shelf.store.PutAll(w.env.life, all)
	var again []turn.Evidence
	var at []int
	for i, r := range results {
		if i < len(all) && errors.Is(r.Err, ErrStoreGone) {
			again, at = append(again, all[i]), append(at, i)
		}
	}
	if len(at) == 0 || !w.renew(results[at[0]].Err) {
		return results
	}
	for n, r := range w.shelf.store.PutAll(w.env.life, again) {
		if n < len(at) {
			results[at[n]] = r
		}
	}
	return results
}

// renew opens a store again whose files are gone and says whether that worked. One that
// does not open now is tried again with the next turn.
func (w *vaultWriter) renew(err error) bool {
	if !errors.Is(err, ErrStoreGone) || w.env.cfg.Reopen == nil {
		return false
	}
	store, err := w.env.cfg.Reopen(w.shelf.store)
	if err != nil || store == nil {
		w.failed("reopen", turn.Binding{}, err, turn.StorageUnavailable)
		return false
	}
	w.shelf.store = store
	w.env.tally.reopened.Add(1)
	return true
}

// outcome is "" when the turn's transaction was committed.
func (w *vaultWriter) outcome(b turn.Binding, r PutResult) turn.Reason {
	if r.Err == nil {
		return ""
	}
	why := r.Pinned.Reason
	if !why.Known() {
		why = turn.StorageUnavailable
	}
	return w.failed("pin", b, r.Err, why)
}

func (w *vaultWriter) takeBatch() []pinJob {
	jobs := w.batch
	w.batch, w.items, w.bytes, w.seen = nil, 0, 0, 0
	return jobs
}

func (j pinJob) answer(ctx actor.Context, out *EvidencePinned) {
	j.msg.ticket.release()
	if j.asker != nil {
		ctx.Send(j.asker, out)
	}
}

func (w *vaultWriter) failed(step string, b turn.Binding, err error, why turn.Reason) turn.Reason {
	w.env.log.Warn("vault refused", "stage", step, "session", b.Session, "turn", b.Turn, "gen", b.Generation,
		"reason", string(why), "err_type", typeName(err))
	return why
}

// answerIfPanicked answers everything in hand, then fails, so that supervision opens
// the store again or, after too many failures, stops the writer for good.
func (w *vaultWriter) answerIfPanicked(ctx actor.Context) {
	v := recover()
	if v == nil {
		return
	}
	var b turn.Binding
	if m, ok := ctx.Message().(Message); ok {
		b = m.Bound()
	}
	w.env.caught("vaultwriter", b, v)
	jobs := w.takeBatch()
	if w.inHand != nil {
		jobs = append(jobs, *w.inHand)
	}
	for _, job := range jobs {
		job.answer(ctx, &EvidencePinned{Binding: job.msg.Binding, Failure: turn.StorageUnavailable})
	}
	switch m := ctx.Message().(type) {
	case *AcceptForms:
		ctx.Respond(&FormsAccepted{Binding: m.Binding, Failure: turn.StorageUnavailable})
	case *LoadForms:
		ctx.Respond(&FormsLoaded{Binding: m.Binding, Failure: turn.StorageUnavailable})
	case *actor.Stopping, *actor.Stopped:
		return // it ends anyway
	}
	panic(fmt.Errorf("%w (%s)", errWriterPanicked, typeName(v)))
}
