package strictjson

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// grammar are small texts around every rule.
var grammar = []string{
	``, ` `, `null`, ` true `, `false`, `nul`, `nulll`, `tru`, `fals`, `True`, `-`, `0`, `-0`, `00`, `01`, `1.`, `.5`, `1.5e`, `1.5e+`,
	`1.5e+10`, `1E400`, `+1`, `0x10`, `NaN`, `Infinity`, `-Infinity`, `1 2`, `[]`, `[ ]`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `[`, `]`, `{}`, `{ }`,
	`{"a":1}`, `{"a":1,}`, `{"a" 1}`, `{"a"}`, `{a:1}`, `{'a':1}`, `{"a":1 "b":2}`, `{"a":1,"a":2}`, `{"a":[{"b":null}]}`, `}`, `{"a":}`,
	`""`, `"`, `"\"`, `"\\"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u0000"`, `"\ud800"`, `"\ud83d\ude00"`, `"\udc00\ud800"`, `"\ud800\u0041"`,
	"\"a\tb\"", "\"a\nb\"", "\"\x00\"", "\"\x7f\"", "\"caf\xc3\xa9\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\"", "\"\xf4\x90\x80\x80\"",
	"\xef\xbb\xbf{}", "{}\x00", "{}//c", "/*c*/{}", "[1\r\n,\r\n2]", "\v1", "\"\u2028\u2029\"", `"` + strings.Repeat("x", 200) + `"`,
	`"` + strings.Repeat(`\\`, 61) + `\"` + strings.Repeat("y", 70) + `"`, `"` + strings.Repeat("z", 63) + `\u00e9` + strings.Repeat("z", 64) + `"`,
	`"` + strings.Repeat("z", 60) + `\ud83d\ude00` + strings.Repeat("z", 64) + `"`, "\"" + strings.Repeat("z", 80) + "\x01" + strings.Repeat("z", 80) + `"`,
	`{"` + strings.Repeat(`k\n`, 40) + `":[` + strings.Repeat(`"v\t",`, 30) + `0]}`,
}

// law is what holds for every text: accepted by us means accepted by
// encoding/json, and rejected means rejected there, but for depth and for UTF-8,
// which encoding/json repairs.
func law(t *testing.T, data []byte) {
	t.Helper()
	err := Valid(data, MaxDepth)
	if err == nil {
		require.True(t, json.Valid(data), "accepted %q", data)
		return
	}
	var e *Error
	require.ErrorAs(t, err, &e)
	require.True(t, e.Offset >= 0 && e.Offset <= len(data), "offset %d of %d", e.Offset, len(data))
	if e.Fault != UTF8 && e.Fault != Deep {
		require.False(t, json.Valid(data), "refused %q: %v", data, err)
	}
	if e.Fault == UTF8 {
		require.False(t, utf8.Valid(data))
	}
}

func TestGrammarAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range grammar {
		law(t, []byte(text))
		law(t, []byte(`[`+text+`]`))
		law(t, []byte(`{"k":`+text+`,"l":0}`))
		for cut := range len(text) {
			law(t, []byte(text[:cut]))
		}
	}
	if dir := os.Getenv("TOKEN_TERMINATOR_CORPUS"); dir != "" {
		files, err := filepath.Glob(filepath.Join(dir, "outputs", "json*", "*"))
		require.NoError(t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			law(t, data)
		}
	}
}

func TestStringsOfEveryLengthAndAlignment(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{``, `\n`, `\\`, `\"`, `\\\"`, `\/`, `\u0001`, `\ud83d\ude00`, `\ud800`, `\ud800\n`, "é", "語", "\x1f", "\xff", `\q`, `\u00z`} {
		for before := range 150 {
			text := `"` + strings.Repeat("a", before) + odd + strings.Repeat("b", 70-before%71) + `"`
			for _, whole := range []string{text, text + ` `, `[` + text + `,` + text + `]`, text[:len(text)-1]} {
				law(t, []byte(whole))
			}
			s := New([]byte(text+`,"next"`), 1)
			str, err := s.String()
			if err != nil {
				continue
			}
			require.Equal(t, len(text), str.End, "%q", text)
			var want string
			require.NoError(t, json.Unmarshal([]byte(text), &want))
			require.Equal(t, odd != `` && odd[0] == '\\', str.Escaped)
			require.Equal(t, strings.Contains(odd, `\ud800`), str.Lone, "%q", text)
			require.Equal(t, !strings.Contains(odd, `\/`) && !strings.Contains(odd, `\ud83d`), str.Shortest, "%q", text)
			if !str.Lone {
				require.Equal(t, want, string(s.Text(str)))
			}
		}
	}
}

func TestFaultsHaveKindAndPlace(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, c := range map[string]struct {
		text   string
		fault  Fault
		offset int
	}{
		"the text ends inside a list":        {`[1,2`, Ended, 4},
		"the text ends inside a string":      {`["abc`, Ended, 5},
		"the text ends inside a word":        {`[tru`, Ended, 4},
		"the text ends inside an escape":     {`["a\`, Ended, 4},
		"the text ends in a unicode escape":  {`["a\u00`, Ended, 7},
		"data follows":                       {`{} {}`, Trailing, 3},
		"a NUL follows":                      {"{}\x00", Trailing, 2},
		"a comma before the end":             {`[1,]`, Syntax, 3},
		"a control character in a string":    {"[\"a\nb\"]", Syntax, 3},
		"an unknown escape":                  {`["a\q"]`, Syntax, 3},
		"a bad unicode escape":               {`["a\u00zz"]`, Syntax, 3},
		"a byte that is no UTF-8":            {"[\"é\xff\"]", UTF8, 4},
		"65 levels":                          {deep(65), Deep, 64},
		"a bomb of a million levels":         {strings.Repeat("[", 1_000_000), Deep, 64},
		"a bomb of a million nested objects": {strings.Repeat(`{"a":`, 1_000_000), Deep, 320},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, strict := range []bool{false, true} {
				s := New([]byte(c.text), MaxDepth)
				err := s.Skip()
				if strict {
					s.Reset([]byte(c.text))
					err = s.Strict()
				}
				if err == nil {
					err = s.End()
				}
				var e *Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, c.fault, e.Fault, e.Error())
				require.Equal(t, c.offset, e.Offset, e.Error())
			}
		})
	}
	require.NoError(t, Valid([]byte(deep(64)), 64))
	require.Error(t, Valid([]byte(deep(4)), 3))
	require.NoError(t, Valid([]byte(strings.Repeat(deep(60)[:0]+`[`, 1)+strings.Repeat(`[],`, 1000)+`[]]`), 2), "depth is not a count of containers")
}

func TestRepeatedKeysAreNoted(t *testing.T) {
	t.Parallel()
	many := func(n int, last string) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return b.String() + last + `}`
	}
	for name, c := range map[string]struct {
		text string
		at   int
	}{
		"none":                            {`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}`, -1},
		"at the top":                      {`{"a":1,"b":2,"a":3}`, 13},
		"nested":                          {`{"a":[{"b":{"c":1,"c":2}}]}`, 18},
		"spelled with an escape":          {`{"a":1,"\u0061":2}`, 7},
		"both spelled with escapes":       {`{"\n":1,"\u000a":2}`, 8},
		"empty keys":                      {`{"":1,"":2}`, 6},
		"a lone surrogate twice":          {`{"\ud800":1,"\uD800":2}`, 12},
		"lone surrogates that differ":     {`{"\ud800":1,"\ud801":2}`, -1},
		"many keys, all different":        {many(1000, `"x":1`), -1},
		"many keys, the first again":      {many(1000, `"k0":1`), len(many(1000, ``)) - 1},
		"many keys, the last again":       {many(40, `"k39":1`), len(many(40, ``)) - 1},
		"seventeen keys, the first again": {many(17, `"\u006b0":1`), len(many(17, ``)) - 1},
		"after an object with many keys":  {`[` + many(50, `"x":1`) + `,{"k1":1,"k1":2}]`, len(many(50, `"x":1`)) + 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New([]byte(c.text), MaxDepth)
			require.NoError(t, s.Strict())
			require.NoError(t, s.End())
			require.Equal(t, c.at, s.Duplicate)
			require.Empty(t, s.keys)
		})
	}
}

func TestManyKeysTakeLinearTime(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"x":0`)
	for i := range 200_000 {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	b.WriteString(`}`)
	s := New([]byte(b.String()), MaxDepth)
	require.NoError(t, s.Strict())
	require.Equal(t, -1, s.Duplicate)
}

func TestPosition(t *testing.T) {
	t.Parallel()
	text := []byte("ab\r\ncé語d\n\nz")
	for offset, want := range map[int][2]int{-3: {1, 1}, 0: {1, 1}, 2: {1, 3}, 4: {2, 1}, 5: {2, 2}, 7: {2, 3}, 10: {2, 4}, 11: {2, 5}, 12: {3, 1}, 13: {4, 1}, 99: {4, 2}} {
		line, column := Position(text, offset)
		require.Equal(t, want, [2]int{line, column}, "offset %d", offset)
	}
}

func TestQuotingIsShortestAndReadsBack(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                `""`,
		"plain":                           `"plain"`,
		"a\"b\\c/d":                       `"a\"b\\c/d"`,
		"\b\f\n\r\t":                      `"\b\f\n\r\t"`,
		"\x00\x01\x1f\x7f":                "\"\\u0000\\u0001\\u001f\x7f\"",
		"<&>\u2028\u2029é😀":               "\"<&>\u2028\u2029é😀\"",
		strings.Repeat("x\n", 100) + "\v": `"` + strings.Repeat(`x\n`, 100) + `\u000b"`,
	} {
		literal := AppendQuoted(nil, text)
		require.Equal(t, want, string(literal))
		require.Equal(t, literal, AppendQuoted(nil, []byte(text)))
		require.Equal(t, text, string(AppendUnquoted(nil, literal)))
		s := New(literal, 1)
		str, err := s.String()
		require.NoError(t, err)
		require.True(t, str.Shortest)
	}
}

func TestShortestSpellingKeepsLoneSurrogates(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]string{
		`"\ud800"`:                               `"\ud800"`,
		`"\uD800x\/y\u00e9"`:                     `"\uD800x/yé"`,
		`"\u0041\udFFF\u000A\u001F\u001f"`:       `"A\udFFF\n\u001f\u001f"`,
		`"\ud83d\ude00\ud83d\ud83d\ude00\ude00"`: `"😀\ud83d😀\ude00"`,
		`"\\\ud800\\\/"`:                         `"\\\ud800\\/"`,
		`"\\ud800\/"`:                            `"\\ud800/"`,
	} {
		s := New([]byte(literal), 1)
		str, err := s.String()
		require.NoError(t, err)
		got := s.AppendShortest(nil, str)
		require.Equal(t, want, string(got))
		again := New(got, 1)
		str, err = again.String()
		require.NoError(t, err)
		require.True(t, str.Shortest)
		require.Equal(t, AppendUnquoted(nil, []byte(literal)), AppendUnquoted(nil, got))
	}
}

func FuzzValid(f *testing.F) {
	for _, text := range grammar {
		f.Add([]byte(text))
	}
	f.Fuzz(law)
}

func FuzzQuote(f *testing.F) {
	for _, text := range []string{"", "a\"\\\n\x00\u2028😀", strings.Repeat("q\"", 90)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		literal := AppendQuoted(nil, text)
		var back string
		require.NoError(t, json.Unmarshal(literal, &back))
		require.Equal(t, text, back)
		require.Equal(t, text, string(AppendUnquoted(nil, literal)))
	})
}
