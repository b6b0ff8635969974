package reduce_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/datasets"
	"token-terminator/reduce"
	"token-terminator/reduce/kind"
	"token-terminator/tokens"
)

func counts(t *testing.T, encoding string) func(string) int {
	t.Helper()
	c, err := tokens.Named(encoding)
	require.NoError(t, err)
	return func(text string) int { return c.Count([]byte(text)) }
}

func TestReceiptSaysWhatItStandsFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		block reduce.Block
		want  string
	}{
		"lines and severity": {reduce.Block{Text: "one\nERROR two\nWARN three\n", Call: bash("run it")}, "bash log put away: 3 lines, 1 error, 1 warning"},
		"an exit code":       {reduce.Block{Text: `{"output":"` + strings.Repeat(`all fine\n`, 90) + `","exit_code":2}`, Call: bash("run it")}, "bash plain put away: 90 lines, exit 2"},
		"a last line":        {reduce.Block{Text: strings.Repeat("all fine\n", 9) + "[exit code: 3]", Call: bash("run it")}, "put away: 10 lines, exit 3"},
		"records":            {reduce.Block{Text: `[{"a":1},{"a":2}]`, Call: kind.Call{Tool: "fetch"}}, "fetch json put away: 2 records"},
		"a read":             {reduce.Block{Text: "a\nb\n", Call: kind.Call{Tool: "Read", Args: `{"file_path":"/secret/name.go"}`}}, "Read read put away: 2 lines"},
		"an odd tool's name": {reduce.Block{Text: "a\n", Call: kind.Call{Tool: "do [it]\nnow"}}, "doitnow plain put away: 1 line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, ok := reduce.Receipt(c.block, counts(t, "o200k_base"))
			require.True(t, ok)
			require.Contains(t, p.Synopsis, c.want)
		})
	}
}

// Every receipt of the bundled outputs is one line of at most 55 tokens in either
// encoding and holds no word of the text but those of its own sentence.
func TestReceiptsAreSmallAndHoldNoWordOfTheText(t *testing.T) {
	t.Parallel()
	outputs, err := datasets.Outputs()
	require.NoError(t, err)
	for _, encoding := range []string{"o200k_base", "cl100k_base"} {
		count := counts(t, encoding)
		for _, o := range outputs {
			p, ok := reduce.Receipt(reduce.Block{Text: string(o.Text), Call: kind.Call{Tool: "mcp__server__a_long_name"}}, count)
			require.True(t, ok, o.Name)
			shown, at, n := p.Render(id, "deadbeef")
			require.LessOrEqual(t, count(shown), reduce.MaxReceiptTokens, o.Name)
			require.LessOrEqual(t, utf8.RuneCountInString(p.Synopsis), reduce.MaxSynopsis)
			require.Equal(t, string(id[:10]), shown[at:at+n])
			require.NotContains(t, shown, "\n")
			for _, word := range strings.FieldsFunc(p.Synopsis, func(r rune) bool { return r == ' ' || r == ',' || r == ':' }) {
				require.True(t, knownWord(word), "%s: %q", o.Name, p.Synopsis)
			}
		}
	}
}

func knownWord(word string) bool {
	for _, k := range kind.Kinds() {
		if word == string(k) {
			return true
		}
	}
	return strings.Trim(word, "0123456789") == "" || strings.Contains(
		" put away result line lines record records exit error errors failure failures warning warnings mcp__server__a_long_name ", " "+word+" ")
}

func TestValuesNameThings(t *testing.T) {
	t.Parallel()
	var got []string
	reduce.Values("The order ORD-77812 of src/main.go at 10.0.0.1 by userName, user_id; plain words, A1 and 1204. "+strings.Repeat("x1", 200), func(v string) { got = append(got, v) })
	require.Equal(t, []string{"ORD-77812", "src/main.go", "10.0.0.1", "userName", "user_id", "1204"}, got)
}
