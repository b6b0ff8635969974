package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"

	"token-terminator/internal/strictjson"
)

var benchKinds = []string{
	"prose", "go", "python", "logs", "json_compact", "json_pretty", "trajectories", "chinese", "japanese", "base64", "hex",
}

// benchText is the text of one kind. Those with few repeats of their own are long,
// so that no cache of pieces holds them whole.
func benchText(t testing.TB, kind string) string {
	switch kind {
	case "go":
		return sample(t, "code.txt")
	case "python":
		return bundledText(t, "sessions/nebius-swe-agent--ReviewNB-treon-25_38.jsonl", true)
	case "json_compact":
		return sample(t, "json.txt")
	case "json_pretty":
		var pretty bytes.Buffer
		require.NoError(t, json.Indent(&pretty, []byte(bundledText(t, "sessions/tau-bench-airline--task03-trial1.jsonl", false)), "", "  "))
		return pretty.String()
	case "trajectories":
		return bundledText(t, "sessions/holmesgpt--001_compaction.jsonl", false)
	case "chinese":
		return recombined(sample(t, "cjk.txt"), unicode.Han)
	case "japanese":
		return recombined(sample(t, "cjk.txt"), unicode.Hiragana, unicode.Katakana)
	case "base64":
		return base64.StdEncoding.EncodeToString(randomBytes(150_000))
	case "hex":
		return hex.EncodeToString(randomBytes(50_000))
	}
	return sample(t, kind+".txt")
}

func randomBytes(n int) []byte {
	r := newRand(50)
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return raw
}

// bundledText is a file of the bundled data, or the texts of its messages.
func bundledText(t testing.TB, name string, decoded bool) string {
	data, err := os.ReadFile(filepath.Join("..", "datasets", filepath.FromSlash(name)))
	require.NoError(t, err)
	if !decoded {
		return string(data)
	}
	var session struct{ Messages []struct{ Content string } }
	require.NoError(t, json.Unmarshal(data, &session))
	var out strings.Builder
	for _, m := range session.Messages {
		out.WriteString(m.Content + "\n")
	}
	return out.String()
}

// recombined puts stretches of the lines that hold one of the scripts behind each
// other, in a random order that is always the same.
func recombined(text string, scripts ...*unicode.RangeTable) string {
	var lines [][]rune
	for line := range strings.Lines(text) {
		japanese := strings.ContainsFunc(line, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.In(r, scripts...) }) && (scripts[0] != unicode.Han || !japanese) {
			lines = append(lines, []rune(line))
		}
	}
	r := newRand(52)
	var out strings.Builder
	for out.Len() < 200_000 {
		line := lines[r.IntN(len(lines))]
		from := r.IntN(len(line))
		out.WriteString(string(line[from:min(len(line), from+4+r.IntN(40))]))
	}
	return out.String()
}

func libraryCodec(t testing.TB) tokenizer.Codec {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	require.NoError(t, err)
	return codec
}

func libraryCount(t testing.TB, codec tokenizer.Codec, text string) int {
	n, err := codec.Count(text)
	require.NoError(t, err)
	return n
}

// BenchmarkCount has, for each kind of text, the library and our counter in one run.
// "times" of own is how often faster it is than the library; that of
// geometric_mean is their mean over all kinds.
func BenchmarkCount(b *testing.B) {
	codec, own := libraryCodec(b), counterOf(b, O200kBase)
	took := map[string]float64{} // seconds
	for _, kind := range benchKinds {
		text := benchText(b, kind)
		b.Run("library/"+kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				libraryCount(b, codec, text)
			}
			took[kind] = b.Elapsed().Seconds() / float64(b.N)
		})
	}
	logs, n := 0.0, 0.0
	for _, kind := range benchKinds {
		text := []byte(benchText(b, kind))
		own.Count(text)
		b.Run("own/"+kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				own.Count(text)
			}
			if times := took[kind] / (b.Elapsed().Seconds() / float64(b.N)); times > 0 {
				b.ReportMetric(times, "times")
				logs, n = logs+math.Log(times), n+1
			}
		})
	}
	b.Run("geometric_mean", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(math.Exp(logs/n), "times")
	})
}

const benchMessages = 400

// benchRequest is a canonical request of 400 messages, about 800 KB, cut into segments.
func benchRequest(t testing.TB) (head []byte, messages [][]byte, tail []byte) {
	var all []string
	for _, kind := range []string{"prose", "go", "logs", "json_compact", "prose", "go"} {
		all = append(all, benchText(t, kind))
	}
	r := newRand(51)
	head = []byte(`{"messages":[{"`)
	for i := range benchMessages {
		text := all[r.IntN(len(all))]
		at, size := r.IntN(len(text)-8000), 200+r.IntN(3600)
		m := strictjson.AppendQuoted([]byte(`content":`), string(bytes.ToValidUTF8([]byte(text[at:at+size]), nil)))
		m = fmt.Appendf(m, `,"role":"tool","tool_call_id":"call_%d"}`, i)
		if i < benchMessages-1 {
			m = append(m, `,{"`...)
		} else {
			m = append(m, `],"`...)
		}
		messages = append(messages, m)
	}
	return head, messages, append(strictjson.AppendQuoted([]byte(`model":"gpt-4o","tools":`), benchText(t, "json_compact")), '}')
}

// changed returns the i-th variant of a request that differs in one message of 400.
func changed(messages [][]byte, i int) [][]byte {
	at := i % len(messages)
	messages[at] = fmt.Appendf(nil, `content":"%d %s`, i, messages[at][len(`content":"`):])
	return messages
}

// BenchmarkCountChanged measures a whole request of which one message of 400
// changed since the last time; the library has to count all of it.
func BenchmarkCountChanged(b *testing.B) {
	head, messages, tail := benchRequest(b)
	all := joined(head, messages, tail)
	library := 0.0 // seconds
	b.Run("library", func(b *testing.B) {
		codec := libraryCodec(b)
		b.SetBytes(int64(len(all)))
		b.ReportAllocs()
		for b.Loop() {
			libraryCount(b, codec, string(all))
		}
		library = b.Elapsed().Seconds() / float64(b.N)
	})
	b.Run("own", func(b *testing.B) {
		m := meterFor(b, "gpt-4o", "", NewMemo(4<<20))
		m.Whole(head, messages, tail)
		b.SetBytes(int64(len(all)))
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i++
			m.Whole(head, changed(messages, i), tail)
		}
		b.ReportMetric(library/(b.Elapsed().Seconds()/float64(b.N)), "times")
	})
}

// BenchmarkCountUnchanged is BenchmarkCountChanged/own without the change.
func BenchmarkCountUnchanged(b *testing.B) {
	head, messages, tail := benchRequest(b)
	m := meterFor(b, "gpt-4o", "", NewMemo(4<<20))
	b.SetBytes(int64(m.Whole(head, messages, tail).Bytes))
	b.ReportAllocs()
	for b.Loop() {
		m.Whole(head, messages, tail)
	}
}

// BenchmarkCountFirst measures a request nothing of which was seen before.
func BenchmarkCountFirst(b *testing.B) {
	head, messages, tail := benchRequest(b)
	for name, model := range map[string]string{"exact": "gpt-4o", "panel": "claude"} {
		b.Run(name, func(b *testing.B) {
			m := meterFor(b, model, "", nil)
			b.SetBytes(int64(m.Whole(head, messages, tail).Bytes))
			b.ReportAllocs()
			for b.Loop() {
				m.Whole(head, messages, tail)
			}
		})
	}
}

// BenchmarkTables measures what the first count of an encoding pays: reading the
// table that ships, or building it from the library's vocabulary (the library's own
// first use aside), and the classes of code points, which both need.
func BenchmarkTables(b *testing.B) {
	for _, s := range shipped {
		b.Run("built/"+s.encoding, func(b *testing.B) {
			for b.Loop() {
				words, err := vocabularyOf(s.encoding, s.size)
				require.NoError(b, err)
				newRanks(words)
			}
		})
		b.Run("shipped/"+s.encoding, func(b *testing.B) {
			for b.Loop() {
				_, err := s.table.ranks()
				require.NoError(b, err)
			}
		})
	}
	b.Run("classes", func(b *testing.B) {
		for b.Loop() {
			newClasses()
		}
	})
}
