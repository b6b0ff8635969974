package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"token-terminator/internal/amount"
	"token-terminator/internal/sqlitefile"
	"token-terminator/ledger"
	"token-terminator/turn"
	"token-terminator/vault"
)

// sampleSize is how many of the newest originals are read and hashed again, and
// sampleBytes bounds them together.
const (
	sampleSize  = 32
	sampleBytes = 64 << 20
)

func (e *exam) vault() {
	path := e.vaultFile()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		e.ok("vault", "there is none yet: it is made on first use")
		return
	}
	v, err := vault.Open(filepath.Dir(path), vault.Options{ReadOnly: true, CapacityBytes: e.Settings.VaultMaxBytes})
	if err != nil {
		e.fail("vault", storeAdvice(err, "tt vault restore puts a backup back"), "it cannot be opened: %s", storeCause(err))
		return
	}
	defer v.Close()
	st, err := v.Status(e.ctx)
	if err != nil {
		e.fail("vault", storeAdvice(err, "tt vault verify reads all of it"), "it cannot be counted: %s", storeCause(err))
		return
	}
	e.sample(v, st)
	e.capacity(st)
}

func (e *exam) sample(v *vault.Vault, st vault.Status) {
	list, err := v.List(e.ctx, "", sampleSize)
	if err != nil {
		e.fail("vault", storeAdvice(err, "tt vault verify reads all of it"), "it cannot be listed: %s", storeCause(err))
		return
	}
	read, size, bad := 0, 0, 0
	for _, a := range list.Artifacts {
		if size += a.Bytes; size > sampleBytes {
			break
		}
		read++
		if _, err := v.Get(e.ctx, "", string(a.ID)); err != nil {
			bad++
		}
	}
	if bad > 0 {
		e.fail("vault", "keep a copy of the folder, run tt vault verify, then tt vault restore from a backup", "%d of the %d newest originals do not match their hash", bad, read)
		return
	}
	e.ok("vault", "schema %d, %s, the %d newest match their hashes", st.Schema, amount.Of(st.Artifacts, "original"), read)
}

func (e *exam) capacity(st vault.Status) {
	const advice = "raise TOKEN_TERMINATOR_VAULT_MAX_BYTES, or release and prune what no transcript needs (docs/vault.md)"
	switch {
	case st.Level == vault.LevelRed:
		e.fail("capacity", advice, "the vault is %.0f %% full; when it is full, requests pass unchanged", st.Percent)
	case st.Level == vault.LevelWarning:
		e.warn("capacity", advice, "the vault is %.0f %% full%s", st.Percent, when(", and 90 % are reached about ", st.Forecast.RedAt))
	case st.Forecast.WarnAt != nil && st.Forecast.WarnAt.Sub(e.Now) < 30*24*time.Hour:
		e.warn("capacity", advice, "the vault is %.0f %% full; 70 %% are reached about %s", st.Percent, st.Forecast.WarnAt.Format(time.DateOnly))
	default:
		e.ok("capacity", "the vault is %.1f %% full", st.Percent)
	}
}

func when(words string, at *time.Time) string {
	if at == nil {
		return ""
	}
	return words + at.Format(time.DateOnly)
}

func (e *exam) key() {
	path := filepath.Join(filepath.Dir(e.vaultFile()), vault.MarkerKeyName)
	info, err := os.Lstat(path)
	_, vaultErr := os.Lstat(e.vaultFile())
	switch {
	case errors.Is(err, fs.ErrNotExist) && vaultErr == nil:
		e.warn("marker key", "restore it from a backup of the folder; else a new one is made on the next start", "it is missing: markers written before are no longer recognised as ours")
	case errors.Is(err, fs.ErrNotExist):
		e.ok("marker key", "there is none yet")
	case err != nil:
		e.fail("marker key", "make it readable for your user", "it cannot be looked at")
	case info.Size() != 32:
		e.fail("marker key", "restore it from a backup, or move it away", "it has %d bytes, want 32", info.Size())
	default:
		e.ok("marker key", "it is there")
	}
}

func (e *exam) ledger() {
	if !e.Settings.Ledger && e.Config == nil {
		e.ok("ledger", "it is switched off")
		return
	}
	path := e.ledgerFile()
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		e.ok("ledger", "there is none yet")
		return
	}
	r, err := ledger.OpenReading(e.ctx, path)
	if errors.Is(err, ledger.ErrOff) {
		e.ok("ledger", "it is empty")
		return
	}
	if err != nil {
		e.warn("ledger", storeAdvice(err, "move the file away; a new one is made"), "it cannot be opened (%s): turns are not recorded, requests are not affected", storeCause(err))
		return
	}
	defer r.Close()
	sum, err := r.Totals(e.ctx, ledger.Filter{})
	if err != nil {
		e.warn("ledger", storeAdvice(err, "move the file away; a new one is made"), "it cannot be summed (%s)", storeCause(err))
		return
	}
	e.ok("ledger", "%s of %s", amount.Of(int(sum.Turns), "turn"), amount.Of(int(sum.Sessions), "session"))
	e.calibration(r)
}

func (e *exam) calibration(r *ledger.Reading) {
	all, err := r.Calibrations(e.ctx)
	if err != nil {
		return
	}
	off := 0
	for _, c := range all {
		if c.PanelOff() {
			off++
		}
	}
	if off > 0 {
		e.warn("ledger", "name an encoding with TOKEN_TERMINATOR_TIKTOKEN_ENCODING, or switch it off for these models", "reported usage of %d models contradicts what the panel counted", off)
	}
}

// traffic says whether turns come and whether anything is done with them.
func (e *exam) traffic() {
	r, err := ledger.OpenReading(e.ctx, e.ledgerFile())
	if err != nil {
		return
	}
	defer r.Close()
	week := ledger.Filter{Since: e.Now.Add(-7 * 24 * time.Hour)}
	sum, err := r.Totals(e.ctx, week)
	if err != nil {
		return
	}
	reasons, err := r.Reasons(e.ctx, week)
	if err != nil {
		return
	}
	top, n := most(reasons.Turns)
	switch {
	case sum.Turns == 0:
		e.warn("traffic", "check that a host is connected to this home", "no turn came in the last seven days")
	case sum.Edited == 0:
		e.warn("traffic", "docs/reasons.md explains the reason", "none of %s of the last seven days was shown smaller; most often: %s (%d)", amount.Of(int(sum.Turns), "turn"), top, n)
	case sum.FailOpens*10 > sum.Turns:
		fail, k := most(reasons.Fails)
		e.warn("traffic", "docs/reasons.md explains the reason", "%d of %s of the last seven days passed because something failed; most often: %s (%d)", sum.FailOpens, amount.Of(int(sum.Turns), "turn"), fail, k)
	default:
		e.ok("traffic", "%s in the last seven days, %d shown smaller", amount.Of(int(sum.Turns), "turn"), sum.Edited)
	}
}

func most(counts map[turn.Reason]int64) (top turn.Reason, n int64) {
	for reason, count := range counts {
		if count > n || count == n && reason < top {
			top, n = reason, count
		}
	}
	return top, n
}

// storeCause names the kind of a database's error in our words.
func storeCause(err error) string {
	for _, known := range []error{
		sqlitefile.ErrNewer, sqlitefile.ErrForeign, sqlitefile.ErrNotSQLite, sqlitefile.ErrCorrupt, sqlitefile.ErrPendingWAL,
		sqlitefile.ErrFull, sqlitefile.ErrBusy, sqlitefile.ErrReadOnly, sqlitefile.ErrIO, sqlitefile.ErrCantOpen, vault.ErrKey,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "it " + cause(err)
}

func storeAdvice(err error, otherwise string) string {
	var told interface{ Hint() string }
	if errors.As(err, &told) && told.Hint() != "" {
		return told.Hint()
	}
	return otherwise
}
