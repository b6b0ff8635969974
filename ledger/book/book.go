// Package book turns what the actors say of an answered turn into a row of the ledger.
//
// What lives here: the mapping and the estimate of a turn's saving, both pure. What may
// not: I/O, clocks, text of a request.
package book

import (
	"token-terminator/actors"
	"token-terminator/ledger"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/turn"
)

// Context is what the caller knows of a turn beside its outcome.
type Context struct {
	Mode, Model, Provider string
	Row                   plan.Row // prices; the zero Row: no estimate
	Cold                  bool     // the provider's cache held nothing of this session
	Declared              int      // tokens of our tool's declaration, when we added it
	Epoch, EpochReason    string
	Sent                  int    // bytes of the request that was sent, where the outcome does not hold it
	Prompt                string // ledger.Fingerprint of the session's first words
}

// Detail may be an actors.Outcome's Detail: what was decided, and its Context.
type Detail struct {
	Outcome compile.Outcome
	Context Context
}

// Entry gives the ledger's row of an answered turn. Its Detail may be a Detail or a
// compile.Outcome; any other leaves tokens and forms unknown. c is used where the
// Detail has no Context of its own.
func Entry(rec actors.RecordTurn, c Context) ledger.Turn {
	out, known := rec.Detail.(compile.Outcome)
	if d, ok := rec.Detail.(Detail); ok {
		out, c, known = d.Outcome, d.Context, true
	}
	t := ledger.Turn{
		Binding: rec.Binding, Mode: c.Mode, Model: c.Model, Provider: c.Provider, Edited: rec.Edited, Reason: rec.Reason,
		Elapsed: rec.Elapsed, Bytes: rec.Bytes, Epoch: c.Epoch, EpochReason: c.EpochReason, Prompt: c.Prompt,
	}
	if !known {
		return t
	}
	if e := out.Epoch; e != nil && t.Epoch == "" {
		t.Epoch, t.EpochReason = string(e.Kind), string(e.Reason)
	}
	if !rec.Edited {
		t.SentBytes = rec.Bytes
	} else if out.Body != nil {
		t.SentBytes = len(out.Body)
	} else {
		t.SentBytes = c.Sent
	}
	measure(&t, rec.Edited, out.Tokens)
	t.Reasons = map[turn.Reason]int{}
	for _, k := range out.Kept {
		t.Reasons[k.Reason]++
	}
	if rec.Edited {
		t.Forms = forms(out.Blocks, t.Reasons)
	}
	if t.Measure != "" && c.Row.Input > 0 {
		saved := 0.0
		if rec.Edited {
			saved = Saving(c.Row, out.Blocks, c.Cold)
			if out.Epoch != nil && !c.Cold { // what stood before it is written again
				saved -= out.Epoch.Price / c.Row.Input
			}
		}
		saved -= declaration(c)
		t.ITE, t.Row, t.Assumed = &saved, c.Row.Name, c.Row.Assumed
	}
	return t
}

func measure(t *ledger.Turn, edited bool, m compile.Tokens) {
	if m.Label == "" || m.Raw.Unmeasured != "" || m.Raw.Tokens == 0 {
		return
	}
	t.Measure, t.Label, t.Raw, t.Final = ledger.Panel, m.Label, m.Raw.Tokens, m.Raw.Tokens
	if m.Exact {
		t.Measure = ledger.Exact
	}
	if edited {
		t.Final = m.Final.Tokens
	}
}

// forms counts the shown blocks, and adds the reasons of those decided in this turn.
func forms(blocks []compile.Block, reasons map[turn.Reason]int) []ledger.FormCount {
	var out []ledger.FormCount
	at := map[turn.Form]map[bool]int{}
	for _, b := range blocks {
		d := b.Decision
		if b.New {
			reasons[d.Reason]++
		}
		if at[d.Form] == nil {
			at[d.Form] = map[bool]int{}
		}
		i, seen := at[d.Form][b.New]
		if !seen {
			i = len(out)
			at[d.Form][b.New] = i
			out = append(out, ledger.FormCount{Form: d.Form, Fresh: b.New})
		}
		out[i].N++
		out[i].Before += d.TokensBefore
		out[i].After += d.TokensAfter
	}
	return out
}

// Saving estimates what one call costs less, in input-token equivalents: a text that is
// first sent would have been written to the cache, one that was sent before read from
// it: that is a receipt too, which only ever takes the place of an old result. In a cold
// call everything would have been written.
func Saving(row plan.Row, blocks []compile.Block, cold bool) float64 {
	row = row.InITE()
	sum := 0.0
	for _, b := range blocks {
		price := row.Read
		if b.New && b.Decision.Form != turn.Receipt || cold {
			price = row.Write
		}
		sum += price * float64(b.Decision.TokensBefore-b.Decision.TokensAfter)
	}
	return sum
}

// declaration is what declaring our tool costs one call: it stands before the messages,
// so it is read from the cache in a warm call.
func declaration(c Context) float64 {
	row := c.Row.InITE()
	price := row.Read
	if c.Cold {
		price = row.Write
	}
	return price * float64(c.Declared)
}
