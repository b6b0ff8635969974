package main

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"

	"token-terminator/datasets"
	"token-terminator/internal/amount"
	"token-terminator/plan"
	"token-terminator/reduce/compile"
	"token-terminator/request"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// explained is one string of a session and how it is shown.
type explained struct {
	Turn    int             `json:"turn"` // in which it was decided, from 1
	Message int             `json:"message"`
	Block   string          `json:"block"`
	Tool    string          `json:"tool"`
	Kind    string          `json:"kind,omitempty"`
	Form    turn.Form       `json:"form"`
	Reason  turn.Reason     `json:"reason"`
	Before  int             `json:"tokens_before,omitempty"`
	After   int             `json:"tokens_after,omitempty"`
	ID      turn.ArtifactID `json:"artifact_id,omitempty"`
	Text    string          `json:"text,omitempty"`
}

type explainFlags struct {
	replayFlags
	session string
	text    bool
	all     bool
}

func explainVerb() verb {
	v := verb{
		name: "explain", summary: "why each tool result of a session is shown as it is",
		usage: "[flags] [FILE]",
		help: `Replays one session and lists every tool result: the turn that decided, its form,
the reason (docs/reasons.md), tokens before and after, and the id of the original.

Examples:
  tt explain session.jsonl
  tt explain session.jsonl --text --assume-tokenizer o200k_base
`,
	}
	v.run = func(s *stage, args []string) error {
		var f explainFlags
		fs := newFlags(s, v)
		fs.StringVar(&f.format, "format", "auto", "auto, corpus, openai or claude-code")
		fs.StringVar(&f.assume, "assume-tokenizer", "", "`encoding` that stands in for models without a public tokenizer")
		fs.StringVar(&f.preset, "preset", "default", "default, lossless, equivalent or tight")
		fs.StringVar(&f.session, "session", "", "`id` of the session, where the file holds several")
		fs.BoolVar(&f.text, "text", false, "print the shown text of every changed result")
		fs.BoolVar(&f.all, "all", false, "list results below the floors too")
		fs.BoolVar(&f.json, "json", false, "print JSON")
		paths, err := parse(fs, args)
		if err != nil {
			return err
		}
		if len(paths) > 1 {
			return usagef("explain takes one file, got %d", len(paths))
		}
		f.cache, f.row, f.unit, f.rate, f.prefix = string(plan.Prefix), "", unitITE, plan.DefaultRecoveryPct, datasets.DefaultPrefix
		return f.run(s, paths)
	}
	return v
}

func (f *explainFlags) run(s *stage, paths []string) error {
	settings, _, err := f.settings()
	if err != nil {
		return err
	}
	sessions, problems, err := f.load(paths)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		fmt.Fprintln(s.stderr, "tt:", problem)
	}
	session, err := f.pick(s, sessions)
	if err != nil {
		return err
	}
	rows, err := f.explain(s.ctx, settings, session)
	if err != nil {
		return err
	}
	if err := f.print(s, session, rows); err != nil {
		return err
	}
	if len(problems) > 0 {
		return usagef("%s in the input, named above; the rows are of what could be read", amount.Of(len(problems), "problem"))
	}
	return nil
}

func (f *explainFlags) print(s *stage, session datasets.Session, rows []explained) error {
	if f.json {
		return printJSON(s.stdout, map[string]any{"session": session.ID, "model": session.Model, "blocks": rows})
	}
	if err := f.table(s.stdout, session, rows); err != nil {
		return err
	}
	fmt.Fprintln(s.stderr, "The ids are of a vault that is gone again; tt replay --dump DIR FILE keeps one to fetch from.")
	return nil
}

func (f *explainFlags) pick(s *stage, sessions []datasets.Session) (datasets.Session, error) {
	for _, session := range sessions {
		if f.session == "" || session.ID == f.session {
			if f.session == "" && len(sessions) > 1 {
				fmt.Fprintf(s.stderr, "the first of %d sessions; --session ID names another: %s\n", len(sessions), idsOf(sessions[1:]))
			}
			return session, nil
		}
	}
	if len(sessions) == 0 {
		return datasets.Session{}, usagef("there is no session to explain")
	}
	return datasets.Session{}, usagef("there is no session %q; there are: %s", f.session, idsOf(sessions))
}

// maxListed bounds the ids of a message.
const maxListed = 20

func idsOf(sessions []datasets.Session) string {
	var ids []string
	for _, session := range sessions {
		if len(ids) == maxListed {
			ids = append(ids, fmt.Sprintf("and %d more", len(sessions)-maxListed))
			break
		}
		ids = append(ids, session.ID)
	}
	return strings.Join(ids, ", ")
}

// explain replays the session over a temporary vault and collects each decision.
func (f *explainFlags) explain(ctx context.Context, settings compile.Settings, session datasets.Session) (rows []explained, err error) {
	r := &replay{flags: &f.replayFlags, settings: settings, cache: plan.Prefix}
	if r.pricing, err = f.pricing(); err != nil {
		return nil, err
	}
	cleanup, err := r.makeFolder()
	if err != nil {
		return nil, err
	}
	defer cleanup()
	v, err := vault.Open(r.folder, vault.Options{FixedKey: true})
	if err != nil {
		return nil, storage(err)
	}
	if err := r.openPipeline(ctx, []datasets.Session{session}, v, 64<<20); err != nil {
		return nil, err
	}
	meter := r.compiler.Meter(session.Model)
	r.trace = func(i int, in []byte, detail compile.Outcome) {
		rows = append(rows, f.rows(i, sized(meter, in, detail))...)
	}
	run := r.session(ctx, session)
	if err := r.pipeline.stop(context.WithoutCancel(ctx)); err != nil {
		return nil, storage(err)
	}
	sort.SliceStable(rows, func(a, b int) bool { return rows[a].Message < rows[b].Message })
	return rows, run.err
}

// sized counts the strings that were left alone before anybody had to count them.
func sized(meter *tokens.Meter, in []byte, detail compile.Outcome) compile.Outcome {
	var doc *request.Doc
	for n, k := range detail.Kept {
		if k.Tokens > 0 || k.Reason == turn.BelowFloor {
			continue
		}
		if doc == nil {
			var err error
			if doc, err = request.Parse(in); err != nil {
				return detail
			}
		}
		detail.Kept[n].Tokens = meter.JSONString(textAt(doc, k.Message, k.Block)).Tokens
	}
	return detail
}

func (f *explainFlags) rows(i int, detail compile.Outcome) []explained {
	var rows []explained
	for _, b := range detail.Blocks {
		if b.New {
			d := b.Decision
			rows = append(rows, explained{
				Turn: i + 1, Message: b.Message, Block: d.Block, Tool: d.Tool, Kind: d.Kind, Form: d.Form, Reason: d.Reason,
				Before: d.TokensBefore, After: d.TokensAfter, ID: d.Artifact, Text: d.Text,
			})
		}
	}
	for _, k := range detail.Kept {
		if k.Reason == turn.BelowFloor && !f.all {
			continue
		}
		rows = append(rows, explained{
			Turn: i + 1, Message: k.Message, Block: k.Block, Tool: k.Tool, Form: turn.Original, Reason: k.Reason, Before: k.Tokens, After: k.Tokens,
		})
	}
	return rows
}

func (f *explainFlags) table(w io.Writer, session datasets.Session, rows []explained) error {
	fmt.Fprintf(w, "%s (%s), %s\n\n%5s %5s  %-18s %-9s %-11s %7s %7s  %-20s %s\n",
		session.ID, session.Model, amount.Of(len(session.Messages), "message"), "turn", "msg", "tool", "kind", "form", "before", "after", "reason", "id")
	for _, r := range rows {
		id := ""
		if r.ID != "" {
			id = string(r.ID[:2+turn.MinShownHex])
		}
		if _, err := fmt.Fprintf(w, "%5d %5d  %-18.18s %-9s %-11s %7d %7d  %-20s %s\n",
			r.Turn, r.Message, r.Tool, r.Kind, r.Form, r.Before, r.After, r.Reason, id); err != nil {
			return err
		}
		if f.text && r.Text != "" {
			fmt.Fprintf(w, "\n%s\n\n", r.Text)
		}
	}
	return nil
}
