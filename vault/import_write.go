package vault

import (
	"fmt"
	"slices"

	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// provenance reads who saw an artifact and for whom the other program protects it.
func (im *importer) provenance(f *foreignItem) error {
	if im.sightings != "" {
		rows, err := im.from.QueryContext(im.ctx, im.sightings, f.id, importSightings)
		if err != nil {
			return sqlitefile.Explain("import", im.out.Path, err)
		}
		defer rows.Close()
		for rows.Next() {
			var session, call, tool, args string
			if err := rows.Scan(&session, &call, &tool, &args); err != nil {
				return sqlitefile.Explain("import", im.out.Path, err)
			}
			f.seen = append(f.seen, &sighting{chainName(session), f.calledAs(call, tool, args, im.maxRunes)})
		}
		if err := rows.Err(); err != nil {
			return sqlitefile.Explain("import", im.out.Path, err)
		}
	}
	if im.promises == "" {
		return nil
	}
	rows, err := im.from.QueryContext(im.ctx, im.promises, f.id, importSightings)
	if err != nil {
		return sqlitefile.Explain("import", im.out.Path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var session string
		if err := rows.Scan(&session); err != nil {
			return sqlitefile.Explain("import", im.out.Path, err)
		}
		f.pins = append(f.pins, chainName(session))
	}
	return sqlitefile.Explain("import", im.out.Path, rows.Err())
}

// chainName is the name of a session here; one without a name gets one.
func chainName(session string) string {
	if session == "" {
		return importedSession
	}
	return codec.Label(session)
}

// calledAs is the item with the labels and arguments of one call.
func (it *item) calledAs(call, tool, args string, maxRunes int) *item {
	seen := *it
	seen.CallID, seen.Tool, seen.argsBytes = codec.Label(call), codec.Label(tool), len(args)
	var long bool
	if seen.argsKept, long = codec.Args(args); long {
		whole := turn.Artifact{Digest: turn.Sum(args), Text: args, Tool: seen.Tool, CallID: seen.CallID, Kind: kindArguments}
		if runes, err := checkText(whole.Text, whole.Digest, maxRunes); err == nil {
			seen.argsItem = &item{Artifact: whole, runes: runes}
		}
	}
	return &seen
}

// flush stores the batch, or counts it in a check.
func (im *importer) flush() error {
	batch := im.batch
	im.batch, im.size = nil, 0
	if len(batch) == 0 {
		return nil
	}
	known, err := im.known(batch)
	if err != nil {
		return err
	}
	if !im.dry {
		if err := im.v.importBatch(im, batch); err != nil {
			return err
		}
	}
	for _, f := range batch {
		im.out.Pins, im.out.Observations = im.out.Pins+len(f.pins), im.out.Observations+len(f.seen)
		if known[f.Digest] || im.fresh[f.Digest] {
			im.out.Known++
			continue
		}
		im.fresh[f.Digest] = true
		im.out.New, im.out.Bytes = im.out.New+1, im.out.Bytes+int64(len(f.Text))
	}
	return nil
}

func (im *importer) known(batch []*foreignItem) (map[turn.Digest]bool, error) {
	known := map[turn.Digest]bool{}
	if im.v == nil {
		return known, nil
	}
	for _, f := range batch {
		var n int
		if err := im.v.reads[rHasRow].QueryRowContext(im.ctx, f.Digest[:]).Scan(&n); err != nil {
			return nil, im.v.explain("look up artifact", err)
		}
		known[f.Digest] = n > 0
	}
	return known, nil
}

// importBatch stores one batch with one commit and reads it back.
func (v *Vault) importBatch(im *importer, batch []*foreignItem) error {
	for _, f := range batch {
		f.pack(v.packer)
	}
	if err := v.enter(im.ctx); err != nil {
		return err
	}
	err := v.inTransaction(im.ctx, func(w *writing) error {
		now := w.now
		for _, f := range batch {
			w.now = now
			if f.created > 0 {
				w.now = min(f.created, now)
			}
			if err := w.foreign(f, now); err != nil {
				return err
			}
		}
		w.now = now
		return w.makeRoom()
	})
	v.leave()
	if err != nil {
		return err
	}
	for part := range slices.Chunk(batch, readBackBatch) {
		all := make([]*proving, len(part))
		for i, f := range part {
			all[i] = &proving{item: f.item}
		}
		v.readBack(im.ctx, all)
		for i, f := range part {
			if all[i].err != nil {
				return fmt.Errorf("import %s: %w", f.id, all[i].err)
			}
			v.verified.add(f.Digest, all[i].mark)
		}
	}
	return nil
}

// foreign writes one artifact with its pins and observations.
func (w *writing) foreign(f *foreignItem, now int64) error {
	s, err := w.look(f.Digest, "", "", "")
	if err != nil {
		return err
	}
	id, pins := s.artifactID(f.Digest), 0
	for _, session := range f.pins {
		if err := w.exec(qTouchSession, session, now); err != nil {
			return err
		}
		added, err := w.pin(session, f.item, id, turn.Binding{}, pinImport, true)
		if err != nil {
			return err
		}
		pins += added
	}
	if err := w.store(f.item, s, id, pins); err != nil {
		return err
	}
	for _, seen := range f.seen {
		args, err := w.arguments(seen.session, seen.item)
		if err != nil {
			return err
		}
		if err := w.observe(seen.session, seen.item, args, true); err != nil {
			return err
		}
	}
	return nil
}
