package datasets

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// bundled is the data that ships in the binary; ATTRIBUTION.md names the source and
// licence of every file. It is never written.
//
//go:embed sessions outputs
var bundled embed.FS

// Bundled gives the sessions that ship with the program, in a fixed order.
func Bundled() ([]Session, error) {
	var sessions []Session
	err := fs.WalkDir(bundled, "sessions", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := bundled.ReadFile(p)
		if err != nil {
			return err
		}
		got, problems := Read(p, data, Auto)
		if len(problems) > 0 {
			return problems[0]
		}
		sessions = append(sessions, got...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read bundled sessions: %w", err)
	}
	makeUnique(sessions, map[string]bool{})
	return sessions, nil
}

// Output is one bundled tool output.
type Output struct {
	Name    string // "kind/file"
	Kind    string // the corpus's kind, e.g. "logs", "gotest"
	Tool    string // tool that gave it, "" not recorded
	Command string // shell command that gave it, "" not recorded or no shell
	Licence string
	Source  string
	Text    []byte // exact bytes; not always UTF-8
}

// Outputs gives the bundled tool outputs, by name.
func Outputs() ([]Output, error) {
	index, err := bundled.ReadFile("outputs/INDEX.csv")
	if err != nil {
		return nil, fmt.Errorf("read bundled outputs: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(index)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read bundled outputs: %w", err)
	}
	var out []Output
	for _, row := range rows[1:] {
		text, err := bundled.ReadFile(path.Join("outputs", row[0]))
		if err != nil {
			return nil, fmt.Errorf("read bundled outputs: %w", err)
		}
		out = append(out, Output{Name: row[0], Kind: row[1], Tool: row[2], Command: row[3], Licence: row[4], Source: row[5], Text: text})
	}
	return out, nil
}

// Search says whether the output is a list of search hits, whatever its kind.
func (o Output) Search() bool {
	return (o.Kind == "shell" || o.Kind == "git") && strings.Contains(path.Base(o.Name), "grep")
}
