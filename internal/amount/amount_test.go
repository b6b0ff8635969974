package amount_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/amount"
)

func TestNumbersOfThings(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0 turns", 1: "1 turn", -1: "-1 turn", 2: "2 turns", 999: "999 turns", 1000: "1,000 turns", 94840: "94,840 turns",
		-1234567: "-1,234,567 turns", math.MinInt64: "-9,223,372,036,854,775,808 turns",
	} {
		require.Equal(t, want, amount.Of(n, "turn"))
	}
}
