// Package tokens measures text exactly: which tokenizer a model has, how many
// tokens a text has under it, and how large a whole request is.
//
// What lives here: the catalogue (model name to encoding), the counters, the
// rules for cuts at which counts may be added, the memo over counted segments,
// and the meter that compares "before" with "after".
// What may not: requests and their syntax, prices, decisions, I/O, clocks.
//
// Invariants:
//   - A count is the number of tokens the encoding's published pattern and merge
//     ranks give, with special-token text counted as plain text. Nothing is
//     estimated, cached by hash alone, or rounded.
//   - A model without a public tokenizer has none here. It is measured by the
//     panel and every figure says so.
//   - Counting takes time proportional to the text (times the logarithm of the
//     longest pre-token), whatever the text is.
//   - Texts are added up only over cuts that are pre-token boundaries in every
//     context (see SafeCut); otherwise they are counted as one.
//   - The tables of o200k and cl100k ship with the program, made by go generate
//     from the library's vocabulary and checked by digest when they are read. All
//     tables are read or built when an encoding first counts, so that a command
//     which counts nothing pays nothing.
//
// Text is UTF-8. Bytes that are not UTF-8 never cause a panic; the meter refuses
// them (turn.NotUTF8), a bare Counter counts each stray byte as a symbol.
package tokens
