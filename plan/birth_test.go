package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func compressed(after int) Proposal {
	return Proposal{Form: turn.Compressed, Reason: turn.CompressedLog, TokensAfter: after, Hides: true}
}

func layout(after int) Proposal {
	return Proposal{Form: turn.Layout, Reason: turn.LayoutLossless, TokensAfter: after}
}

func delta(after int) Proposal {
	return Proposal{Form: turn.Delta, Reason: turn.DeltaRuns, TokensAfter: after}
}

func TestBirthDecisions(t *testing.T) {
	t.Parallel()
	block := func(before, request, calls int) BlockFacts {
		return BlockFacts{TokensBefore: before, RequestTokens: request, CallsSoFar: calls, CanRecover: true}
	}
	with := func(f BlockFacts, change func(*BlockFacts)) BlockFacts {
		change(&f)
		return f
	}
	cases := map[string]struct {
		facts     BlockFacts
		proposals []Proposal
		want      int
		reason    turn.Reason
	}{
		"nothing proposed":                          {block(5000, 20_000, 5), nil, -1, turn.NoFormSmaller},
		"nothing smaller":                           {block(5000, 20_000, 5), []Proposal{layout(5000), delta(6000)}, -1, turn.NoFormSmaller},
		"a block under 200 tokens":                  {block(199, 20_000, 5), []Proposal{layout(50)}, -1, turn.BelowFloor},
		"a block of 200 tokens may take a layout":   {block(200, 20_000, 5), []Proposal{layout(199)}, 0, turn.LayoutLossless},
		"the smallest visible form":                 {block(5000, 20_000, 5), []Proposal{layout(4000), delta(900)}, 1, turn.DeltaRuns},
		"on a tie the text that stands alone":       {block(5000, 20_000, 5), []Proposal{delta(4000), layout(4000)}, 1, turn.LayoutLossless},
		"hiding wins by far":                        {block(5000, 20_000, 5), []Proposal{layout(4500), compressed(800)}, 1, turn.CompressedLog},
		"hiding that wins little is not taken":      {block(5000, 20_000, 5), []Proposal{layout(1200), compressed(800)}, 0, turn.LayoutLossless},
		"hiding under 400 tokens":                   {block(399, 20_000, 5), []Proposal{compressed(50)}, -1, turn.BelowFloor},
		"hiding less than 64 tokens":                {block(450, 3000, 20), []Proposal{compressed(387)}, -1, turn.LeastGain},
		"hiding less than a tenth":                  {block(5000, 20_000, 5), []Proposal{compressed(4501)}, -1, turn.LeastGain},
		"hiding 70 tokens behind a 50k prefix":      {block(600, 50_000, 5), []Proposal{compressed(530)}, -1, turn.RecoveryCost},
		"the same late in a very long session":      {block(600, 50_000, 5000), []Proposal{compressed(530)}, -1, turn.RecoveryCost},
		"the same behind a 3k prefix":               {block(600, 3000, 5), []Proposal{compressed(530)}, 0, turn.CompressedLog},
		"hiding 4,000 tokens behind a 50k prefix":   {block(5000, 50_000, 5), []Proposal{compressed(1000)}, 0, turn.CompressedLog},
		"no recovery tool":                          {with(block(5000, 20_000, 5), func(f *BlockFacts) { f.CanRecover = false }), []Proposal{compressed(10)}, -1, turn.RecoveryToolGone},
		"no recovery tool, but a layout":            {with(block(5000, 20_000, 5), func(f *BlockFacts) { f.CanRecover = false }), []Proposal{compressed(10), layout(4999)}, 1, turn.LayoutLossless},
		"a read is never hidden":                    {with(block(5000, 20_000, 5), func(f *BlockFacts) { f.Read = true }), []Proposal{compressed(10)}, -1, turn.ReadExempt},
		"a read may take a delta":                   {with(block(5000, 20_000, 5), func(f *BlockFacts) { f.Read = true }), []Proposal{compressed(10), delta(300)}, 1, turn.DeltaRuns},
		"a declaration of its own must be paid":     {with(block(500, 3000, 5), func(f *BlockFacts) { f.DeclarationTokens = 100 }), []Proposal{compressed(400)}, -1, turn.RecoveryCost},
		"falling under the smallest prefix":         {block(1500, 2100, 20), []Proposal{layout(350)}, -1, turn.MinPrefix},
		"falling far under it pays":                 {block(2000, 2100, 5), []Proposal{delta(40)}, 0, turn.DeltaRuns},
		"a hiding form says what it is by its kind": {with(block(5000, 20_000, 5), func(f *BlockFacts) { f.CanRecover = false }), []Proposal{{Form: turn.Receipt, TokensAfter: 5}}, -1, turn.RecoveryToolGone},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, reason := Settings{}.Birth(Study(), c.facts, c.proposals)
			require.Equal(t, c.want, got)
			require.Equal(t, c.reason, reason)
		})
	}
}

// Whatever is proposed: a choice is strictly smaller, a hiding one keeps every rule,
// a refusal has a known reason, and the order of the proposals does not matter.
func TestBirthLawsHoldForRandomBlocks(t *testing.T) {
	t.Parallel()
	s := Settings{}.WithDefaults()
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 5))
		f := BlockFacts{
			TokensBefore: rng.IntN(9000), CallsSoFar: rng.IntN(200), CanRecover: rng.IntN(4) > 0, Read: rng.IntN(4) == 0,
		}
		f.RequestTokens = f.TokensBefore + rng.IntN(100_000)
		var ps []Proposal
		for i := range rng.IntN(5) {
			form := []turn.Form{turn.Layout, turn.Reference, turn.Delta, turn.Compressed}[rng.IntN(4)]
			ps = append(ps, Proposal{Form: form, Reason: turn.Reasons()[i], TokensAfter: rng.IntN(10_000)})
		}
		got, reason := s.Birth(Study(), f, ps)
		require.True(t, reason.Known(), "seed %d: %s", seed, reason)
		reversed := make([]Proposal, len(ps))
		for i, p := range ps {
			reversed[len(ps)-1-i] = p
		}
		again, _ := s.Birth(Study(), f, reversed)
		require.Equal(t, got == NoProposal, again == NoProposal, "seed %d", seed)
		if got == NoProposal {
			continue
		}
		p := ps[got]
		require.Equal(t, p.TokensAfter, reversed[again].TokensAfter, "seed %d", seed)
		require.Less(t, p.TokensAfter, f.TokensBefore, "seed %d", seed)
		require.GreaterOrEqual(t, f.TokensBefore, 200, "seed %d", seed)
		if p.Form.Hides() {
			require.True(t, f.CanRecover && !f.Read && f.TokensBefore >= 400, "seed %d", seed)
			require.GreaterOrEqual(t, f.TokensBefore-p.TokensAfter, max(64, f.TokensBefore/10), "seed %d", seed)
		}
	}
}

func TestHorizonAndSizeGate(t *testing.T) {
	t.Parallel()
	require.Equal(t, 5, Settings{}.Horizon(0))
	require.Equal(t, 12, Settings{}.Horizon(12))
	require.Equal(t, 20, Settings{}.Horizon(400))
	require.Equal(t, 30, Settings{HorizonMin: 30}.Horizon(0), "the lower bound wins")
	require.True(t, Settings{}.TooSmall(1999))
	require.False(t, Settings{}.TooSmall(2000))
	require.False(t, Settings{SizeGate: -1}.TooSmall(0), "a negative setting is none")
	require.True(t, Settings{}.ShrinkPays(Study(), 900, 500, 5), "it was under the bound before")
	require.True(t, Settings{}.ShrinkPays(Study(), 9000, 5000, 5))
	require.False(t, Settings{}.ShrinkPays(Study(), 1100, 1000, 5), "worked: 6·1000 > 1100·1.75")
	require.True(t, Settings{}.ShrinkPays(Study(), 1100, 100, 5), "worked: 6·100 < 1100·1.75")
	require.False(t, Settings{}.ShrinkPays(Study(), 100, 101, 5))
}
