package request

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// messy makes random values twice: as someone might send them, and in the
// canonical form, built by other means than the writer under test.
type messy struct{ rng *rand.Rand }

// alphabet has, for each unit of text, the spellings it may be sent in; the first
// one is canonical.
var alphabet = [][]string{
	{`a`, `\u0061`}, {`Z`}, {`0`}, {` `}, {`/`, `\/`, `\u002f`}, {`\"`, `\u0022`}, {`\\`, `\u005C`}, {`\n`, `\u000a`, `\u000A`},
	{`\u0000`}, {`\u001f`, `\u001F`}, {"\x7f", `\u007f`}, {`é`, `\u00e9`, `\u00E9`}, {"\u2028", `\u2028`}, {`語`}, {`😀`, `\ud83d\ude00`, `\uD83D\uDE00`},
	{`<`, `\u003c`}, {`\ud800`}, {`longer run of plain text that fills more than one word of the scan`},
}

// text is a random string as it may be sent and its canonical literal.
func (m *messy) text() (sent, canonical string) {
	var a, b strings.Builder
	lone := false
	for range m.rng.IntN(6) {
		k := m.rng.IntN(len(alphabet))
		unit := alphabet[k]
		if isLone := unit[0] == `\ud800`; isLone && lone {
			continue
		} else if lone = isLone; lone {
			a.WriteString(unit[0])
			b.WriteString(unit[0])
			continue
		}
		a.WriteString(unit[m.rng.IntN(len(unit))])
		b.WriteString(unit[0])
	}
	return `"` + a.String() + `"`, `"` + b.String() + `"`
}

func (m *messy) value(depth int) (sent, canonical string) {
	var a strings.Builder
	gap := func() string {
		if m.rng.IntN(4) == 0 {
			return []string{" ", "\n", "\r\n", "\t "}[m.rng.IntN(4)]
		}
		return ""
	}
	switch k := m.rng.IntN(8); {
	case k < 2 && depth > 0:
		var parts []string
		a.WriteString("[" + gap())
		for i := range m.rng.IntN(4) {
			if i > 0 {
				a.WriteString(gap() + "," + gap())
			}
			s, c := m.value(depth - 1)
			a.WriteString(s)
			parts = append(parts, c)
		}
		return a.String() + gap() + "]", "[" + strings.Join(parts, ",") + "]"
	case k < 5 && depth > 0:
		return m.object(depth, gap)
	case k == 5:
		n := []string{"0", "-0", "1.0", "12345678901234567890123", "1E400", "2e-7"}[m.rng.IntN(6)]
		return n, n
	case k == 6:
		n := []string{"true", "false", "null"}[m.rng.IntN(3)]
		return n, n
	}
	return m.text()
}

func (m *messy) object(depth int, gap func() string) (sent, canonical string) {
	type pair struct{ key, order, value string }
	var a strings.Builder
	var members []pair
	a.WriteString("{" + gap())
	for i := range m.rng.IntN(6) {
		if i > 0 {
			a.WriteString(gap() + "," + gap())
		}
		ks, kc := m.text()
		vs, vc := m.value(depth - 1)
		a.WriteString(ks + gap() + ":" + gap() + vs)
		members = append(members, pair{kc, codePoints(kc), vc})
	}
	slices.SortStableFunc(members, func(x, y pair) int { return cmp.Compare(x.order, y.order) })
	var parts []string
	for _, p := range members {
		parts = append(parts, p.key+":"+p.value)
	}
	return a.String() + gap() + "}", "{" + strings.Join(parts, ",") + "}"
}

// codePoints turns a canonical literal into text whose order is that of its code
// points: six hex digits each.
func codePoints(literal string) string {
	var b strings.Builder
	inner := strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\u0000`, "\x00", `\u001f`, "\x1f", `\ud800`, "\uf8ff").Replace(literal[1 : len(literal)-1])
	for _, r := range inner {
		if r == '\uf8ff' { // stands for the lone surrogate
			r = 0xd800
		}
		fmt.Fprintf(&b, "%06x", r)
	}
	return b.String()
}

func TestCanonicalOfRandomValues(t *testing.T) {
	t.Parallel()
	seed := uint64(7)
	t.Logf("seed %d", seed)
	m := &messy{rng: rand.New(rand.NewPCG(seed, 3))}
	for i := range 4_000 {
		sent, want := m.value(1 + i%6)
		got, err := Canonical([]byte(sent))
		require.NoError(t, err, "%q", sent)
		require.Equal(t, want, string(got), "%q", sent)
	}
}

func TestSegmentsOfRandomRequests(t *testing.T) {
	t.Parallel()
	seed := uint64(11)
	t.Logf("seed %d", seed)
	m := &messy{rng: rand.New(rand.NewPCG(seed, 4))}
	gap := func() string { return [...]string{"", "", " ", "\n"}[m.rng.IntN(4)] }
	for range 600 {
		var messages []string
		for range m.rng.IntN(5) {
			message, _ := m.object(3, gap)
			messages = append(messages, message)
		}
		before, _ := m.value(2)
		after, _ := m.value(2)
		keys := [][2]string{{`"a"`, `"z"`}, {`"z"`, `"_"`}, {`"é"`, `"b"`}, {`"zz"`, `"\n"`}}[m.rng.IntN(4)]
		raw := fmt.Sprintf(`{%s:%s,%s"messages":[%s]%s,%s:%s}`, keys[0], before, gap(), strings.Join(messages, ","), gap(), keys[1], after)
		d, err := Parse([]byte(raw))
		require.NoError(t, err, "%q", raw)
		checkSegments(t, d)
		require.Len(t, d.Chain(), len(messages))
	}
}
