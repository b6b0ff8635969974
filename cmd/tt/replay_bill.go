package main

import (
	"fmt"

	"token-terminator/internal/amount"
	"token-terminator/plan"
	"token-terminator/reports"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// partList is the messages of one arm as they are priced. It only grows while the
// prefix stays; a changed message cuts it back.
type partList struct {
	parts []plan.Part
	sum   int
	shown int // messages whose text was noted
	total int // tokens of the request extended last
}

// extend brings the list to the messages of doc and gives the whole request's tokens.
func (l *partList) extend(m *tokens.Meter, doc *request.Doc) int {
	segments, err := doc.Segments()
	if err != nil {
		return 0
	}
	same := 0
	for same < len(l.parts) && same < len(doc.Messages) && l.parts[same].Digest == rawDigest(doc, same) {
		same++
	}
	for _, p := range l.parts[same:] {
		l.sum -= p.Tokens
	}
	l.parts = l.parts[:same]
	for i := same; i < len(doc.Messages); i++ {
		p := plan.Part{Digest: rawDigest(doc, i), System: doc.Messages[i].Role == "system" || doc.Messages[i].Role == "developer"}
		if i < len(segments.Messages) && len(segments.Messages[i]) > 0 {
			p.Tokens = m.Whole(nil, segments.Messages[i:i+1], nil).Tokens
		}
		l.parts, l.sum = append(l.parts, p), l.sum+p.Tokens
	}
	l.total = m.Whole(segments.Head, segments.Messages, segments.Tail).Tokens
	return l.total
}

func rawDigest(doc *request.Doc, i int) turn.Digest {
	return turn.SumBytes(doc.Raw[doc.Messages[i].Span.Start:doc.Messages[i].Span.End])
}

// bills prices one call in every arm. Tools and other fields stand before the
// messages; the recorded arm has no declaration of ours.
func (run *sessionRun) bills(output int, cold bool, raw int) {
	for k, a := range run.arms {
		recorded := a.raw.Add(plan.Call{
			Fixed: run.added + run.fixedRaw, FixedDigest: fixedName("raw"),
			Messages: run.raw.parts, Output: output, Cold: cold,
		})
		ours := a.our.Add(plan.Call{
			Fixed: run.added + run.fixedIn, FixedDigest: fixedName("ours"),
			Messages: run.sent.parts, Output: output, Cold: cold,
		})
		if k == 0 {
			run.underLine.add(run.row, recorded, ours)
			run.figures.AddArmTurn(reports.ArmRaw, raw, recorded.Cost)
			run.figures.AddArmTurn(reports.ArmOurs, run.sent.total, ours.Cost)
		}
	}
	run.figures.Denominators.Request += raw
}

// output is the tokens of the recorded answer.
func (run *sessionRun) output(i int) int {
	return run.outputTokens(run.turns[i].Answers)
}

// fixedName names the fixed part of an arm: it never changes within a session.
func fixedName(arm string) turn.Digest { return turn.Sum(arm) }

// finish computes the session's money and what it is compared with.
func (run *sessionRun) finish() error {
	f, first := &run.figures, run.arms[0]
	calls := first.raw.Calls()
	f.Cost.Unit, f.Cost.PriceRow, f.Cost.Assumed = run.r.flags.unit, priceRow(first.row), first.row.Assumed
	f.Cost.Raw, f.Cost.Final = first.raw.Total().Cost, first.our.Total().Cost
	f.Cost.RecoveryDebit = first.debits.Expected(calls)
	f.NeededLater.Count, f.NeededLater.Debit = first.debits.NeededLater(calls)
	f.Denominators.Touchable = run.touchable + f.UniqueTokensRemoved
	f.Denominators.NewInput = run.raw.sum
	f.Denominators.Bill = f.Cost.Raw
	if factor, ok := run.session.Calibration(run.turns, run.counted); ok {
		run.notes = append(run.notes, fmt.Sprintf("%s: calibrated ×%.2f against the recorded usage", run.session.ID, factor))
	}
	return run.compared()
}

// sensitivity says what the same forms save at other read prices, for the sessions
// that the study's row prices.
func (r *replay) sensitivity(runs []*sessionRun) []string {
	var notes []string
	for k, read := range sensitivityReads() {
		var raw, net float64
		sessions := 0
		for _, run := range runs {
			if k+1 >= len(run.arms) {
				continue
			}
			a := run.arms[k+1]
			sessions++
			raw += a.raw.Total().Cost
			net += a.our.Total().Cost + a.debits.Expected(a.our.Calls())
		}
		if raw == 0 {
			continue
		}
		whose := ""
		if sessions < len(runs) {
			whose = fmt.Sprintf(" of %s under study", amount.Of(sessions, "session"))
		}
		notes = append(notes, fmt.Sprintf("with a cached token at %g instead of %g the same forms save %.1f %% of the bill%s",
			read, plan.Study().Read, 100*(1-net/raw), whose))
	}
	return notes
}
