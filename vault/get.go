package vault

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"token-terminator/turn"
	"token-terminator/vault/codec"
	"token-terminator/vault/view"
)

// Get reads an artifact by id or prefix and checks hash and length before it gives
// the text away. Errors: those of Resolve, and ErrDamaged.
func (v *Vault) Get(ctx context.Context, session, id string) (Artifact, error) {
	session = codec.Label(session)
	f, err := v.resolve(ctx, session, id)
	if err != nil {
		return Artifact{}, err
	}
	a, _, err := v.read(ctx, session, f)
	if err != nil {
		return Artifact{}, err
	}
	return a, v.describeCall(ctx, session, f.sha, &a)
}

const summaryColumns = `a.id, coalesce((SELECT prefix FROM shown s WHERE s.sha = a.sha), ''), a.sha, a.runes, a.bytes, a.tool, a.kind,
	a.created, a.last_seen, (SELECT count(*) FROM observations o WHERE o.sha = a.sha AND (?1 = '' OR o.session = ?1)), a.pin_count > 0`

// scanSummary reads summaryColumns, then more.
func scanSummary(scan func(...any) error, more ...any) (Summary, error) {
	var s Summary
	var sha []byte
	var created, seen int64
	dest := append([]any{(*string)(&s.ID), &s.Shown, &sha, &s.Chars, &s.Bytes, &s.Tool, &s.Kind, &created, &seen, &s.Observations, &s.Pinned}, more...)
	if err := scan(dest...); err != nil {
		return Summary{}, err
	}
	copy(s.Digest[:], sha)
	s.Created, s.LastSeen = time.UnixMilli(created).UTC(), time.UnixMilli(seen).UTC()
	return s, nil
}

func (v *Vault) read(ctx context.Context, session string, f found) (Artifact, mark, error) {
	var how sql.NullInt64
	var body []byte
	row := v.reads[rArtifact].QueryRowContext(ctx, session, f.sha)
	s, err := scanSummary(row.Scan, &how, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Artifact{}, mark{}, v.checkRow(ctx, f)
	case err != nil:
		return Artifact{}, mark{}, v.explain("read artifact", err)
	case !how.Valid:
		return Artifact{}, mark{}, fmt.Errorf("%w: %s has no body", ErrLost, s.ID)
	}
	text, err := v.unpack(s, int(how.Int64), body)
	if err != nil {
		return Artifact{}, mark{}, err
	}
	if err := checkStored(s, text); err != nil {
		return Artifact{}, mark{}, err
	}
	return Artifact{Summary: s, Text: text}, mark{int(how.Int64), len(body)}, nil
}

// unpack gives the text of a stored body, not yet checked against its hash.
func (v *Vault) unpack(s Summary, how int, body []byte) (string, error) {
	if how != codec.Plain && how != codec.Zstd {
		return "", fmt.Errorf("%w: the body of %s is written in a way this version cannot read", ErrLost, s.ID)
	}
	raw, err := v.packer.Unpack(how, body, s.Bytes)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrDamaged, s.ID, err)
	}
	return string(raw), nil
}

// checkStored holds what every read must: hash, lengths and id belong to the bytes.
func checkStored(s Summary, text string) error {
	switch {
	case turn.Sum(text) != s.Digest:
		return fmt.Errorf("%w: %s", ErrDamaged, s.ID)
	case len(text) != s.Bytes || utf8.RuneCountInString(text) != s.Chars:
		return fmt.Errorf("%w: %s has another length than stored", ErrDamaged, s.ID)
	case !s.ID.Names(s.Digest):
		return fmt.Errorf("%w: %s is not the id of its bytes", ErrDamaged, s.ID)
	}
	return nil
}

// describeCall adds the call the session saw the artifact in first. For the operator
// it is the first of all.
func (v *Vault) describeCall(ctx context.Context, session string, sha []byte, a *Artifact) error {
	var argsSHA []byte
	err := v.reads[rFirstCall].QueryRowContext(ctx, session, sha).
		Scan(&a.CallID, &a.Args, &a.ArgsBytes, &argsSHA)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil || argsSHA == nil {
		return v.explain("read call", err)
	}
	err = v.reads[rIDBySHA].QueryRowContext(ctx, argsSHA).Scan((*string)(&a.ArgsArtifact))
	if errors.Is(err, sql.ErrNoRows) {
		return nil // pruned: the preview and the length stay
	}
	return v.explain("read call", err)
}

// List gives the session's artifacts, newest first, at most limit (0 means
// DefaultResults, at most MaxResults).
func (v *Vault) List(ctx context.Context, session string, limit int) (Listing, error) {
	return v.scanList(ctx, codec.Label(session), limit, nil)
}

// Search gives the session's artifacts whose text or tool name holds query, case
// aside (so "ß" finds "SS"), newest first, at most limit. Damaged ones are no hits.
func (v *Vault) Search(ctx context.Context, session, query string, limit int) (Listing, error) {
	folded, err := view.FoldQuery(query)
	if err != nil {
		return Listing{}, err
	}
	session = codec.Label(session)
	return v.scanList(ctx, session, limit, func(s Summary, text string) bool {
		return view.Contains(s.Tool, folded) || view.Contains(text, folded)
	})
}

// listLimit bounds a number of results.
func listLimit(limit int) (int, error) {
	if limit < 0 {
		return 0, fmt.Errorf("%w: limit %d", ErrRange, limit)
	}
	if limit == 0 {
		return DefaultResults, nil
	}
	return min(limit, MaxResults), nil
}

// scanList walks the artifacts a session may see, newest first. With keep it reads
// the bodies too and gives those keep wants.
func (v *Vault) scanList(ctx context.Context, session string, limit int, keep func(Summary, string) bool) (Listing, error) {
	limit, err := listLimit(limit)
	if err != nil {
		return Listing{}, err
	}
	if v.closed.Load() {
		return Listing{}, ErrClosed
	}
	body, from := `0, ''`, `artifacts a`
	if keep != nil {
		body, from = `coalesce(b.codec, 0), coalesce(b.body, x'')`, `artifacts a LEFT JOIN bodies b ON b.seq = a.seq`
	}
	own := `?1 = ''`
	if session != "" {
		own = `a.sha IN (SELECT sha FROM observations WHERE session = ?1 UNION SELECT sha FROM pins WHERE session = ?1)`
	}
	rows, err := v.readers.QueryContext(ctx, `SELECT `+summaryColumns+`, `+body+` FROM `+from+` WHERE `+own+` ORDER BY a.seq DESC`, session)
	if err != nil {
		return Listing{}, v.explain("list artifacts", err)
	}
	defer rows.Close()
	out := Listing{Artifacts: []Summary{}}
	for rows.Next() {
		var how int
		var stored sql.RawBytes
		s, err := scanSummary(rows.Scan, &how, &stored)
		if err != nil {
			return Listing{}, v.explain("list artifacts", err)
		}
		if keep != nil {
			text, err := v.unpack(s, how, stored)
			if err != nil || turn.Sum(text) != s.Digest {
				out.Damaged++
				continue
			}
			if !keep(s, text) {
				continue
			}
		}
		if len(out.Artifacts) == limit {
			out.Truncated = true
			break
		}
		out.Artifacts = append(out.Artifacts, s)
	}
	return out, v.explain("list artifacts", rows.Err())
}
