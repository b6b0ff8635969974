package delta_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/delta"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a line of \"words\"\tand <more> é\n", 4)
	other := strings.Repeat("another line\n", 8)
	cases := map[string]struct {
		args any
		want []delta.NamedString
	}{
		"a written file": {
			args: map[string]any{"file_path": "/a/b.go", "content": text},
			want: []delta.NamedString{{Key: "content", Value: text}},
		},
		"a list of edits": {
			args: map[string]any{"edits": []any{map[string]any{"new_string": text, "old_string": "x"}, map[string]any{"new_string": other}}},
			want: []delta.NamedString{{Key: "edits[0].new_string", Value: text}, {Key: "edits[1].new_string", Value: other}},
		},
		"a command as a list": {
			args: map[string]any{"command": []string{"bash", "-lc", "cat <<E\n" + text + "E\n"}},
			want: []delta.NamedString{{Key: "command[2]", Value: "cat <<E\n" + text + "E\n"}},
		},
		"short values and values of one line are left out": {
			args: map[string]any{"a": "x\ny\n", "b": strings.Repeat("long ", 50), "c": 12, "d": nil},
		},
		"values that are deeper than the bound are left out": {
			args: []any{[]any{[]any{[]any{[]any{[]any{[]any{[]any{[]any{text}}}}}}}}, other},
			want: []delta.NamedString{{Key: "[1]", Value: other}},
		},
		"a bare string": {args: text, want: []delta.NamedString{{Value: text}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := json.Marshal(c.args)
			require.NoError(t, err)
			require.Equal(t, c.want, delta.Arguments(string(raw)))
		})
	}
	long := strings.Repeat(`a line of words\n`, 9)
	for name, raw := range map[string]string{
		"not JSON":         `{"content":"` + long,
		"a trailing value": `{"content":"` + long + `"} 1`,
		"a key twice":      `{"content":"` + long + `","content":"` + long + `"}`,
		"a lone surrogate": `{"content":"` + long + `\ud800"}`,
		"not UTF-8":        `{"content":"` + long + "\xff" + `"}`,
		"depth bomb":       `{"content":` + strings.Repeat("[", 100000) + long,
	} {
		require.Empty(t, delta.Arguments(raw), name)
	}
}
