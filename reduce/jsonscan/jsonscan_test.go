package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestScanAgreesWithGrammar(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"object": `{"a":1,"b":[true,false,null],"c":{"d":"x"}}`, "empty containers": `[[],{},[{}]]`,
		"numbers": `[0,-0,1.5,-1e10,1E+2,0.1e-3,123456789012345678901234567890]`, "escapes": `["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"]`,
		"white space": " [ 1 ,\t2\r\n, { \"a\" : 3 } ] ", "leading zero": `[01]`, "lone minus": `[-]`, "point alone": `[1.]`,
		"trailing comma": `[1,]`, "comma first": `[,1]`, "no colon": `{"a" 1}`, "bare key": `{a:1}`, "control": "[\"a\tb\"]",
		"bad escape": `["\x41"]`, "short unicode": `["\u12"]`, "unclosed": `[1`, "unclosed text": `"abc`, "wrong closer": `[1}`,
		"two values": `1 2`, "nothing": ``, "word": `nul`, "text": `"x"`, "number": `-12.5e3`, "object comma": `{"a":1,}`,
		"duplicate keys": `{"a":1,"a":2}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, json.Valid([]byte(text)), whole(text), text)
		})
	}
}

func whole(text string) bool {
	_, end, err := Scan(nil, text, 0, 1000)
	return err == nil && SkipSpace(text, end) == len(text)
}

func TestScanGivesSpansInPreOrder(t *testing.T) {
	t.Parallel()
	text := ` {"a" : [1, "x"], "b":{}} tail`
	nodes, end, err := Scan(nil, text, 0, 10)
	require.NoError(t, err)
	require.Equal(t, " tail", text[end:])
	var got []string
	for _, n := range nodes {
		got = append(got, fmt.Sprintf("%s=%s next %d count %d", text[n.KeyStart:n.KeyEnd], text[n.Start:n.End], n.Next, n.Count))
	}
	require.Equal(t, []string{
		`={"a" : [1, "x"], "b":{}} next 5 count 2`, `"a"=[1, "x"] next 4 count 2`, `=1 next 3 count 0`,
		`="x" next 4 count 0`, `"b"={} next 5 count 0`,
	}, got)
}

func TestScanBoundsDepth(t *testing.T) {
	t.Parallel()
	bomb := strings.Repeat("[", 1<<20)
	_, _, err := Scan(nil, bomb, 0, 200)
	require.ErrorIs(t, err, ErrDepth)
	_, _, err = Scan(nil, strings.Repeat("[", 200)+strings.Repeat("]", 200), 0, 200)
	require.NoError(t, err)
	_, _, err = Scan(nil, `[1,x]`, 0, 200)
	require.ErrorIs(t, err, ErrSyntax)
	require.ErrorContains(t, err, "byte 3")
}

func TestScanOnPublicParserCases(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("TOKEN_TERMINATOR_CORPUS")
	files, err := filepath.Glob(filepath.Join(dir, "outputs/json-edge/*.json"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		_, _, err = Scan(nil, string(b), 0, 200)
		if errors.Is(err, ErrDepth) {
			continue
		}
		require.Equal(t, json.Valid(b), whole(string(b)), f)
	}
}

func TestMinifyKeepsEveryToken(t *testing.T) {
	t.Parallel()
	seed := uint64(20261130)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		text := randomJSON(r, 4)
		var want bytes.Buffer
		require.NoError(t, json.Compact(&want, []byte(text)))
		require.Equal(t, want.String(), string(Minify(nil, text)), text)
	}
}

func randomJSON(r *rand.Rand, depth int) string {
	space := strings.Repeat(" ", r.IntN(3)) + strings.Repeat("\n", r.IntN(2))
	scalars := []string{`0`, `-1.50e+3`, `"a \" b"`, `"\u2028<"`, `true`, `null`, `12345678901234567890`, `"é😀"`, `""`}
	if depth == 0 || r.IntN(3) == 0 {
		return space + scalars[r.IntN(len(scalars))] + space
	}
	var parts []string
	object := r.IntN(2) == 0
	for range r.IntN(5) {
		part := randomJSON(r, depth-1)
		if object {
			part = space + `"k ` + string(rune('a'+r.IntN(3))) + `"` + space + ":" + part
		}
		parts = append(parts, part)
	}
	if object {
		return "{" + space + strings.Join(parts, ",") + "}" + space
	}
	return "[" + space + strings.Join(parts, ",") + "]" + space
}

func TestDecodeAndAppendStringAreInverse(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "plain", "q\" b\\ /", "\x00\x1f\n\r\t\b\f\x7f", "é 😀 \u2028", "<&>"} {
		literal := AppendString(nil, s)
		got, ok := Decode(string(literal))
		require.True(t, ok)
		require.Equal(t, s, got)
		var std string
		require.NoError(t, json.Unmarshal(literal, &std))
		require.Equal(t, s, std)
	}
	for _, bad := range []string{`"\ud800"`, `"\udc00\ud800"`, `"\ud800\u0041"`, `"a`, `a`, ``, "\"\xff\"", `"a" `} {
		_, ok := Decode(bad)
		require.False(t, ok, bad)
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}]}`, `[1,"x\u0041",-0.5e7]`, `[[[[]]]]`, `{"a":1,}`, `"\ud800"`, ` [ ] `, "[\"\x01\"]", `{"":{"":0}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		nodes, end, err := Scan(nil, text, 0, 64)
		if err != nil {
			return
		}
		if value := text[nodes[0].Start:end]; !json.Valid([]byte(value)) {
			t.Fatalf("accepted %q", value)
		}
		for i, n := range nodes {
			if n.Start >= n.End || int(n.End) > end || int(n.Next) <= i || int(n.Next) > len(nodes) {
				t.Fatalf("bad node %d: %+v", i, n)
			}
			if literal := text[n.Start:n.End]; n.Kind == String {
				if s, ok := Decode(literal); ok {
					var std string
					if json.Unmarshal([]byte(literal), &std) != nil || std != s || !utf8.ValidString(s) {
						t.Fatalf("decoded %q as %q", literal, s)
					}
				}
			}
		}
		var want bytes.Buffer
		if json.Compact(&want, []byte(text[:end])) == nil && want.String() != string(Minify(nil, text[:end])) {
			t.Fatalf("minified %q", text)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	text := strings.Repeat(`{"id": 12345, "name": "some name", "tags": ["a", "b"], "ok": true, "text": "a longer text of some words"}`+"\n", 10000)
	text = "[" + strings.ReplaceAll(strings.TrimSpace(text), "\n", ",\n") + "]"
	b.SetBytes(int64(len(text)))
	var nodes []Node
	for b.Loop() {
		nodes, _, _ = Scan(nodes[:0], text, 0, 100)
	}
}
