//go:build race

package main

// The race detector slows every turn: a smaller run.
const (
	stressSessions = 6
	stressTurns    = 3
)
