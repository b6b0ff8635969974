package reduce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce"
	"token-terminator/turn"
)

func progress(n int, odd string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Receiving objects: %3d%% (%d/%d)\r", i*100/n, i, n)
		if i == n/2 {
			b.WriteString(odd)
		}
	}
	b.WriteString("Receiving objects: 100% (done)\n")
	return b.String()
}

func TestOverwrittenText_ProgressGoesMessagesStay(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text, must string
		smaller    bool
	}{
		"a progress bar alone":          {progress(300, ""), "done", true},
		"an error under a progress bar": {progress(300, "ERROR disk full\r"), "ERROR disk full", false},
		"one of several errors": {
			"ERROR disk full on node 1\n" + progress(300, "ERROR disk full on node 2\r"), "node 2", false,
		},
		"a warning erased with the line":  {progress(300, "warning: low space\x1b[2K\r"), "warning: low space", false},
		"a word taken back by backspaces": {progress(300, "secret\b\b\b\b\b\b      "), "secret", false},
		"lines joined by carriage returns": {
			strings.ReplaceAll(progressLog(400), "\n", "\r"), "admin granted to eve", false,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, preset := range []reduce.Preset{reduce.Default, reduce.Equivalent, reduce.Tight} {
				proposals, _ := settings(preset).Propose(reduce.Block{Text: test.text, Call: bash("git clone x")}, nil)
				for _, p := range proposals {
					shown, _, _ := p.Render(id, "deadbeef")
					require.Contains(t, shown, test.must, "%s %s", preset, p.Form)
				}
				if test.smaller && preset == reduce.Equivalent {
					require.NotEmpty(t, proposals)
					require.Equal(t, turn.LayoutEquivalent, proposals[0].Reason)
				}
			}
		})
	}
}

func progressLog(n int) string {
	var b strings.Builder
	for i := range n {
		if i == n/2 {
			b.WriteString("10:00:00 admin granted to eve\n")
		}
		fmt.Fprintf(&b, "10:%02d:%02d request served in %d ms\n", i/60%60, i%60, i%9)
	}
	return b.String()
}
