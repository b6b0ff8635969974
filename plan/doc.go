// Package plan holds what a session remembers of its forms and what a form is
// worth: the form memory, price rows, the bill of a sequence of calls, what a
// recovery costs, which proposed form a block takes when it is first sent, and when old
// ones may change (an epoch). Course prices the arms a product is compared with.
//
// What lives here: immutable values and formulas over token counts, digests and
// prices. What may not: I/O, clocks, the bytes of a request, or an import of
// another package of this module but turn.
//
// Units: sizes are tokens unless the name says otherwise; money is in
// input-token equivalents (ite): the price of one fresh input token is 1 in the
// row Study and in Row.InITE, and a row's own unit elsewhere. Calls count from 0 in
// a session. The built-in prices (prices.csv) are a dated table, updated by hand as
// docs/prices.md says; a row is picked for a named day, never for today.
//
// Formulas (w, r, i, o = Write, Read, Input, Output of the row):
//
//	bill of a call    fresh·i + read·r + written·w + output·o, all at the tier's prices over its threshold
//	fetch of a block  prefix·r + 60·o + page·(w + r·later calls), page <= 2,000
//	recovery debit    rate · fetch, once for each block, when it is first hidden
//	gain of a form    removed·(w + r·horizon)
//
//	epoch             (w − r)·(cached end − first change) − w·removed + expected recoveries,
//	                  against r·removed forgone on every call since the last one
//
// Invariants:
//   - a Memory never changes; With gives a new one and shares what is equal;
//   - a bill's fresh + read + written is the call's whole input;
//   - no decision looks at a later call: horizons come from calls made so far; only
//     Course.Optimum, which decides nothing, knows the future.
package plan
