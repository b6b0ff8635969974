package main

import (
	"cmp"
	"fmt"
	"time"

	"token-terminator/internal/amount"
	"token-terminator/vault"
)

// removal is what release and prune print: the plan, what stands against it, and what
// was done.
type removal struct {
	DryRun    bool  `json:"dry_run"`
	Artifacts int   `json:"artifacts"`
	Bytes     int64 `json:"bytes"`
	vault.Removal
	IDs         []vault.Doomed  `json:"ids"`         // the first 100
	Transcripts *vault.Searched `json:"transcripts"` // null when none were searched
	Done        *vault.Removed  `json:"done"`
}

// shownIDs is how many ids of a plan are printed.
const shownIDs = 100

func (f *vaultFlags) release(s *stage, folder string, args []string) error {
	if len(args) > 1 || (len(args) == 0) == (f.session == "") {
		return usagef("vault release takes one ID, or --session CHAIN").try("tt vault --help")
	}
	id := ""
	if len(args) == 1 {
		id = args[0]
	}
	return f.remove(s, folder, func(v *vault.Vault) (vault.Removal, error) { return v.PlanRelease(s.ctx, f.session, id) })
}

func (f *vaultFlags) prune(s *stage, folder string, args []string) error {
	if len(args) != 0 {
		return usagef("vault prune takes no argument").try("tt vault --help")
	}
	if f.change.unseen < 0 || f.change.unused < 0 || f.change.unseen > 36_500 || f.change.unused > 36_500 {
		return usagef("--unseen and --unused are days from 0 to 36500")
	}
	const day = 24 * time.Hour
	return f.remove(s, folder, func(v *vault.Vault) (vault.Removal, error) {
		return v.PlanPrune(s.ctx, time.Duration(f.change.unseen)*day, time.Duration(f.change.unused)*day)
	})
}

func (f *vaultFlags) remove(s *stage, folder string, plan func(*vault.Vault) (vault.Removal, error)) error {
	v, done, err := f.open(folder, f.change.dryRun || !f.change.yes)
	if err != nil {
		return err
	}
	defer done()
	out := removal{DryRun: f.change.dryRun}
	if out.Removal, err = plan(v); err != nil {
		return storage(err)
	}
	out.Artifacts, out.Bytes = len(out.Removal.Artifacts), out.Removal.Bytes()
	out.IDs = append([]vault.Doomed{}, out.Removal.Artifacts[:min(shownIDs, len(out.Removal.Artifacts))]...)
	if len(f.change.transcripts) > 0 {
		found, err := v.Mentions(s.ctx, out.Removal, f.change.transcripts)
		if err != nil {
			return (&failure{code: exitUsage, err: err}).try("check the paths given with --transcripts")
		}
		out.Transcripts = &found
	}
	clean := f.change.lose || out.Transcripts == nil || out.Transcripts.Clean()
	if clean && f.change.yes && !f.change.dryRun {
		if err := f.carryOut(s, v, &out); err != nil {
			return err
		}
	}
	if err := f.tellRemoval(s, out); err != nil {
		return err
	}
	switch {
	case !clean:
		return (&failure{code: exitRefused, err: fmt.Errorf("%w: %s named, %s unread", vault.ErrNamed, amount.Of(len(out.Transcripts.Named), "original"), amount.Of(len(out.Transcripts.Unread), "file"))}).
			try("keep them, or say --lose-evidence when those transcripts are not needed any more")
	case out.Done == nil && !f.change.dryRun:
		return refusedf("nothing was changed").try("say --yes to carry this out")
	}
	return nil
}

func (f *vaultFlags) carryOut(s *stage, v *vault.Vault, out *removal) error {
	if out.Transcripts == nil && !f.change.lose && out.Artifacts > 0 {
		fmt.Fprintln(s.stderr, "no transcript was searched: ids in them may stop working (--transcripts PATH looks first)")
	}
	show, end := f.change.pages(s, "originals removed")
	done, err := v.Remove(s.ctx, out.Removal, show)
	end()
	if err == nil && f.change.compact {
		err = v.Compact(s.ctx)
	}
	if err != nil {
		fmt.Fprintf(s.stderr, "%s of %s removed until then; the same command goes on from there\n", amount.Number(done.Artifacts), amount.Of(out.Artifacts, "original"))
		return storage(err)
	}
	out.Done = &done
	return nil
}

func (f *vaultFlags) tellRemoval(s *stage, out removal) error {
	if f.json {
		return printJSON(s.stdout, out)
	}
	word := out.Why
	if out.Done == nil {
		word = "would " + cmp.Or(map[string]string{"released": "release", "pruned": "prune"}[out.Why], "remove")
	}
	fmt.Fprintf(s.stdout, "%s: %s (%s), %s, %s, %s\n",
		word, amount.Of(out.Artifacts, "original"), megabytes(out.Bytes), amount.Of(out.Pins, "pin"), amount.Of(out.Nodes, "remembered message"), amount.Of(len(out.Sessions), "session"))
	for _, d := range out.IDs {
		fmt.Fprintf(s.stdout, "  %s  %9d bytes  %s\n", d.ID, d.Bytes, amount.Of(int(d.Pins), "pin"))
	}
	if more := out.Artifacts - len(out.IDs); more > 0 {
		fmt.Fprintf(s.stdout, "  and %d more\n", more)
	}
	if t := out.Transcripts; t != nil {
		fmt.Fprintf(s.stdout, "searched %s (%s): %d named, %d unread\n", amount.Of(t.Files, "file"), megabytes(t.Bytes), len(t.Named), len(t.Unread))
		for _, n := range t.Named {
			fmt.Fprintf(s.stdout, "  %s is named in %s\n", n.ID, n.Path)
		}
		for _, u := range t.Unread {
			fmt.Fprintf(s.stdout, "  %s: %s\n", u.Path, u.Why)
		}
	}
	if out.Done == nil {
		return nil
	}
	_, err := fmt.Fprintf(s.stdout, "removed %s (%s), %s, %s; %d in use again stay\n",
		amount.Of(out.Done.Artifacts, "original"), megabytes(out.Done.Bytes), amount.Of(int(out.Done.Pins), "pin"), amount.Of(int(out.Done.Nodes), "remembered message"), out.Done.Kept)
	return err
}
