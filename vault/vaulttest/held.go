package vaulttest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
	"token-terminator/vault"
)

// InHand is a turn.Source over texts.
type InHand []string

// Held implements turn.Source.
func (h InHand) Held(d turn.Digest) (turn.Artifact, bool) {
	for _, text := range h {
		if turn.Sum(text) == d {
			return turn.Artifact{Digest: d, Text: text, Tool: "shell", CallID: "again"}, true
		}
	}
	return turn.Artifact{}, false
}

// Holding is a turn that stores nothing and shows the ids of these texts again, of which
// those in hand can be stored again.
func Holding(session string, number uint64, inHand InHand, texts ...string) turn.Evidence {
	ev := Evidence(session, number, fmt.Sprint("new in turn ", number))
	for _, text := range texts {
		ev.Held = append(ev.Held, turn.Sum(text))
	}
	ev.Source = inHand
	return ev
}

// holds: what stands is not touched, what the session never pinned is stored from the
// request in hand, what is not in hand is missing.
func holds(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{MaxArtifactRunes: 100}), context.Background()
	first := MustPut(t, s, Evidence("s", 1, "one", "two"))
	MustPut(t, s, Evidence("other", 1, "of another"))
	for number := range uint64(3) { // again and again the same
		p := MustPut(t, s, Holding("s", 2+number, InHand{"one", "two"}, "one", "two", "one"))
		require.Empty(t, p.Missing)
		require.Len(t, p.Proofs, 1, "of the new artifact; what stands needs none")
	}
	long := fmt.Sprintf("%0200d", 7)
	ev := Holding("s", 9, InHand{"of another", "never seen", long}, "one", "of another", "never seen", "not in hand", long)
	p := MustPut(t, s, ev)
	require.ElementsMatch(t, []turn.Digest{turn.Sum("not in hand"), turn.Sum(long)}, p.Missing)
	require.Len(t, p.Proofs, 3)
	for _, text := range []string{"of another", "never seen"} {
		a, err := s.Get(ctx, "s", p.Proofs[turn.Sum(text)].Shown)
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
		require.True(t, a.Pinned)
	}
	ev.Source = nil // all of it is missing or stands
	ev.Binding.Turn = 10
	p = MustPut(t, s, ev)
	require.Len(t, p.Missing, 2)
	p = MustPut(t, s, Holding("s", 11, nil, "one", "two"))
	require.Empty(t, p.Missing)
	proofs, err := s.Proofs(ctx, "s", []turn.Digest{turn.Sum("one"), turn.Sum("two")})
	require.NoError(t, err)
	require.Equal(t, first.Proofs, proofs)
}
