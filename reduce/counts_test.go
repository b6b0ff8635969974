package reduce

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

// The numbers of a marker are the source's, also where a terminal would show fewer
// lines than were written.
func TestMarkersCountTheLinesOfTheSource(t *testing.T) {
	t.Parallel()
	plain := func(i int) string { return fmt.Sprintf("10:%02d:%02d INFO request %d served", i/60%60, i%60, i) }
	for name, c := range map[string]struct {
		line func(i int) string
	}{
		"plain":            {plain},
		"coloured":         {func(i int) string { return "\x1b[32m" + plain(i) + "\x1b[0m" }},
		"overwritten":      {func(i int) string { return "10%\r90%\r" + plain(i) }},
		"carriage returns": {func(i int) string { return plain(i) + "\r" }},
		"lines taken back": {func(i int) string {
			return fmt.Sprintf("fetching %c%s of %s\n\x1b[1A\x1b[2K", 'a'+i%26, strings.Repeat("z", 1+i/26), strings.Repeat("q ", i%40)) + plain(i)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for i := range 400 {
				b.WriteString(c.line(i) + "\n")
			}
			text := b.String()
			proposals, _ := Settings{}.Propose(Block{Text: text, Call: kind.Call{Tool: "bash", Args: `{"command":"run"}`}}, nil)
			for _, p := range proposals {
				if p.Form == turn.Compressed {
					require.Equal(t, Lines(text), p.View.Total)
					require.Less(t, p.View.Shown, p.View.Total)
					return
				}
			}
			require.Equal(t, "lines taken back", name, "no compressed form")
		})
	}
}
