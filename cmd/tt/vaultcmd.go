package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"token-terminator/host/settings"
	"token-terminator/host/settings/apply"
	"token-terminator/internal/amount"
	"token-terminator/vault"
)

type vaultFlags struct {
	vault, home, session string
	json                 bool
	offset, limit        int
	change               changeFlags
	live                 *vault.Vault // inside the daemon: the one that is open
	options              vault.Options
}

const vaultHelp = `Looking:
  path             print the vault's file
  status           size, capacity, when it will be full, artifacts, sessions
  get ID           write the exact original to stdout
  peek ID          a bounded first look: both ends, severity lines, structure
  find ID TEXT     lines of one original that hold TEXT, case aside
  search TEXT      originals that hold TEXT
  lines ID FROM TO whole lines, both ends included
  diff ID ID       how two originals differ
  list             newest first
  verify           re-hash everything; exit 3 when something is damaged or lost

Keeping (each takes --dry-run; --yes confirms what removes or replaces):
  backup DIR|FILE  copy vault and marker key, in use or not, and check the copy;
                   a name that ends in .sqlite3 or .db is the file itself
  restore DIR|FILE put a backup in the vault's place; what stood there is kept aside
  release ID       end every promise on one original and remove it
  release --session CHAIN
                   end a session's promises; originals nobody else holds go
  prune            remove originals that nobody was promised and that were not seen
                   for --unseen days; --unused DAYS also releases idle sessions
  import FILE      copy the Python program's artifacts.sqlite3, read only

--transcripts PATH (repeat it; files or folders) is searched for the ids that release
or prune would remove. When one is named, or a file cannot be read, nothing is removed
unless --lose-evidence says that this is meant.

ID is any prefix of 8 or more hex digits that is unique, with or without "a_".

Examples:
  tt vault list --vault out/vault
  tt vault get a_1234abcd > original.txt
  tt vault backup /mnt/backup/tt
  tt vault release --session old-chain --transcripts ~/.claude/projects --dry-run
`

func vaultVerb() verb {
	v := verb{
		name: "vault", summary: "look into and look after the private store of originals",
		usage: "path|status|get|peek|find|search|lines|diff|list|verify|backup|restore|release|prune|import [flags] [ARGUMENT …]", help: vaultHelp,
	}
	v.run = func(s *stage, args []string) error {
		var f vaultFlags
		fs := newFlags(s, v)
		f.bind(fs)
		rest, err := parse(fs, args)
		if err != nil {
			return err
		}
		if len(rest) == 0 {
			return usagef("which action?").try("tt vault --help")
		}
		return f.run(s, rest[0], rest[1:])
	}
	return v
}

func (f *vaultFlags) bind(fs *flag.FlagSet) {
	fs.StringVar(&f.vault, "vault", "", "vault `folder`, also a copied one (default: the home's)")
	fs.StringVar(&f.home, "home", "", "home `folder`")
	fs.StringVar(&f.session, "session", "", "only what this session `chain` owns")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	fs.IntVar(&f.offset, "offset", 0, "first code `point` of a page (get --json)")
	fs.IntVar(&f.limit, "limit", 0, "code `points` of a page or peek, or results of a list")
	f.change.bind(fs)
}

// action is one thing tt vault does; args is how many arguments it takes.
type action struct {
	args int
	run  func(ctx context.Context, s *stage, v *vault.Vault, args []string) error
}

func (f *vaultFlags) actions() map[string]action {
	return map[string]action{
		"status": {0, f.status}, "get": {1, f.get}, "peek": {1, f.peek}, "find": {2, f.find}, "search": {1, f.search},
		"lines": {3, f.lines}, "diff": {2, f.diff}, "list": {0, f.list}, "verify": {0, f.verify},
	}
}

func (f *vaultFlags) run(s *stage, name string, args []string) error {
	folder, err := vaultFolder(s, f.vault, f.home)
	if err != nil {
		return err
	}
	if !localVerbs[name] {
		if daemon := daemonOf(s.ctx, folder); daemon != nil {
			defer daemon.Close()
			return relay(s, daemon, f.order(name, args))
		}
	}
	set, err := loadSettings(s, folder, nil)
	if err != nil { // evidence can be fetched whatever stands there
		fmt.Fprintf(s.stderr, "tt: %v; config.toml is not taken\n", err)
		set, err = settings.Load(settings.Sources{Env: s.environment()})
	}
	if err != nil {
		return err
	}
	f.options = apply.Vault(set)
	return f.act(s, storeFolder(folder, f.vault, set), name, args)
}

// act carries out one action.
func (f *vaultFlags) act(s *stage, folder, name string, args []string) error {
	if name == "path" {
		return f.path(s, folder, args)
	}
	if c, ok := f.changes()[name]; ok {
		return c(s, folder, args)
	}
	a, ok := f.actions()[name]
	if !ok {
		return usagef("there is no vault action %q", name).try("tt vault --help")
	}
	if len(args) != a.args {
		return usagef("vault %s takes %s, got %d", name, amount.Of(a.args, "argument"), len(args)).try("tt vault --help")
	}
	v, done, err := f.open(folder, true)
	if err != nil {
		return err
	}
	defer done()
	return a.run(s.ctx, s, v, args)
}

// open gives the vault to work on, and what to call at the end.
func (f *vaultFlags) open(folder string, readOnly bool) (*vault.Vault, func(), error) {
	if f.live != nil {
		return f.live, func() {}, nil
	}
	o := f.options
	o.ReadOnly = readOnly
	v, err := openVault(folder, o)
	if err != nil {
		return nil, nil, err
	}
	return v, func() { _ = v.Close() }, nil
}

// openVault opens a vault that is there; none is made.
func openVault(folder string, o vault.Options) (*vault.Vault, error) {
	if _, err := os.Stat(vaultFile(folder)); errors.Is(err, os.ErrNotExist) {
		return nil, (&failure{code: exitStorage, err: fmt.Errorf("there is no vault at %s", vaultFile(folder))}).
			try("name its folder with --vault DIR; a vault is made when something is stored first")
	}
	v, err := vault.Open(folder, o)
	if err != nil {
		return nil, storage(err)
	}
	return v, nil
}

func (f *vaultFlags) path(s *stage, folder string, args []string) error {
	if len(args) != 0 {
		return usagef("vault path takes no argument")
	}
	file := vaultFile(folder)
	if f.json {
		return printJSON(s.stdout, map[string]string{"path": file})
	}
	_, err := fmt.Fprintln(s.stdout, file)
	return err
}

func (f *vaultFlags) get(ctx context.Context, s *stage, v *vault.Vault, args []string) error {
	return writeOriginal(ctx, s, v, f.session, args[0], page{json: f.json, offset: f.offset, limit: f.limit})
}

func (f *vaultFlags) status(ctx context.Context, s *stage, v *vault.Vault, _ []string) error {
	st, err := v.Status(ctx)
	if err != nil {
		return storage(err)
	}
	if f.json {
		return printJSON(s.stdout, st)
	}
	_, err = fmt.Fprintf(s.stdout, "file       %s\nstored     %s of %s (%.1f %%, %s), %s packed\nforecast   %s\nartifacts  %d\npins       %d\nsessions   %d\nmessages   %d remembered\n",
		st.Path, megabytes(st.Bytes), megabytes(st.Capacity), st.Percent, st.Level, megabytes(st.Stored), forecastWords(st.Forecast), st.Artifacts, st.Pins, st.Sessions, st.Nodes)
	switch st.Level {
	case vault.LevelWarning:
		fmt.Fprintf(s.stderr, "warning: the vault is over %d %% of its capacity\nTry: tt vault prune --dry-run\n", vault.WarnPercent)
	case vault.LevelRed:
		fmt.Fprintf(s.stderr, "red: the vault is over %d %% of its capacity; when it is full of pinned originals, requests pass unchanged\nTry: tt vault prune --unused 90 --dry-run\n", vault.RedPercent)
	}
	return err
}

// forecastWords says what is known of the vault's growth.
func forecastWords(f vault.Forecast) string {
	if f.BytesPerDay == nil {
		return "unknown: less than a day of history"
	}
	words := megabytes(*f.BytesPerDay) + " a day"
	for _, mark := range []struct {
		percent int
		at      *time.Time
	}{{vault.WarnPercent, f.WarnAt}, {vault.RedPercent, f.RedAt}} {
		if mark.at != nil {
			words += fmt.Sprintf(", %d %% on %s", mark.percent, mark.at.Format("2006-01-02"))
		}
	}
	return words
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func (f *vaultFlags) peek(ctx context.Context, s *stage, v *vault.Vault, args []string) error {
	p, err := v.Peek(ctx, f.session, args[0], f.limit)
	return f.show(s, p, err)
}

func (f *vaultFlags) find(ctx context.Context, s *stage, v *vault.Vault, args []string) error {
	found, err := v.Find(ctx, f.session, args[0], args[1], f.limit)
	if err != nil || f.json {
		return f.show(s, found, err)
	}
	for _, m := range found.Matches {
		if _, err := fmt.Fprintf(s.stdout, "%d:%s\n", m.Line, m.Text); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.stderr, "%d of %d matching lines\n", len(found.Matches), found.TotalMatches)
	return nil
}

func (f *vaultFlags) search(ctx context.Context, s *stage, v *vault.Vault, args []string) error {
	list, err := v.Search(ctx, f.session, args[0], f.limit)
	return f.listing(s, list, err)
}

func (f *vaultFlags) list(ctx context.Context, s *stage, v *vault.Vault, _ []string) error {
	list, err := v.List(ctx, f.session, f.limit)
	return f.listing(s, list, err)
}

func (f *vaultFlags) listing(s *stage, list vault.Listing, err error) error {
	if err == nil && list.Damaged > 0 {
		fmt.Fprintf(s.stderr, "%s could not be read and not searched; tt vault verify names them\n", amount.Of(list.Damaged, "original"))
	}
	if err != nil || f.json {
		return f.show(s, list, err)
	}
	for _, a := range list.Artifacts {
		if _, err := fmt.Fprintf(s.stdout, "%s  %9d bytes  %-8s %-20s %s\n",
			a.ID, a.Bytes, a.Kind, a.Tool, a.LastSeen.UTC().Format("2006-01-02 15:04:05")); err != nil {
			return err
		}
	}
	if list.Truncated {
		fmt.Fprintln(s.stderr, "there are more; --limit shows them")
	}
	return nil
}

func (f *vaultFlags) lines(ctx context.Context, s *stage, v *vault.Vault, args []string) error {
	var from, to int
	if _, err := fmt.Sscanf(args[1]+" "+args[2], "%d %d", &from, &to); err != nil {
		return usagef("lines wants two line numbers, got %q and %q", args[1], args[2])
	}
	l, err := v.Lines(ctx, f.session, args[0], from, to)
	if err == nil && from > l.TotalLines {
		return usagef("lines %d to %d: the original has %d lines", from, to, l.TotalLines)
	}
	if err != nil || f.json {
		return f.show(s, l, err)
	}
	_, err = io.WriteString(s.stdout, l.Content)
	return err
}

func (f *vaultFlags) diff(ctx context.Context, s *stage, v *vault.Vault, args []string) error {
	d, err := v.Diff(ctx, f.session, args[0], args[1], f.limit)
	if err != nil || f.json {
		return f.show(s, d, err)
	}
	for _, note := range d.Notes {
		fmt.Fprintln(s.stderr, note)
	}
	_, err = io.WriteString(s.stdout, d.Text)
	return err
}

func (f *vaultFlags) verify(ctx context.Context, s *stage, v *vault.Vault, _ []string) error {
	r, err := v.Verify(ctx)
	if err != nil {
		return storage(err)
	}
	if f.json {
		err = printJSON(s.stdout, r)
	} else {
		_, err = fmt.Fprintf(s.stdout, "%d artifacts read, %d damaged, %d lost\n", r.Artifacts, len(r.Damaged), len(r.Lost))
		for _, p := range append(append([]vault.Problem{}, r.Damaged...), r.Lost...) {
			fmt.Fprintf(s.stdout, "%s: %s\n", p.ID, p.What)
		}
	}
	if err == nil && !r.Sound() {
		return refusedf("the vault is not sound").try("restore a copy of the vault folder, or run the session again")
	}
	return err
}

func (f *vaultFlags) show(s *stage, value any, err error) error {
	if err != nil {
		return lookup(err, "")
	}
	return printJSON(s.stdout, value)
}

// printJSON writes indented JSON without HTML escapes.
func printJSON(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// printJSONLine writes JSON on one line without HTML escapes.
func printJSONLine(w io.Writer, value any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}
