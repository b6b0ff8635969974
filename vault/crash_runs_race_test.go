//go:build race

package vault_test

// crashRuns is smaller under the race detector, which slows every child; the full
// number runs without it.
const crashRuns = 3
