package main

import (
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/reports"
	"token-terminator/request"
	"token-terminator/turn"
)

// birthArm is the same session without epochs, compiled beside ours without a vault:
// every proof is taken as given. It is also the course on which the arms that need no
// pipeline are priced.
type birthArm struct {
	compiler *compile.Compiler
	memory   *plan.Memory
	parts    partList
	bill     *plan.Bill
	debits   *plan.Debits
	course   plan.Course
}

func newBirthArm(run *sessionRun) *birthArm {
	r, row := run.r, run.row
	bill, err := plan.NewBill(row, r.cache)
	if err != nil { // a row of ours and a parsed cache model
		panic("price row or cache model does not validate")
	}
	return &birthArm{
		compiler: r.births.of(run.session.ID), bill: bill, debits: plan.NewDebits(r.settings.Plan, row),
		course: plan.Course{Row: row, Cache: r.cache, Settings: r.settings.Plan},
	}
}

// turn compiles one request without epochs.
func (b *birthArm) turn(run *sessionRun, in []byte, before *request.Doc, i, output int, m moment) error {
	draft, reason := b.compiler.Begin(compile.Snapshot{Binding: turn.Binding{Session: run.session.ID}, Memory: b.memory, Facts: m.facts}, in)
	after := before
	call := plan.CourseCall{Messages: len(before.Messages), Output: output, Cold: m.cold}
	var blocks []compile.Block
	if reason == "" {
		out := draft.Finish(given(draft.Evidence()))
		b.memory = b.memory.With(out.Nodes)
		if out.Body != nil {
			var err error
			if after, err = request.Parse(out.Body); err != nil {
				return err
			}
		}
		blocks, call.Away = out.Blocks, draft.Puttings()
	}
	input := b.parts.extend(run.meter, after) + run.added
	for _, block := range blocks {
		if d := block.Decision; block.New && d.Form.Hides() {
			b.debits.Hide(blockKey(block.Message, d.Block), i, input, d.TokensBefore)
		}
	}
	fixed := run.added + run.fixedIn
	charge := b.bill.Add(plan.Call{Fixed: fixed, FixedDigest: fixedName("ours"), Messages: b.parts.parts, Output: output, Cold: m.cold})
	run.figures.AddArmTurn(reports.ArmBirth, input-run.added, charge.Cost)
	b.course.Fixed = fixed
	b.extend(run, blocks)
	b.course.Calls = append(b.course.Calls, call)
	return nil
}

// extend adds the messages of this turn to the course.
func (b *birthArm) extend(run *sessionRun, blocks []compile.Block) {
	for j := len(b.course.Messages); j < len(b.parts.parts); j++ {
		m := plan.CourseMessage{Birth: b.parts.parts[j].Tokens, Raw: run.raw.parts[j].Tokens, System: b.parts.parts[j].System}
		for _, block := range blocks {
			if block.Message == j && block.Decision.Form.Hides() {
				m.Hides += block.Decision.TokensBefore
			}
		}
		b.course.Messages = append(b.course.Messages, m)
	}
}

// given proves all evidence.
func given(ev turn.Evidence) turn.Pinned {
	pinned := turn.Pinned{Proofs: make(map[turn.Digest]turn.Proof, len(ev.Artifacts))}
	for _, a := range ev.Artifacts {
		id := a.Digest.ID()
		pinned.Proofs[a.Digest] = turn.Proof{Artifact: id, Shown: string(id[:2+turn.MinShownHex])}
	}
	return pinned
}

// compared fills in what the other arms cost, net of their debits.
func (run *sessionRun) compared() error {
	b, c := run.birth, &run.figures.Cost
	birth := b.bill.Total().Cost + b.debits.Expected(b.bill.Calls())
	always, err := b.course.AlwaysRewrite()
	if err != nil {
		return err
	}
	masking, err := b.course.Masking()
	if err != nil {
		return err
	}
	charges, err := b.course.MaskingCalls()
	if err != nil {
		return err
	}
	for _, charge := range charges {
		run.figures.AddArmTurn(reports.ArmMasking, charge.Input()-run.added, charge.Cost)
	}
	optimum, err := b.course.Optimum()
	if err != nil {
		return err
	}
	c.Birth, c.AlwaysRewrite, c.Masking, c.Optimum = &birth, &always, &masking, &optimum
	return nil
}
