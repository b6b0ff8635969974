package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"token-terminator/turn"
)

// Reported is the usage a host reports for a turn after the provider answered.
type Reported struct {
	Binding turn.Binding
	Usage   Usage
}

// run writes until the queue is closed and empty. It takes whatever waits into one
// transaction.
func (l *Ledger) run() {
	defer close(l.ended)
	for first := range l.queue {
		batch, more := []any{first}, true
		for more && len(batch) < maxBatch {
			select {
			case entry, ok := <-l.queue:
				if more = ok; ok {
					batch = append(batch, entry)
				}
			default:
				more = false
			}
		}
		l.commit(batch)
	}
}

// commit writes one batch. What fails is counted and let go: the ledger is no reason
// to keep anything in memory.
func (l *Ledger) commit(batch []any) {
	entries := batch[:0:0]
	for _, entry := range batch {
		if _, wait := entry.(barrier); !wait {
			entries = append(entries, entry)
		}
	}
	if len(entries) > 0 {
		if err := l.transact(entries); err != nil {
			l.failed.Add(int64(len(entries)))
			l.lastErr.Store(&err)
		} else {
			l.recorded.Add(int64(len(entries)))
		}
	}
	for _, entry := range batch {
		if reached, wait := entry.(barrier); wait {
			close(reached)
		}
	}
}

func (l *Ledger) transact(entries []any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("write of ledger: panic of type %T", v)
		}
	}()
	l.write.Lock()
	defer l.write.Unlock()
	if l.o.Hook != nil {
		if err := l.o.Hook(); err != nil {
			return l.explain("write", err)
		}
	}
	ctx := context.Background()
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return l.explain("write", err)
	}
	defer tx.Rollback()
	w := writing{ctx: ctx, tx: tx, now: l.o.Now()}
	for _, entry := range entries {
		switch e := entry.(type) {
		case Turn:
			err = w.turn(e)
		case Event:
			err = w.event(e)
		case Reported:
			err = w.usage(e)
		}
		if err != nil {
			return l.explain("write", err)
		}
	}
	return l.explain("write", tx.Commit())
}

// writing is one transaction.
type writing struct {
	ctx context.Context
	tx  *sql.Tx
	now time.Time
}

func (w writing) at(t time.Time) int64 {
	if t.IsZero() {
		t = w.now
	}
	return t.UnixMilli()
}

const sessionSQL = `INSERT INTO sessions (engine, chain, prompt, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4)
	ON CONFLICT (engine, chain) DO UPDATE SET last_at = max(last_at, excluded.last_at), first_at = min(first_at, excluded.first_at),
		prompt = coalesce(prompt, excluded.prompt) RETURNING seq`

func (w writing) session(b turn.Binding, prompt string, at int64) (seq int64, err error) {
	err = w.tx.QueryRowContext(w.ctx, sessionSQL, name(b.Engine), chainKey(b.Session), orNull(hexOnly(prompt)), at).Scan(&seq)
	return seq, err
}

const turnSQL = `INSERT INTO turns (session, generation, turn, attempt, at, mode, model, provider, edited, reason, fail_open, micros, bytes,
		sent_bytes, measure, label, raw, final, ite, price_row, assumed, epoch, epoch_reason, use_fresh, use_read, use_write, use_output)
	VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)
	ON CONFLICT (session, generation, turn) DO UPDATE SET attempt = excluded.attempt, at = excluded.at, mode = excluded.mode,
		model = excluded.model, provider = excluded.provider, edited = excluded.edited, reason = excluded.reason,
		fail_open = excluded.fail_open, micros = excluded.micros, bytes = excluded.bytes, sent_bytes = excluded.sent_bytes,
		measure = excluded.measure, label = excluded.label, raw = excluded.raw, final = excluded.final, ite = excluded.ite,
		price_row = excluded.price_row, assumed = excluded.assumed, epoch = excluded.epoch, epoch_reason = excluded.epoch_reason,
		use_fresh = coalesce(excluded.use_fresh, use_fresh), use_read = coalesce(excluded.use_read, use_read),
		use_write = coalesce(excluded.use_write, use_write), use_output = coalesce(excluded.use_output, use_output)
	WHERE excluded.attempt >= attempt RETURNING seq`

// turn writes one row. A report of an older attempt than the stored one is let go.
func (w writing) turn(t Turn) error {
	at := w.at(t.At)
	session, err := w.session(t.Binding, t.Prompt, at)
	if err != nil {
		return err
	}
	var number any // NULL for a turn that was never issued: each is a row of its own
	if t.Binding.Turn != 0 {
		number = int64(t.Binding.Turn)
	}
	fail := !t.Edited && FailsOpen(t.Reason)
	args := []any{
		session, int64(t.Binding.Generation), number, int64(t.Binding.Attempt), at, name(t.Mode), name(t.Model), name(t.Provider),
		t.Edited, word(string(t.Reason)), fail, t.Elapsed.Microseconds(), t.Bytes, positive(t.SentBytes),
	}
	args = append(args, t.measures()...)
	args = append(args, orNull(epochKind(t.Epoch)), orNull(epochReason(t.EpochReason)))
	args = append(args, t.Usage.columns()...)
	var seq int64
	err = w.tx.QueryRowContext(w.ctx, turnSQL, args...).Scan(&seq)
	if err == sql.ErrNoRows {
		return nil
	}
	if err != nil {
		return err
	}
	return w.parts(seq, t)
}

func (t Turn) measures() []any {
	if t.Measure != Exact && t.Measure != Panel {
		return []any{nil, nil, nil, nil, nil, nil, false}
	}
	var ite any
	if t.ITE != nil {
		ite = *t.ITE
	}
	return []any{string(t.Measure), orNull(name(t.Label)), t.Raw, t.Final, ite, orNull(name(t.Row)), t.Assumed}
}

func (u *Usage) columns() []any {
	if u == nil {
		return []any{nil, nil, nil, nil}
	}
	return []any{u.Fresh, u.Read, u.Write, u.Output}
}

// parts replaces the counts by form and reason.
func (w writing) parts(seq int64, t Turn) error {
	for _, text := range []string{`DELETE FROM turn_forms WHERE turn = ?`, `DELETE FROM turn_reasons WHERE turn = ?`} {
		if _, err := w.tx.ExecContext(w.ctx, text, seq); err != nil {
			return err
		}
	}
	for _, f := range t.Forms {
		if _, err := w.tx.ExecContext(w.ctx, `INSERT INTO turn_forms (turn, form, fresh, n, before, after) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (turn, form, fresh) DO UPDATE SET n = n + excluded.n, before = before + excluded.before, after = after + excluded.after`,
			seq, formName(f.Form), f.Fresh, f.N, f.Before, f.After); err != nil {
			return err
		}
	}
	for reason, n := range t.Reasons {
		if _, err := w.tx.ExecContext(w.ctx, `INSERT INTO turn_reasons (turn, reason, n) VALUES (?, ?, ?)
			ON CONFLICT (turn, reason) DO UPDATE SET n = n + excluded.n`, seq, word(string(reason)), n); err != nil {
			return err
		}
	}
	return nil
}

func (w writing) usage(r Reported) error {
	_, err := w.tx.ExecContext(w.ctx, `UPDATE turns SET use_fresh = ?1, use_read = ?2, use_write = ?3, use_output = ?4
		WHERE session = (SELECT seq FROM sessions WHERE engine = ?5 AND chain = ?6) AND generation = ?7 AND turn = ?8`,
		append(r.Usage.columns(), name(r.Binding.Engine), chainKey(r.Binding.Session), int64(r.Binding.Generation), int64(r.Binding.Turn))...)
	return err
}

func (w writing) event(e Event) error {
	if e.Kind != Recovery && e.Kind != FailedOpen {
		return nil
	}
	at := w.at(e.At)
	session, err := w.session(e.Binding, "", at)
	if err != nil {
		return err
	}
	var tokens, ite any
	if e.Tokens != nil {
		tokens = *e.Tokens
	}
	if e.ITE != nil {
		ite = *e.ITE
	}
	_, err = w.tx.ExecContext(w.ctx, `INSERT INTO events (session, at, kind, reason, tokens, ite) VALUES (?, ?, ?, ?, ?, ?)`,
		session, at, string(e.Kind), word(e.Reason), tokens, ite)
	return err
}

func formName(f turn.Form) string {
	switch f {
	case turn.Original, turn.Layout, turn.Reference, turn.Delta, turn.Compressed, turn.Receipt, turn.IR, turn.Omitted:
		return string(f)
	}
	return "other"
}

func epochKind(kind string) string {
	switch kind {
	case "", "cold", "warm", "window":
		return kind
	}
	return "other"
}

// epochReason keeps words of ours: lower-case letters, digits and underscores.
func epochReason(s string) string {
	if len(s) > 40 {
		return "other"
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return "other"
		}
	}
	return s
}

// hexOnly keeps a fingerprint and nothing else.
func hexOnly(s string) string {
	if len(s) != fingerprintHex {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ""
		}
	}
	return s
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func positive(n int) any {
	if n <= 0 {
		return nil
	}
	return n
}
