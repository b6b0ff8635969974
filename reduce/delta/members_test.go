package delta_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/delta"
)

// booking is a record on one line, as a tool prints it.
func booking(id, status string) string {
	flight := `{"number": "HAT%d", "date": "2024-05-20", "price": %d, "origin": "JFK", "destination": "ATL"}`
	return fmt.Sprintf(`{"id": %q, "user": "mia_li_3668", "cabin": "economy", "flights": [`+flight+`, `+flight+
		`], "passengers": [{"first": "Mia", "last": "Li, \"M\" [x]"}], "status": %q, "created": "2024-05-15T15:00:00", "bags": 3}`,
		id, 136, 152, 39, 103, status)
}

func array(from, to int) string {
	items := make([]string, 0, to-from)
	for i := from; i < to; i++ {
		items = append(items, booking(fmt.Sprint("B", i), "open"))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func TestProposeShowsMembersOfOneLineJSON(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ base, text, want string }{
		"equal members of an object become a key": {
			base: booking("A1", "open"), text: booking("A1", "cancelled"),
			want: `{"[same as keys 1-5 of result 1 (get \"A1\")]": "id to passengers", "status": "cancelled", "created": "2024-05-15T15:00:00", "bags": 3}`,
		},
		"equal elements of an array become a string": {
			base: array(0, 9), text: array(3, 11) + "\n",
			want: `["[same as items 4-9 of result 1 (get \"A1\")]",` + booking("B9", "open") + "," + booking("B10", "open") + "]\n",
		},
		"another spacing is literal": {base: array(0, 9), text: strings.ReplaceAll(array(0, 9), "},{", "}, {")},
		"an element that looks like a note is refused": {
			base: array(0, 9), text: strings.Replace(array(3, 11), "[{", `["[same items 1-2]",{`, 1),
		},
		"a key that looks like a note is refused": {
			base: booking("A1", "open"), text: strings.Replace(booking("A1", "x"), `"bags": 3`, `"[same key 1]": "id"`, 1),
		},
		"an object is no base of an array": {base: booking("A1", "open"), text: array(0, 3)},
		"broken JSON stays":                {base: array(0, 9), text: array(0, 9)[:2000] + "]"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ok := roundTrip(t, c.text, delta.Options{}, delta.Base{Label: `result 1 (get "A1")`, Text: c.base})
			require.Equal(t, c.want != "", ok, r.Text)
			if ok {
				require.Equal(t, c.want, r.Text)
				require.True(t, json.Valid([]byte(r.Text)))
			}
		})
	}
}

func TestProposeRoundTripsRandomJSON(t *testing.T) {
	t.Parallel()
	smaller := 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		var bases []delta.Base
		for i := range 4 {
			bases = append(bases, delta.Base{Label: fmt.Sprintf("result %d (get)", i), Text: randomJSON(r)})
		}
		got, ok := roundTrip(t, randomJSON(r), delta.Options{MinRunTokens: 1, MinBaseTokens: 1}, bases...)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		if ok {
			smaller++
			require.True(t, got.Whole || json.Valid([]byte(got.Text)), "seed %d: %s", seed, got.Text)
		}
	}
	require.Greater(t, smaller, 150)
}

func randomJSON(r *rand.Rand) string {
	sep := []string{", ", ","}[r.IntN(2)]
	object := r.IntN(2) == 0
	var members []string
	for k := range 3 + r.IntN(9) {
		value := []string{`"a value, with \"quotes\" and [brackets]"`, `{"in": [1, 2, {"deep": "x, y"}]}`, "12.50", "null", `[]`,
			booking(fmt.Sprint(r.IntN(4)), "open")}[r.IntN(6)]
		if object {
			value = fmt.Sprintf(`"key %d": %s`, (k+r.IntN(2))%12, value)
		}
		members = append(members, value)
	}
	if object {
		return "{" + strings.Join(members, sep) + "}"
	}
	return "[ " + strings.Join(members, sep) + "]\n"
}
