package main

import (
	"bytes"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"token-terminator/actors"
	"token-terminator/datasets"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/reports"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// sessionRun is one session on its way through the pipeline, and its figures.
type sessionRun struct {
	r       *replay
	session datasets.Session
	turns   []datasets.Turn
	meter   *tokens.Meter
	dump    *dumper
	figures reports.Session
	notes   []string
	err     error

	row       plan.Row // the session's, in the bill's unit
	arms      []arm    // that row first, then rows shown beside it
	birth     *birthArm
	underLine underLine
	needed    *plan.Needed
	counted   []int // input tokens of each turn as recorded

	foreign           bool // a dialect that passes
	declared          bool // the recorded request has a tool of our name
	fixedRaw, fixedIn int  // tokens of everything but the messages, without and with the declaration
	added             int  // prefix tokens of the bill
	raw, sent         partList
	touchable         int
	last              []byte               // the request sent before
	artifacts         map[turn.Digest]bool // evidence of this session's forms
	evidence          []proofOf
	inForce           map[turn.Base]turn.Decision // how each changed block is shown now
	before            *request.Doc                // the request sent before
	hidden            map[string]hiddenBlock      // by the key of Needed and Debits
}

// hiddenBlock is the form and tool a hidden block is counted under.
type hiddenBlock struct {
	form turn.Form
	tool string
}

// arm prices the session under one row.
type arm struct {
	row      plan.Row
	raw, our *plan.Bill
	debits   *plan.Debits
}

// proofOf is an id a form shows or names, and the hash of what it must give back.
type proofOf struct {
	id   turn.ArtifactID
	want turn.Digest
}

// sensitivityReads are the read prices shown beside the study's 0.1.
func sensitivityReads() []float64 { return []float64{0.05, 0.025} }

// session replays one session. A defect of ours that it hits is this session's error
// and ends no other.
func (r *replay) session(ctx context.Context, s datasets.Session) (run *sessionRun) {
	run = &sessionRun{
		r: r, session: s, needed: plan.NewNeeded(), artifacts: map[turn.Digest]bool{},
		inForce: map[turn.Base]turn.Decision{}, hidden: map[string]hiddenBlock{},
	}
	defer func() {
		if value := recover(); value != nil {
			run.err = crashed(s.ID, value)
		}
	}()
	run.turns, run.meter = s.Turns(), r.compiler.Meter(s.Model)
	run.dump = newDumper(r.flags.dump, s)
	run.start()
	moments := run.moments()
	for i := range run.turns {
		if ctx.Err() != nil {
			break
		}
		if r.progress != nil { // explain has none
			r.progress.turn(s.ID, i+1, len(run.turns))
		}
		if run.err = run.turn(ctx, i, moments[i]); run.err != nil {
			run.err = fmt.Errorf("replay %s turn %d: %w", s.ID, i+1, run.err)
			return run
		}
	}
	run.err = run.finish()
	return run
}

func (run *sessionRun) start() {
	s := run.session
	run.figures = reports.Session{
		ID: s.ID, Source: s.Source, Model: s.Model, Tokenizer: run.meter.Label(),
		Messages: len(s.Messages), Turns: len(run.turns),
	}
	run.figures.Tokens.Measure = reports.Exact
	if !run.meter.Exact() {
		run.figures.Tokens.Measure = reports.Panel
	}
	run.row = run.r.pricing.row(s.Model)
	rows := []plan.Row{run.row}
	if run.row.Name == plan.StudyName {
		for _, read := range sensitivityReads() {
			rows = append(rows, plan.StudyWithRead(read))
		}
	}
	for _, row := range rows {
		raw, err := plan.NewBill(row, run.r.cache)
		our, err2 := plan.NewBill(row, run.r.cache)
		if err != nil || err2 != nil { // rows of ours and a parsed cache model
			panic("price row or cache model does not validate")
		}
		run.arms = append(run.arms, arm{row: row, raw: raw, our: our, debits: plan.NewDebits(run.r.settings.Plan, row)})
	}
	run.birth = newBirthArm(run)
	run.notes = append(run.notes, prefixed(s.ID, s.Notes)...)
}

func prefixed(id string, notes []string) []string {
	out := make([]string, 0, len(notes))
	for _, note := range notes {
		out = append(out, id+": "+note)
	}
	return out
}

// turn sends one request through the pipeline and books it in every arm.
func (run *sessionRun) turn(ctx context.Context, i int, m moment) error {
	t := run.turns[i]
	in := run.declare(i, t.Request())
	began := time.Now()
	answer, err := run.r.pipeline.turn(ctx, request.Scope{RequestPurpose: request.Word("conversation")}, actors.ReduceTurn{
		Binding: turn.Binding{Engine: "replay", Home: run.r.folder, Session: run.session.ID, Turn: uint64(i + 1)},
		Body:    in, Facts: run.facts(i, m),
	})
	took := float64(time.Since(began).Microseconds()) / 1000
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if answer.Reason == turn.StorageUnavailable || answer.Reason == turn.VaultFull {
		return storage(fmt.Errorf("the vault in %s took no evidence: %s", run.r.folder, answer.Reason))
	}
	detail, _ := answer.Detail.(compile.Outcome)
	if run.r.trace != nil {
		run.r.trace(i, in, detail)
	}
	if err := run.dump.turn(i, in, answer.Body, detail.Blocks); err != nil {
		return storage(err)
	}
	err = run.book(i, m, in, answer, detail, took)
	run.note(m.cold, in, answer, time.Since(began))
	return err
}

// book checks what was sent and prices it.
func (run *sessionRun) book(i int, m moment, in []byte, answer actors.TurnReduced, detail compile.Outcome, took float64) error {
	before, err := request.Parse(in)
	if err != nil {
		run.figures.PassthroughTurns++
		run.figures.AddReason(answer.Reason)
		run.figures.AddTurn(run.meter.JSON(run.turns[i].Request()).Tokens, run.meter.JSON(in).Tokens, took)
		return nil
	}
	if i == 0 || run.fixedIn == 0 {
		run.fixed(before, run.turns[i])
	}
	after := before
	if answer.Edited {
		if after, err = request.Parse(answer.Body); err != nil || after.Check() != nil {
			run.figures.PairingViolations++
			return nil
		}
	} else {
		run.figures.PassthroughTurns++
	}
	rawTotal := run.raw.extend(run.meter, before) - run.fixedIn + run.fixedRaw
	sentTotal := run.sent.extend(run.meter, after)
	run.promises(in, answer.Body, rawTotal, sentTotal, detail.Epoch != nil)
	run.counted = append(run.counted, rawTotal)
	run.figures.AddTurn(rawTotal, sentTotal, took)
	run.figures.AddReason(answer.Reason)
	run.blocks(i, before, after, detail, sentTotal)
	run.before = after
	output := run.output(i)
	run.bills(output, m.cold, rawTotal)
	if err := run.birth.turn(run, in, before, i, output, m); err != nil {
		return err
	}
	run.answer(run.turns[i])
	return nil
}

// fixed measures everything that is not a message, once.
func (run *sessionRun) fixed(in *request.Doc, t datasets.Turn) {
	run.fixedIn = fixedTokens(run.meter, in)
	run.fixedRaw = run.fixedIn
	raw, err := request.Parse(t.Request())
	if err != nil {
		return
	}
	run.fixedRaw = fixedTokens(run.meter, raw)
	prompt := run.fixedRaw
	if len(raw.Messages) > 0 && raw.Messages[0].Role == "system" {
		prompt += run.meter.JSON(raw.Raw[raw.Messages[0].Span.Start:raw.Messages[0].Span.End]).Tokens
	}
	run.added = run.session.PrefixAdded(prompt, run.r.flags.prefix)
	run.figures.PrefixAdded = run.added
	run.needed.Show(string(in.Raw[:in.Messages[0].Span.Start]))
}

func fixedTokens(m *tokens.Meter, doc *request.Doc) int {
	segments, err := doc.Segments()
	if err != nil {
		return 0
	}
	return m.Whole(segments.Head, nil, segments.Tail).Tokens
}

// promises holds the turn to what every turn must keep.
func (run *sessionRun) promises(in, out []byte, raw, sent int, epoch bool) {
	declared := run.fixedIn - run.fixedRaw
	if len(out) > len(in) || utf8.RuneCount(out) > utf8.RuneCount(in) || sent > raw+declared {
		run.figures.EnlargedTurns++
	}
	if run.last != nil && !epoch && !bytes.HasPrefix(out, run.last) {
		run.figures.PrefixViolations++
	}
	doc, err := request.Parse(out)
	if err != nil {
		run.last = nil
		return
	}
	run.last = out[:doc.Messages[len(doc.Messages)-1].Span.End]
}

// answer notes what the recorded answer's calls used.
func (run *sessionRun) answer(t datasets.Turn) {
	for _, raw := range t.Answers {
		for _, arguments := range datasets.Arguments(raw) {
			for _, key := range run.needed.Use(arguments) {
				for _, a := range run.arms {
					a.debits.Need(key)
				}
				if h, first := run.hidden[key]; first {
					run.figures.AddNeeded(h.form, h.tool)
					delete(run.hidden, key)
				}
			}
		}
	}
}
