// Package ledger keeps the numbers of turns: tokens, money, reasons, forms, latency,
// reported usage, experiment arms. It is a SQLite file beside the vault.
//
// What lives here: the file with its schema, a writer off the turn's path, the queries
// over it, and pure functions on its rows (calibration, arms, the saving of a turn).
// What may not: any text of a request, an argument, a tool's output, a path, an error's
// words. Columns hold numbers, ids, names of models and modes, and reasons of the
// closed set.
//
// Invariants:
//   - A ledger never stops or slows a turn. Record does not wait: what does not fit the
//     bounded queue is dropped and counted. A damaged, newer or unwritable file gives an
//     error of Open; a nil *Ledger works, records nothing and says that it is off.
//   - One row per turn, whatever the number of attempts; a late report of an older
//     attempt changes nothing.
//   - A chain never changes its experiment arm: the arm is stored durably before it is
//     answered, and an answer that cannot be stored is an error.
//   - Unknown figures are NULL, never 0.
//
// Units: tokens, bytes, microseconds in the file; ite are input-token equivalents.
package ledger
