package doctor

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"token-terminator/host/settings"
	"token-terminator/host/watch"
)

// Status is how bad a finding is.
type Status string

// The three.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Finding is what one check found.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	What   string `json:"what"`             // one sentence
	Advice string `json:"advice,omitempty"` // one sentence; never empty unless ok
}

// Report is every finding.
type Report struct {
	Schema   int       `json:"schema"`
	Findings []Finding `json:"findings"`
	Failed   int       `json:"failed"`
	Warned   int       `json:"warned"`
}

// Asker asks a running daemon for its status. host's client is one.
type Asker interface {
	Status(ctx context.Context) (watch.Status, error)
}

// Home is what is looked at.
type Home struct {
	Folder   string            // <home>/token-terminator
	DBPath   string            // "" : in Folder
	Ledger   string            // "" : in Folder
	Version  string            // of this program
	Settings settings.Settings // in force for this command
	Config   error             // why config.toml was not taken, nil
	Asker    Asker             // nil: the daemon is not asked
	Machine  Machine           // zero: the real one
	Now      time.Time
}

// Machine is what the checks ask the operating system.
type Machine struct {
	// Disk tells of the file system path lies on.
	Disk func(path string) (Disk, error)
	// Alive says whether a process runs; known is false where that cannot be told.
	Alive func(pid int) (alive, known bool)
	// Locked says whether another process holds the lock of a file.
	Locked func(path string) (held bool, err error)
	// May says whether this user may read a file or list a folder, and with write also
	// change it.
	May func(path string, write bool) bool
}

// Disk is a file system.
type Disk struct {
	Free, Total uint64 // bytes; Total 0: unknown
	Network     string // name of a network file system, "" none
	Known       bool   // whether Network was told from others at all
}

// exam is one run.
type exam struct {
	Home
	ctx    context.Context
	status *watch.Status // of the running daemon, once asked
	shut   bool          // the folder cannot be opened: its files cannot be looked at
	out    []Finding
}

func (e *exam) ok(check, what string, args ...any) {
	e.out = append(e.out, Finding{Check: check, Status: OK, What: fmt.Sprintf(what, args...)})
}

func (e *exam) warn(check, advice, what string, args ...any) {
	e.out = append(e.out, Finding{Check: check, Status: Warn, What: fmt.Sprintf(what, args...), Advice: advice})
}

func (e *exam) fail(check, advice, what string, args ...any) {
	e.out = append(e.out, Finding{Check: check, Status: Fail, What: fmt.Sprintf(what, args...), Advice: advice})
}

// Look runs every check. A check that panics is a failed finding, not the end.
func Look(ctx context.Context, h Home) Report {
	h.Machine = h.Machine.filled()
	if h.Now.IsZero() {
		h.Now = time.Now()
	}
	e := &exam{Home: h, ctx: ctx}
	for _, c := range []struct {
		name string
		run  func(*exam)
	}{
		{"folder", (*exam).folder}, {"files", (*exam).files}, {"disk", (*exam).disk}, {"settings", (*exam).settings},
		{"daemon", (*exam).daemon}, {"vault", (*exam).vault}, {"marker key", (*exam).key}, {"ledger", (*exam).ledger},
		{"traffic", (*exam).traffic}, {"clock", (*exam).clock}, {"leftovers", (*exam).leftovers},
	} {
		e.guarded(c.name, c.run)
	}
	r := Report{Schema: 1, Findings: e.out}
	for _, f := range e.out {
		switch f.Status {
		case Fail:
			r.Failed++
		case Warn:
			r.Warned++
		}
	}
	return r
}

func (e *exam) guarded(name string, run func(*exam)) {
	defer func() {
		if v := recover(); v != nil {
			e.fail(name, "please report this", "the check itself broke (%T)", v)
		}
	}()
	run(e)
}

// WriteText writes the report for people.
func WriteText(w io.Writer, r Report) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range r.Findings {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", f.Status, f.Check, f.What)
		if f.Advice != "" {
			fmt.Fprintf(tw, "\t\t→ %s\n", f.Advice)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d checks failed, %d warn.\n", r.Failed, r.Warned)
	return err
}
