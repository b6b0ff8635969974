// Command tt shows an agent's tool results smaller without losing evidence, and
// says what that saves. Run "tt help" for its verbs.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
)

// stage is everything a verb may touch of the outside world.
type stage struct {
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string
	// environ lists the whole environment; nil: only names that are known are looked up.
	environ func() []string
}

// verb is one command of tt.
type verb struct {
	name    string
	summary string
	usage   string // after "tt name"
	help    string // arguments and examples
	run     func(*stage, []string) error
}

func verbs() []verb {
	return []verb{
		serveVerb(), replayVerb(), reduceVerb(), recoverVerb(), explainVerb(), vaultVerb(), benchVerb(), versionVerb(),
		statusVerb(), doctorVerb(), configVerb(),
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), ending(signal.Ignored(syscall.SIGHUP))...)
	defer stop()
	s := &stage{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, environ: os.Environ}
	os.Exit(run(s, os.Args))
}

// ending lists the signals that end a command in order, its temporary folder removed. A
// closed terminal is one, unless whoever started us has it ignored, as nohup does.
func ending(nohup bool) []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !nohup {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// run executes one command line and gives its exit code.
func run(s *stage, args []string) int {
	name := filepath.Base(args[0])
	if name != "token-terminator" {
		name = "tt"
	}
	if len(args) < 2 || args[1] == "help" || args[1] == "-h" || args[1] == "--help" {
		if len(args) > 2 {
			return report(s, name, dispatch(s, []string{args[2], "--help"}))
		}
		overview(s.stdout, name)
		if len(args) < 2 {
			return exitUsage
		}
		return exitDone
	}
	if args[1] == "--version" || args[1] == "-v" {
		args[1] = "version"
	}
	return report(s, name, dispatch(s, args[1:]))
}

func dispatch(s *stage, args []string) error {
	for _, v := range verbs() {
		if v.name == args[0] {
			return v.run(s, args[1:])
		}
	}
	return usagef("there is no verb %q", args[0]).try("tt help lists the verbs")
}

func overview(w io.Writer, name string) {
	fmt.Fprintf(w, "%s shows an agent's tool results smaller without losing evidence.\n\nVerbs:\n", name)
	for _, v := range verbs() {
		fmt.Fprintf(w, "  %-9s %s\n", v.name, v.summary)
	}
	fmt.Fprintf(w, "\n%s VERB --help explains one verb. Data goes to stdout, words to stderr; --json is for machines.\n%s", name, exitsHelp)
}

// newFlags makes a verb's flag set: errors come back instead of exiting.
func newFlags(s *stage, v verb) *flag.FlagSet {
	fs := flag.NewFlagSet("tt "+v.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {
		fmt.Fprintf(s.stdout, "Usage: tt %s %s\n\n%s\n%s\nFlags:\n", v.name, v.usage, v.summary, v.help)
		var list bytes.Buffer
		fs.SetOutput(&list)
		fs.PrintDefaults()
		fs.SetOutput(io.Discard)
		fmt.Fprint(s.stdout, helpDash.ReplaceAllString(list.String(), "  --$1"))
		fmt.Fprint(s.stdout, "\n"+exitsHelp)
	}
	return fs
}

// flagName finds the single dash the flag package writes before a name; helpDash the
// same in its list of flags.
var (
	flagName = regexp.MustCompile(`(not defined: |for flag |argument: |flag )-([a-z])`)
	helpDash = regexp.MustCompile(`(?m)^  -([a-z])`)
)

// parse reads flags that may stand before and after the arguments.
func parse(fs *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	help := fs.Usage
	fs.Usage = func() {} // a wrong flag prints words on stderr, not this page on stdout
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				help()
				return nil, err
			}
			return nil, usagef("%s", flagName.ReplaceAllString(err.Error(), "${1}--${2}")).try(fs.Name() + " --help")
		}
		left := fs.Args()
		if len(left) == 0 {
			return rest, nil
		}
		// flag stops at the first argument, and swallows "--": keep what follows it.
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), nil
		}
		rest = append(rest, left[0])
		args = left[1:]
	}
}
