package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"token-terminator/host"
	"token-terminator/internal/amount"
	"token-terminator/internal/safefile"
	"token-terminator/internal/sqlitefile"
	"token-terminator/vault"
)

// changeFlags belong to the actions of tt vault that change or copy something.
type changeFlags struct {
	dryRun, yes, lose, compact bool
	quiet                      bool
	unseen, unused             int
	transcripts                []string
}

func (c *changeFlags) bind(fs *flag.FlagSet) {
	fs.BoolVar(&c.dryRun, "dry-run", false, "print the plan and change nothing")
	fs.BoolVar(&c.yes, "yes", false, "carry out what removes or replaces something")
	fs.BoolVar(&c.lose, "lose-evidence", false, "remove or replace even what a transcript names or a backup lacks")
	fs.BoolVar(&c.compact, "compact", false, "give the space back to the disk afterwards (release, prune)")
	fs.BoolVar(&c.quiet, "quiet", false, "no progress on stderr")
	fs.IntVar(&c.unseen, "unseen", 30, "prune what nobody was promised and was not seen for so many `days`")
	fs.IntVar(&c.unused, "unused", 0, "prune: also release sessions not used for so many `days`; 0 none")
	fs.Func("transcripts", "`file` or folder that may name originals; repeat it", func(path string) error {
		c.transcripts = append(c.transcripts, path)
		return nil
	})
}

// changes are the actions that copy, remove or replace.
func (f *vaultFlags) changes() map[string]func(s *stage, folder string, args []string) error {
	return map[string]func(*stage, string, []string) error{
		"backup": f.backup, "restore": f.restore, "release": f.release, "prune": f.prune, "import": f.importFile,
	}
}

// pages shows how far a copy or a removal is.
func (c *changeFlags) pages(s *stage, what string) (show func(done, total int), end func()) {
	p := newProgress(s, c.quiet, 0)
	return func(done, total int) { p.at(done, total, what) }, p.end
}

// backupPlan is what a dry run of a backup prints.
type backupPlan struct {
	DryRun    bool        `json:"dry_run"`
	From      string      `json:"from"`
	To        vault.Place `json:"to"`
	Artifacts int         `json:"artifacts"`
	Bytes     int64       `json:"stored"`
}

func (f *vaultFlags) backup(s *stage, folder string, args []string) error {
	if len(args) != 1 {
		return usagef("vault backup takes the folder or file to write, got %s", amount.Of(len(args), "argument")).try("tt vault --help")
	}
	v, done, err := f.open(folder, true)
	if err != nil {
		return err
	}
	defer done()
	to := placeOf(args[0])
	if f.change.dryRun {
		st, err := v.Status(s.ctx)
		if err != nil {
			return storage(err)
		}
		p := backupPlan{true, v.Path(), to, st.Artifacts, st.Stored}
		return f.tell(s, p, "would copy %s (%s) to %s\n", amount.Of(p.Artifacts, "original"), megabytes(p.Bytes), to.File)
	}
	show, end := f.change.pages(s, "pages copied")
	c, err := v.Backup(s.ctx, to, show)
	end()
	if err != nil {
		return storageOrTaken(err)
	}
	if err := f.tell(s, c, "%s: %s, every hash checked, %s\n", c.File, amount.Of(c.Artifacts, "original"), megabytes(c.Bytes)); err != nil {
		return err
	}
	if !c.Report.Sound() {
		return refusedf("the vault is not sound: %d damaged, %d lost; the copy holds the same", len(c.Report.Damaged), len(c.Report.Lost)).try("tt vault verify")
	}
	return nil
}

// placeOf takes a path that ends in a separator for a folder.
func placeOf(path string) vault.Place {
	if strings.HasSuffix(path, string(filepath.Separator)) {
		return vault.Place{File: filepath.Join(path, vault.FileName), Key: filepath.Join(path, vault.MarkerKeyName)}
	}
	return vault.PlaceOf(path)
}

func storageOrTaken(err error) error {
	f := storage(err)
	if errors.Is(err, safefile.ErrExists) {
		f.code = exitUsage
	}
	return f
}

// restored is what a restore prints: the plan, and what was done.
type restored struct {
	DryRun bool            `json:"dry_run"`
	Plan   vault.Restoring `json:"plan"`
	Done   *vault.Restored `json:"done"`
}

func (f *vaultFlags) restore(s *stage, folder string, args []string) error {
	if len(args) != 1 {
		return usagef("vault restore takes the backup's folder or file, got %s", amount.Of(len(args), "argument")).try("tt vault --help")
	}
	if daemon := daemonOf(s.ctx, folder); daemon != nil {
		daemon.Close()
		return refusedf("a daemon has this vault open").try("end it first with tt serve --stop; its process id stands in " + host.InfoName)
	}
	from := placeOf(args[0])
	if err := there(from.File); err != nil {
		return err
	}
	plan, err := vault.PlanRestore(s.ctx, from, folder, vault.Options{})
	if err != nil {
		return sourceFailure(err, folder, "name a backup that tt vault backup wrote: its folder, or the file itself")
	}
	out := restored{DryRun: f.change.dryRun, Plan: plan}
	refusal := plan.Allowed()
	if f.change.lose {
		refusal = nil
	}
	if refusal == nil && !f.change.dryRun && (f.change.yes || !plan.Replaces) {
		show, end := f.change.pages(s, "pages copied")
		done, err := plan.Run(s.ctx, ".before-"+time.Now().UTC().Format("20060102T150405.000"), show)
		end()
		if err != nil {
			return storage(err)
		}
		out.Done = &done
	}
	if err := f.tellRestore(s, out); err != nil {
		return err
	}
	switch {
	case refusal != nil:
		return (&failure{code: exitRefused, err: refusal}).try("take a backup of the vault in place first; --lose-evidence restores all the same")
	case out.Done == nil && !f.change.dryRun:
		return refusedf("nothing was changed").try("say --yes to replace the vault in place")
	}
	return nil
}

func (f *vaultFlags) tellRestore(s *stage, out restored) error {
	p := out.Plan
	if f.json {
		return printJSON(s.stdout, out)
	}
	fmt.Fprintf(s.stdout, "backup   %s: %s, %d damaged, %d lost\nvault    %s", p.From.File, amount.Of(p.Artifacts, "original"), len(p.Report.Damaged), len(p.Report.Lost), p.To.File)
	switch {
	case p.Broken != "":
		fmt.Fprintf(s.stdout, " cannot be read (%s)", p.Broken)
	case p.Replaces:
		fmt.Fprintf(s.stdout, " holds %s that the backup lacks", amount.Of(p.Missing, "original"))
	default:
		fmt.Fprint(s.stdout, " does not exist yet")
	}
	if p.NewKey {
		fmt.Fprint(s.stdout, "; its marker key is another one")
	}
	fmt.Fprintln(s.stdout)
	if out.Done == nil {
		return nil
	}
	for _, name := range out.Done.Aside {
		fmt.Fprintf(s.stdout, "aside    %s\n", name)
	}
	_, err := fmt.Fprintf(s.stdout, "restored %s, every hash checked\n", amount.Of(out.Done.Artifacts, "original"))
	return err
}

// there says that the file a command should read is missing.
func there(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no file %s", path).try("check its name")
	}
	return nil
}

// sourceFailure is storage, but a file that was given to be read is not told to be moved
// away: it is the user's own.
func sourceFailure(err error, folder, advice string) error {
	f := storage(err)
	var at *safefile.Error
	if errors.Is(err, sqlitefile.ErrNotSQLite) && errors.As(err, &at) && filepath.Clean(at.Path) != vaultFile(folder) {
		f.code, f.hint = exitUsage, advice
	}
	return f
}

func (f *vaultFlags) importFile(s *stage, folder string, args []string) error {
	if len(args) != 1 {
		return usagef("vault import takes one file, got %s", amount.Of(len(args), "argument")).try("tt vault --help")
	}
	if err := there(args[0]); err != nil {
		return err
	}
	show, end := f.change.pages(s, "rows read")
	out, err := f.runImport(s, folder, args[0], show)
	end()
	if err != nil {
		if out.Rows > 0 {
			fmt.Fprintf(s.stderr, "%d new originals were imported until then; the same command goes on from there\n", out.New)
		}
		return sourceFailure(err, folder, "name the artifacts.sqlite3 of the Python program")
	}
	verbWord := "imported"
	if f.change.dryRun {
		verbWord = "would import"
	}
	if err := f.tell(s, out, "%s: %s %d originals (%s), %d were here, %d refused; %d pins, %d observations\n",
		out.Path, verbWord, out.New, megabytes(out.Bytes), out.Known, len(out.Refused)+out.More, out.Pins, out.Observations); err != nil {
		return err
	}
	if len(out.Refused) == 0 {
		return nil
	}
	if !f.json {
		for _, r := range out.Refused {
			fmt.Fprintf(s.stderr, "refused %s: %s\n", r.ID, r.Why)
		}
	}
	return refusedf("%d rows were not taken", len(out.Refused)+out.More).try("they are damaged in the old store; keep that file")
}

func (f *vaultFlags) runImport(s *stage, folder, file string, show func(done, total int)) (vault.Imported, error) {
	switch {
	case f.live != nil && f.change.dryRun:
		return vault.CheckImport(s.ctx, f.live, file, show)
	case f.live != nil:
		return f.live.Import(s.ctx, file, show)
	case !f.change.dryRun:
		v, err := vault.Open(folder, f.options)
		if err != nil {
			return vault.Imported{}, err
		}
		out, err := v.Import(s.ctx, file, show)
		return out, errors.Join(err, v.Close())
	}
	if _, err := os.Stat(vaultFile(folder)); err != nil {
		return vault.CheckImport(s.ctx, nil, file, show)
	}
	v, err := vault.Open(folder, vault.Options{ReadOnly: true})
	if err != nil {
		return vault.Imported{}, err
	}
	defer v.Close()
	return vault.CheckImport(s.ctx, v, file, show)
}

// tell prints value as JSON, or the words.
func (f *vaultFlags) tell(s *stage, value any, format string, args ...any) error {
	if f.json {
		return printJSON(s.stdout, value)
	}
	_, err := fmt.Fprintf(s.stdout, format, args...)
	return err
}
