package datasets

import (
	"encoding/json"
	"strings"

	"token-terminator/request"
	"token-terminator/turn"
)

// Format is how a session file is written.
type Format string

// The formats of --format.
const (
	Auto       Format = "auto"
	Corpus     Format = "corpus"
	OpenAI     Format = "openai"
	ClaudeCode Format = "claude-code"
)

// ParseFormat reads the name of a format; "" is Auto.
func ParseFormat(name string) (Format, bool) {
	switch f := Format(name); f {
	case "":
		return Auto, true
	case Auto, Corpus, OpenAI, ClaudeCode:
		return f, true
	}
	return "", false
}

// Session is one recorded conversation: a chat.completions history or, where its
// requests were recorded so, one of another dialect.
type Session struct {
	ID     string // unique among the sessions read together
	Source string // where it was recorded, or the file it was read from
	Model  string // "unknown" when the file names none
	Format Format
	File   string
	Line   int // line of the file it stands on, 0 when it is the whole file
	// Dialect is how its requests are written. Messages are the messages' bytes, of a
	// Responses session those of the items of "input", or of the string that stands in
	// their place. Tools is the declared list, nil when none
	// was recorded.
	Dialect  request.Dialect
	Messages []json.RawMessage
	Tools    json.RawMessage
	Licence  string
	// Fields are further members of the recorded request, in file order: tool_choice,
	// temperature and so on. Of a file with a request a line, the last request's.
	Fields []Field
	Meta   json.RawMessage // the corpus's own notes, nil elsewhere
	// PromptRecorded says that the host's whole prompt is in the file: a system
	// message, and tools that are not guessed from calls.
	PromptRecorded bool
	// Recorded is what the provider billed, one entry an answer that has usage or a
	// time, in the order of the messages. Empty for formats without it.
	Recorded []Recorded
	// Notes says in short sentences what the reader left out or changed.
	Notes []string

	chain  []turn.Digest // of its messages, while requests are joined
	folder string        // in a dump, where the id's own name is taken
}

// DefaultPrefix is the tokens of tools and system text a host is taken to send
// when its prompt was not recorded.
const DefaultPrefix = 12000

// PrefixAdded is how many tokens the bill puts before the messages of a session
// whose prompt was not recorded, so that tools and system text come to target;
// fixed is what the recorded ones count. 0 when the prompt was recorded.
func (s Session) PrefixAdded(fixed, target int) int {
	if s.PromptRecorded {
		return 0
	}
	return max(target-fixed, 0)
}

// DumpName is the session's folder name in a dump: characters outside
// [A-Za-z0-9._-] as "_". Names that mean something to a file system, and the
// longest ones, are changed a little more.
func (s Session) DumpName() string {
	if s.folder != "" {
		return s.folder
	}
	return dumpName(s.ID)
}

// Field is one member of a recorded request.
type Field struct {
	Name  string
	Value json.RawMessage
}

const maxDumpName = 200

func dumpName(id string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, id)
	if len(name) > maxDumpName {
		name = name[:maxDumpName]
	}
	if strings.Trim(name, ".") == "" {
		name = strings.Repeat("_", max(len(name), 1))
	}
	return name
}
