package vault

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// A search says how many originals it could not look into.
func TestSearchCountsWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	v, err := Open(dir, Options{FixedKey: true})
	require.NoError(t, err)
	for _, text := range []string{"carol was here, once", "carol came again, later"} {
		_, err := v.Put(ctx, turn.Evidence{
			Binding:   turn.Binding{Session: "s"},
			Artifacts: []turn.Artifact{{Digest: turn.Sum(text), Text: text, Tool: "bash"}},
		})
		require.NoError(t, err)
	}
	require.NoError(t, v.Close())

	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE bodies SET body = x'6361726f6c' WHERE seq = (SELECT min(seq) FROM bodies)`)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	v, err = Open(dir, Options{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, v.Close()) }()
	list, err := v.Search(ctx, "s", "carol", 0)
	require.NoError(t, err)
	require.Len(t, list.Artifacts, 1)
	require.Equal(t, 1, list.Damaged)
}
