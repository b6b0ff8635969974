package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"token-terminator/turn"
	"token-terminator/vault/codec"
)

// Status is what a user wants to know about a vault at a glance.
type Status struct {
	Path        string  `json:"path"`
	Schema      int     `json:"schema"`
	ReadOnly    bool    `json:"read_only"`
	Bytes       int64   `json:"bytes"` // content, arguments and metadata
	Capacity    int64   `json:"capacity"`
	Percent     float64 `json:"percent"`
	HighWater   int64   `json:"high_water"`
	LowWater    int64   `json:"low_water"`
	Content     int64   `json:"content_bytes"`
	Artifacts   int     `json:"artifacts"`
	Pinned      int     `json:"pinned_artifacts"`
	Pins        int     `json:"pins"`
	Sessions    int     `json:"sessions"`
	Nodes       int     `json:"nodes"`
	Pruned      int64   `json:"pruned_artifacts"`
	PrunedBytes int64   `json:"pruned_bytes"`

	Level    string   `json:"level"`  // "ok", "warning" from 70 % on, "red" from 90 % on
	Stored   int64    `json:"stored"` // bytes of the bodies as they lie in the file, packed
	Forecast Forecast `json:"forecast"`
}

// Status counts what the vault holds.
func (v *Vault) Status(ctx context.Context) (Status, error) {
	if v.closed.Load() {
		return Status{}, ErrClosed
	}
	s := Status{Path: v.path, ReadOnly: v.db == nil, Capacity: v.o.CapacityBytes, HighWater: v.o.highMark(), LowWater: v.o.lowMark()}
	err := v.readers.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT value FROM counters WHERE name = 'used'), (SELECT value FROM counters WHERE name = 'pruned'),
		(SELECT value FROM counters WHERE name = 'pruned_bytes'),
		(SELECT count(*) FROM artifacts), (SELECT coalesce(sum(bytes), 0) FROM artifacts),
		(SELECT count(*) FROM artifacts WHERE pin_count > 0),
		(SELECT count(*) FROM pins), (SELECT count(*) FROM sessions), (SELECT count(*) FROM nodes),
		(SELECT coalesce(sum(length(body)), 0) FROM bodies)`).
		Scan(&s.Schema, &s.Bytes, &s.Pruned, &s.PrunedBytes, &s.Artifacts, &s.Content, &s.Pinned, &s.Pins, &s.Sessions, &s.Nodes, &s.Stored)
	if err != nil {
		return Status{}, v.explain("count", err)
	}
	s.Percent = float64(s.Bytes) * 100 / float64(s.Capacity)
	s.Level = levelOf(s.Bytes, s.Capacity)
	s.Forecast, err = v.forecast(ctx, s.Bytes)
	return s, err
}

// maxProblems bounds a report; Report.More counts the rest.
const maxProblems = 1_000

// Problem is one thing Verify found.
type Problem struct {
	ID   turn.ArtifactID `json:"artifact_id,omitempty"`
	What string          `json:"what"`
}

// Report is what Verify found.
type Report struct {
	Artifacts int       `json:"artifacts"` // looked at
	Bytes     int64     `json:"bytes"`
	Nodes     int       `json:"nodes"`
	Damaged   []Problem `json:"damaged"`
	Lost      []Problem `json:"lost"`
	More      int       `json:"more,omitempty"` // problems beyond the first 1,000 of each list
}

// Sound says whether nothing is damaged or lost.
func (r Report) Sound() bool { return len(r.Damaged) == 0 && len(r.Lost) == 0 && r.More == 0 }

func (r *Report) damaged(id turn.ArtifactID, what string) { r.add(&r.Damaged, Problem{id, what}) }
func (r *Report) lost(id turn.ArtifactID, what string)    { r.add(&r.Lost, Problem{id, what}) }

func (r *Report) add(to *[]Problem, p Problem) {
	if len(*to) == maxProblems {
		r.More++
		return
	}
	*to = append(*to, p)
}

// Verify reads the whole vault: the file's own structure, every artifact's hash,
// lengths and id, every pin's artifact, every node's decisions. An error means that
// it could not be read to the end; what was found until then comes with it.
func (v *Vault) Verify(ctx context.Context) (Report, error) {
	r := Report{Damaged: []Problem{}, Lost: []Problem{}}
	if v.closed.Load() {
		return r, ErrClosed
	}
	for _, step := range []func(context.Context, *Report) error{v.verifyFile, v.verifyArtifacts, v.verifyPins, v.verifyNodes, v.verifyCounter} {
		if err := step(ctx, &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// each runs a query and calls row for every row.
func (v *Vault) each(ctx context.Context, op, query string, row func(scan func(...any) error) error) error {
	rows, err := v.readers.QueryContext(ctx, query)
	if err != nil {
		return v.explain(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return v.explain(op, err)
		}
	}
	return v.explain(op, rows.Err())
}

func (v *Vault) verifyFile(ctx context.Context, r *Report) error {
	return v.each(ctx, "check file", `PRAGMA integrity_check(20)`, func(scan func(...any) error) error {
		var line string
		if err := scan(&line); err != nil || line == "ok" {
			return err
		}
		r.damaged("", "file structure: "+codec.Label(line))
		return nil
	})
}

func (v *Vault) verifyArtifacts(ctx context.Context, r *Report) error {
	const query = `SELECT a.id, a.sha, a.runes, a.bytes, b.codec, coalesce(b.body, x'')
		FROM artifacts a LEFT JOIN bodies b ON b.seq = a.seq ORDER BY a.seq`
	return v.each(ctx, "verify artifacts", query, func(scan func(...any) error) error {
		var s Summary
		var sha []byte
		var how sql.NullInt64
		var body sql.RawBytes
		if err := scan((*string)(&s.ID), &sha, &s.Chars, &s.Bytes, &how, &body); err != nil {
			return err
		}
		r.Artifacts++
		copy(s.Digest[:], sha)
		text, err := v.unpack(s, int(how.Int64), body)
		r.Bytes += int64(len(text))
		switch {
		case !how.Valid || errors.Is(err, ErrLost):
			r.lost(s.ID, "its body is missing or written in a way this version cannot read")
		case err != nil || checkStored(s, text) != nil:
			r.damaged(s.ID, "its bytes, hash, length and id do not belong together")
		}
		return nil
	})
}

func (v *Vault) verifyPins(ctx context.Context, r *Report) error {
	const query = `SELECT p.id, count(*) FROM pins p LEFT JOIN artifacts a ON a.sha = p.sha WHERE a.seq IS NULL GROUP BY p.id ORDER BY p.id`
	return v.each(ctx, "verify pins", query, func(scan func(...any) error) error {
		var id string
		var n int
		if err := scan(&id, &n); err != nil {
			return err
		}
		r.lost(turn.ArtifactID(id), fmt.Sprintf("%d sessions hold a pin on it and its row is gone", n))
		return nil
	})
}

// verifyCounter compares the counter of used bytes with the rows. It is not recounted
// when a vault is opened; Compact does that.
func (v *Vault) verifyCounter(ctx context.Context, r *Report) error {
	const query = `SELECT coalesce((SELECT value FROM counters WHERE name = 'used'), -1), ` + usedSum
	return v.each(ctx, "verify counter", query, func(scan func(...any) error) error {
		var counted, sum int64
		if err := scan(&counted, &sum); err != nil || counted == sum {
			return err
		}
		r.damaged("", fmt.Sprintf("the counter of used bytes says %d and the rows %d; tt vault prune --compact counts again", counted, sum))
		return nil
	})
}

// verifyNodes decodes every decision. Its artifact's existence follows from the pin.
func (v *Vault) verifyNodes(ctx context.Context, r *Report) error {
	return v.each(ctx, "verify nodes", `SELECT idx, decisions FROM nodes ORDER BY rowid`, func(scan func(...any) error) error {
		var idx int
		var data []byte
		if err := scan(&idx, &data); err != nil {
			return err
		}
		r.Nodes++
		if _, err := codec.DecodeDecisions(data); err != nil {
			r.damaged("", fmt.Sprintf("the decisions of message %d", idx))
		}
		return nil
	})
}
