package datasets

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	system = `{"role":"system","content":"be good"}`
	user   = `{"role":"user","content":"hi"}`
	answer = `{"role":"assistant","content":"yes"}`
	more   = `{"role":"user", "content": "more"}`
)

func lineOf(id string, messages ...string) string {
	return `{"id":"` + id + `","model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]}`
}

func read(t *testing.T, text string) []Session {
	t.Helper()
	sessions, problems := Read("dir/file.jsonl", []byte(text), Auto)
	require.Empty(t, problems)
	return sessions
}

func TestOpenAIStyleFiles(t *testing.T) {
	t.Parallel()
	t.Run("one object", func(t *testing.T) {
		t.Parallel()
		got := read(t, `{"messages":[`+system+","+user+","+answer+`]}`)
		require.Len(t, got, 1)
		require.Equal(t, "file", got[0].ID)
		require.Equal(t, "unknown", got[0].Model)
		require.Equal(t, OpenAI, got[0].Format)
		require.True(t, got[0].PromptRecorded)
		require.Equal(t, system, string(got[0].Messages[0]))
	})
	t.Run("one object over many lines, with a byte order mark and CRLF", func(t *testing.T) {
		t.Parallel()
		got := read(t, "\xef\xbb\xbf{\r\n \"messages\": [\r\n  "+user+",\r\n  "+answer+"\r\n ]\r\n}\r\n")
		require.Len(t, got, 1)
		require.Len(t, got[0].Messages, 2)
		require.False(t, got[0].PromptRecorded)
	})
	t.Run("one request a line: the longest is the session", func(t *testing.T) {
		t.Parallel()
		got := read(t, lineOf("a", user)+"\n"+lineOf("b", more, answer)+"\n"+lineOf("a", user, answer, more)+"\r\n\n"+lineOf("a", user)+"\n"+lineOf("a", user, answer, more, answer))
		require.Len(t, got, 2)
		require.Equal(t, "a", got[0].ID)
		require.Len(t, got[0].Messages, 4)
		require.Equal(t, 1, got[0].Line)
		require.Equal(t, "b", got[1].ID)
	})
	t.Run("white space in a message is no difference", func(t *testing.T) {
		t.Parallel()
		got := read(t, lineOf("a", `{"role": "user", "content": "hi"}`)+"\n"+lineOf("a", user, answer))
		require.Len(t, got, 1)
	})
	t.Run("a request that does not extend the former is a branch", func(t *testing.T) {
		t.Parallel()
		got := read(t, lineOf("a", user, answer)+"\n"+lineOf("a", more, answer)+"\n"+lineOf("a", more, answer, user))
		require.Len(t, got, 2)
		require.Equal(t, []string{"a", "a-2"}, []string{got[0].ID, got[1].ID})
		require.Len(t, got[1].Messages, 3)
		require.NotEmpty(t, got[1].Notes)
	})
	t.Run("lines without an id are requests of one session", func(t *testing.T) {
		t.Parallel()
		got := read(t, `{"messages":[`+user+`]}`+"\n"+`{"messages":[`+user+","+answer+`]}`)
		require.Len(t, got, 1)
		require.Equal(t, "file", got[0].ID)
	})
}

func TestCorpusLines(t *testing.T) {
	t.Parallel()
	line := func(id, origin string) string {
		return `{"id": "` + id + `", "source": "there", "licence": "MIT", "model": "m", "messages": [` + system + `, ` + user + `], "tools": [{"type":"function","function":{"name":"f"}}], "meta": {"tools_origin": "` + origin + `"}}`
	}
	got := read(t, line("x/1", "source")+"\n"+line("x/1", "inferred-from-calls")+"\n"+line("vault", "source"))
	require.Len(t, got, 3)
	require.Equal(t, []string{"x/1", "x/1-2", "vault"}, []string{got[0].ID, got[1].ID, got[2].ID}, "vault is the dump's own folder")
	require.Equal(t, "x_1-2", got[1].DumpName())
	require.Equal(t, Corpus, got[0].Format)
	require.Equal(t, "there", got[0].Source)
	require.True(t, got[0].PromptRecorded)
	require.False(t, got[1].PromptRecorded)
	require.Equal(t, 0, got[0].PrefixAdded(500, DefaultPrefix))
	require.Equal(t, 11_500, got[1].PrefixAdded(500, DefaultPrefix))
	require.Equal(t, 0, got[1].PrefixAdded(15_000, DefaultPrefix))
}

func TestBadInputIsNamed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text        string
		cause       error
		line        int
		field, says string
	}{
		"an empty file":             {"", ErrEmpty, 0, "", "nothing in it"},
		"only white space":          {" \r\n\t\n", ErrEmpty, 0, "", "nothing in it"},
		"not JSON":                  {"hello\n", ErrNotJSON, 1, "", "byte 1 of the line"},
		"a broken second line":      {lineOf("a", user) + "\n{\"id\":", ErrNotJSON, 2, "", "file.jsonl:2"},
		"a NUL":                     {"{\"messages\":[\"\x00\"]}", ErrNotJSON, 1, "", "byte"},
		"not UTF-8":                 {"{\"messages\":\"\xff\"}", ErrNotUTF8, 1, "", "byte 14 of the line"},
		"UTF-16":                    {"\xff\xfe{\x00", ErrNotUTF8, 0, "", "UTF-16"},
		"a list":                    {"[" + user + "]", ErrWrongFormat, 1, "", "no object"},
		"an object of another kind": {`{"a":1}`, ErrWrongFormat, 1, "", "neither messages"},
		"a key twice":               {`{"messages":[],"messages":[]}`, ErrDuplicateKey, 1, "", `"messages"`},
		"messages of a wrong kind":  {`{"messages":{}}`, ErrBadField, 1, "messages", "want a list"},
		"no messages in it":         {`{"messages":[]}`, ErrEmpty, 1, "messages", "field messages"},
		"a message that is none":    {`{"messages":[` + user + `,3]}`, ErrBadField, 1, "messages[1]", "want an object"},
		"a message without a role":  {`{"messages":[{"content":"x"}]}`, ErrBadField, 1, "messages[0].role", "role"},
		"an id that is a number":    {`{"id":7,"messages":[` + user + `]}`, ErrBadField, 1, "id", "plain text"},
		"an id with a line feed":    {`{"id":"a\nb","messages":[` + user + `]}`, ErrBadField, 1, "id", "plain text"},
		"an id of half a character": {`{"id":"\ud83d","messages":[` + user + `]}`, ErrBadField, 1, "id", "plain text"},
		"tools that are no list":    {`{"messages":[` + user + `],"tools":{}}`, ErrBadField, 1, "tools", "want a list"},
		"a depth bomb":              {`{"messages":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, ErrNotJSON, 1, "", "depth"},
		"a transcript of no answer": {`{"type":"summary","summary":"x","leafUuid":"u"}`, ErrNoSession, 0, "", "no answer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := Read("dir/file.jsonl", []byte(c.text), Auto)
			require.Len(t, problems, 1)
			require.ErrorIs(t, problems[0], c.cause)
			var e *Error
			require.ErrorAs(t, problems[0], &e)
			require.Equal(t, c.line, e.Line)
			require.Equal(t, c.field, e.Field)
			require.Contains(t, e.Error(), "read session dir/file.jsonl")
			require.Contains(t, e.Error(), c.says)
			require.NotEmpty(t, e.Hint)
		})
	}
}

func TestOneBadLineLosesNoOther(t *testing.T) {
	t.Parallel()
	sessions, problems := Read("f.jsonl", []byte(lineOf("a", user)+"\n{broken\n"+lineOf("b", user)+"\n"+lineOf("c")+"\n"), Auto)
	require.Len(t, sessions, 2)
	require.Len(t, problems, 2)
	first := problems[0].(*Error)
	require.Equal(t, 2, first.Line)
}

func TestLoneSurrogatesInMessagesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	m := `{"role":"user","content":"half \ud83d and \u0000"}`
	got := read(t, lineOf("a", m, answer))
	require.Equal(t, m, string(got[0].Messages[0]))
	require.Contains(t, string(got[0].Turns()[0].Request()), m)
}

func TestTurns(t *testing.T) {
	t.Parallel()
	tool := `{"role":"tool","tool_call_id":"1","content":"r"}`
	s := read(t, lineOf("a", answer, answer, user, answer, answer, tool, answer, more))[0]
	s.Tools = json.RawMessage(`[{"type":"function"}]`)
	turns := s.Turns()
	require.Len(t, turns, 2, "an answer that opens the session answers no request")
	require.Equal(t, 3, turns[0].Messages)
	require.Len(t, turns[0].Answers, 2, "an answer directly after an answer belongs to the same turn")
	require.Equal(t, 6, turns[1].Messages)
	want := `{"model":"gpt-4o","tools":[{"type":"function"}],"messages":[` + strings.Join([]string{answer, answer, user}, ",") + `]}`
	require.Equal(t, want, string(turns[0].Request()))
	checkTurns(t, s)
	require.Empty(t, Session{Messages: s.Messages[:2]}.Turns())
}

// checkTurns holds a session's turns to their laws.
func checkTurns(t *testing.T, s Session) {
	t.Helper()
	var before []byte
	turns := s.Turns()
	for i, turn := range turns {
		require.Equal(t, i, turn.Index)
		raw := turn.Request()
		require.True(t, strings.HasPrefix(string(raw), string(before)), "%s: turn %d does not extend the one before", s.ID, i)
		before = turn.Head()
		require.Equal(t, string(before)+"]}", string(raw))
		raw[0] = 'x'
		require.Equal(t, byte('{'), turn.Head()[0], "the request is the caller's")
		require.Equal(t, "assistant", roleOf(turn.Answers[0]))
		require.NotEqual(t, "assistant", roleOf(s.Messages[turn.Messages-1]))
	}
	if len(turns) == 0 {
		return
	}
	var whole struct {
		Model    string
		Messages []json.RawMessage
	}
	last := turns[len(turns)-1]
	require.NoError(t, json.Unmarshal(last.Request(), &whole))
	require.Equal(t, s.Model, whole.Model)
	require.Len(t, whole.Messages, last.Messages)
	for i, m := range whole.Messages {
		require.Equal(t, string(s.Messages[i]), string(m))
	}
}

func TestDumpNamesStayInTheirFolder(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"a/b c": "a_b_c", "..": "__", ".": "_", "../../etc": ".._.._etc", "ä": "_", "claude-code/x-": "claude-code_x-", strings.Repeat("y", 999): strings.Repeat("y", maxDumpName),
	} {
		require.Equal(t, want, Session{ID: id}.DumpName())
	}
	clash := []Session{{ID: "a/b"}, {ID: "a_b"}, {ID: "a_b-2"}, {ID: strings.Repeat("y", 999)}, {ID: strings.Repeat("y", 998)}}
	makeUnique(clash, map[string]bool{})
	names := map[string]bool{}
	for _, s := range clash {
		names[s.DumpName()] = true
	}
	require.Len(t, names, len(clash))
}

func TestLoadFilesAndFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("b/two.jsonl", lineOf("same", user, answer))
	write("a/one.jsonl", lineOf("same", user, answer))
	write("a/empty.jsonl", "")
	write("a/README.md", "no session")
	sessions, problems := Load([]string{dir, filepath.Join(dir, "b/two.jsonl"), filepath.Join(dir, "missing.jsonl")}, Auto)
	require.Len(t, sessions, 3)
	require.Equal(t, []string{"same", "same-2", "same-3"}, []string{sessions[0].ID, sessions[1].ID, sessions[2].ID})
	require.Contains(t, sessions[0].File, "one.jsonl", "by path below a folder")
	require.Len(t, problems, 2)
	require.ErrorIs(t, problems[0], ErrEmpty)
	require.ErrorIs(t, problems[1], ErrUnreadable)
	require.ErrorIs(t, problems[1], os.ErrNotExist)

	_, problems = Load([]string{t.TempDir()}, Auto)
	require.ErrorIs(t, problems[0], ErrNoSession)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	sessions, _ = Load([]string{link}, Auto)
	require.Len(t, sessions, 2)
}

func TestFormatsByName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Format{"": Auto, "auto": Auto, "corpus": Corpus, "openai": OpenAI, "claude-code": ClaudeCode} {
		got, ok := ParseFormat(name)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	_, ok := ParseFormat("csv")
	require.False(t, ok)
	sessions, _ := Read("f", []byte(lineOf("a", user)+"\n"+lineOf("a", user, answer)), Corpus)
	require.Len(t, sessions, 2, "a forced format is taken at its word")
	_, problems := Read("f", []byte(lineOf("a", user)), ClaudeCode)
	require.Len(t, problems, 1)
	require.True(t, errors.Is(problems[0], ErrNoSession))
}
