package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"token-terminator/host/settings"
	"token-terminator/host/watch"
	"token-terminator/ledger"
	"token-terminator/vault"
)

func statusVerb() verb {
	v := verb{
		name: "status", summary: "what the daemon of a home does, or what its files tell",
		usage: "[flags]",
		help: `The daemon is asked over its socket. Without one, vault and ledger are read as they
lie, and it is said that none runs. What is unknown is null, never 0.

Examples:
  tt status
  tt status --json
`,
	}
	v.run = func(s *stage, args []string) error {
		folder, asJSON, err := folderAsked(s, v, args)
		if err != nil {
			return err
		}
		status, err := statusOf(s, folder)
		if err != nil {
			return err
		}
		if asJSON {
			return watch.WriteJSON(s.stdout, status)
		}
		return watch.WriteText(s.stdout, status)
	}
	return v
}

func statusOf(s *stage, folder string) (watch.Status, error) {
	status, err := statusAsker{folder}.Status(s.ctx)
	if errors.Is(err, errNoDaemon) {
		set, err := loadSettings(s, folder, nil)
		if err != nil {
			return watch.Status{}, err
		}
		return fileStatus(s.ctx, folder, set), nil
	}
	var told *failure
	if errors.As(err, &told) {
		return watch.Status{}, told
	}
	if err != nil {
		return watch.Status{}, &failure{code: exitUnexpected, err: errors.New("the daemon does not answer"), hint: "tt doctor says what is wrong with it"}
	}
	return status, nil
}

// fileStatus is what vault and ledger tell by themselves.
func fileStatus(ctx context.Context, folder string, set settings.Settings) watch.Status {
	p := watch.Parts{Warnings: []string{errNoDaemon.Error()}, Jev: &watch.Part{State: "off"}, Policy: &watch.Part{State: "off"}}
	if v, err := vault.Open(filepath.Dir(vaultPath(folder, set)), vault.Options{ReadOnly: true, CapacityBytes: set.VaultMaxBytes}); err == nil {
		if st, err := v.Status(ctx); err == nil {
			p.Vault = &st
		}
		_ = v.Close() // it was only read
	} else if !errors.Is(err, fs.ErrNotExist) {
		p.Warnings = append(p.Warnings, "the vault cannot be opened: tt doctor says why")
	}
	r, err := ledger.OpenReading(ctx, ledgerPath(folder, set))
	switch {
	case err == nil:
		defer r.Close()
		sums(ctx, r, &p)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ledger.ErrOff):
		p.Warnings = append(p.Warnings, "the ledger cannot be opened: tt doctor says why")
	}
	return watch.Gather(p)
}

func sums(ctx context.Context, r *ledger.Reading, p *watch.Parts) {
	sum, err := r.Totals(ctx, ledger.Filter{})
	if err != nil {
		return
	}
	reasons, err := r.Reasons(ctx, ledger.Filter{})
	if err != nil {
		return
	}
	p.Totals, p.Reasons = &sum, reasons.Turns
	if all, err := r.Calibrations(ctx); err == nil {
		p.Calibrations = all
	}
}

// vaultPath is the vault's file: DB_PATH names it or its folder.
func vaultPath(folder string, set settings.Settings) string {
	switch {
	case set.DBPath == "":
		return filepath.Join(folder, vault.FileName)
	case strings.HasSuffix(set.DBPath, ".sqlite3"):
		return set.DBPath
	}
	return filepath.Join(set.DBPath, vault.FileName)
}

func ledgerPath(folder string, set settings.Settings) string {
	if set.LedgerPath != "" {
		return set.LedgerPath
	}
	return filepath.Join(folder, ledger.FileName)
}

// folderAsked reads the flags of a verb that looks at a home and takes no argument.
func folderAsked(s *stage, v verb, args []string) (folder string, asJSON bool, err error) {
	fs := newFlags(s, v)
	home := fs.String("home", "", "home `folder`")
	vaultDir := fs.String("vault", "", "vault `folder` instead of the home's")
	json := fs.Bool("json", false, "print JSON")
	rest, err := parse(fs, args)
	if err != nil {
		return "", false, err
	}
	if len(rest) > 0 {
		return "", false, usagef("%s takes no argument, got %q", v.name, rest[0]).try("tt " + v.name + " --help")
	}
	folder, err = vaultFolder(s, *vaultDir, *home)
	return folder, *json, err
}
