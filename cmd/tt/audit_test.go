package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An outsider's view of a dump: nothing here uses the packages that wrote it.

type auditRequest struct {
	Model    string            `json:"model"`
	Messages []json.RawMessage `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

type auditForm struct {
	Pointer    string   `json:"pointer"`
	Form       string   `json:"form"`
	Reason     string   `json:"reason"`
	ArtifactID string   `json:"artifact_id"`
	ShownID    *string  `json:"shown_id"`
	Bases      []string `json:"bases"`
}

// decoded reads JSON without touching its numbers.
func decoded(t *testing.T, doc []byte) any {
	t.Helper()
	var value any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&value))
	return value
}

// parent finds what an RFC 6901 pointer's last token is looked up in.
func parent(t *testing.T, value any, pointer string) (any, string) {
	t.Helper()
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	for _, token := range tokens[:len(tokens)-1] {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			require.NoError(t, err)
			require.Less(t, i, len(v), pointer)
			value = v[i]
		}
	}
	return value, tokens[len(tokens)-1]
}

// at resolves a pointer to a string.
func at(t *testing.T, doc any, pointer string) string {
	t.Helper()
	holder, key := parent(t, doc, pointer)
	object, ok := holder.(map[string]any)
	require.True(t, ok, pointer)
	text, ok := object[key].(string)
	require.True(t, ok, "%s is a string", pointer)
	return text
}

// audit checks every turn of one dumped session and returns how many strings changed.
func audit(t *testing.T, dir string, epochs map[int]bool, get func(id string) string) (changed int) {
	t.Helper()
	ins, err := filepath.Glob(filepath.Join(dir, "*.in.json"))
	require.NoError(t, err)
	require.NotEmpty(t, ins)
	slices.Sort(ins)
	var last []byte
	originals := map[string]string{}
	seen := map[string]bool{} // strings whose lines were looked for already
	for i, path := range ins {
		require.Equal(t, fmt.Sprintf("%04d.in.json", i+1), filepath.Base(path))
		in, out, forms := readTurn(t, strings.TrimSuffix(path, ".in.json"))
		require.LessOrEqual(t, len(out), len(in), path)
		if len(forms) == 0 {
			require.Equal(t, string(in), string(out), path)
		}
		was, is := decoded(t, in), decoded(t, out)
		for _, f := range forms {
			if _, known := originals[f.ArtifactID]; !known {
				originals[f.ArtifactID] = get(f.ArtifactID)
			}
			auditChange(t, was, is, f, originals[f.ArtifactID], seen)
			changed++
		}
		restore(t, is, forms, originals)
		require.True(t, reflect.DeepEqual(was, is), "with the originals put back the request is the caller's: %s", path)
		if last != nil && !epochs[i+1] {
			require.True(t, bytes.HasPrefix(out, last), "%s begins with the turn before", path)
		}
		last = untilLastMessage(t, out)
	}
	return changed
}

func readTurn(t *testing.T, name string) (in, out []byte, forms []auditForm) {
	t.Helper()
	in, err := os.ReadFile(name + ".in.json")
	require.NoError(t, err)
	out, err = os.ReadFile(name + ".out.json")
	require.NoError(t, err)
	list, err := os.ReadFile(name + ".forms.json")
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(bytes.TrimSpace(list), []byte("[")), "an array, also when empty")
	require.NoError(t, json.Unmarshal(list, &forms))
	return in, out, forms
}

func auditChange(t *testing.T, in, out any, f auditForm, original string, seen map[string]bool) {
	t.Helper()
	old, now := at(t, in, f.Pointer), at(t, out, f.Pointer)
	require.Equal(t, old, original, "%s gives back the whole old string", f.ArtifactID)
	require.NotEqual(t, old, now)
	require.Regexp(t, regexp.MustCompile(`^/messages/\d+/content(/\d+/text)?$`), f.Pointer)
	require.LessOrEqual(t, len(f.Bases), 3)
	once := f.Pointer + "\x00" + now
	if seen[once] {
		return // the same string in a later request: only the bases' bytes could differ, and the prefix is held elsewhere
	}
	seen[once] = true
	bases := ""
	for _, base := range f.Bases {
		text := at(t, out, base)
		bases += text + "\n"
		var inside any
		if strings.HasSuffix(base, "/function/arguments") && json.Unmarshal([]byte(text), &inside) == nil {
			bases += stringsIn(inside)
		}
	}
	switch f.Form {
	case "receipt":
		require.NotNil(t, f.ShownID)
		require.Regexp(t, regexp.MustCompile(`^\[Token Terminator: [^\n]* put away[^\n]*artifact_id=`+*f.ShownID+` tag=[0-9a-f]{8}\]$`), now)
		require.LessOrEqual(t, len(now), 300)
	case "compressed":
		require.NotNil(t, f.ShownID)
		require.True(t, strings.HasPrefix(f.ArtifactID, *f.ShownID))
		require.Contains(t, now, "artifact_id="+*f.ShownID+" tag=")
	case "reference":
		require.Nil(t, f.ShownID)
		require.Len(t, f.Bases, 1)
		auditLines(t, old, bases)
	case "delta":
		require.NotEmpty(t, f.Bases)
		auditLines(t, old, bases+now)
	case "layout":
		require.Empty(t, f.Bases)
	default:
		t.Fatalf("%s: unexpected form %s", f.Pointer, f.Form)
	}
}

// stringsIn lists the strings of a decoded JSON value, a line each.
func stringsIn(value any) string {
	switch v := value.(type) {
	case string:
		return v + "\n"
	case []any:
		all := ""
		for _, e := range v {
			all += stringsIn(e)
		}
		return all
	case map[string]any:
		all := ""
		for _, e := range v {
			all += stringsIn(e)
		}
		return all
	}
	return ""
}

var (
	numbered = regexp.MustCompile(`^\s*\d+\s*[→\t|: ]`)
	digits   = regexp.MustCompile(`\d+`)
)

// auditLines demands that every line of old stands in visible, numbers at its
// beginning set aside (JSON text is compared without its structure).
func auditLines(t *testing.T, old, visible string) {
	t.Helper()
	seen := map[string]bool{}
	for _, line := range strings.Split(visible, "\n") {
		seen[bare(line)] = true
	}
	for _, line := range strings.Split(old, "\n") {
		if !seen[bare(line)] && !strings.Contains(visible, strings.TrimSpace(bare(line))) {
			if strings.HasPrefix(strings.TrimSpace(old), "{") || strings.HasPrefix(strings.TrimSpace(old), "[") {
				return // a one-line JSON result leans on members; the recovery check above is exact
			}
			t.Fatalf("line %q stands neither in the new text nor in a base", line)
		}
	}
}

func bare(line string) string {
	line = strings.TrimRight(line, "\r")
	return digits.ReplaceAllString(strings.TrimSpace(numbered.ReplaceAllString(line, "")), "0")
}

// restore puts the originals back in place of the forms.
func restore(t *testing.T, out any, forms []auditForm, originals map[string]string) {
	t.Helper()
	for _, f := range forms {
		holder, key := parent(t, out, f.Pointer)
		object, ok := holder.(map[string]any)
		require.True(t, ok, f.Pointer)
		object[key] = originals[f.ArtifactID]
	}
}

// untilLastMessage cuts a request at the end of its last message.
func untilLastMessage(t *testing.T, raw []byte) []byte {
	t.Helper()
	var req auditRequest
	require.NoError(t, json.Unmarshal(raw, &req))
	last := req.Messages[len(req.Messages)-1]
	i := bytes.LastIndex(raw, last)
	require.GreaterOrEqual(t, i, 0)
	return raw[:i+len(last)]
}
