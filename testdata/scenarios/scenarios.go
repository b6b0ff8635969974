package scenarios

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed cases
var caseFiles embed.FS

// ErrScenario says that a scenario file does not follow its format.
var ErrScenario = errors.New("bad scenario")

// Expectations of a scenario.
const (
	Unchanged = "unchanged" // the text must stay byte for byte
	Smaller   = "smaller"   // the text must become smaller
	Any       = "any"       // both will do
)

// Scenario is one text with its evidence.
type Scenario struct {
	Name      string   `json:"-"` // the file's name without its ending
	About     string   `json:"about"`
	Tool      string   `json:"tool"`
	Command   string   `json:"command"`
	ExitCode  int      `json:"exit_code"`
	Text      string   `json:"text"`
	File      string   `json:"file"`
	Make      Make     `json:"make"`
	Mixed     bool     `json:"mixed"`
	Retention string   `json:"retention"` // "" works, "fails"
	Expect    string   `json:"expect"`
	Evidence  []string `json:"evidence"`
}

// RetentionFails says that the reduction has to run without a working vault.
func (s Scenario) RetentionFails() bool { return s.Retention == "fails" }

// Load reads all scenarios, in the order of their names. Text is filled in.
func Load() ([]Scenario, error) { return load(caseFiles, "cases") }

func load(files fs.FS, dir string) ([]Scenario, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("list scenarios: %w", err)
	}
	var out []Scenario
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		raw, err := fs.ReadFile(files, dir+"/"+e.Name())
		if err != nil {
			return nil, fmt.Errorf("read scenario %s: %w", name, err)
		}
		s, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("read scenario %s: %w", name, err)
		}
		s.Name = name
		if s.File != "" {
			text, err := fs.ReadFile(files, dir+"/"+s.File)
			if err != nil {
				return nil, fmt.Errorf("read scenario %s: %w", name, err)
			}
			s.Text = string(text)
		}
		for _, want := range s.Evidence {
			if !strings.Contains(s.Text, want) {
				return nil, fmt.Errorf("read scenario %s: %w: its own text lacks %q", name, ErrScenario, want)
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func parse(raw []byte) (Scenario, error) {
	var s Scenario
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrScenario, err)
	}
	if s.Expect != Unchanged && s.Expect != Smaller && s.Expect != Any {
		return s, fmt.Errorf("%w: expect is %q", ErrScenario, s.Expect)
	}
	if s.Retention != "" && s.Retention != "fails" {
		return s, fmt.Errorf("%w: retention is %q", ErrScenario, s.Retention)
	}
	sources := 0
	for _, has := range [...]bool{s.Text != "", s.File != "", s.Make.What != ""} {
		if has {
			sources++
		}
	}
	if sources != 1 {
		return s, fmt.Errorf("%w: wants one of text, file and make", ErrScenario)
	}
	if s.Make.What != "" {
		text, ok := s.Make.text()
		if !ok {
			return s, fmt.Errorf("%w: cannot make %q", ErrScenario, s.Make.What)
		}
		s.Text = text
	}
	return s, nil
}

// Result is how one scenario went.
type Result struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`
	Before  int      `json:"bytes_before"`
	After   int      `json:"bytes_after"`
	Missing []string `json:"missing"` // evidence that is out of sight
	Fault   string   `json:"fault"`   // another broken expectation, "" none
}

// Good says that nothing is missing and every expectation holds.
func (r Result) Good() bool { return len(r.Missing) == 0 && r.Fault == "" }

// Run gives every scenario to reduce, which answers with the text as it would be
// shown, marker included; an error counts as a fault.
func Run(reduce func(Scenario) (string, error)) ([]Result, error) {
	all, err := Load()
	if err != nil {
		return nil, err
	}
	out := make([]Result, 0, len(all))
	for _, s := range all {
		out = append(out, check(s, reduce))
	}
	return out, nil
}

func check(s Scenario, reduce func(Scenario) (string, error)) Result {
	r := Result{Name: s.Name, About: s.About, Before: len(s.Text)}
	shown, err := reduce(s)
	if err != nil {
		r.Fault = "reduction failed: " + err.Error()
		return r
	}
	r.After = len(shown)
	for _, want := range s.Evidence {
		if !strings.Contains(shown, want) {
			r.Missing = append(r.Missing, want)
		}
	}
	same := shown == s.Text
	switch {
	case !same && len(shown) >= len(s.Text):
		r.Fault = "changed without getting smaller"
	case !same && (s.Expect == Unchanged || s.Mixed || s.RetentionFails()):
		r.Fault = "changed where the original had to stay"
	case same && s.Expect == Smaller:
		r.Fault = "not smaller"
	}
	return r
}
