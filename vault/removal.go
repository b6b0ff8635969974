package vault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"token-terminator/turn"
	"token-terminator/vault/codec"
	"token-terminator/vault/mention"
)

// removeBatch is how many artifacts go with one commit.
const removeBatch = 256

// Errors of removing evidence.
var (
	ErrNoSession = errors.New("no session of that name has anything here")
	ErrNamed     = errors.New("a transcript names what would be removed")
)

// Doomed is an artifact that a removal would take away.
type Doomed struct {
	ID     turn.ArtifactID `json:"artifact_id"`
	Shown  string          `json:"shown_id,omitempty"`
	Bytes  int             `json:"total_bytes"`
	Pins   int             `json:"pins"` // sessions that hold a promise on it
	digest turn.Digest
	cost   int64
}

// Removal is a plan: what would go, made without changing anything. Vault.Remove
// carries it out.
type Removal struct {
	Why       string   `json:"action"` // "release" or "prune"
	Sessions  []string `json:"sessions"`
	Artifacts []Doomed `json:"-"`
	Pins      int      `json:"pins"`  // promises that end
	Nodes     int      `json:"nodes"` // remembered messages that are forgotten

	one   bool // a single artifact, whoever holds it
	reset bool // for prune: unpinned artifacts go only while they stay unpinned
}

// Bytes is what the plan's artifacts count against the capacity.
func (r Removal) Bytes() (n int64) {
	for _, d := range r.Artifacts {
		n += d.cost
	}
	return n
}

// Index prepares a search for the plan's artifacts in transcripts; its numbers are
// those of r.Artifacts.
func (r Removal) Index() *mention.Index {
	ix := &mention.Index{}
	for _, d := range r.Artifacts {
		ix.Add(d.digest.String(), max(len(d.Shown)-len("a_"), 0))
	}
	ix.Build()
	return ix
}

const doomedColumns = `a.id, coalesce((SELECT prefix FROM shown s WHERE s.sha = a.sha), ''), a.bytes, a.pin_count, a.sha, a.cost`

// ofSessions selects the artifacts only the sessions in the JSON array ?1 hold or saw.
const ofSessions = `FROM artifacts a WHERE
	a.sha IN (SELECT sha FROM pins WHERE session IN (SELECT value FROM json_each(?1))
		UNION SELECT sha FROM observations WHERE session IN (SELECT value FROM json_each(?1)))
	AND NOT EXISTS (SELECT 1 FROM pins p WHERE p.sha = a.sha AND p.session NOT IN (SELECT value FROM json_each(?1)))
	AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.sha = a.sha AND o.session NOT IN (SELECT value FROM json_each(?1)))`

// PlanRelease plans to end a session chain's promises: its remembered forms, its pins,
// and the artifacts nobody else holds or saw. With an id it plans to end every promise
// on that one artifact instead. Errors: ErrNoSession, those of Resolve.
func (v *Vault) PlanRelease(ctx context.Context, session, id string) (Removal, error) {
	if id != "" {
		return v.planOne(ctx, session, id)
	}
	r := Removal{Why: tombReleased, Sessions: []string{codec.Label(session)}}
	if err := v.planSessions(ctx, &r); err != nil {
		return r, err
	}
	if len(r.Artifacts)+r.Pins+r.Nodes == 0 {
		return r, fmt.Errorf("%w: %s", ErrNoSession, codec.Label(session))
	}
	return r, nil
}

func (v *Vault) planOne(ctx context.Context, session, id string) (Removal, error) {
	f, err := v.resolve(ctx, codec.Label(session), id)
	if err != nil {
		return Removal{}, err
	}
	r := Removal{Why: tombReleased, Sessions: []string{}, one: true}
	r.Artifacts, err = v.doomed(ctx, `FROM artifacts a WHERE a.sha = ?1`, f.sha)
	for _, d := range r.Artifacts {
		r.Pins += d.Pins
	}
	return r, err
}

// planSessions fills in what the plan's sessions alone hold.
func (v *Vault) planSessions(ctx context.Context, r *Removal) (err error) {
	names := jsonStrings(r.Sessions)
	if r.Artifacts, err = v.doomed(ctx, ofSessions, names); err != nil {
		return err
	}
	const counts = `SELECT (SELECT count(*) FROM pins WHERE session IN (SELECT value FROM json_each(?1))),
		(SELECT count(*) FROM nodes WHERE session IN (SELECT value FROM json_each(?1)))`
	return v.explain("plan", v.readers.QueryRowContext(ctx, counts, names).Scan(&r.Pins, &r.Nodes))
}

func (v *Vault) doomed(ctx context.Context, from string, args ...any) ([]Doomed, error) {
	if v.closed.Load() {
		return nil, ErrClosed
	}
	rows, err := v.readers.QueryContext(ctx, `SELECT `+doomedColumns+` `+from+` ORDER BY a.last_seen, a.seq`, args...)
	if err != nil {
		return nil, v.explain("plan", err)
	}
	defer rows.Close()
	var all []Doomed
	for rows.Next() {
		var d Doomed
		var sha []byte
		if err := rows.Scan((*string)(&d.ID), &d.Shown, &d.Bytes, &d.Pins, &sha, &d.cost); err != nil {
			return nil, v.explain("plan", err)
		}
		copy(d.digest[:], sha)
		all = append(all, d)
	}
	return all, v.explain("plan", rows.Err())
}

// PlanPrune plans to remove what nobody was promised: unpinned artifacts that were not
// seen for longer than unseen. With unused > 0 it also releases the sessions that were
// not used for longer than that, and then says "release" is what happens to theirs.
func (v *Vault) PlanPrune(ctx context.Context, unseen, unused time.Duration) (Removal, error) {
	r := Removal{Why: tombPruned, Sessions: []string{}, reset: true}
	now := v.nowMillis()
	if unused > 0 {
		names, err := v.idleSessions(ctx, now-unused.Milliseconds())
		if err != nil {
			return r, err
		}
		r.Sessions = names
		if err := v.planSessions(ctx, &r); err != nil {
			return r, err
		}
	}
	loose, err := v.doomed(ctx, `FROM artifacts a WHERE a.pin_count = 0 AND a.last_seen < ?1`, now-unseen.Milliseconds())
	if err != nil {
		return r, err
	}
	known := make(map[turn.Digest]bool, len(r.Artifacts))
	for _, d := range r.Artifacts {
		known[d.digest] = true
	}
	for _, d := range loose {
		if !known[d.digest] {
			r.Artifacts = append(r.Artifacts, d)
		}
	}
	return r, nil
}

func (v *Vault) idleSessions(ctx context.Context, before int64) ([]string, error) {
	names := []string{}
	rows, err := v.readers.QueryContext(ctx, `SELECT session FROM sessions WHERE last_used < ?1 ORDER BY session`, before)
	if err != nil {
		return nil, v.explain("plan", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, v.explain("plan", err)
		}
		names = append(names, name)
	}
	return names, v.explain("plan", rows.Err())
}
