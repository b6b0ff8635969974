package request

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// session is one recorded conversation: each message as its own bytes.
type session struct {
	name     string
	messages []json.RawMessage
	tools    json.RawMessage
}

// recorded returns the bundled sessions, or all of the corpus that
// TOKEN_TERMINATOR_CORPUS names.
func recorded(t testing.TB) []session {
	t.Helper()
	pattern := filepath.Join("testdata", "sessions", "*.jsonl")
	if dir := os.Getenv("TOKEN_TERMINATOR_CORPUS"); dir != "" {
		pattern = filepath.Join(dir, "sessions", "*.jsonl")
	}
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files, "no sessions at %s", pattern)
	var all []session
	for _, file := range files {
		all = append(all, readSessions(t, file)...)
	}
	return all
}

func readSessions(t testing.TB, file string) []session {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var all []session
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var line struct {
			Messages []json.RawMessage `json:"messages"`
			Tools    json.RawMessage   `json:"tools"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		all = append(all, session{name: strings.TrimSuffix(filepath.Base(file), ".jsonl"), messages: line.Messages, tools: line.Tools})
	}
	require.NoError(t, lines.Err())
	return all
}

// requestOf builds the request that holds the first n messages.
func (s session) requestOf(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"gpt-5.6-sol","messages":[`)
	for i, m := range s.messages[:n] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m)
	}
	b.WriteByte(']')
	if len(s.tools) > 0 && string(s.tools) != "null" {
		b.WriteString(`,"tools":`)
		b.Write(s.tools)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// turns lists the lengths of the requests of a session: before each assistant
// message that does not directly follow another one.
func (s session) turns(t testing.TB) []int {
	t.Helper()
	var at []int
	before := ""
	for i, raw := range s.messages {
		var m struct {
			Role string `json:"role"`
		}
		require.NoError(t, json.Unmarshal(raw, &m))
		if m.Role == "assistant" && before != "assistant" && i > 0 {
			at = append(at, i)
		}
		before = m.Role
	}
	return at
}

func TestEveryRequestOfEverySessionIsInOrder(t *testing.T) {
	t.Parallel()
	for _, s := range recorded(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			turns := s.turns(t)
			require.NotEmpty(t, turns)
			before := []turn.Digest{}
			for _, n := range turns {
				raw := s.requestOf(n)
				d, err := Parse(raw)
				require.NoError(t, err)
				require.NoError(t, d.Check(), "request of %d messages", n)
				require.Len(t, d.Messages, n)
				for i, m := range d.Messages {
					require.Empty(t, m.Locked, "message %d", i)
					if m.Role == "tool" {
						_, _, ok := d.CallOf(i)
						require.True(t, ok)
					}
				}
				if n%10 != 0 && n != turns[len(turns)-1] {
					continue // the chain of a long request repeats what was checked before
				}
				chain := d.Chain()
				require.Equal(t, before, chain[:len(before)], "the chain of a request extends that of the one before")
				before = chain
			}
		})
	}
}
