//go:build !race

package vault_test

// crashRuns is how many kills in a row each vault folder lives through.
const crashRuns = 15
