package reduce_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce"
	"token-terminator/turn"
)

// oddLines make line i of a log, and with odd the one line that must stay, and what
// of it must be seen.
var oddLines = map[string]func(r *rand.Rand, i int, odd bool) (string, string){
	"http 5xx": func(r *rand.Rand, i int, odd bool) (string, string) {
		s := "200"
		if odd {
			s = "503"
		}
		l := fmt.Sprintf(`10.0.0.%d - - [01/Jan/2026:10:%02d:%02d +0000] "GET /p/%d HTTP/1.1" %s %d`, r.IntN(250), i/60%60, i%60, r.IntN(9999), s, r.IntN(9000))
		return l, l
	},
	"latency 10x": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := 20 + r.IntN(30)
		if odd {
			v = 4211
		}
		l := fmt.Sprintf("2026-01-01T10:%02d:%02d.%03d INFO query users took %dms", i/60%60, i%60, r.IntN(1000), v)
		return l, l
	},
	"latency unit": func(r *rand.Rand, i int, odd bool) (string, string) {
		u := "ms"
		if odd {
			u = "s"
		}
		l := fmt.Sprintf("2026-01-01T10:%02d:%02d.%03d INFO query users took %d%s", i/60%60, i%60, r.IntN(1000), 20+r.IntN(30), u)
		return l, l
	},
	"changed hash": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := "a3f5c9d0e1b2"
		if odd {
			h = "b4e6d8c1f2a3"
		}
		l := fmt.Sprintf("%d verify chunk %d sha256:%s ok", 1700000000+i, i, h)
		return l, l
	},
	"changed version": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := "1.24.3"
		if odd {
			h = "1.24.4"
		}
		l := fmt.Sprintf("node-%03d runs agent %s since %d s", i, h, r.IntN(100000))
		return l, l
	},
	"date jump": func(r *rand.Rand, i int, odd bool) (string, string) {
		d := "2026-01-01"
		if odd {
			d = "2019-07-04"
		}
		l := fmt.Sprintf("%s 10:%02d:%02d worker %d done job %d", d, i/60%60, i%60, r.IntN(8), r.IntN(100000))
		return l, l
	},
	"hostname": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := []string{"web", "api", "db"}[r.IntN(3)]
		if odd {
			h = "gateway-z"
		}
		l := fmt.Sprintf("Jan  1 10:%02d:%02d %s app[%d]: served %d requests", i/60%60, i%60, h, 100+r.IntN(900), r.IntN(1000))
		return l, l
	},
	"url host": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := "api.example.com"
		if odd {
			h = "evil.example.net"
		}
		l := fmt.Sprintf("%d fetched https://%s/items/%d in %d ms", 1700000000+i, h, r.IntN(100000), 10+r.IntN(90))
		return l, l
	},
	"url scheme": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := "https"
		if odd {
			h = "http"
		}
		l := fmt.Sprintf("%d fetched %s://api.example.com/items/%d in %d ms", 1700000000+i, h, r.IntN(100000), 10+r.IntN(90))
		return l, l
	},
	"hash sign among numbers": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := fmt.Sprint(r.IntN(100000))
		if odd {
			h = "#"
		}
		l := fmt.Sprintf("worker %d took job %s from queue", r.IntN(8), h)
		return l, l
	},
	"20 digits": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := fmt.Sprint(100000 + r.IntN(100000))
		if odd {
			h = "18446744073709551615"
		}
		l := fmt.Sprintf("worker %d free bytes %s of pool", r.IntN(8), h)
		return l, l
	},
	"version among numbers": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := fmt.Sprint(100000 + r.IntN(100000))
		if odd {
			h = "1.2.3"
		}
		l := fmt.Sprintf("worker %d free bytes %s of pool", r.IntN(8), h)
		return l, l
	},
	"hex among numbers": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := fmt.Sprint(100000 + r.IntN(100000))
		if odd {
			h = "0xdeadbeef"
		}
		l := fmt.Sprintf("worker %d free bytes %s of pool", r.IntN(8), h)
		return l, l
	},
	"date among numbers": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := fmt.Sprint(100000 + r.IntN(100000))
		if odd {
			h = "2026-01-02"
		}
		l := fmt.Sprintf("worker %d free bytes %s of pool", r.IntN(8), h)
		return l, l
	},
	"negative": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := fmt.Sprint(1000 + r.IntN(9000))
		if odd {
			h = "-1"
		}
		l := fmt.Sprintf("worker %d free bytes %s of pool", r.IntN(8), h)
		return l, l
	},
	"zero": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := fmt.Sprint(1000 + r.IntN(9000))
		if odd {
			h = "0"
		}
		l := fmt.Sprintf("worker %d free bytes %s of pool", r.IntN(8), h)
		return l, l
	},
	"uuid among ids": func(r *rand.Rand, i int, odd bool) (string, string) {
		h := fmt.Sprintf("req-%d", r.IntN(100000))
		if odd {
			h = "req-0"
		}
		l := fmt.Sprintf("worker %d handled %s well", r.IntN(8), h)
		return l, l
	},
	"bool flip": func(r *rand.Rand, i int, odd bool) (string, string) {
		l := fmt.Sprintf("probe %d healthy=%v pods=%d", i, !odd, r.IntN(100))
		return l, l
	},
	"exit mid": func(r *rand.Rand, i int, odd bool) (string, string) {
		c := 0
		if odd {
			c = 137
		}
		l := fmt.Sprintf("task %d exited with code %d after %d ms", i, c, r.IntN(10000))
		return l, l
	},
	"level letter": func(r *rand.Rand, i int, odd bool) (string, string) {
		c := "I"
		if odd {
			c = "E"
		}
		l := fmt.Sprintf("%s1130 07:%02d:%02d.%06d 1 sync.go:%d] synced %d", c, i/60%60, i%60, r.IntN(1000000), r.IntN(3)+10, r.IntN(10000))
		return l, l
	},
	"syslog prio": func(r *rand.Rand, i int, odd bool) (string, string) {
		c := 30
		if odd {
			c = 27
		}
		l := fmt.Sprintf("<%d>Jan  1 10:%02d:%02d app[%d]: did %d", c, i/60%60, i%60, r.IntN(1000), r.IntN(10000))
		return l, l
	},
	"timeouts thrice": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := 20 + r.IntN(50)
		if odd || i%400 > 397 {
			v = 30000
		}
		l := fmt.Sprintf("2026-01-01T10:%02d:%02d.%03d INFO query users took %dms", i/60%60, i%60, r.IntN(1000), v)
		return l, l
	},
	"path traversal": func(r *rand.Rand, i int, odd bool) (string, string) {
		p := fmt.Sprintf("/items/%d/view", r.IntN(100000))
		if odd {
			p = "/../../etc/passwd"
		}
		l := fmt.Sprintf(`10.0.0.%d "GET %s HTTP/1.1" 200 %d`, r.IntN(250), p, r.IntN(9000))
		return l, l
	},
	"retry count": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := 0
		if odd {
			v = 3
		}
		l := fmt.Sprintf("job %d done retries=%d bytes=%d", r.IntN(100000), v, r.IntN(10000))
		return l, l
	},
	"port": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := 443
		if odd {
			v = 4444
		}
		l := fmt.Sprintf("conn from 10.1.%d.%d:%d to 10.2.0.9:%d", r.IntN(250), r.IntN(250), 1024+r.IntN(60000), v)
		return l, l
	},
	"upper case": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := "accepted"
		if odd {
			v = "ACCEPTED"
		}
		l := fmt.Sprintf("order %d %s by desk %d", r.IntN(100000), v, r.IntN(9))
		return l, l
	},
	"name variety": func(r *rand.Rand, i int, odd bool) (string, string) {
		names := []string{"alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"}
		v := names[r.IntN(10)] + string(rune('a'+r.IntN(26))) + string(rune('a'+r.IntN(26)))
		verb := "logged in from"
		if odd {
			verb = "got banned from"
		}
		l := fmt.Sprintf("user %s %s office on floor %d", v, verb, r.IntN(9))
		return l, l
	},
	"pct": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := "%20"
		if odd {
			v = "%00"
		}
		l := fmt.Sprintf("load name a%sb size %d", v, r.IntN(9000))
		return l, l
	},
	"5kB line end": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := ""
		if odd {
			v = " rc=7 lost"
		}
		l := fmt.Sprintf("dump %d %s%s", i, strings.Repeat("ab cd 12 ", 500+r.IntN(3)), v)
		return l, l
	},
	"CRLF": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := "fine"
		if odd {
			v = "broken"
		}
		l := fmt.Sprintf("step %d is %s\r", i, v)
		return l, strings.TrimSpace(l)
	},
	"cjk": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := "成功"
		if odd {
			v = "失败"
		}
		l := fmt.Sprintf("任务%d%s,耗时%d毫秒", i, v, r.IntN(900))
		return l, l
	},
	"cjk number": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := 10 + r.IntN(80)
		if odd {
			v = 98765
		}
		l := fmt.Sprintf("任务%d成功,耗时%d毫秒", i, v)
		return l, l
	},
	"fullwidth digits": func(r *rand.Rand, i int, odd bool) (string, string) {
		v := "正常"
		if odd {
			v = "500"
		}
		l := fmt.Sprintf("请求 %d 状态 %s", i, v)
		return l, l
	},
}

// hiding gives the view of a text that hides something, "" when there is none.
func hiding(text string) string {
	proposals, _ := reduce.Settings{}.Propose(reduce.Block{Text: text}, nil)
	for _, p := range proposals {
		if p.Form == turn.Compressed {
			shown, _, _ := p.Render(turn.ArtifactID("a_"+strings.Repeat("0", 64)), "deadbeef")
			return shown
		}
	}
	return ""
}

// TestOddValuesOfManyKindsStay puts one line of an odd kind among many alike.
func TestOddValuesOfManyKindsStay(t *testing.T) {
	t.Parallel()
	for name, line := range oddLines {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, 5))
			for _, n := range []int{30, 60, 120, 400, 1500} {
				for _, percent := range []int{25, 50, 75} {
					var text strings.Builder
					needle := ""
					for i := range n {
						l, want := line(r, i, i == n*percent/100)
						text.WriteString(l + "\n")
						if i == n*percent/100 {
							needle = want
						}
					}
					if shown := hiding(text.String()); shown != "" {
						require.Contains(t, shown, needle, "%d lines, at %d %%", n, percent)
					}
				}
			}
		})
	}
}

var oddRecords = map[string]func(r *rand.Rand, i int, odd bool) (string, string){
	"level": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"level":"%s","msg":"sync %d"}`, i, pick(odd, "error", "info"), r.IntN(1000)), `"level":"error"`
	},
	"bool": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"live":%v,"msg":"sync %d"}`, i, !odd, r.IntN(1000)), `"live":false`
	},
	"null": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"owner":%s,"msg":"sync %d"}`, i, pick(odd, "null", fmt.Sprintf(`"u%d"`, r.IntN(1000))), r.IntN(1000)), `"owner":null`
	},
	"number as string": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"n":%s,"msg":"sync %d"}`, i, pick(odd, `"17"`, fmt.Sprint(r.IntN(1000))), r.IntN(1000)), `"n":"17"`
	},
	"string outlier": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"n":"%s"}`, i, pick(odd, `991234`, fmt.Sprint(100+r.IntN(100)))), `991234`
	},
	"missing key": func(r *rand.Rand, i int, odd bool) (string, string) {
		return pick(odd, fmt.Sprintf(`{"t":%d,"msg":"sync odd"}`, i), fmt.Sprintf(`{"t":%d,"n":%d,"msg":"sync %d"}`, i, r.IntN(100), r.IntN(1000))), `sync odd`
	},
	"extra key": func(r *rand.Rand, i int, odd bool) (string, string) {
		return pick(odd, fmt.Sprintf(`{"t":%d,"n":3,"msg":"sync 4","note":"zz"}`, i), fmt.Sprintf(`{"t":%d,"n":%d,"msg":"sync %d"}`, i, r.IntN(100), r.IntN(1000))), `"note":"zz"`
	},
	"nested error in string": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"body":"{\"code\":%d,\"m\":\"%s\"}"}`, i, r.IntN(10), pick(odd, "connection error", "fine")), `connection error`
	},
	"exit": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"exit_code":%s,"x":%d}`, i, pick(odd, "-9", "0"), r.IntN(1e6)), `"exit_code":-9`
	},
	"float exponent": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"loss":%s}`, i, pick(odd, "1e308", fmt.Sprintf("%.4f", r.Float64()))), `1e308`
	},
	"inf exponent": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"loss":%s}`, i, pick(odd, "1e999", fmt.Sprintf("%.4f", r.Float64()))), `1e999`
	},
	"nan string": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"loss":"%s"}`, i, pick(odd, "NaN", fmt.Sprintf("%.4f", r.Float64()))), `NaN`
	},
	"status str": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"status":"%s","x":%d}`, i, pick(odd, "503", "200"), r.IntN(1e6)), `"503"`
	},
	"empty array": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"tags":%s,"x":%d}`, i, pick(odd, "[]", `["a","b"]`), r.IntN(1e6)), `"tags":[]`
	},
	"empty string": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"name":"%s","x":%d}`, i, pick(odd, "", fmt.Sprintf("n%d", r.IntN(1e6))), r.IntN(1e6)), `"name":""`
	},
	"host": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"url":"https://%s/items/%d"}`, i, pick(odd, "evil.net", "api.example.com"), r.IntN(1e6)), `evil.net`
	},
	"escaped error": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"m":"%s %d"}`, i, pick(odd, `\u0065rror lost`, `all right`), r.IntN(1e6)), `\u0065rror`
	},
	"cjk": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"m":"任务%d%s"}`, i, r.IntN(1e6), pick(odd, `失败`, `成功`)), `失败`
	},
	"dup key": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"m":"a"%s}`, i, pick(odd, `,"m":"b"`, ``)), `"m":"a","m":"b"`
	},
	"latency": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"ms":%s}`, i, pick(odd, `91234`, fmt.Sprint(20+r.IntN(50)))), `91234`
	},
	"deep": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"a":{"b":[{"c":{"d":%s}}]}}`, i, pick(odd, `"boom"`, fmt.Sprint(20+r.IntN(50)))), `"boom"`
	},
	"time jump": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"ts":%d,"v":"x%d"}`, pick(odd, 1500000000, 1700000000+i), r.IntN(1e6)), `1500000000`
	},
	"iso jump": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"ts":"%s","v":"x%d"}`, pick(odd, "2019-07-04T00:00:00Z", fmt.Sprintf("2026-01-01T10:%02d:%02dZ", i/60%60, i%60)), r.IntN(1e6)), `2019-07-04`
	},
	"bad line": func(r *rand.Rand, i int, odd bool) (string, string) {
		return fmt.Sprintf(`{"t":%d,"healthy":"%s","v":"x%d"}`, i, pick(odd, "no", "yes"), r.IntN(1e6)), `"no"`
	},
}

func pick[T any](odd bool, a, b T) T {
	if odd {
		return a
	}
	return b
}

// TestOddRecordsOfManyKindsStay does the same with records, in an array, in lines,
// below a key, and as text inside an envelope.
func TestOddRecordsOfManyKindsStay(t *testing.T) {
	t.Parallel()
	for name, record := range oddRecords {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, 5))
			for _, n := range []int{24, 30, 60, 160, 400, 1500} {
				for _, percent := range []int{25, 50, 75} {
					list, needle := make([]string, n), ""
					for i := range list {
						list[i], needle = record(r, i, i == n*percent/100)
					}
					array := "[" + strings.Join(list, ",\n ") + "]"
					inner, err := json.Marshal(array)
					require.NoError(t, err)
					requireShown(t, hiding(array), needle)
					requireShown(t, hiding(`{"meta":{"a":1},"items":[`+strings.Join(list, ",")+`],"next":null}`), needle)
					if shown := hiding(strings.Join(list, "\n") + "\n"); shown != "" {
						require.Contains(t, shown, needle)
					}
					if shown := hiding(`{"output":` + string(inner) + `,"exit_code":0}`); shown != "" {
						var around struct{ Output string }
						require.NoError(t, json.Unmarshal([]byte(shown), &around))
						requireShown(t, around.Output, needle)
					}
				}
			}
		})
	}
}

func requireShown(t *testing.T, shown, needle string) {
	t.Helper()
	if shown != "" {
		require.True(t, json.Valid([]byte(shown)))
		require.Contains(t, shown, needle)
	}
}
