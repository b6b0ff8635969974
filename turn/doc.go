// Package turn is the vocabulary every other package shares: bindings, digests,
// artifact ids, forms, decisions, edits and reasons.
//
// What lives here: small value types, their text forms and their bounds.
// What may not: I/O, clocks, policies, formulas, or an import of another package
// of this module. A value of this package is immutable once it was sent.
//
// Units: sizes are bytes unless the name says tokens, runes or lines. Indexes of
// messages count from 0 over the request's message list.
package turn
