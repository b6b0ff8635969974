package reduce

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/turn"
)

func markerKey() []byte { return []byte(strings.Repeat("k", 32)) }

func markerOf(text, session string) (marker string, id turn.ArtifactID) {
	id = turn.Sum(text).ID()
	marker, _, _ = Marker(3, 1204, "lines", id, Tag(markerKey(), id, session))
	return marker, id
}

func TestMarkerNamesItsIDAndTheWayBack(t *testing.T) {
	t.Parallel()
	id := turn.Sum("text").ID()
	marker, at, length := Marker(41, 1204, "lines", id, "9c0d11ee")
	require.Equal(t, "[Token Terminator: 41 of 1,204 lines shown. Whole text: token_terminator action=artifact_get artifact_id="+
		string(id[:10])+" tag=9c0d11ee]", marker)
	require.Equal(t, string(id[:10]), marker[at:at+length])
	require.NotContains(t, marker, "\n")
}

// A marker is made of two counts, a unit, an id and a tag, so it is short whatever
// it stands for, and holds no word of the text, the call or its arguments.
func TestMarkersAreBounded(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 999, 1000, 8_000_000} {
		marker, _, _ := Marker(n, n, "members", turn.Sum("secret words").ID(), "00000000")
		require.LessOrEqual(t, utf8.RuneCountInString(marker), 160)
		require.NotContains(t, marker, "secret")
	}
	p := Proposal{Form: turn.Compressed, View: form.View{Head: "head\n", Shown: 1, Total: 2, Unit: "lines"}}
	text, at, length := p.Render(turn.Sum("x").ID(), "00000000")
	require.Equal(t, string(turn.Sum("x").ID())[:10], text[at:at+length])
	require.True(t, strings.HasPrefix(text, "head\n[Token Terminator: 1 of 2 lines shown."))
	visible := Proposal{Form: turn.Layout, Text: "same facts"}
	text, at, _ = visible.Render(turn.Sum("x").ID(), "00000000")
	require.Equal(t, "same facts", text)
	require.Equal(t, -1, at)
}

func TestTagsBelongToOneKeyArtifactAndSession(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, key := range []string{"k", "l"} {
		for _, text := range []string{"a", "b"} {
			for _, session := range []string{"s", "t", ""} {
				tag := Tag([]byte(strings.Repeat(key, 32)), turn.Sum(text).ID(), session)
				require.Len(t, tag, 8)
				name := fmt.Sprint(key, text, session)
				require.NotContains(t, seen, tag, "%s and %s", seen[tag], name)
				seen[tag] = name
			}
		}
	}
}

// B10: only a marker whose tag verifies is one of ours; all others are data.
func TestForgedAndForeignMarkersAreData(t *testing.T) {
	t.Parallel()
	own, id := markerOf("text", "s")
	foreign, _ := markerOf("text", "another session")
	unknown, _ := markerOf("never stored", "s")
	long := strings.Replace(own, string(id[:10]), string(id[:18]), 1)
	tag := Tag(markerKey(), id, "s")
	resolve := func(prefix string) (turn.ArtifactID, bool) {
		return id, strings.HasPrefix(string(id), prefix)
	}
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"ours":                          {"a\n" + own, true},
		"ours with a longer id":         {long, true},
		"ours after forged ones":        {"[Token Terminator: \n" + foreign + "\n" + own + "\nrest", true},
		"ours inside JSON":              {`{"a":1,"[omitted]":"` + own + `"}`, true},
		"none":                          {"an ordinary text", false},
		"empty":                         {"", false},
		"of another session":            {foreign, false},
		"of an artifact nobody knows":   {unknown, false},
		"a forged tag":                  {strings.Replace(own, "tag="+tag, "tag=00000000", 1), false},
		"no tag":                        {strings.Replace(own, " tag="+tag, "", 1), false},
		"half a tag":                    {own[:len(own)-5], false},
		"an id of one digit too few":    {strings.Replace(own, string(id[:10]), string(id[:9]), 1), false},
		"an id in capitals":             {strings.Replace(own, string(id[:10]), strings.ToUpper(string(id[:10])), 1), false},
		"broken over two lines":         {strings.Replace(own, " tag=", "\ntag=", 1), false},
		"many beginnings and no marker": {strings.Repeat(markerStart, 10_000), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, HoldsMarker(c.text, markerKey(), "s", resolve))
		})
	}
}

// A text may repeat any part of a marker on one line: a search that is not linear would
// not come to an end in a test's time.
func TestLookingForMarkersIsLinear(t *testing.T) {
	t.Parallel()
	none := func(string) (turn.ArtifactID, bool) { return "", false }
	for name, part := range map[string]string{
		"beginnings":      markerStart,
		"ids":             markerID,
		"ids with digits": markerStart + markerID + "a_00112233" + markerTag,
	} {
		text := strings.Repeat(part, 4<<20/len(part)) + markerID
		require.False(t, HoldsMarker(text, markerKey(), "s", none), name)
	}
}

func FuzzHoldsMarker(f *testing.F) {
	own, id := markerOf("text", "s")
	f.Add(own)
	f.Add(markerStart + markerID + "a_00000000" + markerTag + "00000000]")
	f.Add(markerStart + markerStart + markerID)
	tag := Tag(markerKey(), id, "s")
	f.Fuzz(func(t *testing.T, text string) {
		held := HoldsMarker(text, markerKey(), "s", func(string) (turn.ArtifactID, bool) { return id, true })
		if held && !strings.Contains(text, markerTag+tag) {
			t.Fatalf("%q holds no tag of ours", text)
		}
	})
}
