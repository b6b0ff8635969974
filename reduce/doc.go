// Package reduce proposes smaller ways to show one tool result: layout, reference,
// delta, compressed, and the receipt of an old one. It is pure: same input, same proposals, no I/O, no clock.
//
// What lives here: the façade over the stages (kind, envelope, layout, delta,
// evidence, structured), the marker, and the declaration of the recovery tool.
// What may not: choosing between proposals (plan), reading or splicing requests
// (request), storing evidence (vault).
//
// Invariants:
//   - a proposal is a whole new string for the block, never a patch of it;
//   - everything a proposal takes out is either recoverable by the one id it shows,
//     or stands literally in a base it names, or may be derived from its own text
//     (layout), or is white space or terminal control bytes (layout, equivalent);
//   - nothing is paraphrased: every line of a proposal is a line of the source or a
//     bracketed line that names itself.
package reduce
