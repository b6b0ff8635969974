package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"token-terminator/turn"
	"token-terminator/vault"
)

// Exit codes, the same for every verb.
const (
	exitDone       = 0
	exitUnexpected = 1
	exitUsage      = 2
	exitRefused    = 3
	exitStorage    = 4
)

const exitsHelp = "Exit codes: 0 done, 1 unexpected or interrupted, 2 usage or input, 3 refused or evidence absent, 4 storage.\n"

// failure is an error with the exit code and the hint it ends in.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func (f *failure) try(hint string) *failure {
	f.hint = hint
	return f
}

func usagef(format string, args ...any) *failure {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func refusedf(format string, args ...any) *failure {
	return &failure{code: exitRefused, err: fmt.Errorf(format, args...)}
}

func storage(err error) *failure {
	f := &failure{code: exitStorage, err: err}
	var told interface{ Hint() string }
	if errors.As(err, &told) {
		f.hint = told.Hint()
	}
	for _, wrong := range []error{vault.ErrAmbiguous, vault.ErrRange, vault.ErrQuery, vault.ErrNoSession, vault.ErrReference, turn.ErrBadArtifactID} {
		if errors.Is(err, wrong) {
			f.code = exitUsage
		}
	}
	for _, absent := range []error{vault.ErrUnknown, vault.ErrNotYours, vault.ErrReleased, vault.ErrLost} {
		if errors.Is(err, absent) {
			f.code = exitRefused
		}
	}
	return f
}

// report prints what went wrong and gives the exit code.
func report(s *stage, name string, err error) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	var told *relayed
	if errors.As(err, &told) {
		return told.code
	}
	code, hint := exitUnexpected, ""
	var f *failure
	if errors.As(err, &f) {
		code, hint = f.code, f.hint
	}
	if s.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		fmt.Fprintf(s.stderr, "%s: interrupted\n", name)
		return exitUnexpected
	}
	fmt.Fprintf(s.stderr, "%s: %v\n", name, err)
	if hint != "" {
		fmt.Fprintf(s.stderr, "Try: %s\n", hint)
	}
	return code
}
