package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"token-terminator/internal/amount"
	"token-terminator/reports"
)

// crashed is the error of a session on which this program has a defect. It names the
// place in the program, never what the session holds.
func crashed(session string, value any) error {
	return fmt.Errorf("replay %s: a defect of this program (%T%s); the session is left out", session, value, panicPlace())
}

// panicPlace is the function and line that panicked, seen from a deferred function.
func panicPlace() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	panicked := false
	for {
		frame, more := frames.Next()
		inRuntime := strings.HasPrefix(frame.Function, "runtime.")
		switch {
		case inRuntime:
			panicked = true
		case panicked:
			return fmt.Sprintf(" in %s, line %d", frame.Function, frame.Line)
		}
		if !more {
			return ""
		}
	}
}

// sift parts the sessions that were replayed from those that were not. An error of
// the environment, a full disk for one, is every session's and ends the replay.
func (r *replay) sift(runs []*sessionRun) (good []*sessionRun, err error) {
	for _, run := range runs {
		var environment *failure
		switch {
		case errors.As(run.err, &environment):
			return nil, run.err
		case run.err != nil:
			r.failed = append(r.failed, run.err)
		default:
			good = append(good, run)
		}
	}
	return good, nil
}

// failures names the sessions that are in no figure.
func (r *replay) failures(w io.Writer) {
	for _, err := range r.failed {
		fmt.Fprintln(w, "tt:", err)
	}
}

// verdict is what the exit code says of a replay that was reported.
func (r *replay) verdict(t reports.Session, problems int) error {
	switch {
	case t.RecoveriesFailed > 0 || t.PairingViolations > 0 || t.EnlargedTurns > 0:
		return refusedf("the replay broke a promise: see recoveries, pairing and enlarged turns above")
	case len(r.failed) > 0:
		return fmt.Errorf("%s could not be replayed, named above; the figures are of the others", amount.Of(len(r.failed), "session"))
	case problems > 0:
		return usagef("%s in the inputs, named above; the figures are of what could be read", amount.Of(problems, "problem"))
	}
	return nil
}
