package tokens

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/strictjson"
	"token-terminator/internal/testkit"
	"token-terminator/turn"
)

func meterFor(t testing.TB, model, assume string, memo *Memo) *Meter {
	m, err := NewMeter(model, assume, memo)
	require.NoError(t, err)
	return m
}

func TestMeterChoosesWhatMeasures(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		model, assume, label string
		exact                bool
	}{
		"a model with a tokenizer":              {"gpt-4o", "", "o200k_base", true},
		"its own tokenizer wins":                {"gpt-4", "o200k_base", "cl100k_base", true},
		"a model without one":                   {"claude-opus-5", "", "panel", false},
		"a model without one, one assumed":      {"claude-opus-5", "o200k_base", "o200k_base (assumed)", true},
		"no model":                              {"", "", "panel", false},
		"no model, an older encoding assumed":   {"", "p50k_base", "p50k_base (assumed)", true},
		"a name that only looks like a model's": {"gpt-50", "", "panel", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := meterFor(t, c.model, c.assume, nil)
			require.Equal(t, c.label, m.Label())
			require.Equal(t, c.exact, m.Exact())
		})
	}
	for _, model := range []string{"gpt-4o", "claude-opus-5"} {
		_, err := NewMeter(model, "nonsense", nil)
		require.ErrorIs(t, err, ErrUnknownEncoding)
	}
}

// request is a canonical request cut as the request package cuts it.
func wildRequest(r *rand.Rand) (head []byte, messages [][]byte, tail []byte) {
	n := 1 + r.IntN(6)
	head = []byte(`{"messages":[{"`)
	for i := range n {
		m := []byte(`content":`)
		m = strictjson.AppendQuoted(m, wild(r, r.IntN(10)))
		m = append(m, `,"role":"user"}`...)
		if i < n-1 {
			m = append(m, `,{"`...)
		} else {
			m = append(m, `],"`...)
		}
		messages = append(messages, m)
	}
	tail = append([]byte(`model":`), strictjson.AppendQuoted(nil, wild(r, r.IntN(3)))...)
	return head, messages, append(tail, '}')
}

func joined(head []byte, messages [][]byte, tail []byte) []byte {
	return bytes.Join([][]byte{head, bytes.Join(messages, nil), tail}, nil)
}

func TestWholeIsTheCountOfTheConcatenation(t *testing.T) {
	t.Parallel()
	memo := NewMemo(1 << 20)
	exact, panel := meterFor(t, "gpt-4o", "", memo), meterFor(t, "claude", "", memo)
	o, c := oracles[O200kBase](), counterOf(t, CL100kBase)
	r := newRand(30)
	for range rounds(600) {
		head, messages, tail := wildRequest(r)
		all := joined(head, messages, tail)
		want := Measure{Runes: utf8.RuneCount(all), Bytes: len(all), Tokens: o.count(t, string(all))}
		require.Equal(t, want, exact.Whole(head, messages, tail), "%s", all)
		want.O200k, want.CL100k = want.Tokens, c.Count(all)
		require.Equal(t, want, panel.Whole(head, messages, tail), "%s", all)
	}
}

func TestWholeDoesNotDependOnTheCuts(t *testing.T) {
	t.Parallel()
	m := meterFor(t, "gpt-4", "", NewMemo(1<<20))
	r := newRand(31)
	for range rounds(3000) {
		text := []rune(wild(r, 1+r.IntN(20)))
		var parts [][]byte
		for at := 0; at < len(text); {
			n := min(r.IntN(5), len(text)-at)
			part := []byte(string(text[at : at+n]))
			parts = append(parts, part[:n:n])
			parts[len(parts)-1] = part
			at += n
		}
		all := []byte(string(text))
		kept := bytes.Clone(all)
		want := m.set[0].Count(all)
		require.Equal(t, want, m.Whole(nil, parts, nil).Tokens, "%q", parts)
		require.Equal(t, want, m.Whole(all[:len(all)/2:len(all)], nil, all[len(all)/2:]).Tokens, "%q", text)
		require.Equal(t, kept, all, "the caller's bytes were written")
	}
}

func TestLongTextsAreCountedInChunks(t *testing.T) {
	t.Parallel()
	for _, name := range sampleNames {
		text := strings.Repeat(sample(t, name), 5)
		for _, model := range []string{"gpt-4o", "gpt-4"} {
			m := meterFor(t, model, "", NewMemo(8<<20))
			got := m.Part(text)
			require.Equal(t, Measure{Runes: utf8.RuneCountInString(text), Bytes: len(text), Tokens: m.set[0].Count([]byte(text))}, got, name)
			require.Equal(t, got, m.Part(text), "remembered")
		}
	}
}

func TestAGrowingMessageCostsItsGrowth(t *testing.T) {
	t.Parallel()
	c := &tallier{name: "t"}
	m := &Meter{set: counterSet{c}, label: "t", memo: NewMemo(8 << 20)}
	text := strings.Repeat(sample(t, "logs.txt"), 10)
	m.Part(text)
	require.EqualValues(t, len(text), c.bytes.Load())
	for range 5 {
		before := c.bytes.Load()
		text += "\n17/06/09 20:11:11 INFO python.PythonRunner: Times: total = 41"
		m.Part(text)
		require.Less(t, c.bytes.Load()-before, int64(2*chunkSize))
	}
}

func TestAChangedMessageIsTheOnlyOneCounted(t *testing.T) {
	t.Parallel()
	c := &tallier{name: "t"}
	m := &Meter{set: counterSet{c}, label: "t", memo: NewMemo(8 << 20)}
	head, messages, tail := []byte(`{"messages":[{"`), [][]byte{}, []byte(`model":"m"}`)
	for range 50 {
		messages = append(messages, []byte(`content":"`+strings.Repeat("x", 50+len(messages))+`","role":"user"},{"`))
	}
	m.Whole(head, messages, tail)
	before := c.bytes.Load()
	m.Whole(head, messages, tail)
	require.Equal(t, before, c.bytes.Load())
	messages[7] = []byte(`content":"changed","role":"user"},{"`)
	m.Whole(head, messages, tail)
	require.EqualValues(t, len(messages[7]), c.bytes.Load()-before)
}

func TestWhatIsNotMeasured(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("word ", MaxCount/5+1)
	for _, model := range []string{"gpt-4o", "claude"} {
		m := meterFor(t, model, "", nil)
		fine := m.Part("a few words")
		require.Empty(t, fine.Unmeasured)
		huge := m.Part(big)
		require.Equal(t, Measure{Bytes: len(big), Unmeasured: turn.NoMeasure}, huge)
		broken := m.Part("a\xff")
		require.Equal(t, Measure{Bytes: 2, Unmeasured: turn.NotUTF8}, broken)
		require.Equal(t, turn.NotUTF8, m.JSONString("\xed\xa0\x80").Unmeasured)
		require.Equal(t, turn.NotUTF8, m.Whole([]byte("a"), [][]byte{{0xc3}}, []byte("b")).Unmeasured)
		for _, pair := range [][2]Measure{{huge, fine}, {fine, huge}, {broken, fine}} {
			_, ok := m.Smaller(pair[0], pair[1])
			require.False(t, ok)
			reason, ok := m.PartSmaller(pair[0], pair[1])
			require.False(t, ok)
			require.Contains(t, []turn.Reason{turn.NoMeasure, turn.NotUTF8}, reason)
		}
	}
	require.Equal(t, Measure{}, meterFor(t, "gpt-4o", "", nil).Part(""))
}

func TestSmaller(t *testing.T) {
	t.Parallel()
	exact, panel := meterFor(t, "gpt-4o", "", nil), meterFor(t, "claude", "", nil)
	size := func(runes, bytes, o200k, cl100k int) Measure {
		return Measure{Runes: runes, Bytes: bytes, Tokens: o200k, O200k: o200k, CL100k: cl100k}
	}
	before := size(1000, 1000, 200, 220)
	cases := map[string]struct {
		meter *Meter
		after Measure
		whole turn.Reason
		part  turn.Reason
	}{
		"exact, both fall by one":        {exact, size(999, 2000, 199, 0), "", ""},
		"exact, equal":                   {exact, before, turn.NotSmallerChars, turn.NotSmallerChars},
		"exact, fewer tokens only":       {exact, size(1000, 900, 100, 0), turn.NotSmallerChars, turn.NotSmallerChars},
		"exact, fewer runes only":        {exact, size(10, 10, 200, 0), turn.NotSmallerTokens, turn.NotSmallerTokens},
		"panel, all fall by one":         {panel, size(999, 999, 199, 219), "", turn.PanelDisagrees},
		"panel, all fall by 15 percent":  {panel, size(850, 850, 170, 187), "", ""},
		"panel, runes fall by less":      {panel, size(851, 850, 170, 187), "", turn.PanelDisagrees},
		"panel, bytes fall by less":      {panel, size(850, 851, 170, 187), "", turn.PanelDisagrees},
		"panel, o200k falls by less":     {panel, size(850, 850, 171, 187), "", turn.PanelDisagrees},
		"panel, cl100k falls by less":    {panel, size(850, 850, 170, 188), "", turn.PanelDisagrees},
		"panel, more bytes":              {panel, size(500, 1001, 100, 100), turn.PanelDisagrees, turn.PanelDisagrees},
		"panel, as many cl100k tokens":   {panel, size(500, 500, 100, 220), turn.PanelDisagrees, turn.PanelDisagrees},
		"panel, as many o200k tokens":    {panel, size(500, 500, 200, 100), turn.NotSmallerTokens, turn.NotSmallerTokens},
		"panel, as many runes":           {panel, size(1000, 500, 100, 100), turn.NotSmallerChars, turn.NotSmallerChars},
		"panel, nothing left":            {panel, size(0, 0, 0, 0), "", ""},
		"exact, nothing left":            {exact, size(0, 0, 0, 0), "", ""},
		"exact, cl100k is not looked at": {exact, size(500, 5000, 100, 500), "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason, ok := c.meter.Smaller(before, c.after)
			require.Equal(t, c.whole, reason)
			require.Equal(t, c.whole == "", ok)
			reason, ok = c.meter.PartSmaller(before, c.after)
			require.Equal(t, c.part, reason)
			require.Equal(t, c.part == "", ok)
		})
	}
}

func TestJSONStringIsTheTextAsItStandsInARequest(t *testing.T) {
	t.Parallel()
	m := meterFor(t, "gpt-4o", "", nil)
	c := counterOf(t, O200kBase)
	for text, literal := range map[string]string{
		"":                "\"\"",
		"plain":           `"plain"`,
		"a\nb\tc\"d\\e":   `"a\nb\tc\"d\\e"`,
		"\b\f\r\x00\x1f":  `"\b\f\r\u0000\u001f"`,
		"é\u2028<&>\x7f中": "\"é\u2028<&>\x7f中\"",
	} {
		require.Equal(t, literal, string(strictjson.AppendQuoted(nil, text)))
		got := m.JSONString(text)
		require.Equal(t, c.Count([]byte("\":"+literal+`,"`)), got.Tokens)
		require.Equal(t, utf8.RuneCountInString(literal)+4, got.Runes)
		require.Equal(t, m.JSON([]byte("\":"+literal+`,"`)), got)
	}
}

// TestJSONStringDifferenceIsTheDifferenceOfRequests holds what the helper
// promises.
func TestJSONStringDifferenceIsTheDifferenceOfRequests(t *testing.T) {
	t.Parallel()
	m := meterFor(t, "gpt-4o", "", NewMemo(1<<20))
	r := newRand(32)
	request := func(text string) int {
		s := append([]byte(`content`), strictjson.AppendQuoted([]byte(`":`), text)...)
		return m.Whole([]byte(`{"messages":[{"`), [][]byte{append(s, `,"role":"tool"}],"`...)}, []byte(`model":"x"}`)).Tokens
	}
	for range rounds(600) {
		a, b := wild(r, r.IntN(20)), wild(r, r.IntN(20))
		require.Equal(t, request(a)-request(b), m.JSONString(a).Tokens-m.JSONString(b).Tokens, "%q %q", a, b)
	}
}

func TestMeterIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	m := meterFor(t, "claude", "", NewMemo(256<<10)) // small: entries are dropped all the time
	text := strings.Repeat(sample(t, "code.txt")+sample(t, "json.txt"), 3)
	want := m.Part(text)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 3 {
				if got := m.Part(text); got != want {
					t.Errorf("%v, not %v", got, want)
				}
			}
		})
	}
	all.Wait()
}

type brokenCounter struct{}

func (brokenCounter) Name() string { return "broken" }

func (brokenCounter) Count([]byte) int { panic("broken counter") }

func TestAPanicOfACounterReachesTheCaller(t *testing.T) {
	t.Parallel()
	m := &Meter{set: counterSet{brokenCounter{}}, memo: NewMemo(0)}
	require.PanicsWithValue(t, "broken counter", func() { m.Part("a") })
	require.PanicsWithValue(t, "broken counter", func() { m.Part(strings.Repeat("word ", 40<<10)) })
}

// TestAFirstCountIsTheSameOnOneCoreAndOnAll counts a request nothing of which is
// remembered, and holds that the work it spread over cores leaves nothing behind.
func TestAFirstCountIsTheSameOnOneCoreAndOnAll(t *testing.T) {
	testkit.NoLeaks(t, "token-terminator/tokens.")
	head, messages, tail := benchRequest(t)
	for _, model := range []string{"gpt-4o", "gpt-4", "claude"} {
		t.Run(model, func(t *testing.T) {
			alone := tally{}
			m := meterFor(t, model, "", nil)
			alone = tallyOf(m.set, joined(head, messages, tail))
			for range 3 {
				got := m.Whole(head, messages, tail)
				require.Equal(t, alone.tokens[0], got.Tokens)
				require.Equal(t, alone.runes, got.Runes)
				require.Equal(t, alone.runes, utf8.RuneCount(joined(head, messages, tail)))
			}
		})
	}
}

func TestRunesAreCountedAsByTheStandardLibrary(t *testing.T) {
	t.Parallel()
	r := newRand(61)
	for range rounds(3000) {
		text := []byte(wild(r, r.IntN(20)))
		require.Equal(t, utf8.RuneCount(text), runesOf(text), "%q", text)
	}
}

// TestSinceIsWhole grows, cuts and changes requests whose messages keep their memory.
func TestSinceIsWhole(t *testing.T) {
	t.Parallel()
	r := newRand(62)
	for _, model := range []string{"gpt-4o", "claude"} {
		m := meterFor(t, model, "", NewMemo(1<<20))
		counted, reused := (*Counted)(nil), 0
		var messages [][]byte
		for range rounds(600) {
			head, fresh, tail := wildRequest(r)
			switch k := r.IntN(len(messages) + 1); r.IntN(5) {
			case 0:
				messages = slices.Clone(messages[:k])
			case 1:
				if k < len(messages) {
					messages = slices.Clone(messages)
					messages[k] = bytes.Clone(fresh[0])
				}
			case 2:
				if k < len(messages) {
					messages = slices.Clone(messages)
					messages[k] = []byte("\xff bytes that are no text, content\":")
				}
			}
			messages = append(messages[:len(messages):len(messages)], fresh[:min(len(fresh), 3)]...)
			if len(messages) > 30 {
				messages, counted = nil, nil
				continue
			}
			reused += counted.same(messages)
			var got Measure
			got, counted = m.Since(counted, head, messages, tail)
			require.Equal(t, m.Whole(head, messages, tail), got)
			if counted == nil {
				continue
			}
			require.Equal(t, m.JSON(head).Tokens, counted.Head())
			for i, message := range messages {
				require.Equal(t, m.JSON(message).Tokens, counted.Message(i))
			}
		}
		require.Greater(t, reused, rounds(600)/4)
	}
}

func TestTextSmallerIsPartSmaller(t *testing.T) {
	t.Parallel()
	r := newRand(63)
	texts := []string{sample(t, "code.txt"), sample(t, "prose.txt"), sample(t, "cjk.txt")}
	said := map[bool]int{}
	for _, model := range []string{"gpt-4o", "claude"} {
		m := meterFor(t, model, "", nil)
		for range rounds(400) {
			piece := func() string {
				text := texts[r.IntN(len(texts))]
				at := r.IntN(len(text))
				out := text[at:min(len(text), at+r.IntN(1+r.IntN(9000)))]
				if r.IntN(20) > 0 {
					out = strings.ToValidUTF8(out, "")
				}
				return out + wild(r, r.IntN(4))
			}
			before, after := piece(), piece()
			if r.IntN(2) == 0 {
				after = before[:r.IntN(len(before)+1)] + wild(r, 1)
			}
			_, want := m.PartSmaller(m.Part(before), m.Part(after))
			require.Equal(t, want, m.TextSmaller(before, after), "%q %q", before, after)
			said[want]++
		}
	}
	require.Greater(t, min(said[true], said[false]), 30)
}

// TestATextMeasuredWithItsRequestIsNotCountedAgain holds that both count it as one.
func TestATextMeasuredWithItsRequestIsNotCountedAgain(t *testing.T) {
	t.Parallel()
	c := &tallier{name: "t"}
	m := &Meter{set: counterSet{c}, memo: NewMemo(1 << 20)}
	text := strings.ReplaceAll(sample(t, "code.txt"), "0", "\"")
	message := append(strictjson.AppendQuoted([]byte(`content":`), text), `,"role":"tool","tool_call_id":"x"}],"`...)
	m.Whole([]byte(`{"messages":[{"`), [][]byte{message}, []byte(`model":"m"}`))
	before := c.bytes.Load()
	m.JSONString(text)
	require.Equal(t, before, c.bytes.Load())
}
