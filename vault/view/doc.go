// Package view makes bounded views of one text: pages, peeks, matches, line ranges
// and differences.
//
// What lives here: pure functions from texts and numbers to small results, and
// Unicode case folding. What may not: SQLite, files, ids, sessions.
//
// Invariants:
//   - Every result is bounded, whatever the text; a cut says that it is one.
//   - Offsets and limits are Unicode code points; lines count from 1 and end at \n.
//   - Page and Lines give exact text; Peek, Find and Diff say that they are lossy.
//   - Linear time in the text, save Diff, whose work is bounded by MaxDiffEdits.
package view
