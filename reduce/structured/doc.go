// Package structured makes the compressed form of JSON, of concatenated JSON
// documents and of line-delimited JSON.
//
// What lives here: which records of a long array, stream or map-like object are
// evidence, and how the rest is left out with exact counts. What may not: tokens
// beyond the caller's count, the marker's words, envelopes, I/O.
//
// Invariants:
//   - one JSON document in, one valid JSON document out, whatever the marker says;
//   - what is shown is copied byte for byte from the source (white space between
//     tokens aside); synthetic text is a string in brackets that names itself;
//   - every value that was called evidence stands literally in the view, checked on
//     the finished text, or there is no view;
//   - counts and positions are those of the source;
//   - a view is smaller than the source with its white space dropped, or there is none.
//
// The rule, per container of at least minRecords records: keep both ends; every
// record with a severity word or a value that says failure; rare or missing keys;
// rare types; a value seen once in a slot of few values; a text of a shape seen
// once among few shapes; numbers more than 12 median absolute deviations off or of a
// rare digit count. A slot is the path of a value inside its record.
package structured
