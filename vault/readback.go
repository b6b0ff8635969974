package vault

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"token-terminator/turn"
)

// readBackBatch bounds how many artifacts one query reads back.
const readBackBatch = 32

// proving is an artifact whose bytes are read back, and the turns that wait for it.
type proving struct {
	*item
	mark mark
	err  error
}

// prove reads what the jobs stored on another connection. An artifact that does not come
// back equal loses its proof.
func (v *Vault) prove(ctx context.Context, jobs []*job) {
	want, index := []*proving{}, map[turn.Digest]*proving{}
	for _, j := range jobs {
		for _, it := range j.items {
			if _, ok := j.proofs[it.Digest]; !ok || j.err != nil || index[it.Digest] != nil || v.verified.has(it.Digest) {
				continue
			}
			p := &proving{item: it}
			want, index[it.Digest] = append(want, p), p
		}
	}
	size := min(max((len(want)+readConns-1)/readConns, 1), readBackBatch)
	spread((len(want)+size-1)/size, func(n int) {
		v.readBack(ctx, want[n*size:min((n+1)*size, len(want))])
	})
	for _, p := range want {
		if p.err == nil {
			v.verified.add(p.Digest, p.mark)
		}
	}
	for _, j := range jobs {
		for d := range j.proofs {
			if p := index[d]; p != nil && p.err != nil {
				j.unproved(d, reasonOf(p.err))
			}
		}
	}
}

// unproved takes the proof of an artifact that did not come back equal.
func (j *job) unproved(d turn.Digest, why turn.Reason) {
	delete(j.proofs, d)
	j.refuse(why)
	j.stands = slices.DeleteFunc(j.stands, func(s turn.Digest) bool { return s == d })
	if slices.Contains(j.ev.Held, d) {
		j.missing = append(j.missing, d)
	}
}

// readBack reads artifacts with one query and compares their hashes and lengths.
func (v *Vault) readBack(ctx context.Context, all []*proving) {
	digests := make([]turn.Digest, len(all))
	for i, p := range all {
		digests[i] = p.Digest
		if p.err = v.hook("before read-back"); p.err == nil {
			p.err = fmt.Errorf("%w: the row is missing", ErrReadBack)
			p.mark.size = -1
		}
	}
	if err := v.readBackRows(ctx, digests, all); err != nil {
		for _, p := range all {
			if p.mark.size < 0 {
				p.err = err
			}
		}
	}
}

func (v *Vault) readBackRows(ctx context.Context, digests []turn.Digest, all []*proving) error {
	q, arg := rReadBack, any(nil)
	if len(digests) == 1 {
		q, arg = rReadBackOne, digests[0][:]
	} else {
		arg = jsonDigests(digests)
	}
	rows, err := v.reads[q].QueryContext(ctx, arg)
	if err != nil {
		return v.explain("read back", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n, size, runes, how int
		var body sql.RawBytes
		if err := rows.Scan(&n, &size, &runes, &how, &body); err != nil {
			return v.explain("read back", err)
		}
		p := all[n]
		if p.mark.size >= 0 {
			continue // refused before
		}
		p.mark = mark{how, len(body)}
		raw, err := v.packer.Unpack(how, body, size)
		if err != nil || size != len(p.Text) || runes != p.runes || len(raw) != size || turn.SumBytes(raw) != p.Digest {
			p.err = ErrReadBack
			continue
		}
		p.err = v.hook("after read-back")
	}
	return v.explain("read back", rows.Err())
}
