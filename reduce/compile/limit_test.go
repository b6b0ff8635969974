package compile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/plan"
	"token-terminator/reduce"
	"token-terminator/reduce/compile"
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/tokens"
	"token-terminator/turn"
)

// The limit holds for the whole text that is shown, its marker included, whatever the
// kind: at every limit the result is within it or it is the original, and at the size
// of the view itself it is still taken.
func TestTheLimitHoldsForViewAndMarker(t *testing.T) {
	t.Parallel()
	inner, err := json.Marshal(serviceLog(300, oddLine))
	require.NoError(t, err)
	two := fmt.Sprintf(`{"stdout":%s,"stderr":%s,"code":1}`, inner, inner)
	records := `[` + strings.Repeat(`{"id": 1, "name": "abc", "state": "ready"},`, 300) + `{"id":0}]`
	for name, text := range map[string]string{"a log": serviceLog(400, oddLine), "an envelope of two": two, "records": records} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			single := func(limit int) compile.Single {
				c, err := compile.New(compile.Settings{
					Row: plan.Study(), Reduce: reduce.Settings{Form: form.Settings{MaxTokens: limit}},
				}, key(), tokens.NewMemo(8<<20))
				require.NoError(t, err)
				return c.Single("s", "gpt-4o", reduce.Block{Text: text, Call: kind.Call{Tool: "bash", Args: `{"command":"run"}`}})
			}
			free := single(0)
			require.True(t, free.Decision.Form.Hides())
			size := free.Out.Tokens
			for _, limit := range []int{1, size / 2, size - 20, size - 1, size, size + 1, 10 * size} {
				got := single(limit)
				if got.Decision.Form.Hides() {
					require.LessOrEqual(t, got.Out.Tokens, limit)
				} else if got.Decision.Form == turn.Original {
					require.Equal(t, turn.NoForcedFit, got.Decision.Reason, "limit %d of %d", limit, size)
				}
			}
			require.True(t, single(10*size).Decision.Form.Hides())
		})
	}
}
