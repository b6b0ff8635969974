package needles

import (
	"embed"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
)

//go:embed logs/*.log
var logFiles embed.FS

// Classes of needles. Hard is a number of an ordinary line replaced by a value that
// occurs nowhere else, in a slot with few values; Arbitrary is the same in a slot of
// ids or measurements, where no rule can call a value odd.
const (
	LogWord    = "log: error word"
	LogNoWord  = "log: odd line without error word"
	JSONError  = "json: error"
	JSONValue  = "json: outlier"
	JSONUnique = "json: unique text"
	SearchHit  = "search: odd hit"
	TestFail   = "test: failure"
	Stack      = "stack: cause"
	Hard       = "log: hard, rare value"
	Arbitrary  = "log: value of an arbitrary slot"
)

// Classes lists the classes in the order of a report.
func Classes() []string {
	return []string{LogWord, LogNoWord, JSONError, JSONValue, JSONUnique, SearchHit, TestFail, Stack, Hard, Arbitrary}
}

// Case is one text with one needle.
type Case struct {
	Class   string
	Name    string // where the needle is, for a report
	Text    string
	Needle  string // must stand literally in what is shown
	Tool    string // the call that would give such a text
	Command string
}

// Log is one bundled log.
type Log struct {
	Name string
	Text string
}

// Logs gives the bundled logs by name.
func Logs() []Log {
	var out []Log
	entries, err := fs.ReadDir(logFiles, "logs")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		b, err := fs.ReadFile(logFiles, "logs/"+e.Name())
		if err != nil {
			panic(err)
		}
		out = append(out, Log{strings.TrimSuffix(e.Name(), ".log"), string(b)})
	}
	return out
}

// Seed makes the published cases.
const Seed = 20261130

// places are the shares of a text, in percent, where needles go.
var places = [...]int{25, 50, 75}

// Cases generates all cases of a seed.
func Cases(seed uint64) []Case {
	r := rand.New(rand.NewPCG(seed, 2))
	var out []Case
	for _, l := range Logs() {
		for _, p := range places {
			out = append(out, inserted(l, p, r)...)
			out = append(out, replaced(l, p, r)...)
		}
	}
	for _, p := range places {
		out = append(out, arrays(p, r)...)
		out = append(out, searches(p, r)...)
		out = append(out, testRuns(p, r)...)
		out = append(out, stacks(p, r)...)
	}
	return out
}

var wordLines = [...]string{
	"ERROR replica set lost its primary, writes are refused",
	"warning: certificate for internal.example expires in 2 days",
	"panic: runtime error: index out of range [5] with length 3",
	"job 17 exited with status 137",
	"Traceback (most recent call last): in worker 4",
	"AssertionError: expected balance to stay positive",
}

var plainLines = [...]string{
	"operator opened valve seven by hand during the night shift",
	"leader moved from node blue to node amber",
	"feature switch dark_launch_pricing is now on",
	"schema upgraded from revision forty to revision forty-one",
	"maintenance window begins, traffic drained to the west side",
	"received signal hangup, reloading the route table",
}

// inserted puts a new line into a log: once with an error word, twice without, of
// which one wears the head of the line above it.
func inserted(l Log, percent int, r *rand.Rand) []Case {
	lines := strings.Split(strings.TrimSuffix(l.Text, "\n"), "\n")
	at := len(lines) * percent / 100
	name := fmt.Sprintf("%s at %d %%", l.Name, percent)
	make1 := func(class, line, extra string) Case {
		all := append(append(append([]string(nil), lines[:at]...), line), lines[at:]...)
		return Case{Class: class, Name: name + extra, Text: strings.Join(all, "\n") + "\n", Needle: line, Tool: "bash", Command: "kubectl logs " + l.Name}
	}
	plain := plainLines[r.IntN(len(plainLines))]
	return []Case{
		make1(LogWord, wordLines[r.IntN(len(wordLines))], ""),
		make1(LogNoWord, plain, ""),
		make1(LogNoWord, headOf(lines[at-1])+plain, ", in the log's own style"),
	}
}

// headOf gives the start of a line up to its second blank, so that a new line looks
// like its neighbours.
func headOf(line string) string {
	n := 0
	for i := 0; i < len(line) && i < 60; i++ {
		if line[i] == ' ' {
			if n++; n == 2 {
				return line[:i+1]
			}
		}
	}
	return ""
}
