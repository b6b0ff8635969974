//go:build !race

package main

// The stress run's size when nothing else is said.
const (
	stressSessions = 16
	stressTurns    = 5
)
