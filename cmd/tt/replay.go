package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"token-terminator/datasets"
	"token-terminator/internal/amount"
	"token-terminator/ledger"
	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/reports"
	"token-terminator/tokens"
	"token-terminator/vault"
)

type replayFlags struct {
	format, assume, cache, row, unit, preset, dump, model string
	asOf, prices, html                                    string
	prefix, gaps, window                                  int
	bank, noEpochs, strictReads                           bool
	rate                                                  float64
	json, markdown, quiet, daemon                         bool
	minMessages                                           int
}

func replayVerb() verb {
	v := verb{
		name: "replay", summary: "what would I have saved? Replays recorded sessions through the whole pipeline",
		usage: "[flags] [FILE or FOLDER…]",
		help: `Without arguments the bundled sessions are replayed. Files may be Claude Code
transcripts (~/.claude/projects/…/*.jsonl), OpenAI-style JSON lines (one object with
"messages", or one request a line with equal "id"), or the corpus format; a folder
means every .jsonl file below it. Nothing is sent anywhere; without --dump the vault
is a temporary folder that is removed at the end.

Examples:
  tt replay
  tt replay ~/.claude/projects/my-project --assume-tokenizer o200k_base
  tt replay --html report.html ~/.claude/projects/my-project
  tt replay --unit usd --price-row claude-opus-5 session.jsonl
  tt replay --json --dump out session.jsonl && tt vault get a_1234abcd --vault out/vault
`,
	}
	v.run = func(s *stage, args []string) error {
		var f replayFlags
		fs := newFlags(s, v)
		f.bind(fs)
		paths, err := parse(fs, args)
		if err != nil {
			return err
		}
		return f.run(s, paths, args)
	}
	return v
}

func (f *replayFlags) bind(fs *flag.FlagSet) {
	fs.StringVar(&f.format, "format", "auto", "auto, corpus, openai or claude-code")
	fs.StringVar(&f.assume, "assume-tokenizer", "", "`encoding` that stands in for models without a public tokenizer, e.g. o200k_base")
	fs.StringVar(&f.model, "model", "", "measure every session as this `model`")
	fs.StringVar(&f.cache, "cache", string(plan.Prefix), "prefix (automatic) or marks (system and the last three messages)")
	fs.StringVar(&f.row, "price-row", "", "price row: a model's `name`, NAME@ROUTE, NAME+1h for the longer cache write, study, or list to see them (default: each session's model, else study)")
	fs.StringVar(&f.asOf, "as-of", "", "pick rows for this `day`, YYYY-MM-DD (default: the date of the table of prices)")
	fs.StringVar(&f.prices, "prices", "", "a table of prices of yours, laid over the built-in one: CSV `file`, docs/prices.md")
	fs.StringVar(&f.unit, "unit", unitITE, "ite (input-token equivalents) or usd, which needs a priced row")
	fs.StringVar(&f.preset, "preset", string(reduce.Default), "default, lossless, equivalent or tight")
	fs.StringVar(&f.dump, "dump", "", "write every request, its reduced form and the vault below this new `folder`")
	fs.IntVar(&f.prefix, "prefix", datasets.DefaultPrefix, "`tokens` of tools and system text where the host's prompt was not recorded (bill only)")
	fs.IntVar(&f.gaps, "gaps", 0, "every `N` calls the provider's cache is cold; 0 as recorded")
	fs.IntVar(&f.window, "window", 0, "how many `tokens` of input the model takes: a request over it opens an epoch; 0 unknown")
	fs.BoolVar(&f.noEpochs, "no-epochs", false, "never change a message that was sent")
	fs.BoolVar(&f.bank, "bank", false, "open a warm epoch only when the session has saved its price already")
	fs.BoolVar(&f.strictReads, "strict-reads", false, "never put a read away whose path any later call names")
	fs.Float64Var(&f.rate, "recovery-rate", plan.DefaultRecoveryPct, "`percent` of hidden blocks that are fetched back once")
	fs.IntVar(&f.minMessages, "min-messages", 0, "leave out sessions with fewer `messages`")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	fs.BoolVar(&f.markdown, "markdown", false, "print Markdown")
	fs.StringVar(&f.html, "html", "", "also write the report as one page to this `file`: plots, tables, no script, nothing loaded")
	fs.BoolVar(&f.daemon, "daemon", false, "send every turn through a daemon that is started for this replay, as a host would")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress on stderr")
}

// replay is one run over all sessions.
type replay struct {
	flags    *replayFlags
	settings compile.Settings
	compiler *compile.Compiler
	births   rowCompilers // the same without epochs
	pipeline reducer
	ledger   *ledger.Ledger // of a dump, nil without one
	pricing  pricing
	cache    plan.Cache
	folder   string // of the vault
	progress *progress
	trace    func(turn int, in []byte, detail compile.Outcome) // explain's ear, nil in a replay
	failed   []error                                           // of sessions that are in no figure
}

func (f *replayFlags) run(s *stage, paths, args []string) error {
	settings, cache, err := f.settings()
	if err != nil {
		return err
	}
	prices, err := f.pricing()
	if err != nil {
		return err
	}
	if f.row == listRows {
		return f.list(s.stdout, prices)
	}
	if err := f.checkPage(); err != nil {
		return err
	}
	sessions, problems, err := f.load(paths)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		fmt.Fprintln(s.stderr, "tt:", problem)
	}
	if len(sessions) == 0 && f.minMessages > 0 {
		return usagef("no session has %s", amount.Of(f.minMessages, "message")).try("a smaller --min-messages")
	}
	if len(sessions) == 0 {
		return usagef("there is no session to replay").try("tt replay --help shows the formats")
	}
	if err := prices.check(sessions); err != nil {
		return err
	}
	r := &replay{flags: f, settings: settings, pricing: prices, cache: cache, progress: newProgress(s, f.quiet, len(sessions))}
	report, notes, err := r.all(s.ctx, sessions)
	r.failures(s.stderr)
	if err != nil {
		return err
	}
	if err := f.print(s, report, notes, args); err != nil {
		return err
	}
	return r.verdict(report.Total, len(problems))
}

func (f *replayFlags) settings() (compile.Settings, plan.Cache, error) {
	var none compile.Settings
	cache, err := plan.ParseCache(f.cache)
	if err != nil {
		return none, "", usagef("%w", err).try("--cache prefix or --cache marks")
	}
	preset, ok := reduce.ParsePreset(f.preset)
	if !ok {
		return none, "", usagef("there is no preset %q", f.preset).try("--preset default, lossless, equivalent or tight")
	}
	if f.prefix < 0 || f.gaps < 0 || f.window < 0 || f.rate < 0 || f.rate > 100 || f.minMessages < 0 {
		return none, "", usagef("--prefix, --gaps, --window and --min-messages want 0 or more, --recovery-rate 0 to 100")
	}
	if f.json && f.markdown {
		return none, "", usagef("--json and --markdown exclude each other")
	}
	if f.assume != "" {
		if _, err := tokens.Named(f.assume); err != nil {
			return none, "", usagef("%w", err).try("--assume-tokenizer o200k_base")
		}
	}
	s := compile.Settings{
		Assume: f.assume, Row: plan.Study(), Reduce: reduce.Settings{Preset: preset}, Cache: cache, NoEpochs: f.noEpochs,
	}
	s.Plan.Bank, s.Plan.StrictReads = f.bank, f.strictReads
	s.Plan.RecoveryPct = f.rate
	if f.rate == 0 {
		s.Plan.RecoveryPct = -1 // plan takes 0 for "the default"
	}
	return s, cache, nil
}

func (f *replayFlags) load(paths []string) ([]datasets.Session, []error, error) {
	format, ok := datasets.ParseFormat(f.format)
	if !ok {
		return nil, nil, usagef("there is no format %q", f.format).try("--format auto, corpus, openai or claude-code")
	}
	var sessions []datasets.Session
	var problems []error
	if len(paths) == 0 {
		bundled, err := datasets.Bundled()
		if err != nil {
			return nil, nil, err
		}
		sessions = bundled
	} else {
		sessions, problems = datasets.Load(paths, format)
	}
	kept := sessions[:0]
	for _, session := range sessions {
		if f.model != "" {
			session.Model = f.model
		}
		if len(session.Messages) >= f.minMessages {
			kept = append(kept, session)
		}
	}
	return kept, problems, nil
}

// all replays every session over one vault and checks every recovery after that
// vault was closed and opened again.
func (r *replay) all(ctx context.Context, sessions []datasets.Session) (report reports.Report, notes []string, err error) {
	cleanup, err := r.makeFolder()
	if err != nil {
		return report, nil, err
	}
	defer cleanup()
	v, err := vault.Open(r.folder, vault.Options{FixedKey: true})
	if err != nil {
		return report, nil, storage(err)
	}
	if err := r.openPipeline(ctx, sessions, v, 256<<20); err != nil {
		return report, nil, err
	}
	if err := r.openLedger(ctx); err != nil {
		return report, nil, err
	}
	runs := r.each(ctx, sessions)
	if err := errors.Join(r.pipeline.stop(context.WithoutCancel(ctx)), r.ledger.Close()); err != nil {
		return report, nil, storage(err)
	}
	if ctx.Err() != nil {
		return report, nil, refusedf("interrupted: nothing was reported")
	}
	if runs, err = r.sift(runs); err != nil {
		return report, nil, err
	}
	if len(runs) == 0 {
		return report, nil, fmt.Errorf("no session could be replayed")
	}
	if err := r.recoveries(ctx, runs); err != nil {
		return report, nil, err
	}
	var figures []reports.Session
	for _, one := range runs {
		figures = append(figures, one.figures)
		notes = append(notes, one.notes...)
	}
	if len(r.failed) > 0 {
		notes = append(notes, amount.Of(len(r.failed), "session")+" could not be replayed: in no figure")
	}
	r.progress.end()
	report = reports.New(figures)
	notes = slices.Concat(notes, r.remarks(runs), r.pricing.notes(sessions), r.tierNote(runs), r.sensitivity(runs))
	return report, notes, report.Check()
}

// each replays the sessions, as many at a time as there are processors.
func (r *replay) each(ctx context.Context, sessions []datasets.Session) []*sessionRun {
	runs := make([]*sessionRun, len(sessions))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(sessions)) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := range next {
				runs[i] = r.session(ctx, sessions[i])
				r.progress.done(sessions[i].ID)
			}
		}()
	}
	for i := range sessions {
		next <- i
	}
	close(next)
	workers.Wait()
	return runs
}

func (r *replay) makeFolder() (cleanup func(), err error) {
	if r.flags.dump == "" {
		dir, err := os.MkdirTemp("", "token-terminator-replay-")
		if err != nil {
			return nil, storage(err)
		}
		r.folder = filepath.Join(dir, "vault")
		return func() { _ = os.RemoveAll(dir) }, nil
	}
	entries, err := os.ReadDir(r.flags.dump)
	switch {
	case err == nil && len(entries) > 0:
		return nil, usagef("the dump folder %s is not empty", r.flags.dump).try("name a new folder")
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, storage(err)
	}
	if err := os.MkdirAll(r.flags.dump, 0o700); err != nil {
		return nil, storage(err)
	}
	r.folder = filepath.Join(r.flags.dump, "vault")
	return func() {}, nil
}

func (f *replayFlags) print(s *stage, report reports.Report, notes, args []string) error {
	options := reports.Options{
		Command: strings.TrimSpace("tt replay " + strings.Join(args, " ")), RecoveryPct: f.rate, Cache: f.cache, Notes: notes,
	}
	write := report.WriteText
	switch {
	case f.json:
		write = report.WriteJSON
	case f.markdown:
		write = report.WriteMarkdown
	}
	// Both are tried: a page that cannot be written costs no report, and none a page.
	return errors.Join(write(s.stdout, options), f.writePage(report, options))
}
