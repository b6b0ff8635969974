package reports

import (
	"cmp"
	"fmt"
	"strconv"
)

func anchor(i int) string { return "s" + strconv.Itoa(i+1) }

// netBar draws a net saving: zero stands at a fifth of the width, the largest of the
// report at its end, a loss to the left.
func netBar(p *float64, largest float64) *bar {
	if p == nil {
		return nil
	}
	const zero = 20.0
	width := (100 - zero) * min(max(*p, -*p), largest) / largest
	if *p < 0 {
		width = min(max(width, 1), zero)
		return &bar{X: fixed(zero - width), Width: fixed(width), Minus: true}
	}
	return &bar{X: fixed(zero), Width: fixed(width)}
}

func (r Report) sessionTable() tableView {
	v := tableView{
		ID: "sessions", Caption: "Sessions",
		Head: []string{"session", "net of the bill", "hidden", "needed later", "read back", "failed", "turns", "tokens", "saved", "removed once", "bill", "tokenizer"},
		Note: "net: saved of the bill, recoveries charged. hidden: blocks shown in part. needed later: of those, blocks a later recorded call would have had to fetch. " +
			"read back, failed: originals fetched from the vault again, equal byte for byte or not. tokens, bill: as recorded. saved: of the tokens sent. removed once: tokens, each block counted once.",
	}
	largest := 1.0
	for _, s := range r.Sessions {
		if s.Cost.SavedPct != nil {
			largest = max(largest, *s.Cost.SavedPct)
		}
	}
	row := func(s Session, name cellView) []cellView {
		return []cellView{
			name, {Text: share(s.Cost.SavedPct), Value: bareShare(s.Cost.SavedPct), Bar: netBar(s.Cost.SavedPct, largest)}, number(s.HiddenBlocks()),
			number(s.NeededLater.Count), number(s.RecoveriesChecked), number(s.RecoveriesFailed), number(s.Turns), number(s.Tokens.Raw),
			text(share(ratio(s.Tokens.Saved, s.Tokens.Raw))), number(s.UniqueTokensRemoved), {Text: money(s.Cost.Raw, s.Cost.Unit), Value: bare(s.Cost.Raw)}, text(cmp.Or(s.Tokenizer, "-")),
		}
	}
	for i, s := range r.Sessions {
		v.Rows = append(v.Rows, row(s, cellView{Text: sessionName(s), Link: "#" + anchor(i)}))
	}
	if len(r.Sessions) != 1 {
		for _, t := range r.totals() {
			v.Foot = append(v.Foot, row(t, text("total "+cmp.Or(t.Tokens.Measure, "(nothing)"))))
		}
	}
	return v
}

func sessionName(s Session) string { return clean(cmp.Or(s.ID, "(no name)")) }

func (r Report) spreadTable() *tableView {
	if len(r.Sessions) < 2 {
		return nil
	}
	v := tableView{
		ID: "spread", Caption: "Spread of the net saving over sessions",
		Head: []string{"sessions of", "n", "lower quartile", "median", "upper quartile", "by volume", "without the largest", "worst", "dearer", "hidden", "needed later"},
		Note: "A figure by volume alone may be one large session's; the quartiles count every session once.",
	}
	for _, set := range []struct {
		name string
		min  int
	}{{"any length", 0}, {fmt.Sprintf("%d messages and more", LongSession), LongSession}} {
		x, ok := SpreadOf(r.Sessions, set.min)
		if !ok {
			continue
		}
		hidden, needed := 0, 0
		for _, s := range r.Sessions {
			if s.Messages >= set.min && s.Cost.SavedPct != nil {
				hidden, needed = hidden+s.HiddenBlocks(), needed+s.NeededLater.Count
			}
		}
		v.Rows = append(v.Rows, texts(set.name, count(x.Sessions), pct(x.Q1), pct(x.Median), pct(x.Q3), pct(x.Volume), share(x.WithoutLargest),
			pct(x.Worst), count(x.Dearer), count(hidden), count(needed)))
	}
	if len(v.Rows) == 0 {
		return nil
	}
	return &v
}

func groupTable(id, caption, first string, by map[string]Group, lost map[string]tally) tableView {
	v := tableView{
		ID: id, Caption: caption, Head: []string{first, "removed", "of them", "hidden", "needed later", "blocks", "before", "after"},
		Note: "Tokens, each block counted once, in the form it has at the end. of them: the removed share of the tokens before. hidden: of the blocks, those of which a part is out of sight. needed later: hidden blocks that a later call needed, under the form they had then.",
	}
	most := 1
	for _, g := range by {
		most = max(most, g.Saved)
	}
	row := func(name string, g Group, l tally, bar *bar) []cellView {
		removed := number(g.Saved)
		removed.Bar = bar
		return []cellView{
			text(cmp.Or(name, "(none)")), removed, text(share(ratio(g.Saved, g.TokensBefore))), number(g.Hidden), number(l.needed),
			number(g.Blocks), number(g.TokensBefore), number(g.TokensAfter),
		}
	}
	var sum Group
	var all tally
	names := keysBy(by, func(g Group) int { return g.Saved })
	for _, name := range names {
		g, l := by[name], lost[name]
		sum, all = sum.Plus(g), tally{all.needed + l.needed}
		v.Rows = append(v.Rows, row(name, g, l, barOf(ratio(g.Saved, most))))
	}
	if len(names) > 1 {
		v.Foot = [][]cellView{row("together", sum, all, nil)}
	}
	return v
}

// dearerViews names every session that cost more than recorded, and says how many
// have a bill at all.
func (r Report) dearerViews() (out []dearerView, tried int) {
	for i, s := range r.Sessions {
		p := s.Cost.SavedPct
		if p == nil {
			continue
		}
		tried++
		if *p < 0 {
			out = append(out, dearerView{
				Anchor: anchor(i), Name: sessionName(s),
				Text: fmt.Sprintf("%s net, %s %s more; %s", pct(*p), money(s.Cost.Net()-s.Cost.Raw, s.Cost.Unit), clean(cmp.Or(s.Cost.Unit, "ite")), beside(s)),
			})
		}
	}
	return out, tried
}

func (r Report) epochTable() *tableView {
	v := tableView{
		ID: "epochs", Caption: "Epochs: turns at which old messages changed", Head: []string{"session", "turn", "kind", "reason"},
		Note: "cold: the provider's cache was gone anyway. warm: the saving since the last epoch had reached the price. window: the request would not have fitted.",
	}
	for i, s := range r.Sessions {
		for _, e := range s.Epochs {
			v.Rows = append(v.Rows, []cellView{{Text: sessionName(s), Link: "#" + anchor(i)}, number(e.Turn), text(e.Kind), text(e.Reason)})
		}
	}
	if len(v.Rows) == 0 {
		return nil
	}
	return &v
}
