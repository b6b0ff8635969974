package structured

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

func uniform(n int, extra string) []string {
	var recs []string
	for i := range n {
		recs = append(recs, fmt.Sprintf(`{"id":%d,"name":"item %d of the list"%s}`, i, i, extra))
	}
	return recs
}

func TestCompressRefusesWithAReason(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 400)
	for name, c := range map[string]struct {
		text string
		want turn.Reason
	}{
		"empty":                     {"", turn.ParseFailed},
		"white space":               {" \n ", turn.ParseFailed},
		"plain text":                {long, turn.ParseFailed},
		"broken":                    {`[{"a":1},{"a":` + long, turn.ParseFailed},
		"cut in the middle":         {"[" + strings.Join(uniform(200, ""), ",\n"), turn.ParseFailed},
		"a number":                  {"12345", turn.NoFormSmaller},
		"a text":                    {`"` + long + `"`, turn.NoFormSmaller},
		"small":                     {`{"a":[1,2,3]}`, turn.NoFormSmaller},
		"too deep":                  {strings.Repeat("[", 100000), turn.TooDeep},
		"deep and closed":           {strings.Repeat("[", 300) + strings.Repeat("]", 300), turn.TooDeep},
		"no UTF-8":                  {"[\"\xff\"]", turn.BadUnicode},
		"too large":                 {"[" + strings.Repeat(" ", maxBytes) + "]", turn.TooLarge},
		"white space is most of it": {"{\n" + strings.Repeat(" ", 4000) + `"a":"` + long + `","b":` + "[" + strings.Join(uniform(13, ""), ",\n    ") + "]}", turn.NoFormSmaller},
		"few different records":     {`[{"a":"` + long + `"},{"b":"` + long + `x"}]`, turn.NoFormSmaller},
		"every record is severe":    {"[" + strings.Join(uniform(30, `,"error":"disk full"`), ",") + "]", turn.NoFormSmaller},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, reason := Compress(c.text, kind.JSON, form.Settings{})
			require.Equal(t, c.want, reason)
			require.Zero(t, v)
		})
	}
}

func TestCompressNeverForcesAFit(t *testing.T) {
	t.Parallel()
	text := "[" + strings.Join(uniform(500, ""), ",") + "]"
	_, reason := Compress(text, kind.JSON, form.Settings{MaxTokens: 60})
	require.Equal(t, turn.NoForcedFit, reason)
	_, reason = Compress(text, kind.JSON, form.Settings{MaxTokens: 600})
	require.Empty(t, reason)
}

func TestCompressShowsPlaceAndCounts(t *testing.T) {
	t.Parallel()
	recs := uniform(160, "")
	recs[80] = `{"id":80,"name":"item 80 of the list","error":"disk full"}`
	v, reason := Compress("["+strings.Join(recs, ",")+"]", kind.JSON, form.Settings{})
	require.Empty(t, reason)
	require.True(t, v.InJSON)
	require.Equal(t, `"]`, v.Tail)
	require.Equal(t, 160, v.Total)
	require.Equal(t, "records", v.Unit)
	require.Contains(t, v.Head, `{"id":2,"name":"item 2 of the list"},"[array summary] 153 of 160 records left out, here index 3-79",`+recs[80]+`,"[left out: 81-156]",{"id":157`)
	require.Equal(t, 160-153, v.Shown)
}

func TestCompressKeepsLexemesAndOrder(t *testing.T) {
	t.Parallel()
	odd := `{"id": 12345678901234567890123, "id": 1.50e+03, "t":"\u0041\/\ud83d\ude00", "name":"the only one" }`
	recs := uniform(100, "")
	recs[50] = odd
	v, reason := Compress("[\n  "+strings.Join(recs, ",\n  ")+"\n]\n", kind.JSON, form.Settings{})
	require.Empty(t, reason)
	require.Contains(t, v.Head, `{"id":12345678901234567890123,"id":1.50e+03,"t":"\u0041\/\ud83d\ude00","name":"the only one"}`)
}

func TestCompressOfObjects(t *testing.T) {
	t.Parallel()
	members := []string{}
	for i := range 100 {
		members = append(members, fmt.Sprintf(`"user_%d":{"name":"N%d","age":%d}`, i, i, 20+i%50))
	}
	for name, c := range map[string]struct{ text, want, end string }{
		"a map": {"{" + strings.Join(members, ",") + "}", `"[omitted members]":"93 of 100 members left out","[omitted]":"`, `"}`},
		"an inner map": {`{"users":{` + strings.Join(members, ",") + `}}`,
			`"[omitted]":"93 of 100 members left out"},"[omitted]":"`, `"}`},
		"our key is taken":            {`{"[omitted]":1,"users":{` + strings.Join(members, ",") + `}}`, `},"[omitted] 2":"`, `"}`},
		"our key is taken in escapes": {`{"[\u006fmitted]":1,"users":{` + strings.Join(members, ",") + `}}`, `},"[omitted] 2":"`, `"}`},
		"numbered fields":             {`{"title":"years","note":"plain","x":{"` + strings.Join(years(), `,"`) + `}}`, `members left out"`, `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, reason := Compress(c.text, kind.JSON, form.Settings{})
			require.Empty(t, reason)
			require.Contains(t, v.Head, c.want)
			require.Equal(t, c.end, v.Tail)
			requireValid(t, c.text, v)
		})
	}
}

func years() (out []string) {
	for y := 1900; y < 2000; y++ {
		out = append(out, fmt.Sprintf(`%d":"%d,000"`, y, 100+y%7*13))
	}
	return out
}

func TestFoldsInsideOneObject(t *testing.T) {
	t.Parallel()
	user := `{"login":"octo","id":99,"type":"User","url":"https://api.example.com/users/octo","a_url":"https://api.example.com/users/octo/a",` +
		`"b_url":"https://api.example.com/users/octo/b{/x}","c_url":"https://api.example.com/users/octo?c","d_url":"https://api.example.com/users/octopus"}`
	blob := strings.Repeat("QUJDRA+/", 300)
	text := `{ "issue": {"user": ` + user + `}, "sender": ` + strings.Replace(user, ":", " : ", 3) + `, "key": "` + blob + `", "z": ` + user + `}`
	v, reason := Compress(text, kind.JSON, form.Settings{})
	require.Empty(t, reason)
	require.Contains(t, v.Head, `"url":"https://api.example.com/users/octo","d_url":"https://api.example.com/users/octopus","[omitted]":"3 addresses that continue one shown here left out"}`)
	require.Contains(t, v.Head, `"sender":"[same as /issue/user]","key":"[text of 2400 characters left out]","z":"[same as /issue/user]"`)
	require.Equal(t, "values", v.Unit)
	require.Equal(t, 25, v.Total)
	require.Equal(t, 5, v.Shown)
	requireValid(t, text, v)
}

func TestRepeatsInsideARemovedPartAreNoBase(t *testing.T) {
	t.Parallel()
	recs := uniform(100, `,"meta":{"host":"worker-one.example.com","zone":"north","text":"`+strings.Repeat("same words ", 12)+`"}`)
	v, reason := Compress("["+strings.Join(recs, ",")+"]", kind.JSON, form.Settings{})
	require.Empty(t, reason)
	require.Contains(t, v.Head, `"[same as /0/meta]"`)
	require.Equal(t, 1, strings.Count(v.Head, "worker-one"))
}

func TestStreams(t *testing.T) {
	t.Parallel()
	recs := uniform(100, "")
	recs[40] = `{"id":40,"name":"item 40 of the list","level":"error"}`
	for name, text := range map[string]string{
		"one a line": strings.Join(recs, "\n"), "carriage returns": strings.Join(recs, "\r\n") + "\r\n", "blank lines": strings.Join(recs, "\n\n"),
		"documents that follow one another": strings.ReplaceAll(strings.Join(recs, ""), ",", ",\n  "), "a plain line": "starting up\n" + strings.Join(recs, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, reason := Compress(text, kind.NDJSON, form.Settings{})
			require.Empty(t, reason)
			require.False(t, v.InJSON)
			require.Contains(t, v.Head, recs[40]+"\n")
			require.Regexp(t, `(?m)^\[\d+ of 10\d records left out, here index \d+-\d+\]$`, v.Head)
			require.Equal(t, name == "a plain line", strings.Contains(v.Head, "starting up\n"))
			requireValid(t, text, v)
		})
	}
}

func TestManyEqualWarningsAreBounded(t *testing.T) {
	t.Parallel()
	recs := uniform(10000, `,"level":"warning","msg":"slow query"`)
	v, reason := Compress("["+strings.Join(recs, ",")+"]", kind.JSON, form.Settings{})
	require.Empty(t, reason)
	require.InDelta(t, severeCap, v.Shown, 10)
}

func TestNestedEvidenceKeepsItsWholePath(t *testing.T) {
	t.Parallel()
	var outer []string
	for i := range 40 {
		var inner []string
		for j := range 40 {
			state := "green"
			if i == 20 && j == 20 {
				state = "magenta"
			}
			inner = append(inner, fmt.Sprintf(`{"n":%d,"state":"%s"}`, j, state))
		}
		outer = append(outer, fmt.Sprintf(`{"group":%d,"list":[%s]}`, i, strings.Join(inner, ",")))
	}
	text := "[" + strings.Join(outer, ",") + "]"
	v, reason := Compress(text, kind.JSON, form.Settings{})
	require.Empty(t, reason)
	require.Contains(t, v.Head, `{"n":20,"state":"magenta"}`)
	require.Contains(t, v.Head, `{"group":20,`)
	require.Less(t, len(v.Head), len(text)/5)
	requireValid(t, text, v)
}

func TestRandomDocumentsKeepTheLaw(t *testing.T) {
	t.Parallel()
	seed := uint64(7)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	views := 0
	for range 60 {
		text := random(r, 2)
		v, reason := Compress(text, kind.JSON, form.Settings{})
		if reason != "" {
			require.True(t, reason.Known())
			continue
		}
		views++
		requireValid(t, text, v)
		again, _ := Compress(text, kind.JSON, form.Settings{})
		require.Equal(t, v, again)
	}
	require.Greater(t, views, 15)
}

func random(r *rand.Rand, depth int) string {
	n := r.IntN(60)
	if depth == 0 || n < 10 {
		return []string{"1", `"text"`, "null", "true", `"https://x.example/a/b"`, fmt.Sprint(r.IntN(1e6)), `"some error here"`, `"` + strings.Repeat("ab0", r.IntN(600)) + `"`}[r.IntN(8)]
	}
	var parts []string
	one := random(r, depth-1)
	object := r.IntN(2) == 0
	for i := range n {
		part := one
		if r.IntN(12) == 0 {
			part = random(r, depth-1)
		}
		if object {
			part = fmt.Sprintf(`"k%d": %s`, i*r.IntN(2), part)
		}
		parts = append(parts, part)
	}
	if object {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func FuzzCompress(f *testing.F) {
	f.Add("[" + strings.Join(uniform(40, ""), ",") + "]")
	f.Add(strings.Join(uniform(40, `,"error":"x"`), "\n"))
	f.Add(`{"a":[` + strings.Repeat(`{"b":1},`, 30) + `{"c":"\ud800"}]}`)
	f.Add(`{"[omitted]":{"[omitted] 2":[` + strings.Repeat(`"left out", `, 60) + `1e999]}}`)
	f.Add(`{"":"https://a.b/c","b":"https://a.b/c/d","c":"https://a.b/c/e","d":"https://a.b/c/f"` + strings.Repeat(` `, 400) + `}`)
	f.Add("{\"a\":1}\nplain\n{\"b\":2}\n{\"b\":2}\n{\"b\":2}\n")
	f.Fuzz(func(t *testing.T, text string) {
		v, reason := Compress(text, kind.JSON, form.Settings{})
		if reason != "" {
			if v != (form.View{}) || !reason.Known() {
				t.Fatalf("refused with %q and a view", reason)
			}
			return
		}
		out := v.Head + "marker" + v.Tail
		if len(out) >= len(text) || !utf8.ValidString(out) || v.Shown >= v.Total {
			t.Fatalf("%d of %d bytes, %d of %d shown", len(out), len(text), v.Shown, v.Total)
		}
		if v.InJSON && !json.Valid([]byte(out)) {
			t.Fatalf("invalid: %q", out)
		}
	})
}

func benchmarkText(size int, lines bool) string {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"time":"2026-11-30T10:%02d:%02d.%03dZ","level":"info","id":%d,"host":"web-%d","request":{"method":"GET","path":"/api/v1/items/%d","status":200},"ms":%d.%d,"message":"request %d served from cache in the usual way"}`,
			i/60%60, i%60, i%1000, i, r.IntN(20), r.IntN(100000), r.IntN(80), r.IntN(10), i)
		if lines {
			b.WriteByte('\n')
		} else {
			b.WriteString(",\n")
		}
	}
	if lines {
		return b.String()
	}
	return "[" + strings.TrimSuffix(b.String(), ",\n") + "]"
}

func BenchmarkReduce(b *testing.B) {
	for _, c := range []struct {
		name  string
		size  int
		lines bool
	}{{"json_1MB", 1 << 20, false}, {"json_8MB", 8<<20 - 4096, false}, {"ndjson_1MB", 1 << 20, true}, {"ndjson_8MB", 8<<20 - 4096, true}} {
		text := benchmarkText(c.size, c.lines)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, reason := Compress(text, kind.JSON, form.Settings{}); reason != "" {
					b.Fatal(reason)
				}
			}
		})
	}
}
