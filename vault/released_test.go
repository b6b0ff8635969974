//go:build unix

package vault_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// releasedFile puts a file that an earlier release wrote into a new folder. It holds
// sessions "a" and "b", a packed text, long arguments, forms and a released id.
func releasedFile(t *testing.T, schema int) (dir string) {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "schema2.sqlite3.gz"))
	require.NoError(t, err)
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	dir = t.TempDir()
	path := filepath.Join(dir, vault.FileName)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	db := rawDB(t, path)
	_, err = db.Exec(fmt.Sprintf(`PRAGMA journal_mode = DELETE; PRAGMA user_version = %d`, schema)) // 1 and 2 have the same tables
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return dir
}

// holdsReleased demands everything that the released file promised.
func holdsReleased(t *testing.T, v *vault.Vault) {
	t.Helper()
	ctx := context.Background()
	long := strings.Repeat("a line of a log file with some words in it\n", 190)
	for session, texts := range map[string][]string{"a": {"first", long, "shared"}, "b": {"shared", "of b"}, "": {"first", long, "shared", "of b"}} {
		for _, text := range texts {
			a, err := v.Get(ctx, session, string(turn.Sum(text).ID()))
			require.NoError(t, err)
			require.Equal(t, text, a.Text)
			require.True(t, a.Pinned)
			again, err := v.Get(ctx, session, a.Shown)
			require.NoError(t, err)
			require.Equal(t, a, again)
		}
	}
	a, err := v.Get(ctx, "a", idOf("first"))
	require.NoError(t, err)
	require.Equal(t, turn.Sum("00000001"+strings.Repeat("x", 6000)).ID(), a.ArgsArtifact)
	l, err := v.List(ctx, "a", 0)
	require.NoError(t, err)
	require.Len(t, l.Artifacts, 4)
	_, err = v.Get(ctx, "b", idOf("first"))
	require.ErrorIs(t, err, vault.ErrNotYours)
	_, err = v.Get(ctx, "c", idOf("released"))
	require.ErrorIs(t, err, vault.ErrReleased)
	nodes, err := v.Nodes(ctx, "a")
	require.NoError(t, err)
	require.Len(t, nodes, 2)
	require.Equal(t, vaulttest.Decision("/content", "first").Before, nodes[0].Decisions[0].Before)
}

// A file of a released version is read as it is, and brought up when it is opened for
// writing or restored.
func TestFilesOfReleasedVersionsAreReadAndBroughtUp(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= 2; schema++ {
		ctx, dir := context.Background(), releasedFile(t, schema)
		before, err := os.ReadFile(filepath.Join(dir, vault.FileName))
		require.NoError(t, err)
		r := mustOpen(t, dir, vault.Options{ReadOnly: true})
		holdsReleased(t, r)
		mustSound(t, r)
		counted, err := r.Status(ctx)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		after, err := os.ReadFile(filepath.Join(dir, vault.FileName))
		require.NoError(t, err)
		require.Equal(t, before, after)
		there := t.TempDir()
		restore(t, vault.PlaceOf(dir), there)
		for _, d := range []string{there, dir} {
			w := mustOpen(t, d, vault.Options{})
			holdsReleased(t, w)
			mustSound(t, w)
			st, err := w.Status(ctx)
			require.NoError(t, err)
			require.Equal(t, 3, st.Schema)
			require.Equal(t, counted.Bytes, st.Bytes)
			require.Equal(t, []int{counted.Artifacts, counted.Pinned, counted.Pins}, []int{st.Artifacts, st.Pinned, st.Pins})
			// What is known keeps its id, what is new is stored, what is released is removed.
			vaulttest.MustPut(t, w, vaulttest.Evidence("a", 2, "first", "new"))
			p, err := w.PlanRelease(ctx, "b", "")
			require.NoError(t, err)
			_, err = w.Remove(ctx, p, nil)
			require.NoError(t, err)
			_, err = w.Get(ctx, "b", idOf("of b"))
			require.ErrorIs(t, err, vault.ErrReleased)
			mustSound(t, w)
		}
	}
}

// The step fails on a disk that is full: the file stays what it was, byte for byte, and
// the next try with room holds.
func TestAMigrationWithoutRoomLeavesAReleasedFileAsItWas(t *testing.T) {
	t.Parallel()
	for schema := 1; schema <= 2; schema++ {
		dir := releasedFile(t, schema)
		before, err := os.ReadFile(filepath.Join(dir, vault.FileName))
		require.NoError(t, err)
		_, err = vault.Open(dir, vault.Options{MaxPages: 21})
		require.Error(t, err)
		wantHint(t, err, filepath.Join(dir, vault.FileName))
		r := mustOpen(t, dir, vault.Options{ReadOnly: true})
		holdsReleased(t, r)
		require.NoError(t, r.Close())
		after, err := os.ReadFile(filepath.Join(dir, vault.FileName))
		require.NoError(t, err)
		require.Equal(t, before[100:], after[100:], "only the header may say that a log was used")
		require.Equal(t, len(before), len(after))
		w := mustOpen(t, dir, vault.Options{})
		holdsReleased(t, w)
		mustSound(t, w)
	}
}
