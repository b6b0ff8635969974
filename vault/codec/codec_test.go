package codec

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func full() turn.Decision {
	return turn.Decision{
		Block: "/content/0/text", Form: turn.Compressed, Reason: turn.CompressedLog, Tool: "shell", Kind: "log",
		Before: turn.Sum("x"), Artifact: turn.Sum("x").ID(), Text: "<a> & \u2028 a_01234567 \x00 ü", ShownAt: 10, ShownLen: 10,
		Bases: []turn.Base{{Message: 3, Block: "/content"}}, Renderer: "v1", TokensBefore: 900, TokensAfter: 80,
	}
}

func TestDecisionsComeBackEqual(t *testing.T) {
	t.Parallel()
	for name, ds := range map[string][]turn.Decision{
		"none": nil, "one": {full()}, "two": {full(), {Block: "/content", Form: turn.Layout, ShownAt: -1}},
	} {
		data, err := EncodeDecisions(ds)
		require.NoError(t, err)
		got, err := DecodeDecisions(data)
		require.NoError(t, err)
		require.Equal(t, ds, got, name)
	}
}

func TestBrokenDecisionsAreRefusedBothWays(t *testing.T) {
	t.Parallel()
	change := func(f func(*turn.Decision)) []turn.Decision {
		d := full()
		f(&d)
		return []turn.Decision{d}
	}
	for name, ds := range map[string][]turn.Decision{
		"text is not UTF-8":        change(func(d *turn.Decision) { d.Text = "\xff" }),
		"no form":                  change(func(d *turn.Decision) { d.Form = "" }),
		"four bases":               change(func(d *turn.Decision) { d.Bases = make([]turn.Base, 4) }),
		"shown id after the text":  change(func(d *turn.Decision) { d.ShownAt = 1_000 }),
		"shown id reaches out":     change(func(d *turn.Decision) { d.ShownLen = 60 }),
		"shown id longer than any": change(func(d *turn.Decision) { d.ShownLen = 67 }),
		"negative length":          change(func(d *turn.Decision) { d.ShownLen = -1 }),
		"no id where one is shown": change(func(d *turn.Decision) { d.ShownAt = 0 }),
	} {
		_, err := EncodeDecisions(ds)
		require.ErrorIs(t, err, ErrDecisions, name)
	}
	for name, data := range map[string]string{
		"empty": "", "null byte": "\x00", "object": "{}", "torn": `[{"block":"/content"`, "trailing": "[] []", "not UTF-8": "[\"\xff\"]",
		"wrong type": `[{"block":1}]`, "bad digest": `[{"block":"/c","form":"layout","before":"zz"}]`, "no form": `[{"block":"/c"}]`,
	} {
		_, err := DecodeDecisions([]byte(data))
		require.ErrorIs(t, err, ErrDecisions, name)
	}
}

func TestLabelsAreBoundedAndStayDifferent(t *testing.T) {
	t.Parallel()
	require.Equal(t, "session-1", Label("session-1"))
	require.Equal(t, strings.Repeat("x", MaxLabel), Label(strings.Repeat("x", MaxLabel)))
	seen := map[string]bool{}
	for _, s := range []string{strings.Repeat("é", 200), strings.Repeat("é", 201), "\xff", "\xfe", strings.Repeat("\xff", 900)} {
		l := Label(s)
		require.LessOrEqual(t, len(l), MaxLabel)
		require.True(t, utf8.ValidString(l))
		require.Equal(t, l, Label(s))
		require.Equal(t, l, Label(l), "a label is its own label")
		require.False(t, seen[l])
		seen[l] = true
	}
}

func TestArgsKeepShortOnesAndPreviewLongOnes(t *testing.T) {
	t.Parallel()
	kept, long := Args(strings.Repeat("x", MaxArgsVerbatim))
	require.Len(t, kept, MaxArgsVerbatim)
	require.False(t, long)
	kept, long = Args(strings.Repeat("ü", MaxArgsVerbatim))
	require.Len(t, kept, ArgsPreview)
	require.True(t, long)
	kept, long = Args("bad \xff")
	require.Equal(t, "bad ?", kept)
	require.True(t, long)
}

func TestShortestPrefix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id     string
		others []string
		want   string
	}{
		"alone":                {"a_0123456789", nil, "a_01234567"},
		"far neighbours":       {"a_0123456789", []string{"a_0122", "", "a_02"}, "a_01234567"},
		"near neighbour":       {"a_0123456789", []string{"a_0123456778"}, "a_012345678"},
		"itself":               {"a_0123456789", []string{"a_0123456789"}, "a_01234567"},
		"longer id, same head": {"a_0123456789", []string{"a_0123456789ab"}, "a_0123456789"},
	} {
		require.Equal(t, c.want, Shortest(c.id, c.others...), name)
	}
}

// Whatever decodes encodes to something that decodes to the same.
func FuzzDecisions(f *testing.F) {
	data, _ := EncodeDecisions([]turn.Decision{full()})
	f.Add(data)
	f.Add([]byte(`[]`))
	f.Add([]byte(`[{"block":"/content","form":"layout","text":"","shown_at":-1}]`))
	f.Add([]byte(`[{"form":"x","shown_at":-9223372036854775808,"shown_len":5}]`))
	f.Add([]byte(`[{"form":"x","shown_at":9223372036854775807,"shown_len":9223372036854775807}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ds, err := DecodeDecisions(data)
		if err != nil {
			return
		}
		for _, d := range ds {
			_ = d.WithShownID("a_00000000")
		}
		again, err := EncodeDecisions(ds)
		if err != nil {
			t.Fatalf("decoded, but does not encode: %v", err)
		}
		back, err := DecodeDecisions(again)
		if err != nil || fmt.Sprint(back) != fmt.Sprint(ds) {
			t.Fatalf("%v\n%v\n%v", ds, back, err)
		}
	})
}

// A prefix that parses has the spelling of an id and parses to itself.
func FuzzIDPrefix(f *testing.F) {
	for _, s := range []string{"", "a_", "a_01234567", "01234567", "a_0123456", "a_ABCDEF01", "a_" + strings.Repeat("0", 65), "a_a_012345"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := turn.ParseIDPrefix(s)
		if err != nil {
			return
		}
		if again, err := turn.ParseIDPrefix(p); err != nil || again != p {
			t.Fatalf("%q gives %q gives %q, %v", s, p, again, err)
		}
		if len(p) < 2+turn.MinShownHex || len(p) > 2+turn.LongHex || strings.Trim(p[2:], "0123456789abcdef") != "" {
			t.Fatalf("%q was taken", s)
		}
		if short := Shortest(p, p[:len(p)-1]+"g"); !strings.HasPrefix(p, short) {
			t.Fatalf("%q is no prefix of %q", short, p)
		}
	})
}
