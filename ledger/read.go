package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
)

// Reading answers questions about a ledger. A nil *Reading is one that is off: its
// questions give ErrOff. It is safe for concurrent use.
type Reading struct {
	path string
	db   *sql.DB
}

const readConns = 2

// OpenReading opens the ledger at path for reading only, also while a daemon writes it.
// Nothing is created.
func OpenReading(ctx context.Context, path string) (*Reading, error) {
	db, err := sqlitefile.OpenReaders(ctx, path, sqlitefile.Options{Conns: readConns})
	if err != nil {
		return nil, err
	}
	schema := steps()
	have, err := sqlitefile.CheckVersions(ctx, db, path, applicationID, schema[len(schema)-1].Version)
	if err == nil && have == 0 {
		err = fmt.Errorf("open ledger: %w: it has no tables yet", ErrOff)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Reading{path, db}, nil
}

// Close closes it.
func (r *Reading) Close() error {
	if r == nil {
		return nil
	}
	return r.db.Close()
}

func (r *Reading) explain(op string, err error) error { return explain(op, r.path, err) }

// Filter picks turns. The zero Filter picks all.
type Filter struct {
	Session string    // of this chain
	Model   string    // of this model
	Since   time.Time // from this moment on
	Until   time.Time // before this moment
}

const filterSQL = ` WHERE (?1 = '' OR s.chain = ?1) AND (?2 = '' OR t.model = ?2) AND (?3 = 0 OR t.at >= ?3) AND (?4 = 0 OR t.at < ?4)`

func (f Filter) args() []any {
	session := f.Session
	if session != "" {
		session = chainKey(session)
	}
	return []any{session, name(f.Model), millis(f.Since), millis(f.Until)}
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Counted are the tokens of the requests one measure counted. Every request counts
// whole, so a message that is sent ten times counts ten times.
type Counted struct {
	Turns int64 `json:"turns"`
	Raw   int64 `json:"raw"`
	Final int64 `json:"final"`
}

// Saved is Raw − Final; it may be negative.
func (c Counted) Saved() int64 { return c.Raw - c.Final }

// Reports is what providers reported, of so many turns.
type Reports struct {
	Turns int64 `json:"turns"`
	Fresh int64 `json:"fresh"`
	Read  int64 `json:"cached_read"`
	Write int64 `json:"cache_write"`
	Out   int64 `json:"output"`
}

// Totals are sums over turns.
type Totals struct {
	Turns     int64 `json:"turns"`
	Edited    int64 `json:"edited"`
	FailOpens int64 `json:"fail_opens"` // turns, and requests the host sent whole by itself
	Sessions  int64 `json:"sessions"`

	Exact Counted `json:"exact"`
	Panel Counted `json:"panel"`

	Priced     int64   `json:"priced_turns"` // turns with an estimate of ITE
	ITE        float64 `json:"ite_saved"`    // of them, before recoveries
	Assumed    int64   `json:"assumed_turns"`
	Recoveries int64   `json:"recoveries"`
	EventITE   float64 `json:"ite_debit"` // what recoveries and fail-opens cost

	Bytes    int64   `json:"bytes"`
	Usage    Reports `json:"usage"`
	Epochs   int64   `json:"epochs"`
	FirstAt  int64   `json:"first_at"` // milliseconds since 1970, 0 when there is no turn
	LastAt   int64   `json:"last_at"`
	MicrosLo int64   `json:"micros_least"`
	MicrosHi int64   `json:"micros_most"`
}

// NetITE is what was saved after recoveries and fail-opens, in input-token equivalents.
func (t Totals) NetITE() float64 { return t.ITE - t.EventITE }

const totalsColumns = `count(*), coalesce(sum(t.edited), 0), coalesce(sum(t.fail_open), 0), count(DISTINCT t.session),
	count(CASE WHEN t.measure = 'exact' THEN 1 END), coalesce(sum(CASE WHEN t.measure = 'exact' THEN t.raw END), 0),
	coalesce(sum(CASE WHEN t.measure = 'exact' THEN t.final END), 0),
	count(CASE WHEN t.measure = 'panel' THEN 1 END), coalesce(sum(CASE WHEN t.measure = 'panel' THEN t.raw END), 0),
	coalesce(sum(CASE WHEN t.measure = 'panel' THEN t.final END), 0),
	count(t.ite), coalesce(sum(t.ite), 0.0), coalesce(sum(t.assumed), 0), coalesce(sum(t.bytes), 0),
	count(t.use_fresh), coalesce(sum(t.use_fresh), 0), coalesce(sum(t.use_read), 0), coalesce(sum(t.use_write), 0),
	coalesce(sum(t.use_output), 0), count(t.epoch), coalesce(min(t.at), 0), coalesce(max(t.at), 0),
	coalesce(min(t.micros), 0), coalesce(max(t.micros), 0)`

func (t *Totals) columns() []any {
	return []any{&t.Turns, &t.Edited, &t.FailOpens, &t.Sessions, &t.Exact.Turns, &t.Exact.Raw, &t.Exact.Final,
		&t.Panel.Turns, &t.Panel.Raw, &t.Panel.Final, &t.Priced, &t.ITE, &t.Assumed, &t.Bytes,
		&t.Usage.Turns, &t.Usage.Fresh, &t.Usage.Read, &t.Usage.Write, &t.Usage.Out, &t.Epochs, &t.FirstAt, &t.LastAt,
		&t.MicrosLo, &t.MicrosHi}
}

// Totals sums the picked turns. A filter by model leaves events out, which have none.
func (r *Reading) Totals(ctx context.Context, f Filter) (Totals, error) {
	var t Totals
	if r == nil {
		return t, ErrOff
	}
	err := r.db.QueryRowContext(ctx, `SELECT `+totalsColumns+` FROM turns t JOIN sessions s ON s.seq = t.session`+filterSQL, f.args()...).
		Scan(t.columns()...)
	if err != nil {
		return t, r.explain("sum", err)
	}
	var fails int64
	err = r.db.QueryRowContext(ctx, `SELECT count(CASE WHEN t.kind = 'recovery' THEN 1 END), count(CASE WHEN t.kind = 'fail_open' THEN 1 END),
		coalesce(sum(t.ite), 0.0) FROM (SELECT *, '' AS model FROM events) t JOIN sessions s ON s.seq = t.session`+filterSQL, f.args()...).
		Scan(&t.Recoveries, &fails, &t.EventITE)
	t.FailOpens += fails
	return t, r.explain("sum", err)
}

// Group is the totals of one session, day or model.
type Group struct {
	Key string `json:"key"`
	Totals
}

// By names what turns are grouped by.
type By string

// The groupings.
const (
	BySession By = "session"
	ByDay     By = "day" // YYYY-MM-DD in UTC
	ByModel   By = "model"
)

// Groups sums the picked turns group by group, at most limit of them, the latest
// first. Events are not in it.
func (r *Reading) Groups(ctx context.Context, by By, f Filter, limit int) ([]Group, error) {
	if r == nil {
		return nil, ErrOff
	}
	key, ok := map[By]string{BySession: "s.chain", ByDay: "strftime('%Y-%m-%d', t.at / 1000, 'unixepoch')", ByModel: "t.model"}[by]
	if !ok {
		return nil, fmt.Errorf("group by %q: want session, day or model", by)
	}
	return r.groups(ctx, `SELECT `+key+`, `+totalsColumns+` FROM turns t JOIN sessions s ON s.seq = t.session`+filterSQL+
		` GROUP BY 1 ORDER BY max(t.at) DESC, 1 LIMIT ?5`, append(f.args(), limit)...)
}

func (r *Reading) groups(ctx context.Context, query string, args ...any) ([]Group, error) {
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, r.explain("group", err)
	}
	defer rows.Close()
	groups := []Group{}
	for rows.Next() {
		var g Group
		if err := rows.Scan(append([]any{&g.Key}, g.columns()...)...); err != nil {
			return nil, r.explain("group", err)
		}
		groups = append(groups, g)
	}
	return groups, r.explain("group", rows.Err())
}

// Reasons are counts of reasons.
type Reasons struct {
	Turns  map[turn.Reason]int64 `json:"turns"`  // why turns ended as they did; each turn once
	Blocks map[turn.Reason]int64 `json:"blocks"` // why blocks stayed or changed
	Fails  map[turn.Reason]int64 `json:"fail_opens"`
}

// Reasons counts why turns passed or were edited, and why blocks were.
func (r *Reading) Reasons(ctx context.Context, f Filter) (Reasons, error) {
	var out Reasons
	if r == nil {
		return out, ErrOff
	}
	for _, q := range []struct {
		to   *map[turn.Reason]int64
		text string
	}{
		{&out.Turns, `SELECT t.reason, count(*) FROM turns t JOIN sessions s ON s.seq = t.session` + filterSQL + ` GROUP BY 1`},
		{&out.Blocks, `SELECT x.reason, sum(x.n) FROM turn_reasons x JOIN turns t ON t.seq = x.turn JOIN sessions s ON s.seq = t.session` + filterSQL + ` GROUP BY 1`},
		{&out.Fails, `SELECT t.reason, count(*) FROM turns t JOIN sessions s ON s.seq = t.session` + filterSQL + ` AND t.fail_open GROUP BY 1`},
	} {
		counts, err := r.counts(ctx, q.text, f)
		if err != nil {
			return out, err
		}
		*q.to = counts
	}
	return out, nil
}

func (r *Reading) counts(ctx context.Context, query string, f Filter) (map[turn.Reason]int64, error) {
	rows, err := r.db.QueryContext(ctx, query, f.args()...)
	if err != nil {
		return nil, r.explain("count reasons", err)
	}
	defer rows.Close()
	counts := map[turn.Reason]int64{}
	for rows.Next() {
		var reason string
		var n int64
		if err := rows.Scan(&reason, &n); err != nil {
			return nil, r.explain("count reasons", err)
		}
		counts[turn.Reason(reason)] = n
	}
	return counts, r.explain("count reasons", rows.Err())
}

// FormTotal sums one form.
type FormTotal struct {
	Form   turn.Form `json:"form"`
	Fresh  bool      `json:"fresh"` // decided in its turn; else shown again
	N      int64     `json:"n"`
	Before int64     `json:"tokens_before"`
	After  int64     `json:"tokens_after"`
}

// Forms sums what was shown in which form.
func (r *Reading) Forms(ctx context.Context, f Filter) ([]FormTotal, error) {
	if r == nil {
		return nil, ErrOff
	}
	rows, err := r.db.QueryContext(ctx, `SELECT x.form, x.fresh, sum(x.n), sum(x.before), sum(x.after) FROM turn_forms x
		JOIN turns t ON t.seq = x.turn JOIN sessions s ON s.seq = t.session`+filterSQL+` GROUP BY 1, 2 ORDER BY 1, 2 DESC`, f.args()...)
	if err != nil {
		return nil, r.explain("sum forms", err)
	}
	defer rows.Close()
	forms := []FormTotal{}
	for rows.Next() {
		var t FormTotal
		if err := rows.Scan(&t.Form, &t.Fresh, &t.N, &t.Before, &t.After); err != nil {
			return nil, r.explain("sum forms", err)
		}
		forms = append(forms, t)
	}
	return forms, r.explain("sum forms", rows.Err())
}

// Arms sums the turns of an experiment's chains arm by arm.
func (r *Reading) Arms(ctx context.Context, experiment string) ([]Group, error) {
	if r == nil {
		return nil, ErrOff
	}
	return r.groups(ctx, `SELECT a.arm, `+totalsColumns+` FROM turns t JOIN sessions s ON s.seq = t.session
		JOIN arms a ON a.chain = s.chain AND a.experiment = ?1 GROUP BY 1 ORDER BY 1`, experiment)
}
