package structured

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
)

const needleSeed = 20261130

// shapes are the kinds of 160 uniform records the needles are put in.
var shapes = map[string]func(r *rand.Rand, i int) map[string]any{
	"jobs": func(r *rand.Rand, i int) map[string]any {
		return map[string]any{"id": i, "name": fmt.Sprintf("job-%04d", i), "status": "ok", "ms": 80 + r.IntN(60),
			"message": fmt.Sprintf("step %d done in %d ms", i, r.IntN(900))}
	},
	"users": func(r *rand.Rand, i int) map[string]any {
		return map[string]any{"uid": 10000 + r.IntN(80000), "mail": fmt.Sprintf("user%d@example.com", i), "active": true,
			"ms": r.IntN(50) + 200, "status": []string{"active", "idle"}[r.IntN(2)],
			"message": "signed in from host-" + fmt.Sprint(r.IntN(99)) + " of row", "roles": []string{"reader"}}
	},
	"metrics": func(r *rand.Rand, i int) map[string]any {
		return map[string]any{"ts": 1764500000 + i*15, "ms": 1 + r.Float64(), "labels": map[string]any{"pod": fmt.Sprintf("web-%x", r.IntN(1<<20)), "ns": "default"},
			"status": 200, "message": "scraped"}
	},
}

// needles change one record so that it differs, and return what must stay visible.
var needles = map[string]func(rec map[string]any) string{
	"error word": func(rec map[string]any) string {
		rec["message"] = "connection error: reset by peer"
		return "connection error: reset by peer"
	},
	"failure field": func(rec map[string]any) string { rec["error"] = "E77"; return `"error":"E77"` },
	"outlier":       func(rec map[string]any) string { rec["ms"] = 98765; return "98765" },
	"unique text": func(rec map[string]any) string {
		rec["message"] = "the purple elephant sleeps"
		return "purple elephant"
	},
	"missing key": func(rec map[string]any) string { delete(rec, "ms"); rec["marked"] = "x17y"; return "x17y" },
	"other type":  func(rec map[string]any) string { rec["ms"] = "n/a"; return `"n/a"` },
	"rare state":  func(rec map[string]any) string { rec["status"] = "quarantined"; return "quarantined" },
	"number in a text": func(rec map[string]any) string {
		m := fmt.Sprint(rec["message"])
		at := strings.LastIndexFunc(m, func(r rune) bool { return r >= '0' && r <= '9' })
		if at < 0 {
			rec["message"] = "scraped 7 times"
			return "scraped 7 times"
		}
		from := strings.LastIndexFunc(m[:at], func(r rune) bool { return r < '0' || r > '9' }) + 1
		rec["message"] = m[:from] + "77123" + m[at+1:]
		return "77123"
	},
	"null for value": func(rec map[string]any) string { rec["ms"] = nil; return `"ms":null` },
}

var frames = map[string]func(recs []string) string{
	"array":    func(recs []string) string { return "[" + strings.Join(recs, ",") + "]" },
	"indented": func(recs []string) string { return indent("[" + strings.Join(recs, ",") + "]") },
	"nested": func(recs []string) string {
		return `{"total":160,"items":[` + strings.Join(recs, ", ") + `],"next":null}`
	},
	"map": func(recs []string) string {
		var out []string
		for i, r := range recs {
			out = append(out, fmt.Sprintf(`"key-%d":%s`, i, r))
		}
		return "{" + strings.Join(out, ",") + "}"
	},
	"lines": func(recs []string) string { return strings.Join(recs, "\n") + "\n" },
	"inner array": func(recs []string) string {
		return `[{"page":1,"rows":[` + strings.Join(recs, ",") + `]},{"page":2,"rows":[]}]`
	},
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func indent(text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	out, _ := json.MarshalIndent(v, "", "  ")
	return string(out)
}

func TestNeedlesStayVisible(t *testing.T) {
	t.Parallel()
	t.Logf("seed %d", needleSeed)
	for shape, record := range shapes {
		for needle, change := range needles {
			for frame, build := range frames {
				for _, percent := range []int{25, 50, 75} {
					name := fmt.Sprintf("%s, %s, in %s at %d%%", shape, needle, frame, percent)
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						r := rand.New(rand.NewPCG(needleSeed, uint64(percent)))
						var recs []string
						want := ""
						for i := range 160 {
							rec := record(r, i)
							if i == 160*percent/100 {
								want = change(rec)
							}
							recs = append(recs, marshal(t, rec))
						}
						text := build(recs)
						v, reason := Compress(text, kind.JSON, form.Settings{})
						require.Empty(t, reason)
						require.Contains(t, v.Head+v.Tail, want)
						require.Less(t, len(v.Head+v.Tail), len(text)/2, v.Head)
						requireValid(t, text, v)
					})
				}
			}
		}
	}
}

var note = regexp.MustCompile(`^"(\[.*\]|\[array summary\] .*|\d+ (of \d+ members|addresses).* left out)"$`)

// requireValid holds what every view promises: valid JSON (or lines of it), and
// every value of it stands in the source or is a note of ours.
func requireValid(t *testing.T, text string, v form.View) {
	t.Helper()
	out := v.Head + "MARKER" + v.Tail
	if v.InJSON {
		require.True(t, json.Valid([]byte(out)), out)
		require.Equal(t, 1, strings.Count(out, "MARKER"))
	} else {
		require.Empty(t, v.Tail)
		require.True(t, strings.HasSuffix(v.Head, "\n"))
	}
	require.Less(t, v.Shown, v.Total)
	source, reason := parse(text)
	require.Empty(t, reason)
	have := map[string]bool{}
	for i := range source.nodes {
		have[source.value(int32(i))] = true
	}
	view, _ := parseLoose(out)
	if v.InJSON {
		view, reason = parse(out)
		require.Empty(t, reason)
	}
	for i, n := range view.nodes {
		value := view.value(int32(i))
		if isContainer(n.Kind) || n.Kind == rawLine || have[value] || strings.Contains(value, "MARKER") {
			continue
		}
		require.True(t, note.MatchString(value), value)
	}
}
