package request

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

// Shorthand for messages: the tests read as sequences of them.
const (
	system = `{"role":"system","content":"s"}`
	user   = `{"role":"user","content":"u"}`
	said   = `{"role":"assistant","content":"a"}`
	legacy = `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`
)

// calls is an assistant message that makes one call for each id.
func calls(ids ...string) string {
	list := ""
	for i, id := range ids {
		if i > 0 {
			list += ","
		}
		list += `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"{}"}}`
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + list + `]}`
}

func result(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"r"}` }

func function(name string) string { return `{"role":"function","name":"` + name + `","content":"r"}` }

func join(messages ...string) string {
	out := ""
	for i, m := range messages {
		if i > 0 {
			out += ","
		}
		out += m
	}
	return out
}

// A1: the order of roles stays what providers accept.
func TestA1RoleOrderAndPairing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		messages string
		reason   turn.Reason
	}{
		"one user message":                        {join(user), ""},
		"adjacent user messages":                  {join(system, user, user, said), ""},
		"an assistant message first":              {join(said, user), ""},
		"a system message in the middle":          {join(user, said, system, user), ""},
		"a call and its result":                   {join(user, calls("a"), result("a"), said), ""},
		"a result at the end":                     {join(user, calls("a"), result("a")), ""},
		"parallel calls":                          {join(user, calls("a", "b"), result("a"), result("b"), said), ""},
		"parallel calls answered in other order":  {join(user, calls("a", "b"), result("b"), result("a"), said), ""},
		"an id used again":                        {join(user, calls("a"), result("a"), calls("a"), result("a"), user), ""},
		"one id twice in one message":             {join(user, calls("a", "a"), result("a"), result("a"), user), ""},
		"empty ids":                               {join(user, calls(""), result("")), ""},
		"two user messages after results":         {join(calls("a"), result("a"), user, user), ""},
		"a legacy call and its result":            {join(user, legacy, function("f"), said), ""},
		"a tool message first":                    {join(result("a"), user), turn.RoleOrder},
		"a tool message after the system message": {join(system, result("a"), user), turn.RoleOrder},
		"a legacy result first":                   {join(function("f")), turn.RoleOrder},
		"a result before its call":                {join(user, result("a"), calls("a")), turn.PairingBroken},
		"a result after a plain answer":           {join(user, said, result("a")), turn.PairingBroken},
		"a result of another id":                  {join(user, calls("a"), result("b")), turn.PairingBroken},
		"a result without an id":                  {join(user, calls("a"), `{"role":"tool","content":"r"}`), turn.PairingBroken},
		"a second answer":                         {join(user, calls("a"), result("a"), result("a"), said), turn.PairingBroken},
		"an orphan among results":                 {join(user, calls("a"), result("a"), result("b"), said), turn.PairingBroken},
		"a call without an answer":                {join(user, calls("a", "b"), result("a"), said), turn.PairingBroken},
		"a message between call and result":       {join(user, calls("a"), user, result("a")), turn.PairingBroken},
		"a system message between them":           {join(user, calls("a"), system, result("a")), turn.PairingBroken},
		"a late answer to an older call":          {join(user, calls("a"), said, calls("b"), result("a"), result("b")), turn.PairingBroken},
		"a call open at the end":                  {join(user, calls("a")), turn.PairingBroken},
		"a call half open at the end":             {join(user, calls("a", "b"), result("b")), turn.PairingBroken},
		"a legacy result of another name":         {join(user, legacy, function("g")), turn.PairingBroken},
		"a tool message for a legacy call":        {join(user, legacy, result("f")), turn.PairingBroken},
		"an unknown role":                         {join(user, `{"role":"narrator","content":"x"}`), turn.UnknownShape},
		"no role":                                 {join(user, `{"content":"x"}`), turn.UnknownShape},
		"no messages":                             {``, turn.UnknownShape},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := mustParse(t, chat(c.messages))
			err := d.Check()
			require.Equal(t, c.reason, ReasonOf(err), "%v", err)
		})
	}
}

func TestCallOfFindsTheNearestOpenCall(t *testing.T) {
	t.Parallel()
	d := mustParse(t, chat(join(
		user, calls("a", "b"), result("b"), result("a"), // 0..3
		calls("a"), result("a"), // 4, 5: the id again
		calls("x", "x"), result("x"), result("x"), // 6..8: twice in one message, in call order
		calls("a"), calls("a"), result("a"), result("a"), // 9..12: the older one last
		result("a"), result("zz"), user, // 13..15: orphans
		legacy, function("f"), function("f")))) // 16..18
	want := map[int][2]int{2: {1, 1}, 3: {1, 0}, 5: {4, 0}, 7: {6, 0}, 8: {6, 1}, 11: {10, 0}, 12: {9, 0}, 17: {16, 0}}
	for i := -1; i <= len(d.Messages); i++ {
		message, call, ok := d.CallOf(i)
		pair, expected := want[i]
		require.Equal(t, expected, ok, "message %d", i)
		if ok {
			require.Equal(t, pair, [2]int{message, call}, "message %d", i)
		}
	}
}

func TestPairingErrorNamesThePlace(t *testing.T) {
	t.Parallel()
	raw := []byte("{\"messages\":[\n" + user + ",\n" + calls("a") + ",\n" + user + "\n]}")
	err := mustParse(t, raw).Check()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, [2]int{3, 1}, [2]int{e.Line, e.Column})
	require.Contains(t, e.Detail, "message 1: no result for 1 of its calls before message 2; send")
}

// TestPairingAgreesWithTheRule compares few and many open calls with the rule as it is
// written down at CallOf.
func TestPairingAgreesWithTheRule(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		ids, answer := 1+rng.IntN(40), rng.IntN(4)
		var messages []Message
		for range rng.IntN(80) {
			m := Message{Role: "tool", CallID: strconv.Itoa(rng.IntN(ids))}
			if rng.IntN(4) >= answer {
				m = Message{Role: "assistant"}
				for range rng.IntN(4) {
					m.Calls = append(m.Calls, Call{ID: strconv.Itoa(rng.IntN(ids))})
				}
			}
			messages = append(messages, m)
		}
		taken := map[calling]bool{}
		for i, got := range pairMessages(messages) {
			want := calling{message: -1}
			for k := i - 1; k >= 0 && messages[i].Role == "tool" && want.message < 0; k-- {
				for c, call := range messages[k].Calls {
					if call.ID == messages[i].CallID && !taken[calling{k, c}] {
						want = calling{k, c}
						taken[want] = true
						break
					}
				}
			}
			require.Equal(t, want, got, "message %d", i)
		}
	}
}
