package delta_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/delta"
)

func FuzzProposeExpandsToTheOldText(f *testing.F) {
	code := "func a() {\n\treturn nil, err\n}\nfunc b() {\n\treturn value, nil\n}\n"
	f.Add(code, code, code+"tail\n", false)
	f.Add("1|"+strings.ReplaceAll(code, "\n", "\n2|"), code, "7:x\r\n8:x\r\n"+code, true)
	f.Add("     1→one\n     2→two\n     3→three\n", "one\ntwo\nthree\n", "     9→one\n    10→two\n    11→three\n", true)
	f.Add("\t[12] link 'Home'\n\t[13] link 'x'\n", "[same as lines 1-2 of b]\n", "\t[22] link 'Home'\n\t[23] link 'x'", true)
	f.Add(booking("A1", "open"), array(0, 4), booking("A1", "closed"), false)
	f.Add("a\r\nb\r\nc\r\n", "a\nb\nc", "a\nb\r\nc\n\r", false)
	f.Fuzz(func(t *testing.T, one, two, text string, ids bool) {
		ix := delta.NewIndex()
		ix.Add(delta.Base{Label: "result 1 (one)", Text: one})
		ix.Add(delta.Base{Label: "call 2 (two) content", Text: two})
		ix.Add(delta.Base{Label: "result 3", Text: one + two})
		for _, x := range []string{text, one + text, text + two, two + text + one} {
			r, ok := ix.Propose(x, delta.Options{MinRunLines: 1, MinRunTokens: 1, MinBaseTokens: 1, ShiftIDs: ids})
			if !ok {
				continue
			}
			require.Less(t, len(r.Text), len(x))
			require.LessOrEqual(t, len(r.Bases), 3)
			var used []delta.Base
			for _, b := range r.Bases {
				used = append(used, ix.Base(b))
			}
			back, err := delta.Expand(r.Text, used)
			require.NoError(t, err)
			require.Equal(t, x, back)
		}
	})
}

func FuzzExpandNeverPanics(f *testing.F) {
	base := "     1→one\n     2→two\n\t[7] three\nfour\r\n"
	for _, text := range []string{
		"[same as b (x)]", "[same as lines 1-4 of b (x), numbers -3, ids -9, LF]\nx", "[same last 2 lines]", "[same as lines 3-4 of b, from \"x\", LF]", "[same as line 3 of b, from \"]", "[same as last line of b]",
		"[same as numbered lines 1-2 of b, numbered from \"  99|\", CRLF]\n[same line 4]", "[same as lines 9-2 of b]", "[same as lines 1-99999999999 of b]",
		"[same as line 1 of b, numbered from \"\"]", "[same ]", "[same as ]", "no note", "[same as numbered line 0 of b, numbers +999999999]",
		`["[same as items 1-2 of b (x)]", 1]`, `{"[same key 1]": 0}`, `{"[same as key 1 of b]": "\ud800"}`, `["[same \`, `["[same as items 1-2 of b"`,
	} {
		f.Add(text, base)
	}
	f.Fuzz(func(t *testing.T, text, base string) {
		if strings.Count(text, "[same")*len(base) > 1<<22 {
			return
		}
		back, err := delta.Expand(text, []delta.Base{{Label: "b (x)", Text: base}})
		if err != nil {
			require.ErrorIs(t, err, delta.ErrBadNote)
			require.Empty(t, back)
		} else if !strings.Contains(text, "[same ") {
			require.Equal(t, text, back)
		}
	})
}

func FuzzArguments(f *testing.F) {
	long := strings.Repeat(`a line of words\n`, 9)
	f.Add(`{"content":"` + long + `"}`)
	f.Add(`{"edits":[{"old_string":"x","new_string":"` + long + `"}],"n":1e9,"b":[true,null,{"c":["` + long + `"]}]}`)
	f.Add(strings.Repeat(`[`, 50) + `"` + long + `"` + strings.Repeat(`]`, 50))
	f.Add(`{"a":"` + long + `\ud800"}`)
	f.Add(`{"a":"` + long + `","a":"` + long + `"}`)
	f.Fuzz(func(t *testing.T, args string) {
		for _, s := range delta.Arguments(args) {
			require.True(t, json.Valid([]byte(args)))
			require.GreaterOrEqual(t, len(s.Value), 64)
			require.Contains(t, s.Value, "\n")
		}
	})
}
