//go:build unix

package vault_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// fullTurn uses every statement: new and known artifacts, long arguments, nodes.
func fullTurn(number uint64) turn.Evidence {
	ev := vaulttest.Evidence("s", number, "known", fmt.Sprintf("new %d", number))
	ev.Artifacts[1].Args = fmt.Sprintf("%08d", number) + strings.Repeat("x", 20_000)
	ev.Nodes = []turn.Node{{Hash: turn.Sum(fmt.Sprint(number)), Decisions: []turn.Decision{
		vaulttest.Decision("/content", "known"), vaulttest.Decision("/other", "older"), vaulttest.Decision("/none", "never"),
	}}}
	return ev
}

// A failure of any single call into the store: the turn either gets its answer or
// leaves no trace, the vault stays sound, and the next turn works.
func TestA5_A6_EveryCallMayFail(t *testing.T) {
	t.Parallel()
	var rec faults.Recorder
	points := func(hook faults.Hook) (err error) {
		on := false
		v, err := vault.Open(t.TempDir(), vault.Options{CapacityBytes: 60_000, Hook: func(p string) error {
			if !on {
				return nil
			}
			return hook(p)
		}})
		require.NoError(t, err)
		defer func() { require.NoError(t, v.Close()) }()
		vaulttest.MustPut(t, v, vaulttest.Evidence("s", 0, "known", "older"))
		vaulttest.MustPut(t, v, fullTurn(1))
		vaulttest.MustPut(t, v, fullTurn(2))
		on = true
		p, putErr := v.Put(context.Background(), fullTurn(3))
		on = false
		if putErr != nil {
			require.Empty(t, p.Proofs)
			require.NotEmpty(t, p.Reason)
		}
		for digest, proof := range p.Proofs {
			a, err := v.Get(context.Background(), "s", proof.Shown)
			require.NoError(t, err)
			require.Equal(t, digest, a.Digest)
		}
		report, err := v.Verify(context.Background())
		require.NoError(t, err)
		require.True(t, report.Sound(), "%+v", report)
		_, getErr := v.Get(context.Background(), "s", string(turn.Sum("new 3").ID()))
		nodes, err := v.Nodes(context.Background(), "s")
		require.NoError(t, err)
		require.Equal(t, getErr == nil, len(nodes) == 3, "artifacts and nodes come together")
		vaulttest.MustPut(t, v, fullTurn(4))
		return putErr
	}
	require.NoError(t, points(rec.Hook))
	all := rec.Points()
	for _, want := range []string{"before begin", "after begin", "before insert artifact", "before insert pin", "before insert node",
		"before list prunable", "before delete artifact", "before commit", "after commit", "before read-back", "after read-back", "before reply"} {
		require.Contains(t, all, want)
	}
	failed := 0
	for n := range all {
		if points(faults.FailNth(n+1, faults.ErrInjected)) != nil {
			failed++
		}
	}
	require.Greater(t, failed, len(all)*8/10, "all but read-back failures fail the turn")
}

func TestReadBackMismatchDropsThatProofOnly(t *testing.T) {
	t.Parallel()
	calls := 0
	v := mustOpen(t, t.TempDir(), vault.Options{Hook: func(point string) error {
		if point == "before read-back" {
			if calls++; calls == 2 {
				return vault.ErrReadBack
			}
		}
		return nil
	}})
	p, err := v.Put(context.Background(), vaulttest.Evidence("s", 1, "one", "two", "three"))
	require.NoError(t, err)
	require.Equal(t, turn.ReadBackFailed, p.Reason)
	require.Len(t, p.Proofs, 2)
	require.NotContains(t, p.Proofs, turn.Sum("two"))
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "one", "two", "three"))
	require.Equal(t, 4, calls, "what was proved once is not read again")
}

// The file is changed behind the vault's back between commit and read-back.
func TestBytesThatChangeBeforeTheReadBackGiveNoProof(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var v *vault.Vault
	v = mustOpen(t, dir, vault.Options{Hook: faults.Call("before read-back", 1, func() {
		_, err := rawDB(t, v.Path()).Exec(`UPDATE bodies SET body = x'00'`)
		require.NoError(t, err)
	})})
	p, err := v.Put(context.Background(), vaulttest.Evidence("s", 1, "text"))
	require.NoError(t, err)
	require.Equal(t, turn.ReadBackFailed, p.Reason)
	require.Empty(t, p.Proofs)
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text")) // and the evidence in hand puts it right
}

func TestA33_DamagedRowsAreNeverReturned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want error
	}{
		"other bytes":         {`UPDATE bodies SET body = CAST('texu' AS BLOB)`, vault.ErrDamaged},
		"shorter":             {`UPDATE bodies SET body = CAST('tex' AS BLOB)`, vault.ErrDamaged},
		"empty":               {`UPDATE bodies SET body = x''`, vault.ErrDamaged},
		"wrong length column": {`UPDATE artifacts SET bytes = 5`, vault.ErrDamaged},
		"wrong rune column":   {`UPDATE artifacts SET runes = 3`, vault.ErrDamaged},
		"unknown codec":       {`UPDATE bodies SET codec = 9`, vault.ErrLost},
		"body gone":           {`DELETE FROM bodies`, vault.ErrLost},
		"row gone":            {`DELETE FROM artifacts`, vault.ErrLost},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, dir := context.Background(), t.TempDir()
			v := mustOpen(t, dir, vault.Options{})
			shown := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text")).Proofs[turn.Sum("text")].Shown
			require.NoError(t, v.Close())
			_, err := rawDB(t, filepath.Join(dir, vault.FileName)).Exec(c.sql)
			require.NoError(t, err)
			v = mustOpen(t, dir, vault.Options{})
			for _, id := range []string{shown, string(turn.Sum("text").ID())} {
				for _, session := range []string{"", "s"} {
					_, err = v.Get(ctx, session, id)
					require.ErrorIs(t, err, c.want)
				}
			}
			_, err = v.Page(ctx, "s", shown, 0, 0)
			require.ErrorIs(t, err, c.want)
			l, err := v.Search(ctx, "s", "tex", 0)
			require.NoError(t, err)
			if !strings.Contains(name, "column") {
				require.Empty(t, l.Artifacts)
			}
			r, err := v.Verify(ctx)
			require.NoError(t, err)
			require.False(t, r.Sound())
			proofs, err := v.Proofs(ctx, "s", []turn.Digest{turn.Sum("text")})
			require.NoError(t, err)
			require.Empty(t, proofs)
			// The next turn that still holds the text heals the vault; the id stays.
			p := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 2, "text"))
			require.Equal(t, shown, p.Proofs[turn.Sum("text")].Shown)
			a, err := v.Get(ctx, "s", shown)
			require.NoError(t, err)
			require.Equal(t, "text", a.Text)
			require.True(t, a.Pinned)
			r, err = v.Verify(ctx)
			require.NoError(t, err)
			require.True(t, r.Sound(), "%+v", r)
		})
	}
}

// The same while the process runs and has proved the artifact before.
func TestARowThatGoesWhileTheVaultIsOpenIsPutBack(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{`DELETE FROM artifacts`, `DELETE FROM bodies`, `UPDATE bodies SET body = x'00'`} {
		v := mustOpen(t, t.TempDir(), vault.Options{})
		first := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text"))
		_, err := rawDB(t, v.Path()).Exec(sql)
		require.NoError(t, err)
		require.Equal(t, first, vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text")))
		a, err := v.Get(context.Background(), "s", first.Proofs[turn.Sum("text")].Shown)
		require.NoError(t, err)
		require.Equal(t, "text", a.Text)
	}
}

func TestReleasedAndPrunedAreToldApart(t *testing.T) {
	t.Parallel()
	v := mustOpen(t, t.TempDir(), vault.Options{})
	shown := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text")).Proofs[turn.Sum("text")].Shown
	db := rawDB(t, v.Path())
	_, err := db.Exec(`DELETE FROM pins; DELETE FROM artifacts; INSERT INTO tombstones SELECT id, sha, 'released', 0 FROM shown`)
	require.NoError(t, err)
	_, err = v.Get(context.Background(), "s", shown)
	require.ErrorIs(t, err, vault.ErrReleased)
	_, err = db.Exec(`UPDATE tombstones SET reason = 'pruned'`)
	require.NoError(t, err)
	_, err = v.Get(context.Background(), "s", shown)
	require.ErrorIs(t, err, vault.ErrLost)
}

// A short id that names other bytes: the newcomer takes the long one.
func TestCollidingShortIDsTakeTheLongOne(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "owner"))
	late := turn.Sum("late")
	half := append(late[:turn.ShortHex/2:turn.ShortHex/2], make([]byte, turn.ShortHex/2)...) // of another text, if hashes collided
	_, err := rawDB(t, v.Path()).Exec(`UPDATE artifacts SET sha = ?2, id = ?1; UPDATE shown SET sha = ?2, id = ?1, prefix = substr(?1, 1, 10)`, string(late.ID()), half)
	require.NoError(t, err)
	p := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 2, "late")).Proofs[turn.Sum("late")]
	require.Equal(t, turn.Sum("late").LongID(), p.Artifact)
	require.Greater(t, len(p.Shown), 2+turn.ShortHex)
	for _, id := range []string{p.Shown, string(p.Artifact)} {
		a, err := v.Get(ctx, "s", id)
		require.NoError(t, err)
		require.Equal(t, "late", a.Text)
	}
}

// noise is text that hardly gets smaller when it is packed.
func noise(seed uint64, size int) string {
	rng, b := rand.New(rand.NewPCG(seed, 12)), make([]byte, size)
	for i := range b {
		b[i] = '0' + byte(rng.IntN(64))
	}
	return string(b)
}

func TestA12_ADiskThatIsFullFailsTheTurnAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{MaxPages: 200})
	var stored []string
	var p turn.Pinned
	var err error
	for i := range 100 {
		text := noise(uint64(i), 20_000)
		if p, err = v.Put(ctx, vaulttest.Evidence("s", uint64(i), text)); err != nil {
			break
		}
		stored = append(stored, text)
	}
	require.ErrorIs(t, err, sqlitefile.ErrFull)
	require.Equal(t, turn.VaultFull, p.Reason)
	require.Empty(t, p.Proofs)
	wantHint(t, err, v.Path())
	require.Greater(t, len(stored), 10)
	for _, text := range stored {
		a, err := v.Get(ctx, "s", string(turn.Sum(text).ID()))
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	// In a group the small turns still fit.
	v = mustOpen(t, t.TempDir(), vault.Options{MaxPages: 200})
	results := v.PutAll(ctx, []turn.Evidence{
		vaulttest.Evidence("s", 200, "small"), vaulttest.Evidence("s", 201, noise(201, 2_000_000)), vaulttest.Evidence("s", 202, "tiny"),
	})
	require.NoError(t, results[0].Err)
	require.ErrorIs(t, results[1].Err, sqlitefile.ErrFull)
	require.NoError(t, results[2].Err)
	for _, text := range []string{"small", "tiny"} {
		a, err := v.Get(ctx, "s", string(turn.Sum(text).ID()))
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	r, err := v.Verify(ctx)
	require.NoError(t, err)
	require.True(t, r.Sound())
}

func TestALockHeldByAnotherProcessIsReportedInBoundedTime(t *testing.T) {
	t.Parallel()
	v := mustOpen(t, t.TempDir(), vault.Options{})
	conn, err := rawDB(t, v.Path()).Conn(context.Background())
	require.NoError(t, err)
	_, err = conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	p, err := v.Put(ctx, vaulttest.Evidence("s", 1, "text"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, turn.Deadline, p.Reason)
	_, err = conn.ExecContext(context.Background(), "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text"))
}

func TestAPanicInsideATurnLeavesTheVaultUsable(t *testing.T) {
	t.Parallel()
	v := mustOpen(t, t.TempDir(), vault.Options{Hook: faults.Call("before insert pin", 1, func() { panic("broken invariant") })})
	require.Panics(t, func() { _, _ = v.Put(context.Background(), vaulttest.Evidence("s", 1, "text")) })
	_, err := v.Get(context.Background(), "", string(turn.Sum("text").ID()))
	require.ErrorIs(t, err, vault.ErrUnknown)
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text"))
}

func TestDamagedFilesGiveClearErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		damage func(path string) error
		want   error
	}{
		"no database":    {func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("not a database ", 500)), 0o600) }, sqlitefile.ErrNotSQLite},
		"header damaged": {func(p string) error { return faults.Fill(p, 0, 16, 0xff) }, sqlitefile.ErrNotSQLite},
		"schema damaged": {func(p string) error { return faults.Fill(p, 100, 3_000, 0xff) }, sqlitefile.ErrCorrupt},
		"cut in half": {func(p string) error {
			info, err := os.Stat(p)
			return errors.Join(err, os.Truncate(p, info.Size()/2/4096*4096))
		}, sqlitefile.ErrCorrupt},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			v := mustOpen(t, dir, vault.Options{})
			for i := range uint64(50) {
				vaulttest.MustPut(t, v, vaulttest.Evidence("s", i, fmt.Sprintf("text %d %s", i, strings.Repeat("x", 3_000))))
			}
			path := v.Path()
			require.NoError(t, v.Close())
			require.NoError(t, c.damage(path))
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, readOnly := range []bool{true, false} {
				v, err := vault.Open(dir, vault.Options{ReadOnly: readOnly})
				if err == nil { // the damage lies where opening does not look
					_, err = v.Verify(context.Background())
					if err == nil {
						_, err = v.List(context.Background(), "", 0)
					}
					_ = v.Close()
				}
				require.ErrorIs(t, err, c.want)
				wantHint(t, err, path)
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, len(before), len(after), "a damaged file is left for repair")
		})
	}
}

// A log cut by a power failure loses at most the turns in it, never the file.
func TestATruncatedLogKeepsWhatWasMerged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := mustOpen(t, dir, vault.Options{})
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "merged"))
	require.NoError(t, v.Close())
	v = mustOpen(t, dir, vault.Options{})
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 2, "in the log"))
	for _, keep := range []int64{0, 10, 32, 100, 4_000, 5_000} {
		copied := filepath.Join(t.TempDir(), "copy")
		require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
		require.NoError(t, os.Remove(filepath.Join(copied, vault.FileName+"-shm")))
		require.NoError(t, os.Truncate(filepath.Join(copied, vault.FileName+"-wal"), keep))
		c := mustOpen(t, copied, vault.Options{})
		a, err := c.Get(context.Background(), "s", string(turn.Sum("merged").ID()))
		require.NoError(t, err, "log of %d bytes", keep)
		require.Equal(t, "merged", a.Text)
		r, err := c.Verify(context.Background())
		require.NoError(t, err)
		require.True(t, r.Sound())
		vaulttest.MustPut(t, c, vaulttest.Evidence("s", 2, "in the log"))
	}
}

func TestDamagedDecisionsAreLeftOutAndReported(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	ev := vaulttest.Evidence("s", 1, "text")
	ev.Nodes = []turn.Node{{Hash: turn.Sum("0")}, {Hash: turn.Sum("1"), Index: 1, Decisions: []turn.Decision{vaulttest.Decision("/content", "text")}}}
	vaulttest.MustPut(t, v, ev)
	_, err := rawDB(t, v.Path()).Exec(`UPDATE nodes SET decisions = CAST('[{' AS BLOB) WHERE idx = 1`)
	require.NoError(t, err)
	nodes, err := v.Nodes(ctx, "s")
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	r, err := v.Verify(ctx)
	require.NoError(t, err)
	require.Equal(t, []vault.Problem{{What: "the decisions of message 1"}}, r.Damaged)
}
