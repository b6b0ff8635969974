// Package mention finds artifact ids in text that somebody may still read: transcripts,
// exports, rows of another program's database.
//
// What lives here: a scanner over a stream of bytes of any shape, and the index that
// says which artifacts a found token may stand for. What may not: files, databases,
// knowledge of transcript formats.
//
// Invariants:
//   - The scanner finds every "a_" that is followed by 8 or more hex digits, wherever the
//     stream is cut, and uses bounded memory.
//   - When in doubt a token names an artifact: a false alarm costs a question, a miss
//     costs evidence.
package mention
