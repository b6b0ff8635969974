package reduce

import (
	"token-terminator/tokens"
	"token-terminator/turn"
)

// Gate is the last word on a whole request: after must be strictly smaller than
// before in code points and in tokens; under the panel, in every measure of the
// panel. Whatever the stages did, a request that does not pass goes out as it came.
//
// before and after are measures of the canonical request, every field, tool
// declaration and id included; nothing is added to the request after the gate.
func Gate(m *tokens.Meter, before, after tokens.Measure) (turn.Reason, bool) {
	if before.Unmeasured != "" {
		return before.Unmeasured, false
	}
	if after.Unmeasured != "" {
		return after.Unmeasured, false
	}
	return m.Smaller(before, after)
}
