package vaulttest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/turn"
	"token-terminator/vault"
)

// withArgs is a turn whose arguments are an artifact of n bytes that nothing pins.
func withArgs(session string, number uint64, n int) turn.Evidence {
	ev := Evidence(session, number, fmt.Sprint("result of ", number))
	ev.Artifacts[0].Args = fmt.Sprintf("%08d", number) + strings.Repeat("x", n-8)
	return ev
}

func prunes(t *testing.T, open func(vault.Options) Store) {
	clock, ctx := faults.NewClock(), context.Background()
	s := open(vault.Options{CapacityBytes: 200_000, Now: clock.Now})
	var all []turn.Evidence
	for i := range uint64(40) {
		clock.Move(time.Second)
		ev := withArgs("s", i, 10_000)
		MustPut(t, s, ev)
		if i > 0 {
			MustPut(t, s, all[0]) // the first stays in use
		}
		all = append(all, ev)
		st, err := s.Status(ctx)
		require.NoError(t, err)
		require.LessOrEqual(t, st.Bytes, st.HighWater, "the mark holds after every turn")
	}
	alive := map[uint64]bool{}
	for i, ev := range all {
		a, err := s.Get(ctx, "s", string(ev.Artifacts[0].Digest.ID()))
		require.NoError(t, err, "pinned evidence is never pruned")
		require.Equal(t, ev.Artifacts[0].Text, a.Text)
		_, err = s.Get(ctx, "s", string(turn.Sum(ev.Artifacts[0].Args).ID()))
		if err == nil {
			alive[uint64(i)] = true
			continue
		}
		require.ErrorIs(t, err, vault.ErrLost, "a pruned id is known to have been here")
		require.Empty(t, a.ArgsArtifact)
	}
	require.True(t, alive[0], "what was seen last is pruned last (B32)")
	require.True(t, alive[39])
	require.False(t, alive[1])
	st, err := s.Status(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(40-len(alive)), st.Pruned)
	// What was pruned can be stored again.
	MustPut(t, s, all[1])
	_, err = s.Get(ctx, "s", string(turn.Sum(all[1].Artifacts[0].Args).ID()))
	require.NoError(t, err)
}

func refuses(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{CapacityBytes: 100_000}), context.Background()
	var texts []string
	full := false
	for i := range 20 {
		text := strings.Repeat(fmt.Sprint(i%10), 9_000)[:9_000-i]
		p, err := s.Put(ctx, Evidence("s", uint64(i), text))
		if err != nil {
			require.ErrorIs(t, err, vault.ErrFull)
			require.Equal(t, turn.VaultFull, p.Reason)
			require.Empty(t, p.Proofs)
			full = true
			continue
		}
		require.False(t, full)
		texts = append(texts, text)
	}
	require.True(t, full)
	require.GreaterOrEqual(t, len(texts), 9, "between the high mark and the capacity a turn is taken")
	for _, text := range texts {
		a, err := s.Get(ctx, "s", string(turn.Sum(text).ID()))
		require.NoError(t, err)
		require.Equal(t, text, a.Text)
	}
	MustPut(t, s, Evidence("s", 0, texts[0])) // known evidence still gets its proof
	st, err := s.Status(ctx)
	require.NoError(t, err)
	require.Zero(t, st.Pruned)
	require.LessOrEqual(t, st.Bytes, st.Capacity)
}

func views(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	var b strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&b, "line %d ü\n", i+1)
	}
	text := b.String()
	changed := strings.Replace(text, "line 7 ü\n", "LINE 7 ü\r\n", 1)
	MustPut(t, s, Evidence("s", 1, text, changed))
	id, other := string(turn.Sum(text).ID()), string(turn.Sum(changed).ID())
	var whole strings.Builder
	pages := 0
	for offset := 0; ; pages++ {
		p, err := s.Page(ctx, "s", id, offset, 1_000_000)
		require.NoError(t, err)
		require.LessOrEqual(t, utf8.RuneCountInString(p.Content), vault.MaxPage)
		require.Equal(t, turn.Sum(text), p.Digest)
		whole.WriteString(p.Content)
		if p.NextOffset == nil {
			break
		}
		offset = *p.NextOffset
	}
	require.Equal(t, text, whole.String())
	require.Equal(t, 3, pages+1)
	p, err := s.Page(ctx, "s", id, 0, 0)
	require.NoError(t, err)
	require.Equal(t, vault.DefaultPage, utf8.RuneCountInString(p.Content))
	_, err = s.Page(ctx, "s", id, -1, 0)
	require.ErrorIs(t, err, vault.ErrRange)
	l, err := s.Lines(ctx, "s", id, 7, 8)
	require.NoError(t, err)
	require.Equal(t, "line 7 ü\nline 8 ü\n", l.Content)
	f, err := s.Find(ctx, "s", id, "LINE 499", 3)
	require.NoError(t, err)
	require.Equal(t, 11, f.TotalMatches)
	require.Len(t, f.Matches, 3)
	require.True(t, f.Truncated)
	require.Equal(t, 499, f.Matches[0].Line)
	_, err = s.Find(ctx, "s", id, "", 3)
	require.ErrorIs(t, err, vault.ErrQuery)
	for _, limit := range []int{200, 500, 20_000} {
		k, err := s.Peek(ctx, "s", id, limit)
		require.NoError(t, err)
		data, err := json.Marshal(k)
		require.NoError(t, err)
		require.LessOrEqual(t, utf8.RuneCount(data), limit)
	}
	d, err := s.Diff(ctx, "s", id, other, 0)
	require.NoError(t, err)
	require.Equal(t, 1, d.Added)
	require.Contains(t, d.Text, "+LINE 7 ü\n")
}

func search(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	MustPut(t, s, Evidence("s", 1, "die Straße", "ΑΘΗΝΑΣ", "nothing"))
	for query, want := range map[string]int{"STRASSE": 1, "straße": 1, "αθηνας": 1, "shell": 3, "absent": 0, "IN": 1} {
		l, err := s.Search(ctx, "s", query, 0)
		require.NoError(t, err)
		require.Len(t, l.Artifacts, want, query)
	}
	for _, query := range []string{"", strings.Repeat("x", 1_001)} {
		_, err := s.Search(ctx, "s", query, 0)
		require.ErrorIs(t, err, vault.ErrQuery)
	}
}

func lists(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	for i := range 60 {
		MustPut(t, s, Evidence("s", uint64(i), fmt.Sprintf("common text %d", i)))
	}
	for _, read := range []func(int) (vault.Listing, error){
		func(n int) (vault.Listing, error) { return s.List(ctx, "s", n) },
		func(n int) (vault.Listing, error) { return s.Search(ctx, "s", "COMMON", n) },
	} {
		for limit, want := range map[int]int{0: 50, 7: 7, 60: 60, 9_999: 60} {
			l, err := read(limit)
			require.NoError(t, err)
			require.Len(t, l.Artifacts, want)
			require.Equal(t, want < 60, l.Truncated)
			require.Equal(t, turn.Sum("common text 59"), l.Artifacts[0].Digest)
		}
		_, err := read(-1)
		require.ErrorIs(t, err, vault.ErrRange)
	}
}

func closed(t *testing.T, open func(vault.Options) Store) {
	s, ctx := open(vault.Options{}), context.Background()
	MustPut(t, s, Evidence("s", 1, "text"))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	p, err := s.Put(ctx, Evidence("s", 2, "more"))
	require.ErrorIs(t, err, vault.ErrClosed)
	require.Equal(t, turn.Stopped, p.Reason)
	_, err = s.Get(ctx, "s", string(turn.Sum("text").ID()))
	require.ErrorIs(t, err, vault.ErrClosed)
	for name, call := range map[string]func() error{
		"nodes":  func() error { _, err := s.Nodes(ctx, "s"); return err },
		"accept": func() error { return s.Accept(ctx, "s", nil) },
		"list":   func() error { _, err := s.List(ctx, "s", 0); return err },
		"status": func() error { _, err := s.Status(ctx); return err },
		"verify": func() error { _, err := s.Verify(ctx); return err },
		"drop":   func() error { _, err := s.DropNodes(ctx, 0); return err },
	} {
		require.ErrorIs(t, call(), vault.ErrClosed, name)
	}
}

func cancelled(t *testing.T, open func(vault.Options) Store) {
	s := open(vault.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := s.Put(ctx, Evidence("s", 1, "text"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, turn.Stopped, p.Reason)
	_, err = s.Get(context.Background(), "", string(turn.Sum("text").ID()))
	require.ErrorIs(t, err, vault.ErrUnknown)
}
