package vault

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func TestSmoke(t *testing.T) {
	v, err := Open(t.TempDir()+"/a ?#ü", Options{})
	require.NoError(t, err)
	ctx := context.Background()
	text := "hello\nWELT ß\n"
	d := turn.Sum(text)
	p, err := v.Put(ctx, turn.Evidence{Binding: turn.Binding{Session: "s"}, Artifacts: []turn.Artifact{{Digest: d, Text: text, Tool: "sh"}},
		Nodes: []turn.Node{{Hash: turn.Sum("h"), Decisions: []turn.Decision{{Block: "/content", Form: turn.Compressed, Before: d, Text: "see a_00000000 x", ShownAt: 4, ShownLen: 10}}}}})
	require.NoError(t, err)
	require.Len(t, p.Proofs, 1)
	t.Log(p)
	a, err := v.Get(ctx, "s", p.Proofs[d].Shown)
	require.NoError(t, err)
	require.Equal(t, text, a.Text)
	ns, err := v.Nodes(ctx, "s")
	require.NoError(t, err)
	t.Log(ns)
	l, err := v.Search(ctx, "s", "welt SS", 0)
	require.NoError(t, err)
	require.Len(t, l.Artifacts, 1)
	s, err := v.Status(ctx)
	require.NoError(t, err)
	t.Logf("%+v", s)
	r, err := v.Verify(ctx)
	require.NoError(t, err)
	require.True(t, r.Sound(), "%+v", r)
	require.NoError(t, v.Close())
}
