package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"token-terminator/host"
	"token-terminator/host/settings"
	"token-terminator/host/wire"
	"token-terminator/vault"
)

// operatorPatience is how long a command waits for the daemon to carry it out.
const operatorPatience = 12 * time.Hour

// vaultOrder is a vault command on its way to the daemon that has the vault open.
type vaultOrder struct {
	Verb         string   `json:"verb"`
	Args         []string `json:"args"`
	Session      string   `json:"session,omitempty"`
	JSON         bool     `json:"json,omitempty"`
	Offset       int      `json:"offset,omitempty"`
	Limit        int      `json:"limit,omitempty"`
	DryRun       bool     `json:"dry_run,omitempty"`
	Yes          bool     `json:"yes,omitempty"`
	LoseEvidence bool     `json:"lose_evidence,omitempty"`
	Compact      bool     `json:"compact,omitempty"`
	Unseen       int      `json:"unseen"`
	Unused       int      `json:"unused"`
	Transcripts  []string `json:"transcripts,omitempty"`

	Reduce *reduceOrder `json:"reduce,omitempty"` // instead of a vault command
}

// reduceOrder is tt reduce on its way to the daemon.
type reduceOrder struct {
	Tool     string            `json:"tool"`
	Command  string            `json:"command"`
	Model    string            `json:"model"`
	Session  string            `json:"session"`
	ExitCode int               `json:"exit_code"`
	Settings map[string]string `json:"settings"` // those of the command, but defaults
	JSON     bool              `json:"json"`
	Text     string            `json:"text"`
}

func (f *reduceFlags) order(set settings.Settings, text string) vaultOrder {
	return vaultOrder{Verb: "reduce", Reduce: &reduceOrder{
		Tool: f.tool, Command: f.command, Model: f.model, Session: f.session, ExitCode: f.exitCode,
		Settings: ofSession(set), JSON: f.json, Text: text,
	}}
}

// run reduces over the daemon's own vault, with the settings of the command.
func (o *reduceOrder) run(s *stage, live *vault.Vault) error {
	f := &reduceFlags{tool: o.Tool, command: o.Command, model: o.Model, session: o.Session, exitCode: o.ExitCode, json: o.JSON}
	set, err := settings.Load(settings.Sources{Flags: o.Settings})
	if err != nil {
		return usagef("%w", err)
	}
	return f.reduceOver(s, compileSettings(set), live, nil, o.Text)
}

// carriedOut is what a command came to: what it would have printed, and its exit code.
type carriedOut struct {
	Exit   int    `json:"exit"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// relayed is a failure that was printed already.
type relayed struct{ code int }

func (r *relayed) Error() string { return "the daemon refused" }

// localVerbs need no open vault, or one that nobody else has open.
var localVerbs = map[string]bool{"path": true, "restore": true}

// order is the command as the daemon should carry it out. Paths are made absolute: the
// daemon stands in another folder.
func (f *vaultFlags) order(verb string, args []string) vaultOrder {
	o := vaultOrder{
		Verb: verb, Args: append([]string{}, args...), Session: f.session, JSON: f.json, Offset: f.offset, Limit: f.limit,
		DryRun: f.change.dryRun, Yes: f.change.yes, LoseEvidence: f.change.lose, Compact: f.change.compact,
		Unseen: f.change.unseen, Unused: f.change.unused,
	}
	if verb == "backup" || verb == "import" {
		for i, path := range o.Args {
			o.Args[i] = absolute(path)
		}
	}
	for _, path := range f.change.transcripts {
		o.Transcripts = append(o.Transcripts, absolute(path))
	}
	return o
}

// absolute keeps a separator at the end, which says that a folder is meant.
func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil || path == "" {
		return path
	}
	if strings.HasSuffix(path, string(filepath.Separator)) {
		abs += string(filepath.Separator)
	}
	return abs
}

func (o vaultOrder) flags(live *vault.Vault) *vaultFlags {
	f := &vaultFlags{session: o.Session, json: o.JSON, offset: o.Offset, limit: o.Limit, live: live}
	f.change = changeFlags{
		dryRun: o.DryRun, yes: o.Yes, lose: o.LoseEvidence, compact: o.Compact, quiet: true,
		unseen: o.Unseen, unused: o.Unused, transcripts: o.Transcripts,
	}
	return f
}

// run carries the order out over the daemon's own vault.
func (o vaultOrder) run(ctx context.Context, live *vault.Vault) carriedOut {
	var out, words bytes.Buffer
	s := &stage{ctx: ctx, stdin: strings.NewReader(""), stdout: &out, stderr: &words, getenv: func(string) string { return "" }}
	err := error(usagef("vault %s does not go through the daemon", o.Verb))
	switch {
	case o.Reduce != nil:
		err = o.Reduce.run(s, live)
	case !localVerbs[o.Verb]:
		err = o.flags(live).act(s, filepath.Dir(live.Path()), o.Verb, o.Args)
	}
	code := report(s, "tt", err)
	return carriedOut{Exit: code, Stdout: out.String(), Stderr: words.String()}
}

// daemonOf connects to the daemon that has folder's vault open, nil when there is none.
func daemonOf(ctx context.Context, folder string) *host.Client {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := host.ReadInfo(folder); err != nil {
		return nil
	}
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil
	}
	c, err := host.Dial(ctx, host.Options{Folder: abs, Name: "tt vault", Version: version, Operator: true})
	if err != nil {
		return nil
	}
	return c
}

// relay has the daemon carry out a vault command, and prints what came of it.
func relay(s *stage, c *host.Client, order vaultOrder) error {
	done, err := carry(s, c, order)
	if err != nil {
		return (&failure{code: exitUnexpected, err: err}).try("the daemon has this vault open; tt status says how it is")
	}
	return done.print(s)
}

// carry has the daemon carry out an order.
func carry(s *stage, c *host.Client, order vaultOrder) (done carriedOut, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, operatorPatience)
	defer cancel()
	raw, err := json.Marshal(order)
	if err != nil {
		return done, err
	}
	answer, err := c.Recover(ctx, wire.Recover{Action: actionOperator, Operator: raw})
	if err != nil {
		return done, err
	}
	return done, json.Unmarshal(answer, &done)
}

// print prints what the daemon would have printed.
func (done carriedOut) print(s *stage) error {
	_, errOut := io.WriteString(s.stdout, done.Stdout)
	_, errWords := io.WriteString(s.stderr, done.Stderr)
	if done.Exit != exitDone {
		return &relayed{done.Exit}
	}
	return errors.Join(errOut, errWords)
}
