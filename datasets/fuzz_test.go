package datasets

import (
	"encoding/json"
	"strings"
	"testing"
)

// lawful holds whatever a reader made of any bytes to the laws of a session.
func lawful(t *testing.T, data []byte, format Format) {
	sessions, problems := Read("f.jsonl", data, format)
	if len(sessions) == 0 && len(problems) == 0 {
		t.Fatal("neither a session nor a problem")
	}
	names := map[string]bool{}
	for _, s := range sessions {
		if names[s.DumpName()] || s.ID == "" {
			t.Fatalf("id %q is empty or taken", s.ID)
		}
		names[s.DumpName()] = true
		before := ""
		for _, turn := range s.Turns() {
			raw := turn.Request()
			if !json.Valid(raw) {
				t.Fatalf("request is not JSON: %q", raw)
			}
			if !strings.HasPrefix(string(raw), before) {
				t.Fatalf("request does not extend the one before: %q", raw)
			}
			before = string(turn.Head())
		}
		s.RecordedTurns(s.Turns())
	}
	for _, p := range problems {
		if e, ok := p.(*Error); !ok || e.Hint == "" || e.File == "" {
			t.Fatalf("problem without a place or a hint: %v", p)
		}
	}
}

func FuzzReadCorpus(f *testing.F) {
	f.Add([]byte(`{"id":"a","source":"s","messages":[` + user + "," + answer + `],"tools":[],"meta":{"tools_origin":"source"}}`))
	f.Add([]byte(`{"id":"a","messages":[` + system + "," + answer + "," + user + `,{"role":"assistant","role":"tool"}],"meta":7}`))
	f.Fuzz(func(t *testing.T, data []byte) { lawful(t, data, Corpus) })
}

func FuzzReadOpenAI(f *testing.F) {
	f.Add([]byte(lineOf("a", user) + "\n" + lineOf("a", user, answer) + "\n" + lineOf("a", more, answer)))
	f.Add([]byte("{\n\"messages\":[" + user + "]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) { lawful(t, data, OpenAI) })
}

func FuzzReadClaudeCode(f *testing.F) {
	s := newScript().user("u1", "", "go").answer("a1", "u1", "m1", use("A", "Read")).result("t1", "a1", "A", `"r"`).answer("a2", "t1", "m2", say("x"))
	f.Add([]byte(strings.Join(s.lines, "\n")))
	s.add("system", "c", "", `"subtype":"compact_boundary","logicalParentUuid":"a2"`).user("u2", "c", "more").raw(`{"type":`).answer("a3", "nowhere", "m2", say("y"))
	f.Add([]byte(strings.Join(s.lines, "\n")))
	f.Fuzz(func(t *testing.T, data []byte) { lawful(t, data, ClaudeCode) })
}

func FuzzReadAuto(f *testing.F) {
	f.Add([]byte(`[]`))
	f.Add([]byte("\xef\xbb\xbf{\"type\":\"user\",\"uuid\":\"u\"}"))
	f.Fuzz(func(t *testing.T, data []byte) { lawful(t, data, Auto) })
}
