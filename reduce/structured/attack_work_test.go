package structured

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
)

// TestNamesOfOursCostNoExtraWork holds that an object full of keys like those of our
// notes, and repeats below a huge key, are read in linear time: otherwise this would not
// come to an end in a test's time.
func TestNamesOfOursCostNoExtraWork(t *testing.T) {
	t.Parallel()
	var keys, twins strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&keys, `,"[omitted] %d":%d`, i+2, i%7)
	}
	for i := range 15_000 {
		fmt.Fprintf(&twins, `,{"a":"%0120d"}`, i/2)
	}
	for name, text := range map[string]string{
		"omitted": `{"x":{"[omitted]":1` + keys.String() + `},"[omitted]":0}`,
		"pointer": `{"` + strings.Repeat("K", 2_000_000) + `":[0` + twins.String() + `]}`,
	} {
		v, reason := Compress(text, kind.JSON, form.Settings{})
		if name == "omitted" {
			require.Empty(t, reason)
			require.Contains(t, v.Head+v.Tail, `"[omitted] 150002":"`)
			require.True(t, strings.HasSuffix(v.Head, `,"[omitted] 2":"`))
		}
	}
}
