// Package vaulttest is the conformance suite of a vault.
//
// What lives here: the interface a vault keeps and the tests of its contract, run
// against every implementation. What may not: anything about files or SQLite.
package vaulttest
