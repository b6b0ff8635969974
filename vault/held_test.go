//go:build unix

package vault_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// Whatever takes a held artifact away, the next turn that shows its id puts it back
// under the same id, or learns that it is missing; and it looks again only when
// something was removed.
func TestHeldIDsHealWhateverTookThem(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*testing.T, *vault.Vault){
		"row gone":  func(t *testing.T, v *vault.Vault) { change(t, v, `DELETE FROM artifacts WHERE seq = 1`) },
		"body gone": func(t *testing.T, v *vault.Vault) { change(t, v, `DELETE FROM bodies WHERE seq = 1`) },
		"pin gone":  func(t *testing.T, v *vault.Vault) { change(t, v, `DELETE FROM pins WHERE turn = 1`) },
		"released": func(t *testing.T, v *vault.Vault) {
			p, err := v.PlanRelease(context.Background(), "", idOf("one"))
			require.NoError(t, err)
			_, err = v.Remove(context.Background(), p, nil)
			require.NoError(t, err)
		},
		"session released by another process": func(t *testing.T, v *vault.Vault) {
			other := mustOpen(t, strings.TrimSuffix(v.Path(), vault.FileName), vault.Options{})
			p, err := other.PlanRelease(context.Background(), "s", "")
			require.NoError(t, err)
			_, err = other.Remove(context.Background(), p, nil)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, looks := context.Background(), 0
			v := mustOpen(t, t.TempDir(), vault.Options{Hook: func(point string) error {
				if point == "before look for held" {
					looks++
				}
				return nil
			}})
			first := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "one", "two")).Proofs[turn.Sum("one")]
			texts := vaulttest.InHand{"one", "two"}
			for n := range uint64(3) {
				require.Empty(t, vaulttest.MustPut(t, v, vaulttest.Holding("s", 2+n, texts, texts...)).Missing)
			}
			require.Equal(t, 1, looks, "while nothing goes, one look is enough")
			take(t, v)
			p := vaulttest.MustPut(t, v, vaulttest.Holding("s", 9, nil, "one"))
			require.Equal(t, []turn.Digest{turn.Sum("one")}, p.Missing, "without the text at hand")
			p = vaulttest.MustPut(t, v, vaulttest.Holding("s", 10, texts, texts...))
			require.Empty(t, p.Missing)
			require.Equal(t, first, p.Proofs[turn.Sum("one")], "the old id, under the old prefix")
			a, err := v.Get(ctx, "s", first.Shown)
			require.NoError(t, err)
			require.Equal(t, "one", a.Text)
			require.True(t, a.Pinned)
			mustSound(t, v)
			require.Equal(t, 3, looks)
			require.Empty(t, vaulttest.MustPut(t, v, vaulttest.Holding("s", 11, texts, texts...)).Missing)
			require.LessOrEqual(t, looks, 4)
		})
	}
}

func change(t *testing.T, v *vault.Vault, sql string) {
	_, err := rawDB(t, v.Path()).Exec(sql)
	require.NoError(t, err)
}

// Bytes that were stored again and do not come back equal are missing, in this turn.
func TestAHeldArtifactThatIsNotReadBackIsMissing(t *testing.T) {
	t.Parallel()
	on := false
	v := mustOpen(t, t.TempDir(), vault.Options{Hook: func(point string) error {
		if on && point == "after read-back" {
			return faults.ErrInjected
		}
		return nil
	}})
	vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "one"))
	change(t, v, `DELETE FROM artifacts`)
	ev := vaulttest.Holding("s", 2, vaulttest.InHand{"one"}, "one")
	ev.Artifacts = nil
	on = true
	p, err := v.Put(context.Background(), ev)
	require.NoError(t, err)
	require.Equal(t, []turn.Digest{turn.Sum("one")}, p.Missing)
	require.Empty(t, p.Proofs)
	on = false
	p = vaulttest.MustPut(t, v, ev)
	require.Empty(t, p.Missing)
}

// A file that goes while it is open: the error says so, the folder opens again with the
// same marker key, and the turn heals what it shows.
func TestADeletedOrReplacedFileIsNoticedAndHeals(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(t *testing.T, dir string){
		"file deleted": func(t *testing.T, dir string) {
			for _, side := range []string{"", "-wal", "-shm"} {
				require.NoError(t, os.Remove(dir+"/"+vault.FileName+side))
			}
		},
		"folder deleted": func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) },
		"replaced by an older copy": func(t *testing.T, dir string) {
			older := t.TempDir()
			v := mustOpen(t, older, vault.Options{})
			vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "older"))
			require.NoError(t, v.Close())
			for _, side := range []string{"-wal", "-shm"} {
				require.NoError(t, os.Remove(dir+"/"+vault.FileName+side))
			}
			require.NoError(t, os.Rename(older+"/"+vault.FileName, dir+"/"+vault.FileName))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, dir := context.Background(), t.TempDir()+"/v"
			v, err := vault.Open(dir, vault.Options{})
			require.NoError(t, err)
			first := vaulttest.MustPut(t, v, vaulttest.Evidence("s", 1, "one"))
			take(t, dir)
			ev := vaulttest.Holding("s", 2, vaulttest.InHand{"one"}, "one")
			p, err := v.Put(ctx, ev)
			require.ErrorIs(t, err, vault.ErrGone)
			require.Equal(t, turn.StorageUnavailable, p.Reason)
			require.Empty(t, p.Proofs)
			_, err = v.Get(ctx, "s", idOf("one"))
			require.ErrorIs(t, err, vault.ErrGone)
			_, err = v.Nodes(ctx, "s")
			require.ErrorIs(t, err, vault.ErrGone)
			again, err := v.Reopen()
			require.NoError(t, err)
			defer func() { require.NoError(t, again.Close()) }()
			require.Equal(t, v.MarkerKey(), again.MarkerKey())
			p = vaulttest.MustPut(t, again, ev)
			require.Equal(t, first.Proofs[turn.Sum("one")], p.Proofs[turn.Sum("one")])
			a, err := again.Get(ctx, "s", idOf("one"))
			require.NoError(t, err)
			require.Equal(t, "one", a.Text)
			mustSound(t, again)
		})
	}
}

// BenchmarkVaultHeld is a turn with one new artifact that shows 400 ids again, beside
// the same turn that shows none.
func BenchmarkVaultHeld(b *testing.B) {
	for name, count := range map[string]int{"none": 0, "400": 400} {
		b.Run(name, func(b *testing.B) {
			v := mustOpen(b, b.TempDir(), vault.Options{})
			var texts []string
			for i := range 400 {
				texts = append(texts, fmt.Sprint(i, strings.Repeat(" a line of a log file\n", 100)))
			}
			vaulttest.MustPut(b, v, vaulttest.Evidence("s", 1, texts...))
			held := vaulttest.Holding("s", 1, texts, texts[:count]...)
			for n := uint64(2); b.Loop(); n++ {
				ev := vaulttest.Evidence("s", n, fmt.Sprint("new in turn ", n))
				ev.Held, ev.Source = held.Held, held.Source
				if p, err := v.Put(context.Background(), ev); err != nil || len(p.Missing) > 0 {
					b.Fatal(err, len(p.Missing))
				}
			}
		})
	}
}
