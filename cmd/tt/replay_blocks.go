package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"token-terminator/reduce/compile"
	"token-terminator/reports"
	"token-terminator/request"
	"token-terminator/turn"
)

// facts is what the recording and the bills so far say of a turn.
func (run *sessionRun) facts(i int, m moment) compile.Facts {
	first := run.arms[0]
	raw, our := first.raw.Total().Cost, first.our.Total().Cost
	unit := run.row.Input // the bill's unit is the compiler's times this
	m.facts.Accounted, m.facts.Spent = true, raw/unit
	m.facts.Saved = (raw - our - first.debits.Expected(max(i, 1))) / unit
	return m.facts
}

// blocks books the forms that are new in this turn, and what the model sees.
func (run *sessionRun) blocks(i int, before, after *request.Doc, detail compile.Outcome, sent int) {
	if e := detail.Epoch; e != nil {
		run.epoch(i, before, after, detail)
	}
	run.sees(after)
	for _, b := range detail.Blocks {
		if !b.New {
			continue
		}
		d := b.Decision
		run.inForce[turn.Base{Message: b.Message, Block: d.Block}] = d
		run.figures.AddBlock(d.Form, d.Tool, d.TokensBefore, d.TokensAfter)
		run.figures.AddReason(d.Reason)
		if !run.artifacts[d.Before] {
			run.artifacts[d.Before] = true
			run.figures.Artifacts++
		}
		run.evidence = append(run.evidence, proofOf{d.Artifact, d.Before})
		if !d.Form.Hides() {
			continue
		}
		key := blockKey(b.Message, d.Block)
		run.needed.Hide(key, textAt(before, b.Message, d.Block))
		run.hidden[key] = hiddenBlock{d.Form, d.Tool}
		for _, a := range run.arms {
			a.debits.Hide(key, i, sent+run.added, d.TokensBefore)
		}
	}
	for _, k := range detail.Kept {
		run.figures.AddReason(k.Reason)
	}
}

func blockKey(message int, block string) string { return strconv.Itoa(message) + block }

// epoch takes back what was booked of the blocks that are shown anew.
func (run *sessionRun) epoch(i int, before, after *request.Doc, detail compile.Outcome) {
	e := detail.Epoch
	run.figures.Epochs = append(run.figures.Epochs, reports.Epoch{Turn: i + 1, Kind: string(e.Kind), Reason: string(e.Reason)})
	now := make(map[turn.Base]turn.Decision, len(detail.Blocks))
	for _, b := range detail.Blocks {
		now[turn.Base{Message: b.Message, Block: b.Decision.Block}] = b.Decision
	}
	changed := map[turn.Base]bool{}
	for _, b := range detail.Blocks {
		if b.New && b.Message < run.sent.shown {
			changed[turn.Base{Message: b.Message, Block: b.Decision.Block}] = true
		}
	}
	for at := range run.inForce {
		if _, still := now[at]; !still { // shown as it was recorded again
			changed[at] = true
		}
	}
	list := slices.SortedFunc(maps.Keys(changed), func(a, b turn.Base) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Block, b.Block))
	})
	for _, at := range list {
		if old, had := run.inForce[at]; had {
			run.figures.DropBlock(old.Form, old.Tool, old.TokensBefore, old.TokensAfter)
			delete(run.inForce, at)
		}
		run.needed.Show(textAt(after, at.Message, at.Block))
		if run.before != nil {
			run.needed.Unshow(textAt(run.before, at.Message, at.Block))
		}
	}
}

// textAt is one string of a message, decoded.
func textAt(doc *request.Doc, message int, block string) string {
	if message >= len(doc.Messages) {
		return ""
	}
	for _, text := range doc.Messages[message].Texts {
		if text.Block == block {
			value, err := doc.Value(text)
			if err == nil {
				return value
			}
		}
	}
	return ""
}

// sees notes the texts of the messages that are new in this request.
func (run *sessionRun) sees(doc *request.Doc) {
	for j := run.sent.shown; j < len(doc.Messages); j++ {
		m := doc.Messages[j]
		for _, text := range m.Texts {
			if value, err := doc.Value(text); err == nil {
				run.needed.Show(value)
				if _, ok := doc.ResultOf(j, text.Block); ok {
					run.touchable += run.meter.JSONString(value).Tokens
				}
			}
		}
		for _, call := range m.Calls {
			if value, err := doc.Value(call.Args); err == nil {
				run.needed.ShowJSON(value)
			}
		}
	}
	run.sent.shown = len(doc.Messages)
}
