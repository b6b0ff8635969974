package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"token-terminator/host/settings"
	"token-terminator/host/settings/apply"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/tokens"
	"token-terminator/turn"
	"token-terminator/vault"
)

// defaultModel has o200k_base.
const defaultModel = "gpt-4o"

// defaultChain is the session chain of results reduced by hand.
const defaultChain = "cli"

// reduced is tt reduce --json.
type reduced struct {
	Kind       string      `json:"kind"`
	Form       turn.Form   `json:"form"`
	Reason     turn.Reason `json:"reason"`
	TokensIn   *int        `json:"tokens_in"` // null: not measured
	TokensOut  *int        `json:"tokens_out"`
	Measure    string      `json:"measure"`
	ArtifactID *string     `json:"artifact_id"`
	Text       string      `json:"text"`
}

type reduceFlags struct {
	tool, command, model, preset, vault, home, session string
	exitCode, maxTokens, head, tail, context           int
	excluded                                           listFlag
	off, json                                          bool
	set                                                map[string]string // settings that were given as flags
}

// listFlag collects a flag that may be given several times.
type listFlag []string

func (l *listFlag) String() string     { return fmt.Sprint([]string(*l)) }
func (l *listFlag) Set(v string) error { *l = append(*l, v); return nil }

func reduceVerb() verb {
	v := verb{
		name: "reduce", summary: "show one tool result smaller; its exact text goes into the vault first",
		usage: "[flags] < RESULT",
		help: `Reads one result from stdin, writes what a model would see to stdout. The original
is stored before anything is left out; tt recover ID gives it back byte for byte.
When the vault cannot store it, the original is written and the exit code is 4.
What no flag says comes from the environment, then from config.toml (tt config show).

Examples:
  go test ./... 2>&1 | tt reduce --command "go test ./..."
  kubectl logs pod | tt reduce --tool bash --command "kubectl logs pod" --json
`,
	}
	v.run = func(s *stage, args []string) error {
		var f reduceFlags
		fs := newFlags(s, v)
		f.bind(fs)
		rest, err := parse(fs, args)
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		if err == nil && len(rest) > 0 {
			err = usagef("reduce takes no argument, got %q", rest[0]).try("tt reduce < FILE")
		}
		if err != nil {
			f.json = f.json || slices.Contains(args, "--json") || slices.Contains(args, "-json")
			return f.passOn(s, err)
		}
		f.given(fs)
		return f.run(s)
	}
	return v
}

// passOn lets the data of a pipe through although the command line was wrong. A reader
// of JSON gets nothing instead.
func (f *reduceFlags) passOn(s *stage, err error) error {
	if f.json {
		return err
	}
	if _, copied := io.Copy(s.stdout, s.stdin); copied != nil {
		return copied
	}
	return err
}

func (f *reduceFlags) bind(fs *flag.FlagSet) {
	fs.StringVar(&f.tool, "tool", "", "name of the `tool` that produced the result")
	fs.StringVar(&f.command, "command", "", "shell `command` that produced it")
	fs.IntVar(&f.exitCode, "exit-code", 0, "its exit `code`")
	fs.StringVar(&f.model, "model", defaultModel, "`model` whose tokenizer counts; without a known one four measures must agree")
	fs.StringVar(&f.preset, "preset", string(reduce.Default), "default, lossless, equivalent or tight")
	fs.StringVar(&f.vault, "vault", "", "vault `folder` (default: the home's)")
	fs.StringVar(&f.home, "home", "", "home `folder` (default: $TOKEN_TERMINATOR_HOME, $HERMES_HOME, ~/.hermes or the data home)")
	fs.StringVar(&f.session, "session", defaultChain, "session `chain` that owns the stored original")
	fs.IntVar(&f.maxTokens, "max-tokens", 0, "refuse a view above this many tokens; 0 none (a view is never cut to fit)")
	fs.IntVar(&f.head, "head", form.DefaultHead, "first `lines` always kept")
	fs.IntVar(&f.tail, "tail", form.DefaultTail, "last `lines` always kept")
	fs.IntVar(&f.context, "context", form.DefaultContext, "`lines` kept around evidence")
	fs.Var(&f.excluded, "exclude", "`tool` never touched (repeatable)")
	fs.BoolVar(&f.off, "off", false, "change nothing")
	fs.BoolVar(&f.json, "json", false, "print JSON")
}

func (f *reduceFlags) run(s *stage) error {
	set, folder, err := f.load(s)
	if err != nil {
		return f.passOn(s, err)
	}
	f.off = f.off || still(set)
	data, err := io.ReadAll(io.LimitReader(s.stdin, maxInput+1))
	if err != nil {
		return usagef("read stdin: %w", err)
	}
	text := string(data)
	switch {
	case f.json && len(data) > maxInput:
		return usagef("the result is larger than %d bytes", maxInput).try("run it without --json: the bytes go through unchanged")
	case f.json && !utf8.ValidString(text):
		return usagef("the result is not UTF-8, and JSON could not hold it exactly").try("run it without --json: the bytes go through unchanged")
	case len(data) > maxInput:
		if _, err := io.Copy(s.stdout, io.MultiReader(readerOf(text), s.stdin)); err != nil || f.off {
			return err
		}
		return usagef("the result is larger than %d bytes and went through unchanged", maxInput)
	case f.off:
		return f.print(s, reduced{Form: turn.Original, Reason: turn.TurnedOff, Text: text, Measure: tokens.PanelLabel})
	}
	return f.reduce(s, set, folder, text)
}

func (f *reduceFlags) reduce(s *stage, set settings.Settings, folder, text string) error {
	if daemon := daemonOf(s.ctx, folder); daemon != nil && utf8.ValidString(text) {
		defer daemon.Close()
		if done, err := carry(s, daemon, f.order(set, text)); err == nil {
			return done.print(s)
		}
	}
	v, openErr := vault.Open(storeFolder(folder, f.vault, set), apply.Vault(set))
	if openErr == nil {
		defer v.Close()
	}
	return f.reduceOver(s, compileSettings(set), v, openErr, text)
}

// reduceOver reduces text with the vault v, or without one when it could not be opened.
func (f *reduceFlags) reduceOver(s *stage, settings compile.Settings, v *vault.Vault, openErr error, text string) error {
	key := []byte(vault.FixedMarkerKey)
	if openErr == nil {
		key = v.MarkerKey()
	}
	compiler, err := compile.New(settings, key, tokens.NewMemo(64<<20))
	if err != nil {
		return err
	}
	if openErr == nil && f.marked(s, v, text) {
		return f.print(s, reduced{Form: turn.Original, Reason: turn.OwnMarker, Text: text, Measure: tokens.PanelLabel})
	}
	single := compiler.Single(f.session, f.model, f.block(text))
	out := reduced{
		Kind: single.Kind, Form: single.Decision.Form, Reason: single.Decision.Reason,
		Measure: single.Label, Text: single.Decision.Text,
	}
	if single.In.Unmeasured == "" {
		out.TokensIn, out.TokensOut = &single.In.Tokens, &single.Out.Tokens
	}
	if out.Form == turn.Original {
		if r := out.Reason; r == turn.TooLarge || r == turn.BadUnicode || r == turn.NoMeasure || settings.Reduce.Form.MaxTokens > 0 {
			fmt.Fprintf(s.stderr, "unchanged: %s\n", r)
		}
		return f.print(s, out)
	}
	id, shown, err := f.keep(s, v, openErr, single)
	if err != nil {
		out.Form, out.Reason, out.Text, out.TokensOut = turn.Original, turn.StorageUnavailable, text, out.TokensIn
		if printErr := f.print(s, out); printErr != nil {
			return printErr
		}
		return storage(fmt.Errorf("keep the original: %w", err))
	}
	out.ArtifactID, out.Text = &id, shown
	return f.print(s, out)
}

// marked says whether text already holds a marker of this session chain.
func (f *reduceFlags) marked(s *stage, v *vault.Vault, text string) bool {
	return reduce.HoldsMarker(text, v.MarkerKey(), f.session, func(prefix string) (turn.ArtifactID, bool) {
		id, err := v.Resolve(s.ctx, f.session, prefix)
		return id, err == nil
	})
}

// keep makes the original durable and gives its id and the text to show.
func (f *reduceFlags) keep(s *stage, v *vault.Vault, openErr error, single compile.Single) (id, shown string, err error) {
	if openErr != nil {
		return "", "", openErr
	}
	pinned, err := v.Put(s.ctx, single.Evidence)
	if err != nil {
		return "", "", err
	}
	proof, ok := pinned.Proofs[single.Decision.Before]
	if !ok || proof.Artifact != single.Decision.Artifact {
		return "", "", fmt.Errorf("the vault gave no proof: %s", pinned.Reason)
	}
	return string(proof.Artifact), single.Decision.WithShownID(proof.Shown).Text, nil
}

func (f *reduceFlags) block(text string) reduce.Block {
	call := kind.Call{Tool: f.tool}
	if f.command != "" {
		if args, err := json.Marshal(map[string]string{"command": f.command}); err == nil {
			call.Args = string(args)
		}
		if call.Tool == "" {
			call.Tool = "bash"
		}
	}
	return reduce.Block{Text: text, Call: call, Failed: f.exitCode != 0}
}

func (f *reduceFlags) print(s *stage, out reduced) error {
	if !f.json {
		_, err := io.WriteString(s.stdout, out.Text)
		return err
	}
	enc := json.NewEncoder(s.stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
