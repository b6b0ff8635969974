//go:build unix

package vault_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

const (
	hammerContents = 7
	hammerPuts     = 40
)

func hammer(v *vault.Vault, who string) error {
	for i := range uint64(hammerPuts) {
		text := fmt.Sprintf("content %d", i%hammerContents)
		p, err := v.Put(context.Background(), vaulttest.Evidence("session of "+who, i, text))
		if err != nil {
			return err
		}
		if _, ok := p.Proofs[turn.Sum(text)]; !ok {
			return fmt.Errorf("put %d of %s has no proof: %s", i, who, p.Reason)
		}
		if a, err := v.Get(context.Background(), "session of "+who, p.Proofs[turn.Sum(text)].Shown); err != nil || a.Text != text {
			return fmt.Errorf("get %d of %s: %w", i, who, err)
		}
	}
	return nil
}

func hammerChild(dir, who string) error {
	v, err := vault.Open(dir, vault.Options{})
	if err != nil {
		return err
	}
	if err := hammer(v, who); err != nil {
		return err
	}
	return v.Close()
}

// rawDB opens the vault's file beside the vault, as a careless tool would.
func rawDB(t testing.TB, path string) *sql.DB {
	db, err := sqlitefile.OpenWriter(context.Background(), path, sqlitefile.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func count(t *testing.T, db *sql.DB, query string) (n int) {
	require.NoError(t, db.QueryRow(query).Scan(&n))
	return n
}

func TestA8_ManyGoroutinesShareOneVault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := mustOpen(t, dir, vault.Options{})
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = hammer(v, fmt.Sprint(i)) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	db := rawDB(t, v.Path())
	require.Equal(t, hammerContents, count(t, db, `SELECT count(*) FROM artifacts`))
	require.Equal(t, 8*hammerPuts, count(t, db, `SELECT count(*) FROM observations`))
	require.Equal(t, 8*hammerContents, count(t, db, `SELECT count(*) FROM pins`))
	r, err := v.Verify(context.Background())
	require.NoError(t, err)
	require.True(t, r.Sound())
}

func TestA8_ManyProcessesShareOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/new" // they also race to create it
	const processes = 4
	outs, errs := make([][]byte, processes), make([]error, processes)
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() { outs[i], errs[i] = child("hammer", dir, fmt.Sprint("process ", i)).CombinedOutput() })
	}
	all.Wait()
	for i := range processes {
		require.NoError(t, errs[i], "%s", outs[i])
	}
	v := mustOpen(t, dir, vault.Options{})
	require.NoError(t, hammer(v, "parent"))
	s, err := v.Status(context.Background())
	require.NoError(t, err)
	require.Equal(t, hammerContents, s.Artifacts)
	require.Equal(t, (processes+1)*hammerContents, s.Pins)
	require.Len(t, v.MarkerKey(), 32)
	r, err := v.Verify(context.Background())
	require.NoError(t, err)
	require.True(t, r.Sound())
}

func TestA13_TheCounterIsExactAndMovesWithTheRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := mustOpen(t, dir, vault.Options{CapacityBytes: 300_000})
	for i := range uint64(60) {
		ev := vaulttest.Evidence(fmt.Sprint("s", i%3), i, fmt.Sprintf("text %d", i%20))
		ev.Artifacts[0].Args = fmt.Sprintf("%08d", i) + string(make([]byte, 9_000))
		ev.Nodes = []turn.Node{{Hash: turn.Sum(fmt.Sprint(i % 5)), Index: int(i % 5), Decisions: make([]turn.Decision, 0)}}
		if i%2 == 0 {
			ev.Nodes[0].Decisions = []turn.Decision{vaulttest.Decision("/content", fmt.Sprintf("text %d", i%20))}
		}
		_, err := v.Put(context.Background(), ev)
		require.NoError(t, err)
	}
	s, err := v.Status(context.Background())
	require.NoError(t, err)
	require.NotZero(t, s.Pruned)
	db := rawDB(t, v.Path())
	const sum = `SELECT (SELECT sum(cost) FROM artifacts) + (SELECT sum(cost) FROM observations) + (SELECT sum(cost) FROM pins) + (SELECT sum(cost) FROM nodes)`
	require.EqualValues(t, s.Bytes, count(t, db, sum))
	// The look for something to prune is an index search, not a walk over all rows.
	var id, parent, unused int
	var plan string
	require.NoError(t, db.QueryRow(`EXPLAIN QUERY PLAN SELECT seq FROM artifacts INDEXED BY artifacts_prunable WHERE pin_count = 0 ORDER BY last_seen, seq LIMIT 1`).
		Scan(&id, &parent, &unused, &plan))
	require.Contains(t, plan, "artifacts_prunable")
	// A wrong counter is found by verify and put right by compacting, not by each open.
	_, err = db.Exec(`UPDATE counters SET value = 5 WHERE name = 'used'`)
	require.NoError(t, err)
	again := mustOpen(t, dir, vault.Options{})
	r, err := again.Verify(context.Background())
	require.NoError(t, err)
	require.Len(t, r.Damaged, 1)
	require.Contains(t, r.Damaged[0].What, "counter")
	require.NoError(t, v.Close())
	require.NoError(t, again.Compact(context.Background()))
	mustSound(t, again)
	fresh, err := again.Status(context.Background())
	require.NoError(t, err)
	require.Equal(t, s.Bytes, fresh.Bytes)
}
