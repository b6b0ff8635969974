package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"token-terminator/actors"
	"token-terminator/ledger"
	"token-terminator/ledger/book"
	"token-terminator/turn"
)

// replayQueue is room for every turn of a replay that writes faster than a disk.
const replayQueue = 1 << 16

// openLedger opens the ledger of a dump, beside its vault. A daemon writes its own.
func (r *replay) openLedger(ctx context.Context) error {
	if _, own := r.pipeline.(*pipeline); !own || r.flags.dump == "" {
		return nil
	}
	l, err := ledger.Open(ctx, filepath.Join(r.folder, ledger.FileName), ledger.Options{Queue: replayQueue})
	if err != nil {
		return storage(errors.Join(err, r.pipeline.stop(context.WithoutCancel(ctx))))
	}
	r.ledger = l
	return nil
}

// note writes the numbers of one turn into the ledger.
func (run *sessionRun) note(cold bool, in []byte, answer actors.TurnReduced, took time.Duration) {
	if run.r.ledger == nil {
		return
	}
	b := answer.Binding
	if b.Session == "" { // passed before a session saw it
		b = turn.Binding{Engine: "replay", Session: run.session.ID}
	}
	run.r.ledger.Record(book.Entry(actors.RecordTurn{
		Binding: b, Edited: answer.Edited, Reason: answer.Reason, Bytes: len(in), Elapsed: took, Detail: answer.Detail,
	}, book.Context{Mode: "replay", Model: run.session.Model, Row: run.row, Cold: cold, Declared: run.fixedIn - run.fixedRaw}))
}
