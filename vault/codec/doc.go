// Package codec holds the pure encodings of the vault: decisions as JSON, bounded
// labels, argument previews and the shortest unique prefix of an id.
//
// What lives here: functions from values to bytes and back, with their bounds.
// What may not: SQLite, files, clocks. Everything here can be fuzzed without a vault.
//
// Invariants: DecodeDecisions(EncodeDecisions(d)) == d; a label is at most MaxLabel
// bytes of valid UTF-8, and two different labels stay different.
package codec
