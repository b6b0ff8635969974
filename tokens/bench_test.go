package tokens

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"

	"token-terminator/internal/strictjson"
)

var benchKinds = []string{"prose", "code", "logs", "json", "cjk", "base64"}

// benchText is the text of one kind.
func benchText(t testing.TB, kind string) string {
	if kind != "base64" {
		return sample(t, kind+".txt")
	}
	r := newRand(50)
	raw := make([]byte, 30000)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
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

func BenchmarkCount(b *testing.B) {
	codec, own := libraryCodec(b), counterOf(b, O200kBase)
	for _, kind := range benchKinds {
		text := benchText(b, kind)
		b.Run("library/"+kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				libraryCount(b, codec, text)
			}
		})
	}
	for _, kind := range benchKinds {
		text := []byte(benchText(b, kind))
		own.Count(text)
		b.Run("own/"+kind, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				own.Count(text)
			}
		})
	}
}

const benchMessages = 400

// benchRequest is a canonical request of 400 messages, about 800 KB, cut into segments.
func benchRequest(t testing.TB) (head []byte, messages [][]byte, tail []byte) {
	var all []string
	for _, kind := range []string{"prose", "code", "logs", "json", "prose", "code"} {
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
	return head, messages, append(strictjson.AppendQuoted([]byte(`model":"gpt-4o","tools":`), benchText(t, "json")), '}')
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
	b.Run("library", func(b *testing.B) {
		codec := libraryCodec(b)
		b.SetBytes(int64(len(all)))
		b.ReportAllocs()
		for b.Loop() {
			libraryCount(b, codec, string(all))
		}
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

// BenchmarkTables measures what the first count of an encoding pays, the
// library's own vocabulary aside.
func BenchmarkTables(b *testing.B) {
	for name, size := range map[string]int{O200kBase: 200_000, CL100kBase: 100_257} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				words, err := vocabularyOf(name, size)
				require.NoError(b, err)
				newRanks(words)
				newClasses()
			}
		})
	}
}
