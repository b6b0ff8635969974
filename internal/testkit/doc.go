// Package testkit holds what tests of timing and failure share: a clock that only
// moves when told, a probe that records, a wedge that holds callers until released,
// and a check that no goroutine was left behind.
//
// Only test files import it. It never sleeps to wait for an event; it waits for the
// event itself and fails the test after Patience.
package testkit
