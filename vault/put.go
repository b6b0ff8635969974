package vault

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"token-terminator/turn"
)

// Put makes one turn's evidence durable in one transaction: artifacts, observations,
// pins, shown ids and pending nodes; then every artifact is read back on another
// connection and its hash compared.
//
// Pinned.Proofs decides: an edit whose artifact has no proof must be dropped.
// Pinned.Reason names the first thing that did not hold, which may concern a single
// artifact (too large, not UTF-8, read-back failed) while the other proofs stand.
// err is not nil when nothing of the turn was stored; then there is no proof at all.
func (v *Vault) Put(ctx context.Context, ev turn.Evidence) (turn.Pinned, error) {
	r := v.PutAll(ctx, []turn.Evidence{ev})[0]
	return r.Pinned, r.Err
}

// PutAll stores a group of turns with one commit. When a turn fails (vault full, bad
// row), the group is written again with a savepoint for each turn, so that the others
// stay whole. When that transaction fails too, every turn gets one of its own.
// The results are in the order of evs.
func (v *Vault) PutAll(ctx context.Context, evs []turn.Evidence) []PutResult {
	jobs := make([]*job, len(evs))
	spread(len(evs), func(i int) {
		if evs[i].Ready == nil {
			jobs[i] = newJob(v.Prepare(evs[i]), v.o.MaxArtifactRunes)
		} else {
			jobs[i] = newJob(evs[i], v.o.MaxArtifactRunes)
		}
	})
	v.write(ctx, jobs)
	v.prove(ctx, jobs)
	results := make([]PutResult, len(jobs))
	for i, j := range jobs {
		if j.err == nil {
			v.standing.add(j.removed, j.session, j.stands)
		}
		results[i] = j.result()
	}
	if err := v.hook("before reply"); err != nil {
		for i := range results {
			jobs[i].err = err
			results[i] = jobs[i].result()
		}
	}
	return results
}

// spread calls do for 0 to n-1, on as many goroutines as there are reading connections
// when there is enough to do.
func spread(n int, do func(i int)) {
	if n <= readConns {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range readConns {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// write stores the jobs that are still good and sets err in those that failed.
func (v *Vault) write(ctx context.Context, jobs []*job) {
	var good []*job
	for _, j := range jobs {
		if j.err == nil {
			good = append(good, j)
		}
	}
	if len(good) == 0 {
		return
	}
	if err := v.enter(ctx); err != nil {
		failAll(good, err)
		return
	}
	defer v.leave()
	err := v.inTransaction(ctx, func(w *writing) error { return w.together(good) })
	if err != nil && len(good) > 1 && ctx.Err() == nil {
		forget(good)
		err = v.inTransaction(ctx, func(w *writing) error { return w.group(good) })
	}
	if err == nil || len(good) == 1 || ctx.Err() != nil {
		failAll(good, err)
		return
	}
	forget(good)
	for _, j := range good {
		alone := []*job{j}
		failAll(alone, v.inTransaction(ctx, func(w *writing) error { return w.together(alone) }))
	}
}

func forget(jobs []*job) {
	for _, j := range jobs {
		j.forget()
	}
}

// failAll fails the jobs, if err is not nil.
func failAll(jobs []*job, err error) {
	if err == nil {
		return
	}
	for _, j := range jobs {
		if j.err == nil {
			j.err = err
		}
		j.proofs = nil
	}
}

// writing is an open transaction on the writer's connection.
type writing struct {
	v    *Vault
	ctx  context.Context // the caller's: looked at between statements
	run  context.Context // of the statements, which are short and are not torn
	now  int64
	size int64          // bytes of bodies written
	mine map[int64]bool // rows stored or seen since room was made: not pruned for them

	added   int64    // what rows count that are not yet in the counter
	touched []string // sessions whose last use was noted
}

// inTransaction runs do between BEGIN IMMEDIATE and COMMIT. Any error, panic or
// failed commit rolls everything back.
func (v *Vault) inTransaction(ctx context.Context, do func(*writing) error) (err error) {
	done := false
	defer func() {
		if !done {
			// The answer is an error already, and SQLite may have rolled back itself.
			_, _ = v.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	if err := v.plain(ctx, qBegin); err != nil {
		return err
	}
	w := &writing{v: v, ctx: ctx, run: context.WithoutCancel(ctx), now: v.nowMillis(), mine: map[int64]bool{}}
	if err := do(w); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Once the commit starts it is carried through: a cancelled commit has no clear end.
	if err := v.plain(w.run, qCommit); err != nil {
		return err
	}
	done = true
	v.used.note(w.touched, w.now)
	v.keeper.wrote(w.size)
	return nil
}

// plain runs a prepared statement without arguments between its two hooks.
func (v *Vault) plain(ctx context.Context, q query) error {
	name := queries[q].name
	if err := v.hook("before " + name); err != nil {
		return err
	}
	if _, err := v.stmts[q].ExecContext(ctx); err != nil {
		return v.explain(name, err)
	}
	return v.hook("after " + name)
}

// together stores jobs without savepoints and makes room for all of them at the end. The
// first that fails fails all.
func (w *writing) together(jobs []*job) error {
	for _, j := range jobs {
		if err := w.turn(j); err != nil {
			return err
		}
	}
	return w.makeRoom()
}

// group stores each job under its own savepoint. It returns an error only when the
// transaction as a whole is lost.
func (w *writing) group(jobs []*job) error {
	for _, j := range jobs {
		if err := w.v.plain(w.run, qSavepoint); err != nil {
			return err
		}
		w.added = 0
		clear(w.mine)
		touched := len(w.touched)
		err := w.turn(j)
		if err == nil {
			err = w.makeRoom()
		}
		if err == nil {
			if err := w.v.plain(w.run, qRelease); err != nil {
				return err
			}
			continue
		}
		if w.ctx.Err() != nil {
			return err
		}
		if _, lost := w.v.conn.ExecContext(w.run, "ROLLBACK TO turn; RELEASE turn"); lost != nil {
			return errors.Join(err, w.v.explain("roll back", lost))
		}
		w.touched = w.touched[:touched]
		j.forget()
		j.err = err
	}
	return nil
}

// turn writes one turn: its artifacts before the nodes whose text holds their ids.
func (w *writing) turn(j *job) error {
	if err := w.use(j.session); err != nil {
		return err
	}
	j.proofs = make(map[turn.Digest]turn.Proof, len(j.items))
	for _, it := range j.items {
		proof, err := w.item(j, it)
		if err != nil {
			return err
		}
		j.proofs[it.Digest] = proof
	}
	if err := w.hold(j); err != nil {
		return err
	}
	for _, n := range j.ev.Nodes {
		if err := w.pendingNode(j, n); err != nil {
			return err
		}
	}
	return nil
}

// item writes one artifact with its arguments, observation, pin and shown id. The pin
// comes first, so that the row is counted as pinned from the start.
func (w *writing) item(j *job, it *item) (turn.Proof, error) {
	s, err := w.look(it.Digest, j.session, it.CallID, it.Tool)
	if err != nil {
		return turn.Proof{}, err
	}
	id := s.artifactID(it.Digest)
	pins, err := w.pin(j.session, it, id, j.ev.Binding, pinTurn, s.pinned)
	if err != nil {
		return turn.Proof{}, err
	}
	if err := w.store(it, s, id, pins); err != nil {
		return turn.Proof{}, err
	}
	argsSHA, err := w.arguments(j.session, it)
	if err != nil {
		return turn.Proof{}, err
	}
	if err := w.observe(j.session, it, argsSHA, s.seen); err != nil {
		return turn.Proof{}, err
	}
	shown, err := w.show(it.Digest, s, id)
	return turn.Proof{Artifact: id, Shown: shown}, err
}

// arguments stores a call's long arguments and gives their hash, nil when there are none.
func (w *writing) arguments(session string, it *item) ([]byte, error) {
	if it.argsItem == nil {
		return nil, nil
	}
	s, err := w.look(it.argsItem.Digest, session, it.argsItem.CallID, it.argsItem.Tool)
	if err != nil {
		return nil, err
	}
	if err := w.store(it.argsItem, s, s.artifactID(it.argsItem.Digest), 0); err != nil {
		return nil, err
	}
	return it.argsItem.Digest[:], w.observe(session, it.argsItem, nil, s.seen)
}

// Classes of pins: what made the promise.
const (
	pinTurn   = "turn"
	pinImport = "import"
)

// pin pins an artifact for a session and says how many pins that added, 0 or 1. maybe
// says that it may be pinned already.
func (w *writing) pin(session string, it *item, id turn.ArtifactID, b turn.Binding, class string, maybe bool) (int, error) {
	if maybe {
		if known, err := w.update(qUsePin, session, it.Digest[:], w.now); known || err != nil {
			return 0, err
		}
	}
	cost := pinCost(session)
	w.added += cost
	return 1, w.exec(qPin, session, it.Digest[:], string(id), class, int64(b.Generation), int64(b.Turn), int64(b.Attempt), w.now, cost)
}

// observe notes that a session saw an artifact in one call; maybe says that it may be
// noted already.
func (w *writing) observe(session string, it *item, argsSHA []byte, maybe bool) error {
	if maybe {
		if known, err := w.update(qSeeObservation, session, it.Digest[:], it.CallID, it.Tool, w.now); known || err != nil {
			return err
		}
	}
	cost := it.observationCost(session)
	w.added += cost
	return w.exec(qObserve, session, it.Digest[:], it.CallID, it.Tool, it.argsKept, int64(it.argsBytes), argsSHA, w.now, cost)
}

// update runs a statement and says whether there was a row for it.
func (w *writing) update(q query, args ...any) (bool, error) {
	res, err := w.result(q, args...)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, w.v.explain(queries[q].name, err)
}

// exec runs a prepared statement between its two hooks.
func (w *writing) exec(q query, args ...any) error {
	_, err := w.result(q, args...)
	return err
}

func (w *writing) result(q query, args ...any) (sql.Result, error) {
	name := queries[q].name
	if err := w.v.hook("before " + name); err != nil {
		return nil, err
	}
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	res, err := w.v.stmts[q].ExecContext(w.run, args...)
	if err != nil {
		return nil, w.v.explain(name, err)
	}
	return res, w.v.hook("after " + name)
}

// scan reads one row into dest between the statement's two hooks; found is false
// when there is none.
func (w *writing) scan(q query, dest []any, args ...any) (found bool, err error) {
	return w.row(queries[q].name, func() *sql.Row { return w.v.stmts[q].QueryRowContext(w.run, args...) }, dest)
}

// lookFor is scan for a statement that is not prepared.
func (w *writing) lookFor(name, text string, dest []any, args ...any) (found bool, err error) {
	return w.row(name, func() *sql.Row { return w.v.conn.QueryRowContext(w.run, text, args...) }, dest)
}

func (w *writing) row(name string, query func() *sql.Row, dest []any) (found bool, err error) {
	if err := w.v.hook("before " + name); err != nil {
		return false, err
	}
	if err := w.ctx.Err(); err != nil {
		return false, err
	}
	err = query().Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, w.v.hook("after " + name)
	}
	if err != nil {
		return false, w.v.explain(name, err)
	}
	return true, w.v.hook("after " + name)
}
