// Package faults breaks things on purpose, for tests of everything that does I/O.
//
// What lives here: hooks that fail or end the process at a chosen or seeded call,
// a recorder of calls, a clock that tests move, damage to files, and readers that are
// short, slow to give, or fail. What may not: anything used outside tests.
//
// Invariants: everything is deterministic from its arguments; a hook is safe for
// concurrent use; nothing here sleeps.
package faults
