package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// MaxFileBytes bounds one session file.
const MaxFileBytes = 256 << 20

// Read reads the sessions of one file's bytes. name is used in errors, as the
// source, and, without its ending, as the id of a session that has none. Sessions
// that could be read come back although others of the file could not; every problem
// is an *Error. data must not be changed afterwards: the sessions share it.
func Read(name string, data []byte, format Format) (sessions []Session, problems []error) {
	r := &reader{name: name}
	body, err := trimMark(data)
	switch {
	case err != nil:
		return nil, []error{r.err(0, "", err, "save it as UTF-8")}
	case len(bytes.TrimSpace(body)) == 0:
		return nil, []error{r.err(0, "", ErrEmpty, hintFormats)}
	case len(body) > MaxFileBytes:
		return nil, []error{r.err(0, "", ErrTooLarge, fmt.Sprintf("split it: the limit is %d bytes", MaxFileBytes))}
	}
	lines := splitLines(body)
	if len(lines) > 1 && checkJSON(lines[0].text) != nil && json.Valid(body) {
		lines = []line{{no: 1, text: bytes.TrimSpace(body)}} // one value over many lines
	}
	if format == Auto || format == "" {
		if format, err = r.detect(lines); err != nil {
			return nil, []error{err}
		}
	}
	if format == ClaudeCode {
		sessions, err = r.claude(lines)
		if err != nil {
			r.problems = append(r.problems, err)
		}
	} else {
		sessions = r.histories(lines, format)
	}
	if len(sessions) == 0 && len(r.problems) == 0 {
		r.problems = append(r.problems, r.err(0, "", ErrNoSession, hintFormats))
	}
	makeUnique(sessions, map[string]bool{})
	return sessions, r.problems
}

// reader reads one file.
type reader struct {
	name     string
	problems []error
}

func (r *reader) err(line int, field string, cause error, hint string) *Error {
	return &Error{File: r.name, Line: line, Field: field, Err: cause, Hint: hint}
}

// base is the file's name without folder and ending.
func (r *reader) base() string {
	b := filepath.Base(r.name)
	if stem := strings.TrimSuffix(b, filepath.Ext(b)); stem != "" {
		return stem
	}
	return b
}

// detect tells the format from the first line that is an object of a known kind.
func (r *reader) detect(lines []line) (Format, error) {
	var first error
	note := func(e error) {
		if first == nil {
			first = e
		}
	}
	for _, l := range lines {
		if err := checkJSON(l.text); err != nil {
			note(r.err(l.no, "", err, hintFormats))
			continue
		}
		o, err := splitObject(l.text)
		if errors.Is(err, ErrDuplicateKey) {
			return "", r.err(l.no, "", err, "keep one of the two")
		}
		switch {
		case err != nil:
			note(r.err(l.no, "", fmt.Errorf("%w: the line is no object", ErrWrongFormat), hintFormats))
		case o.has("messages") && (o.has("meta") || o.has("source") || o.has("licence")):
			return Corpus, nil
		case o.has("messages"):
			return OpenAI, nil
		case isTranscriptLine(o):
			return ClaudeCode, nil
		case o.has("input"):
			return OpenAI, nil
		default:
			note(r.err(l.no, "", fmt.Errorf("%w: neither messages nor a transcript's type", ErrWrongFormat), hintFormats))
		}
	}
	return "", first
}

func isTranscriptLine(o object) bool {
	kind, ok := o.text("type")
	if !ok || kind == "" {
		return false
	}
	for _, key := range []string{"uuid", "sessionId", "leafUuid", "messageId"} {
		if o.has(key) {
			return true
		}
	}
	return false
}

// makeUnique gives sessions whose id is taken a suffix "-2", "-3", …, and so the folder
// in a dump where only its name is taken. The name of the dump's vault always is.
func makeUnique(sessions []Session, taken map[string]bool) {
	taken["vault"] = true
	ids := map[string]bool{}
	for i := range sessions {
		s := &sessions[i]
		id := s.ID
		for n := 2; ids[s.ID]; n++ {
			s.ID = clip(id, maxDumpName-8) + fmt.Sprintf("-%d", n)
		}
		ids[s.ID] = true
		name := s.DumpName()
		for n := 2; taken[s.DumpName()]; n++ {
			s.folder = clip(name, maxDumpName-8) + fmt.Sprintf("-%d", n)
		}
		taken[s.DumpName()] = true
	}
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
