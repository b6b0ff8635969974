package datasets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// script writes a transcript line by line.
type script struct {
	lines []string
	clock time.Time
}

func newScript() *script { return &script{clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// add appends a line with the envelope; body is its other members.
func (s *script) add(kind, uuid, parent, body string) *script {
	s.clock = s.clock.Add(time.Second)
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	if body != "" {
		body = "," + body
	}
	s.lines = append(s.lines, fmt.Sprintf(`{"type":"%s","uuid":"%s","parentUuid":%s,"sessionId":"s","timestamp":"%s"%s}`,
		kind, uuid, p, s.clock.Format("2006-01-02T15:04:05.000Z"), body))
	return s
}

func (s *script) raw(line string) *script {
	s.lines = append(s.lines, line)
	return s
}

func (s *script) user(uuid, parent, text string) *script {
	return s.add("user", uuid, parent, `"message":{"role":"user","content":"`+text+`"}`)
}

func (s *script) result(uuid, parent, id, content string) *script {
	return s.add("user", uuid, parent, `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":`+content+`}]}`)
}

// answer appends one line of response id; block is its one content block.
func (s *script) answer(uuid, parent, id, block string) *script {
	return s.add("assistant", uuid, parent, `"requestId":"r`+id+`","message":{"id":"`+id+`","role":"assistant","model":"claude-x","content":[`+block+
		`],"usage":{"input_tokens":3,"cache_creation_input_tokens":10,"cache_read_input_tokens":100,"output_tokens":7}}`)
}

func say(text string) string { return `{"type":"text","text":"` + text + `"}` }

func use(id, name string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{"a": 1,"q":"\ud83d\"<&"}}`
}

func (s *script) read(t *testing.T) []Session {
	t.Helper()
	sessions, problems := s.readOdd(t)
	require.Empty(t, problems)
	return sessions
}

// readOdd is read for lines that may be broken.
func (s *script) readOdd(t *testing.T) ([]Session, []error) {
	t.Helper()
	sessions, problems := Read("dir/s.jsonl", []byte(strings.Join(s.lines, "\n")+"\n"), Auto)
	for _, x := range sessions {
		checkTurns(t, x)
		checkPairing(t, x)
	}
	return sessions, problems
}

// checkPairing: in every request each call is answered directly after its message,
// in call order.
func checkPairing(t *testing.T, s Session) {
	t.Helper()
	turns := s.Turns()
	if len(turns) == 0 {
		return
	}
	var open []string
	for _, raw := range s.Messages[:turns[len(turns)-1].Messages] {
		var m struct {
			Role   string
			CallID string `json:"tool_call_id"`
			Calls  []struct {
				ID       string
				Function struct{ Arguments string }
			} `json:"tool_calls"`
		}
		require.NoError(t, json.Unmarshal(raw, &m), "%s", raw)
		if m.Role == "tool" {
			require.NotEmpty(t, open, s.ID)
			require.Equal(t, open[0], m.CallID, s.ID)
			open = open[1:]
			continue
		}
		require.Empty(t, open, "%s: calls without results", s.ID)
		for _, c := range m.Calls {
			open = append(open, c.ID)
			require.True(t, json.Valid([]byte(c.Function.Arguments)), s.ID)
		}
	}
}

func texts(s Session) []string {
	var out []string
	for _, m := range s.Messages {
		out = append(out, string(m))
	}
	return out
}

func has(notes []string, part string) bool { return strings.Contains(strings.Join(notes, "\n"), part) }

func TestParallelCallsAreOneAnswerWithResultsInCallOrder(t *testing.T) {
	t.Parallel()
	got := newScript().
		user("u1", "", "go").
		answer("a1", "u1", "m1", `{"type":"thinking","thinking":"hm","signature":"x"}`).
		answer("a2", "a1", "m1", say("both")).
		answer("a3", "a2", "m1", use("A", "Read")).
		answer("a4", "a3", "m1", use("B", "Bash")).
		result("t2", "a4", "B", `"second"`).
		result("t1", "a3", "A", `[{"type":"text","text":"one"},{"type":"text","text":"two"}]`).
		answer("a5", "t2", "m2", say("done")).read(t)
	require.Len(t, got, 1)
	require.Equal(t, []string{
		`{"role":"user","content":"go"}`,
		`{"role":"assistant","content":"both","tool_calls":[{"id":"A","type":"function","function":{"name":"Read","arguments":"{\"a\":1,\"q\":\"\\ud83d\\\"<&\"}"}},` +
			`{"id":"B","type":"function","function":{"name":"Bash","arguments":"{\"a\":1,\"q\":\"\\ud83d\\\"<&\"}"}}]}`,
		`{"role":"tool","tool_call_id":"A","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`,
		`{"role":"tool","tool_call_id":"B","content":"second"}`,
		`{"role":"assistant","content":"done"}`,
	}, texts(got[0]))
	require.Len(t, got[0].Recorded, 2)
	require.Equal(t, Recorded{Message: 1, HasUsage: true, Fresh: 3, Read: 100, WriteShort: 10, Output: 7, Start: got[0].Recorded[0].Start, End: got[0].Recorded[0].End}, got[0].Recorded[0])
	require.Equal(t, 3*time.Second, got[0].Recorded[0].End.Sub(got[0].Recorded[0].Start))
	require.Equal(t, "claude-x", got[0].Model)
	require.False(t, got[0].PromptRecorded)
	require.True(t, has(got[0].Notes, "1 thinking block left out"))
}

func TestARewindIsASessionOfItsOwn(t *testing.T) {
	t.Parallel()
	got := newScript().
		user("u1", "", "go").answer("a1", "u1", "m1", say("one")).
		user("u2", "a1", "old way").answer("a2", "u2", "m2", say("two")).
		user("u3", "a1", "new way").answer("a3", "u3", "m3", say("three")).
		user("dead", "u3", "never answered").read(t)
	require.Len(t, got, 2)
	require.Equal(t, []string{"s", "s-2"}, []string{got[0].ID, got[1].ID})
	require.Contains(t, string(got[0].Messages[2]), "new way")
	require.Contains(t, string(got[1].Messages[2]), "old way")
	require.Equal(t, got[0].Messages[:2], got[1].Messages[:2], "the common part is the same bytes")
}

func TestSideChainsInOneFileAreSessions(t *testing.T) {
	t.Parallel()
	side := `"isSidechain":true,"agentId":"ab12"`
	s := newScript().user("u1", "", "go").answer("a1", "u1", "m1", use("A", "Task"))
	s.add("user", "su", "", side+`,"message":{"role":"user","content":"the prompt"}`)
	s.add("assistant", "sa", "su", side+`,"requestId":"q","message":{"id":"x","model":"claude-y","content":[{"type":"text","text":"agent"}]}`)
	s.result("t1", "a1", "A", `"agent"`)
	got := s.answer("a2", "t1", "m2", say("done")).read(t)
	require.Len(t, got, 2)
	require.Equal(t, "s-agent-ab12", got[1].ID)
	require.Equal(t, "claude-y", got[1].Model)
	require.Len(t, got[0].Messages, 4)
}

func TestCompactionsAreNotApplied(t *testing.T) {
	t.Parallel()
	got := newScript().
		user("u1", "", "go").answer("a1", "u1", "m1", say("one")).
		add("system", "c", "", `"subtype":"compact_boundary","logicalParentUuid":"a1"`).
		add("user", "sum", "c", `"isCompactSummary":true,"message":{"role":"user","content":"This session is being continued"}`).
		user("u2", "sum", "go on").answer("a2", "u2", "m2", say("two")).read(t)
	require.Len(t, got, 1)
	require.Len(t, got[0].Messages, 4)
	require.NotContains(t, strings.Join(texts(got[0]), ""), "being continued")
	require.True(t, has(got[0].Notes, "1 recorded compaction not applied"))
}

func TestOddLinesOfATranscript(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		script *script
		want   []string // contents of the messages, joined
		note   string
	}{
		"a broken line is named": {newScript().user("u", "", "go").raw(`{"type":"user","uu`).answer("a", "u", "m", say("x")), []string{"go", "x"}, "1 broken line left out: 2"},
		"unknown lines are counted": {newScript().raw(`{"type":"summary","summary":"t","leafUuid":"z"}`).raw(`{"type":"new-thing","sessionId":"s"}`).
			user("u", "", "go").answer("a", "u", "m", say("x")), []string{"go", "x"}, "1 line of type new-thing left out"},
		"bookkeeping stands in the chain": {newScript().add("progress", "p", "", "").user("u", "p", "go").add("system", "y", "u", `"content":"hook"`).
			answer("a", "y", "m", say("x")), []string{"go", "x"}, ""},
		"host texts the user did not type are sent": {newScript().add("user", "n", "", `"isMeta":true,"message":{"role":"user","content":"caveat"}`).
			user("u", "n", "go").answer("a", "u", "m", say("x")), []string{"caveat", "go", "x"}, ""},
		"attachments that inject context": {newScript().user("u", "", "go").
			add("attachment", "h", "u", `"attachment":{"type":"hook_additional_context","content":["from the hook"]}`).
			add("attachment", "o", "h", `"attachment":{"type":"hook_success","stdout":"no"}`).
			answer("a", "o", "m", say("x")), []string{"go", "from the hook", "x"}, "1 attachment of type hook_success left out"},
		"an image becomes a note": {newScript().add("user", "u", "", `"message":{"content":[{"type":"image","source":{"media_type":"image/png","data":"QUJD"}}]}`).
			answer("a", "u", "m", say("x")), []string{"[image, image/png, 4 characters of base64, left out of the replay]", "x"}, "1 image replaced by a note"},
		"a call that was interrupted": {newScript().user("u", "", "go").answer("a", "u", "m", use("A", "Bash")).user("v", "a", "stop").
			answer("b", "v", "n", say("x")), []string{"go", "Error: the call was interrupted", "stop", "x"}, "1 call without a recorded result"},
		"an answer no provider gave": {newScript().user("u", "", "go").
			add("assistant", "e", "u", `"isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}`).
			user("v", "e", "again").answer("a", "v", "m", say("x")), []string{"go", "again", "x"}, "1 answer no provider gave left out"},
		"a repeated line":                  {newScript().user("u", "", "go").user("u", "", "twice").answer("a", "u", "m", say("x")), []string{"go", "x"}, "1 repeated line left out"},
		"a parent that is not in the file": {newScript().user("u", "", "go").answer("a", "gone", "m", say("x")), []string{"go", "x"}, "1 line whose parent is not in the file"},
		"an empty result":                  {newScript().user("u", "", "go").answer("a", "u", "m", use("A", "Bash")).result("t", "a", "A", `[]`).answer("b", "t", "n", say("x")), []string{"go", `"content":""`, "x"}, ""},
		"an answer of thinking alone":      {newScript().user("u", "", "go").answer("a", "u", "m", `{"type":"thinking"}`).user("v", "a", "and").answer("b", "v", "n", say("x")), []string{"go", "and", "x"}, "1 answer without text or call left out"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := c.script.readOdd(t)
			if strings.Contains(c.note, "broken line") {
				require.Len(t, problems, 1)
				require.ErrorContains(t, problems[0], "dir/s.jsonl:2")
			} else {
				require.Empty(t, problems)
			}
			require.Len(t, got, 1)
			all := strings.Join(texts(got[0]), "\n")
			at := 0
			for _, want := range c.want {
				i := strings.Index(all[at:], want)
				require.GreaterOrEqual(t, i, 0, "%s not in order in\n%s", want, all)
				at += i + len(want)
			}
			require.True(t, has(got[0].Notes, c.note), "%v", got[0].Notes)
		})
	}
}

func TestResultsThatCameTooLateAreNotShownEarlier(t *testing.T) {
	t.Parallel()
	got := newScript().user("u", "", "go").
		answer("a", "u", "m", use("A", "Bash")).
		user("v", "a", "next").answer("b", "v", "n", use("A", "Bash")).
		result("t", "b", "A", `"second run"`).answer("c", "t", "o", say("x")).read(t)
	require.Len(t, got, 1)
	require.Contains(t, string(got[0].Messages[2]), "interrupted")
	require.Contains(t, string(got[0].Messages[5]), "second run", "an id that is used again keeps its own result")
}

func TestCalibrationComparesGrowth(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := Session{Messages: []json.RawMessage{[]byte(user), []byte(answer), []byte(user), []byte(answer), []byte(user), []byte(answer), []byte(user), []byte(answer)}}
	for i, minutes := range []int{0, 1, 10, 11} {
		at := start.Add(time.Duration(minutes) * time.Minute)
		s.Recorded = append(s.Recorded, Recorded{Message: 2*i + 1, Start: at, End: at.Add(time.Second)})
	}
	turns := s.Turns()
	_, ok := s.Calibration(turns, []int{1, 2, 3, 4})
	require.False(t, ok)
	for i, u := range [][3]int{{5, 0, 100}, {5, 100, 50}, {5, 150, 20}, {200, 10, 0}} {
		r := &s.Recorded[i]
		r.HasUsage, r.Fresh, r.Read, r.WriteShort = true, u[0], u[1], u[2]
	}
	factor, ok := s.Calibration(turns, []int{90, 140, 160, 200})
	require.True(t, ok)
	require.InDelta(t, (210.0-105)/(200-90), factor, 1e-9)
}

// The usage of a real transcript, counted once per answer, is the figure its
// description states; summing lines would nearly double it.
func TestUsageOfTheBundledTranscript(t *testing.T) {
	t.Parallel()
	sessions, err := Bundled()
	require.NoError(t, err)
	for _, s := range sessions {
		if s.Format != ClaudeCode {
			continue
		}
		checkPairing(t, s)
		sum := Recorded{}
		for _, r := range s.Recorded {
			sum.Fresh, sum.Read, sum.WriteShort, sum.Output = sum.Fresh+r.Fresh, sum.Read+r.Read, sum.WriteShort+r.WriteShort, sum.Output+r.Output
		}
		require.Equal(t, Recorded{Fresh: 206, WriteShort: 29_126, Read: 1_167_066, Output: 6_064}, sum)
		require.Len(t, s.Recorded, 36)
		calls := 0
		for _, m := range s.Messages {
			if roleOf(m) == "tool" {
				calls++
			}
		}
		require.Equal(t, 35, calls)
		return
	}
	t.Fatal("no transcript in the bundle")
}
