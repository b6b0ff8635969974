package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"token-terminator/host/logs"
	"token-terminator/host/settings"
	"token-terminator/internal/safefile"
	"token-terminator/ledger"
	"token-terminator/vault"
)

// Names of the daemon's files.
const (
	infoName = "daemon.json"
	lockName = "daemon.lock"
)

func (e *exam) path(name string) string { return filepath.Join(e.Folder, name) }

// vaultFile and ledgerFile are where the two databases lie.
func (e *exam) vaultFile() string {
	switch {
	case e.DBPath == "":
		return e.path(vault.FileName)
	case strings.HasSuffix(e.DBPath, ".sqlite3"):
		return e.DBPath
	}
	return filepath.Join(e.DBPath, vault.FileName)
}

func (e *exam) ledgerFile() string {
	if e.Ledger != "" {
		return e.Ledger
	}
	return e.path(ledger.FileName)
}

func (e *exam) folder() {
	err := safefile.CheckDir(e.Folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if !e.Machine.May(above(e.Folder), true) {
			e.fail("folder", "choose another home with --home, or make that folder writable for your user", "there is none, and it cannot be made: your user may not write in the folder above it")
			return
		}
		e.ok("folder", "there is none yet: it is made on first use")
		return
	case err != nil:
		e.fail("folder", hint(err), "it cannot be used: it %s", cause(err))
		return
	}
	if e.shut = !e.Machine.May(e.Folder, false); e.shut || !e.Machine.May(e.Folder, true) {
		e.fail("folder", "run chmod u+rwx on it, or choose another home with --home", "your user may not open it and write in it: nothing can be stored, requests pass unchanged")
		return
	}
	if open(e.Folder) {
		e.warn("folder", "run chmod 700 on it", "other users may list it")
		return
	}
	e.ok("folder", "it is yours and private")
}

// above is the nearest folder above path that is there.
func above(path string) string {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			return at
		}
	}
}

// written are the files that are changed while it works.
func (e *exam) written(path string) bool {
	switch path {
	case e.path(infoName), e.path(lockName):
		return true
	}
	return strings.HasPrefix(path, e.vaultFile()) || strings.HasPrefix(path, e.ledgerFile())
}

// known are the files whose owner and mode matter.
func (e *exam) known() []string {
	names := []string{e.vaultFile(), e.ledgerFile()}
	for _, db := range slices.Clone(names) {
		names = append(names, db+"-wal", db+"-shm")
	}
	for _, name := range []string{vault.MarkerKeyName, settings.FileName, infoName, lockName, "dashboard.json", logs.FolderName, filepath.Join(logs.FolderName, logs.FileName)} {
		names = append(names, e.path(name))
	}
	return names
}

func (e *exam) files() {
	if e.shut {
		e.fail("files", "make the folder usable first", "they cannot be looked at")
		return
	}
	bad, seen := false, 0
	for _, path := range e.known() {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		name := filepath.Base(path)
		if err == nil {
			seen++
			if info.IsDir() {
				err = safefile.CheckDir(path)
			} else {
				err = safefile.CheckFile(path)
			}
		}
		switch {
		case err != nil:
			bad = true
			e.fail("files", hint(err), "%s cannot be used: it %s", name, cause(err))
		case !e.Machine.May(path, e.written(path)):
			bad = true
			e.fail("files", "run chmod u+rw on it", "%s may not be read and written by your user", name)
		case open(path):
			bad = true
			e.warn("files", "run chmod go-rwx on it", "other users may read %s", name)
		}
	}
	if !bad {
		e.ok("files", "%d files, all private and yours", seen)
	}
}

// open says whether others than the owner have any right.
func open(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}

const (
	lowDisk  = 1 << 30
	fullDisk = 64 << 20
)

func (e *exam) disk() {
	at := filepath.Dir(e.vaultFile())
	for {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	d, err := e.Machine.Disk(at)
	if err != nil {
		e.warn("disk", "check that the folder can be read", "the file system cannot be asked")
		return
	}
	switch {
	case d.Network != "":
		e.fail("disk", "choose a folder on a disk of this machine, with --home or TOKEN_TERMINATOR_DB_PATH", "the vault lies on a network file system (%s), whose locks cannot be relied on", d.Network)
	case d.Total > 0 && d.Free < fullDisk:
		e.fail("disk", "free some space: without it every request passes unchanged", "%d MB are left on the vault's disk", d.Free>>20)
	case d.Total > 0 && d.Free < lowDisk:
		e.warn("disk", "free some space, or lower the vault's capacity", "%d MB are left on the vault's disk", d.Free>>20)
	case d.Total == 0:
		e.ok("disk", "its space cannot be told on this system")
	default:
		e.ok("disk", "%d GB are left on the vault's disk", d.Free>>30)
	}
}

func (e *exam) settings() {
	if e.Config != nil {
		told := "it cannot be read"
		var file *settings.FileError
		if errors.As(e.Config, &file) {
			file.Path = settings.FileName
			told = file.Error()
		} else if why := cause(e.Config); why != "" {
			told = settings.FileName + " " + why
		}
		e.fail("settings", hint(e.Config), "%s", told)
		return
	}
	for _, notice := range e.Settings.Notices {
		e.warn("settings", "docs/settings.md lists every setting", "%s", notice)
	}
	switch {
	case !e.Settings.Active():
		e.warn("settings", "set TOKEN_TERMINATOR_MODE=balanced to switch it on", "it is switched off: nothing is shown smaller")
	case e.Settings.Observe():
		e.warn("settings", "set TOKEN_TERMINATOR_MODE=balanced to act", "the mode is suggest: everything is measured and nothing changed")
	case len(e.Settings.Notices) == 0:
		e.ok("settings", "mode %s", e.Settings.Mode)
	}
}

// leftovers are files of work that was broken off, and what restores moved aside.
func (e *exam) leftovers() {
	entries, err := os.ReadDir(filepath.Dir(e.vaultFile()))
	if err != nil {
		e.ok("leftovers", "none")
		return
	}
	base, parts, aside, temps := filepath.Base(e.vaultFile()), 0, 0, 0
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, base+".part"), name == base+"-journal":
			parts++
		case strings.HasPrefix(name, base+".before-"):
			aside++
		case strings.HasPrefix(name, ".new-"):
			temps++
		}
	}
	if parts > 0 {
		e.warn("leftovers", "when no tt vault restore or backup is at work, remove the files whose names go on after "+base, "%d files of a copy or migration that did not end lie beside the vault", parts)
	}
	if temps > 0 {
		e.warn("leftovers", "when no daemon runs, remove the files whose names begin with .new-", "%d files of a write that did not end lie beside the vault", temps)
	}
	if aside > 0 {
		e.warn("leftovers", "remove them when the restored vault has everything (tt vault verify)", "%d files that a restore moved aside take space", aside)
	}
	if parts+aside+temps == 0 {
		e.ok("leftovers", "none")
	}
}

// cause says in our words why a path was refused; foreign text is not repeated.
func cause(err error) string {
	for _, known := range []error{
		safefile.ErrSymlink, safefile.ErrOwner, safefile.ErrNotFolder, safefile.ErrNotFile, safefile.ErrOpenToAll, safefile.ErrTooLarge,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return "may not be read"
	}
	return "cannot be read"
}

func hint(err error) string {
	var told interface{ Hint() string }
	if errors.As(err, &told) && told.Hint() != "" {
		return told.Hint()
	}
	return "look at its owner and mode"
}
