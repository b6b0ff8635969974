// Package vault keeps the exact originals of everything a request shows smaller.
//
// What lives here: one private SQLite file with artifacts, who saw them
// (observations), what must stay (pins), the ids that were shown, and the form
// memory (nodes); the marker key; verified and bounded reads; capacity and pruning;
// backup, restore, release, import, and the search of transcripts for ids.
// What may not: knowledge of requests, forms' meaning, actors, or tokens.
// Sub-packages: view (pure bounded views of a text), codec (pure encodings),
// mention (finding ids in text),
// vaulttest (the conformance suite every implementation passes).
//
// Invariants:
//   - A turn is one transaction: artifacts, observations, pins and pending nodes are
//     written together or not at all, and turns of a group do not hurt each other.
//   - A Proof exists only for an artifact that was read back on another connection
//     with the same SHA-256 and length.
//   - Every read hashes what it read; wrong bytes are ErrDamaged, never returned.
//   - Pinned artifacts are never pruned. A full vault refuses the new turn instead.
//   - The id shown for an artifact stays bound to it for as long as the file exists.
//   - A session sees its own artifacts; the session "" is the operator, who sees all.
//
// Sizes are bytes unless a name says Runes; offsets and limits of pages are Unicode
// code points. Times are Unix milliseconds in the file.
package vault
