//go:build unix

package vault_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

func idOf(text string) string { return string(turn.Sum(text).ID()) }

func mustSound(t testing.TB, v *vault.Vault) {
	t.Helper()
	r, err := v.Verify(context.Background())
	require.NoError(t, err)
	require.True(t, r.Sound(), "%+v", r)
}

// twoSessions holds "mine" and its arguments for session a, "both" for a and b, "theirs" for b.
func twoSessions(t testing.TB, v *vault.Vault) {
	mine := vaulttest.Evidence("a", 1, "mine", "both")
	mine.Artifacts[0].Args = strings.Repeat("argument ", 1_000)
	mine.Nodes = []turn.Node{{Hash: turn.Sum("n"), Decisions: []turn.Decision{vaulttest.Decision("/content", "mine")}}}
	vaulttest.MustPut(t, v, mine)
	vaulttest.MustPut(t, v, vaulttest.Evidence("b", 1, "both", "theirs"))
}

func TestReleaseOfASessionKeepsWhatOthersHold(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	twoSessions(t, v)
	before, err := v.Status(ctx)
	require.NoError(t, err)
	plan, err := v.PlanRelease(ctx, "a", "")
	require.NoError(t, err)
	require.Len(t, plan.Artifacts, 2, "its own result and its long arguments")
	require.Equal(t, []any{2, 1, "released"}, []any{plan.Pins, plan.Nodes, plan.Why})
	unchanged, err := v.Status(ctx)
	require.NoError(t, err)
	require.Equal(t, before, unchanged, "a plan changes nothing")

	var heard [][2]int
	done, err := v.Remove(ctx, plan, func(n, of int) { heard = append(heard, [2]int{n, of}) })
	require.NoError(t, err)
	require.Equal(t, [][2]int{{2, 2}}, heard)
	require.Equal(t, vault.Removed{Artifacts: 2, Bytes: plan.Bytes(), Pins: 2, Nodes: 1}, done)
	for _, session := range []string{"", "a"} {
		_, err = v.Get(ctx, session, idOf("mine"))
		require.ErrorIs(t, err, vault.ErrReleased, "and neither lost nor unknown")
	}
	_, err = v.Get(ctx, "", "a_00000000")
	require.ErrorIs(t, err, vault.ErrUnknown)
	for _, text := range []string{"both", "theirs"} {
		a, err := v.Get(ctx, "b", idOf(text))
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	nodes, err := v.Nodes(ctx, "a")
	require.NoError(t, err)
	require.Empty(t, nodes)
	mustSound(t, v)
	_, err = v.PlanRelease(ctx, "nobody", "")
	require.ErrorIs(t, err, vault.ErrNoSession)
	// The session goes on: evidence that comes again is stored again under its old id.
	p := vaulttest.MustPut(t, v, vaulttest.Evidence("a", 2, "mine"))
	require.Equal(t, idOf("mine"), string(p.Proofs[turn.Sum("mine")].Artifact))
	_, err = v.Get(ctx, "a", idOf("mine"))
	require.NoError(t, err)
}

func TestReleaseOfOneOriginalEndsEveryPromise(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	twoSessions(t, v)
	plan, err := v.PlanRelease(ctx, "", idOf("both")[:12])
	require.NoError(t, err)
	require.Equal(t, 2, plan.Pins)
	done, err := v.Remove(ctx, plan, nil)
	require.NoError(t, err)
	require.Equal(t, 1, done.Artifacts)
	require.EqualValues(t, 2, done.Pins)
	_, err = v.Get(ctx, "b", idOf("both"))
	require.ErrorIs(t, err, vault.ErrReleased)
	proofs, err := v.Proofs(ctx, "b", []turn.Digest{turn.Sum("both"), turn.Sum("theirs")})
	require.NoError(t, err)
	require.Len(t, proofs, 1, "what was proved before is not proved once it is gone")
	mustSound(t, v)
	_, err = v.PlanRelease(ctx, "", "a_00000000")
	require.ErrorIs(t, err, vault.ErrUnknown)
}

func TestPruneTakesWhatNobodyWasPromised(t *testing.T) {
	t.Parallel()
	clock, ctx := faults.NewClock(), context.Background()
	v := mustOpen(t, t.TempDir(), vault.Options{Now: clock.Now})
	twoSessions(t, v)
	clock.Move(40 * 24 * time.Hour)
	vaulttest.MustPut(t, v, vaulttest.Evidence("b", 2, "fresh"))
	plan, err := v.PlanPrune(ctx, 30*24*time.Hour, 0)
	require.NoError(t, err)
	require.Len(t, plan.Artifacts, 1, "the arguments: results are pinned")
	none, err := v.PlanPrune(ctx, 50*24*time.Hour, 0)
	require.NoError(t, err)
	require.Empty(t, none.Artifacts)
	all, err := v.PlanPrune(ctx, 30*24*time.Hour, 35*24*time.Hour)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, all.Sessions, "b was used a moment ago")
	require.Len(t, all.Artifacts, 2)
	done, err := v.Remove(ctx, all, nil)
	require.NoError(t, err)
	require.Equal(t, 2, done.Artifacts)
	_, err = v.Get(ctx, "", idOf("mine"))
	require.ErrorIs(t, err, vault.ErrReleased, "a promise was ended")
	_, err = v.Get(ctx, "", idOf(strings.Repeat("argument ", 1_000)))
	require.ErrorIs(t, err, vault.ErrLost, "no promise was made")
	st, err := v.Status(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 2, st.Pruned)
	mustSound(t, v)
	require.NoError(t, v.Compact(ctx))
	mustSound(t, v)
}

// What was pinned after the plan was made stays.
func TestAPlanDoesNotTakeWhatIsUsedAgain(t *testing.T) {
	t.Parallel()
	ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
	twoSessions(t, v)
	release, err := v.PlanRelease(ctx, "a", "")
	require.NoError(t, err)
	clock := time.Now().Add(time.Hour)
	later := mustOpen(t, filepath.Dir(v.Path()), vault.Options{Now: func() time.Time { return clock }})
	prune, err := later.PlanPrune(ctx, 0, 0)
	require.NoError(t, err)
	require.Len(t, prune.Artifacts, 1)
	vaulttest.MustPut(t, v, vaulttest.Evidence("c", 1, "mine", strings.Repeat("argument ", 1_000)))
	done, err := v.Remove(ctx, release, nil)
	require.NoError(t, err)
	require.Equal(t, []int{0, 2}, []int{done.Artifacts, done.Kept})
	done, err = v.Remove(ctx, prune, nil)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, []int{done.Artifacts, done.Kept})
	_, err = v.Get(ctx, "c", idOf("mine"))
	require.NoError(t, err)
	mustSound(t, v)
}

// A failure of any call of a removal: the vault stays sound, nothing is half gone, and
// the same plan made again finishes.
func TestEveryCallOfARemovalMayFail(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	run := func(hook faults.Hook) error {
		on := false
		v := mustOpen(t, t.TempDir(), vault.Options{Hook: func(p string) error {
			if !on {
				return nil
			}
			return hook(p)
		}})
		twoSessions(t, v)
		plan, err := v.PlanRelease(ctx, "a", "")
		require.NoError(t, err)
		on = true
		_, failed := v.Remove(ctx, plan, nil)
		on = false
		mustSound(t, v)
		if plan, err = v.PlanRelease(ctx, "a", ""); err == nil {
			_, err = v.Remove(ctx, plan, nil)
			require.NoError(t, err)
		}
		_, err = v.Get(ctx, "a", idOf("mine"))
		require.ErrorIs(t, err, vault.ErrReleased)
		_, err = v.Get(ctx, "b", idOf("both"))
		require.NoError(t, err)
		mustSound(t, v)
		return failed
	}
	var rec faults.Recorder
	require.NoError(t, run(rec.Hook))
	for n := range rec.Points() {
		require.ErrorIs(t, run(faults.FailNth(n+1, faults.ErrInjected)), faults.ErrInjected)
	}
	require.Greater(t, len(rec.Points()), 30)
}

func TestRemovalNeedsAWritableVault(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	v := mustOpen(t, dir, vault.Options{})
	twoSessions(t, v)
	require.NoError(t, v.Close())
	r := mustOpen(t, dir, vault.Options{ReadOnly: true})
	plan, err := r.PlanRelease(ctx, "a", "")
	require.NoError(t, err, "a plan can be made")
	_, err = r.Remove(ctx, plan, nil)
	require.ErrorIs(t, err, vault.ErrReadOnly)
	require.ErrorIs(t, r.Compact(ctx), vault.ErrReadOnly)
	require.ErrorIs(t, r.Checkpoint(ctx), vault.ErrReadOnly)
	require.NoError(t, r.Close())
	_, err = r.PlanPrune(ctx, 0, 0)
	require.Error(t, err)
}

func TestTranscriptsThatNameAnOriginalAreFound(t *testing.T) {
	t.Parallel()
	ctx, home := context.Background(), t.TempDir()
	v := mustOpen(t, filepath.Join(home, "token-terminator"), vault.Options{})
	twoSessions(t, v)
	plan, err := v.PlanRelease(ctx, "a", "")
	require.NoError(t, err)
	shown := idOf("mine")[:10]
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	quiet := write("projects/x/quiet.jsonl", `{"role":"user","content":"a_00000000"}`+"\n")
	named := write("projects/y/live.jsonl", strings.Repeat("x", 70_000)+`{"content":"[Token Terminator: … artifact_id=`+shown+` tag=…]"}`)
	search := func(paths ...string) vault.Searched {
		found, err := v.Mentions(ctx, plan, paths)
		require.NoError(t, err)
		return found
	}
	require.True(t, search(quiet).Clean())
	found := search(home)
	require.Len(t, found.Named, 1)
	require.Equal(t, named, found.Named[0].Path)
	require.Equal(t, idOf("mine"), string(found.Named[0].ID))
	require.Equal(t, 2, found.Files, "the vault's own folder is no transcript")
	require.NoError(t, os.Remove(named))

	db := rawDB(t, filepath.Join(home, "state.db"))
	_, err = db.Exec(`CREATE TABLE "odd ""name" (id INTEGER, body TEXT); PRAGMA journal_mode=WAL`)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO "odd ""name" VALUES (1, ?1)`, strings.Repeat("long ", 4_000)+idOf("mine")+" and on")
	require.NoError(t, err)
	require.Len(t, search(home).Named, 1, "a database is read by its values, with what its log holds")
	require.NoError(t, db.Close())
	require.NoError(t, os.Remove(filepath.Join(home, "state.db")))

	copied := filepath.Join(home, "copy of the vault.sqlite3")
	_, err = v.Backup(ctx, vault.PlaceOf(copied), nil)
	require.NoError(t, err)
	require.True(t, search(home).Clean(), "a copy of the vault is no transcript")

	require.NoError(t, os.Symlink(home, filepath.Join(home, "loop")))
	gz := write("old.jsonl.gz", "\x1f\x8b\x08")
	unread := search(home).Unread
	require.Len(t, unread, 2)
	require.Equal(t, filepath.Join(home, "loop"), unread[0].Path)
	require.Equal(t, gz, unread[1].Path)
	_, err = v.Mentions(ctx, plan, []string{filepath.Join(home, "nowhere")})
	require.ErrorIs(t, err, os.ErrNotExist)
	write("broken.db", "SQLite format 3\x00 and nothing more")
	require.Len(t, search(filepath.Join(home, "broken.db")).Unread, 1)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = v.Mentions(ended, plan, []string{home})
	require.ErrorIs(t, err, context.Canceled)
}

// A row that went away is stored again from the evidence in hand: one question for all
// ids a turn is about to show, one Put for what is missing.
func TestAVaultHealsFromTheEvidenceInHand(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"rows":                    `DELETE FROM artifacts`,
		"bodies":                  `DELETE FROM bodies`,
		"one row":                 `DELETE FROM artifacts WHERE seq = 610`,
		"a body cut":              `UPDATE bodies SET body = substr(body, 1, 3) WHERE seq = 77`,
		"pins":                    `DELETE FROM pins`,
		"bodies in an unread way": `UPDATE bodies SET codec = 9`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, v := context.Background(), mustOpen(t, t.TempDir(), vault.Options{})
			ev, digests := vaulttest.Evidence("s", 1), []turn.Digest{}
			for i := range 620 {
				text := fmt.Sprintf("result %d", i)
				ev.Artifacts = append(ev.Artifacts, turn.Artifact{Digest: turn.Sum(text), Text: text})
				digests = append(digests, turn.Sum(text))
			}
			first := vaulttest.MustPut(t, v, ev)
			ask := func() map[turn.Digest]turn.Proof {
				proofs, err := v.Proofs(ctx, "s", digests)
				require.NoError(t, err)
				return proofs
			}
			require.Equal(t, first.Proofs, ask())
			_, err := rawDB(t, v.Path()).Exec(damage)
			require.NoError(t, err)
			standing := ask()
			missing := turn.Evidence{Binding: ev.Binding}
			for _, a := range ev.Artifacts {
				if _, ok := standing[a.Digest]; !ok {
					missing.Artifacts = append(missing.Artifacts, a)
				}
			}
			require.NotEmpty(t, missing.Artifacts)
			vaulttest.MustPut(t, v, missing)
			require.Equal(t, first.Proofs, ask(), "the ids are the old ones")
			mustSound(t, v)
		})
	}
}

// A folder that is deleted or replaced under way: nothing is stored where nobody would
// find it, and after opening again the evidence in hand comes back under its old id.
func TestAVaultDeletedUnderWayIsNoticed(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "vault")
	v := mustOpen(t, dir, vault.Options{})
	first := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "text"))
	require.NoError(t, os.Rename(dir, dir+".away"))
	for range 2 {
		p, err := v.Put(ctx, vaulttest.Evidence("s", 1, "text"))
		require.ErrorIs(t, err, vault.ErrGone)
		require.Equal(t, turn.StorageUnavailable, p.Reason)
		_, err = v.Get(ctx, "s", idOf("text"))
		require.ErrorIs(t, err, vault.ErrGone)
		_, err = v.Proofs(ctx, "s", []turn.Digest{turn.Sum("text")})
		require.ErrorIs(t, err, vault.ErrGone)
		if _, err := os.Stat(dir); err != nil { // and again with another file in its place
			require.NoError(t, mustOpen(t, dir, vault.Options{}).Close())
		}
	}
	require.NoError(t, v.Close())
	again := mustOpen(t, dir, vault.Options{})
	proofs, err := again.Proofs(ctx, "s", []turn.Digest{turn.Sum("text")})
	require.NoError(t, err)
	require.Empty(t, proofs)
	require.Equal(t, first.Proofs, vaulttest.MustPut(t, again, vaulttest.Evidence("s", 2, "text")).Proofs)
}
