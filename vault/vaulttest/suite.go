package vaulttest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/view"
)

// Store is what every vault can do.
type Store interface {
	Put(ctx context.Context, ev turn.Evidence) (turn.Pinned, error)
	PutAll(ctx context.Context, evs []turn.Evidence) []vault.PutResult
	Accept(ctx context.Context, session string, nodes []turn.Node) error
	Nodes(ctx context.Context, session string) ([]turn.Node, error)
	DropNodes(ctx context.Context, unused time.Duration) (int, error)
	MarkerKey() []byte
	Proofs(ctx context.Context, session string, digests []turn.Digest) (map[turn.Digest]turn.Proof, error)
	Resolve(ctx context.Context, session, idOrPrefix string) (turn.ArtifactID, error)
	Get(ctx context.Context, session, id string) (vault.Artifact, error)
	Page(ctx context.Context, session, id string, offset, limit int) (vault.Page, error)
	Peek(ctx context.Context, session, id string, limit int) (view.Peek, error)
	Find(ctx context.Context, session, id, query string, limit int) (vault.Found, error)
	Lines(ctx context.Context, session, id string, from, to int) (vault.Lines, error)
	Diff(ctx context.Context, session, first, second string, limit int) (vault.Diff, error)
	Search(ctx context.Context, session, query string, limit int) (vault.Listing, error)
	List(ctx context.Context, session string, limit int) (vault.Listing, error)
	Verify(ctx context.Context) (vault.Report, error)
	Status(ctx context.Context) (vault.Status, error)
	Close() error
}

var (
	_ Store = (*vault.Vault)(nil)
	_ Store = (*vault.Memory)(nil)
)

// Evidence is one turn of a session with these texts as results of tool "shell".
func Evidence(session string, number uint64, texts ...string) turn.Evidence {
	ev := turn.Evidence{Binding: turn.Binding{Session: session, Turn: number}}
	for i, text := range texts {
		ev.Artifacts = append(ev.Artifacts, turn.Artifact{
			Digest: turn.Sum(text), Text: text, Tool: "shell", Args: `{"command":"make"}`, CallID: fmt.Sprintf("call_%d_%d", number, i), Kind: "log",
		})
	}
	return ev
}

// MustPut stores one turn and demands a proof for every artifact.
func MustPut(t testing.TB, s Store, ev turn.Evidence) turn.Pinned {
	t.Helper()
	p, err := s.Put(context.Background(), ev)
	require.NoError(t, err)
	require.Empty(t, p.Reason)
	for _, a := range ev.Artifacts {
		require.Contains(t, p.Proofs, a.Digest)
	}
	return p
}

// SamePrefix gives two texts whose hashes begin with the same n hex digits.
func SamePrefix(n int) (first, second string) {
	seen := map[string]string{}
	for i := 0; ; i++ {
		text := fmt.Sprintf("text number %d\n", i)
		head := turn.Sum(text).String()[:n]
		if other, ok := seen[head]; ok {
			return other, text
		}
		seen[head] = text
	}
}

// Run runs the suite. open gives an empty store and may be called many times.
func Run(t *testing.T, open func(t *testing.T, o vault.Options) Store) {
	tests := map[string]func(*testing.T, func(vault.Options) Store){
		"a stored text comes back byte for byte":                        storedComesBack,
		"a turn of nothing is fine":                                     emptyTurn,
		"bad artifacts do not hurt the others of their turn (B11)":      badArtifacts,
		"a bad turn does not hurt its group (B11)":                      badTurn,
		"ids resolve by bound prefix first, then when unique":           resolve,
		"a later artifact gets a longer prefix and the first keeps its": boundPrefix,
		"sessions see their own artifacts only (B15)":                   sessionScope,
		"a repeat refreshes last seen and adds no row (B12, B32)":       repeats,
		"long arguments become an artifact of their own (B13)":          longArguments,
		"labels are bounded":                                            boundedLabels,
		"nodes come back in order with the shown id in their text":      nodes,
		"accept replaces decisions and refuses what is not stored":      accept,
		"unused nodes can be dropped":                                   dropNodes,
		"a full vault prunes what is not pinned (A12)":                  prunes,
		"a vault full of pins refuses the new turn (A14)":               refuses,
		"pages, lines, peek, find and diff are bounded":                 views,
		"search folds case beyond ASCII (A16)":                          search,
		"lists are newest first and bounded":                            lists,
		"a closed vault says so":                                        closed,
		"a cancelled context stores nothing":                            cancelled,
		"held ids are looked for and stored again":                      holds,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(o vault.Options) Store {
				s := open(t, o)
				t.Cleanup(func() { require.NoError(t, s.Close()) })
				return s
			})
		})
	}
}

func storedComesBack(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	texts := []string{"", "a", "a\x00b", "CRLF\r\nno end", "ünïcode \u2028 ﬁ\n", strings.Repeat("long line ", 50_000)}
	p := MustPut(t, s, Evidence("s", 1, texts...))
	for _, text := range texts {
		proof := p.Proofs[turn.Sum(text)]
		require.Equal(t, turn.Sum(text).ID(), proof.Artifact)
		for _, session := range []string{"s", ""} {
			a, err := s.Get(ctx, session, proof.Shown)
			require.NoError(t, err)
			require.Equal(t, text, a.Text)
			require.Equal(t, len(text), a.Bytes)
			require.Equal(t, len([]rune(text)), a.Chars)
			require.Equal(t, turn.Sum(text), a.Digest)
			require.Equal(t, "shell", a.Tool)
			require.Equal(t, `{"command":"make"}`, a.Args)
			require.True(t, a.Pinned)
			require.Equal(t, proof.Shown, a.Shown)
		}
	}
	r, err := s.Verify(ctx)
	require.NoError(t, err)
	require.True(t, r.Sound(), "%+v", r)
	require.Equal(t, len(texts), r.Artifacts)
	require.Len(t, s.MarkerKey(), 32)
}

func emptyTurn(t *testing.T, open func(vault.Options) Store) {
	s := open(vault.Options{})
	p, err := s.Put(context.Background(), Evidence("s", 1))
	require.NoError(t, err)
	require.Empty(t, p.Proofs)
	require.NotNil(t, p.Proofs)
	require.Empty(t, s.PutAll(context.Background(), nil))
}

func badArtifacts(t *testing.T, open func(vault.Options) Store) {
	cases := map[string]struct {
		a    turn.Artifact
		want turn.Reason
	}{
		"a lone surrogate's bytes": {turn.Artifact{Digest: turn.Sum("\xed\xa0\x80"), Text: "\xed\xa0\x80"}, turn.BadUnicode},
		"a text over the limit":    {turn.Artifact{Digest: turn.Sum(strings.Repeat("ü", 21)), Text: strings.Repeat("ü", 21)}, turn.TooLarge},
		"a digest of other bytes":  {turn.Artifact{Digest: turn.Sum("x"), Text: "y"}, turn.InternalError},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := open(vault.Options{MaxArtifactRunes: 20})
			ev := Evidence("s", 1, "good", strings.Repeat("ü", 20))
			ev.Artifacts = append(ev.Artifacts[:1:1], c.a, ev.Artifacts[1])
			ev.Nodes = []turn.Node{{Hash: turn.Sum("h"), Decisions: []turn.Decision{
				Decision("/content/0", "good"), {Block: "/content/1", Form: turn.Compressed, Before: c.a.Digest, Text: "x", ShownAt: -1},
			}}}
			p, err := s.Put(context.Background(), ev)
			require.NoError(t, err)
			require.Equal(t, c.want, p.Reason)
			require.Len(t, p.Proofs, 2)
			require.NotContains(t, p.Proofs, c.a.Digest)
			got, err := s.Nodes(context.Background(), "s")
			require.NoError(t, err)
			require.Len(t, got[0].Decisions, 1, "a decision without its artifact is not remembered")
		})
	}
}

// Decision is a compressed form of text that shows an id.
func Decision(block, text string) turn.Decision {
	return turn.Decision{
		Block: block, Form: turn.Compressed, Reason: turn.CompressedLog, Before: turn.Sum(text),
		Text: "see a_00000000 for <all> \u2028.", ShownAt: 4, ShownLen: 10, Renderer: "1",
	}
}

func badTurn(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{CapacityBytes: 40_000}), context.Background()
	broken := Evidence("s", 4, "broken node")
	broken.Nodes = []turn.Node{{Hash: turn.Sum("n"), Decisions: []turn.Decision{{Form: turn.Layout, Text: "\xff", ShownAt: -1}}}}
	results := s.PutAll(ctx, []turn.Evidence{
		Evidence("s", 1, "one"), Evidence("", 2, "no session"), Evidence("s", 3, strings.Repeat("x", 50_000)), broken, Evidence("s", 5, "five"),
	})
	require.NoError(t, results[0].Err)
	require.ErrorIs(t, results[1].Err, vault.ErrBinding)
	require.Equal(t, turn.InternalError, results[1].Pinned.Reason)
	require.ErrorIs(t, results[2].Err, vault.ErrFull)
	require.Equal(t, turn.VaultFull, results[2].Pinned.Reason)
	require.Error(t, results[3].Err)
	require.NoError(t, results[4].Err)
	for i, want := range []int{1, 0, 0, 0, 1} {
		require.Len(t, results[i].Pinned.Proofs, want)
	}
	for _, text := range []string{"one", "five"} {
		a, err := s.Get(ctx, "s", string(turn.Sum(text).ID()))
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	for _, text := range []string{"no session", strings.Repeat("x", 50_000), "broken node"} {
		_, err := s.Get(ctx, "", string(turn.Sum(text).ID()))
		require.ErrorIs(t, err, vault.ErrUnknown)
	}
}

func resolve(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	first, second := SamePrefix(8)
	p := MustPut(t, s, Evidence("s", 1, "alone"))
	full := turn.Sum("alone").String()
	for _, id := range []string{p.Proofs[turn.Sum("alone")].Shown, full[:8], "a_" + full[:12], "a_" + full[:32], full, "a_" + full[:40]} {
		got, err := s.Resolve(ctx, "s", id)
		require.NoError(t, err, id)
		require.Equal(t, turn.Sum("alone").ID(), got)
	}
	for id, want := range map[string]error{
		"": turn.ErrBadArtifactID, "a_1234567": turn.ErrBadArtifactID, "a_ABCDEF12": turn.ErrBadArtifactID,
		"a_00000000": vault.ErrUnknown, "a_" + full[:63] + "x": turn.ErrBadArtifactID, "a_" + full[:33] + "ff": vault.ErrUnknown,
	} {
		_, err := s.Resolve(ctx, "s", id)
		require.ErrorIs(t, err, want, id)
	}
	// Long arguments are stored without being shown, so no prefix is bound to them.
	for i, text := range []string{first, second} {
		ev := Evidence("s", uint64(i+2), fmt.Sprint("result ", i))
		ev.Artifacts[0].Args = text + strings.Repeat(" ", 5_000)
		MustPut(t, s, ev)
	}
}

func boundPrefix(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	first, second := SamePrefix(8)
	one := MustPut(t, s, Evidence("s", 1, first)).Proofs[turn.Sum(first)]
	two := MustPut(t, s, Evidence("s", 2, second)).Proofs[turn.Sum(second)]
	require.Len(t, one.Shown, 10)
	require.Greater(t, len(two.Shown), 10)
	require.True(t, strings.HasPrefix(two.Shown, one.Shown))
	for shown, text := range map[string]string{one.Shown: first, two.Shown: second} {
		a, err := s.Get(ctx, "s", shown)
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	// The same artifact keeps its prefix, in another session too.
	require.Equal(t, one, MustPut(t, s, Evidence("t", 1, first)).Proofs[turn.Sum(first)])
	// A session that has only the second one finds it under the short prefix as well.
	MustPut(t, s, Evidence("u", 1, second))
	id, err := s.Resolve(ctx, "u", one.Shown)
	require.NoError(t, err)
	require.Equal(t, two.Artifact, id)
}

func sessionScope(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	id := string(MustPut(t, s, Evidence("a", 1, "secret of a")).Proofs[turn.Sum("secret of a")].Artifact)
	MustPut(t, s, Evidence("b", 1, "of b"))
	proofs, err := s.Proofs(ctx, "a", []turn.Digest{turn.Sum("secret of a"), turn.Sum("of b"), turn.Sum("unknown")})
	require.NoError(t, err)
	require.Len(t, proofs, 1)
	require.Equal(t, id, string(proofs[turn.Sum("secret of a")].Artifact))
	_, err = s.Get(ctx, "b", id)
	require.ErrorIs(t, err, vault.ErrNotYours)
	_, err = s.Page(ctx, "b", id, 0, 0)
	require.ErrorIs(t, err, vault.ErrNotYours)
	_, err = s.Diff(ctx, "b", id, id, 0)
	require.ErrorIs(t, err, vault.ErrNotYours)
	l, err := s.Search(ctx, "b", "secret", 0)
	require.NoError(t, err)
	require.Empty(t, l.Artifacts)
	l, err = s.List(ctx, "b", 0)
	require.NoError(t, err)
	require.Len(t, l.Artifacts, 1)
	n, err := s.Nodes(ctx, "b")
	require.NoError(t, err)
	require.Empty(t, n)
	l, err = s.List(ctx, "", 0)
	require.NoError(t, err)
	require.Len(t, l.Artifacts, 2)
	MustPut(t, s, Evidence("b", 2, "secret of a"))
	a, err := s.Get(ctx, "b", id)
	require.NoError(t, err)
	require.Equal(t, 1, a.Observations)
}

func repeats(t *testing.T, open func(vault.Options) Store) {
	clock, ctx := faults.NewClock(), context.Background()
	s := open(vault.Options{Now: clock.Now})
	p := MustPut(t, s, Evidence("s", 1, "same"))
	before, err := s.Status(ctx)
	require.NoError(t, err)
	first, err := s.Get(ctx, "s", p.Proofs[turn.Sum("same")].Shown)
	require.NoError(t, err)
	for range 5 {
		clock.Move(time.Hour)
		require.Equal(t, p, MustPut(t, s, Evidence("s", 1, "same")))
	}
	after, err := s.Status(ctx)
	require.NoError(t, err)
	require.Equal(t, before, after)
	a, err := s.Get(ctx, "s", p.Proofs[turn.Sum("same")].Shown)
	require.NoError(t, err)
	require.Equal(t, first.Created, a.Created)
	require.Equal(t, first.LastSeen.Add(5*time.Hour), a.LastSeen)
	require.Equal(t, 1, a.Observations)
	MustPut(t, s, Evidence("s", 2, "same")) // another call of the session saw it
	a, err = s.Get(ctx, "s", p.Proofs[turn.Sum("same")].Shown)
	require.NoError(t, err)
	require.Equal(t, 2, a.Observations)
	require.Equal(t, "call_1_0", a.CallID)
}

func longArguments(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	for i, n := range []int{4 << 10, 4<<10 + 1, 500_000} {
		ev := Evidence("s", uint64(i+1), fmt.Sprint("result ", n))
		ev.Artifacts[0].Args = strings.Repeat("ü", n/2) + strings.Repeat("x", n%2)
		MustPut(t, s, ev)
		a, err := s.Get(ctx, "s", string(ev.Artifacts[0].Digest.ID()))
		require.NoError(t, err)
		require.Equal(t, n, a.ArgsBytes)
		if n <= 4<<10 {
			require.Equal(t, ev.Artifacts[0].Args, a.Args)
			require.Empty(t, a.ArgsArtifact)
			continue
		}
		require.LessOrEqual(t, len(a.Args), 512)
		require.True(t, strings.HasPrefix(ev.Artifacts[0].Args, a.Args))
		args, err := s.Get(ctx, "s", string(a.ArgsArtifact))
		require.NoError(t, err)
		require.Equal(t, ev.Artifacts[0].Args, args.Text)
		require.Equal(t, "arguments", args.Kind)
		require.False(t, args.Pinned)
	}
	st, err := s.Status(ctx)
	require.NoError(t, err)
	require.Greater(t, st.Bytes, int64(504_000), "arguments count against the capacity")
}

func boundedLabels(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	long := strings.Repeat("é", 5_000)
	for _, session := range []string{long + "1", long + "2"} {
		ev := Evidence(session, 1, "text of "+session[len(session)-1:])
		ev.Artifacts[0].Tool, ev.Artifacts[0].CallID, ev.Artifacts[0].Kind = long, long, "\xff"+long
		ev.Nodes = []turn.Node{{Hash: turn.Sum(session)}}
		MustPut(t, s, ev)
	}
	for _, session := range []string{long + "1", long + "2"} {
		l, err := s.List(ctx, session, 0)
		require.NoError(t, err)
		require.Len(t, l.Artifacts, 1)
		require.LessOrEqual(t, len(l.Artifacts[0].Tool), 256)
		n, err := s.Nodes(ctx, session)
		require.NoError(t, err)
		require.Len(t, n, 1)
	}
	st, err := s.Status(ctx)
	require.NoError(t, err)
	require.Less(t, st.Bytes, int64(8_000))
}

func nodes(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	first, second := SamePrefix(8)
	MustPut(t, s, Evidence("other", 1, first))
	ev := Evidence("s", 7, second)
	parent := turn.Digest{}
	for i := range 3 {
		hash := turn.Chain(parent, turn.Sum(fmt.Sprint(i)))
		n := turn.Node{Hash: hash, Parent: parent, Index: i}
		if i == 1 {
			d := Decision("/content", second)
			d.Bases = []turn.Base{{Message: 0, Block: "/content"}}
			n.Decisions = []turn.Decision{d, {Block: "/x", Form: turn.Reference, Before: turn.Sum("never stored"), Text: "same as above", ShownAt: -1}}
		}
		ev.Nodes = append(ev.Nodes, n)
		parent = hash
	}
	ev.Nodes[0], ev.Nodes[2] = ev.Nodes[2], ev.Nodes[0]
	proof := MustPut(t, s, ev).Proofs[turn.Sum(second)]
	for range 2 { // loading twice gives the same
		got, err := s.Nodes(ctx, "s")
		require.NoError(t, err)
		require.Len(t, got, 3)
		for i, n := range got {
			require.Equal(t, i, n.Index)
		}
		require.Equal(t, got[1].Hash, got[2].Parent)
		require.Empty(t, got[0].Decisions)
		require.Len(t, got[1].Decisions, 2)
		want := Decision("/content", second).WithShownID(proof.Shown)
		want.Bases, want.Artifact = []turn.Base{{Message: 0, Block: "/content"}}, proof.Artifact
		require.Equal(t, want, got[1].Decisions[0])
		require.Equal(t, "see "+proof.Shown+" for <all> \u2028.", got[1].Decisions[0].Text)
	}
}

func accept(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	ev := Evidence("s", 1, "one", "two")
	node := turn.Node{Hash: turn.Sum("h"), Decisions: []turn.Decision{Decision("/a", "one"), Decision("/b", "two")}}
	other := turn.Node{Hash: turn.Sum("i"), Index: 1, Decisions: []turn.Decision{Decision("/a", "one")}}
	ev.Nodes = []turn.Node{node, other}
	p := MustPut(t, s, ev)
	node.Decisions = node.Decisions[1:]
	require.NoError(t, s.Accept(ctx, "s", []turn.Node{node}))
	got, err := s.Nodes(ctx, "s")
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Len(t, got[0].Decisions, 1)
	require.Equal(t, p.Proofs[turn.Sum("two")].Shown, got[0].Decisions[0].ShownID())
	node.Decisions = append(node.Decisions, Decision("/c", "not stored"))
	require.ErrorIs(t, s.Accept(ctx, "s", []turn.Node{{Hash: turn.Sum("new")}, node}), vault.ErrUnknown)
	require.ErrorIs(t, s.Accept(ctx, "", []turn.Node{node}), vault.ErrBinding)
	again, err := s.Nodes(ctx, "s")
	require.NoError(t, err)
	require.Equal(t, got, again)
	require.NoError(t, s.Accept(ctx, "s", []turn.Node{{Hash: turn.Sum("h")}}))
	got, err = s.Nodes(ctx, "s")
	require.NoError(t, err)
	require.Empty(t, got[0].Decisions)
}

func dropNodes(t *testing.T, open func(vault.Options) Store) {
	clock, ctx := faults.NewClock(), context.Background()
	s := open(vault.Options{Now: clock.Now})
	for _, session := range []string{"old", "used", "new"} {
		ev := Evidence(session, 1, "text")
		ev.Nodes = []turn.Node{{Hash: turn.Sum("h"), Decisions: []turn.Decision{Decision("/content", "text")}}}
		if session == "new" {
			clock.Move(20 * 24 * time.Hour)
		}
		MustPut(t, s, ev)
	}
	_, err := s.Nodes(ctx, "used") // loading is use
	require.NoError(t, err)
	clock.Move(20 * 24 * time.Hour)
	n, err := s.DropNodes(ctx, vault.UnusedNodes)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	for session, want := range map[string]int{"old": 0, "used": 1, "new": 1} {
		got, err := s.Nodes(ctx, session)
		require.NoError(t, err)
		require.Len(t, got, want, session)
	}
	_, err = s.Get(ctx, "old", string(turn.Sum("text").ID()))
	require.NoError(t, err, "evidence stays")
}
