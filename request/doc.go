// Package request reads provider requests as bytes with spans and edits them by
// splicing: a request is never decoded and encoded again.
//
// What lives here: the span scan of chat.completions, Anthropic Messages and OpenAI
// Responses requests, what a tool result is in each of them, pairing and role order,
// edits, the canonical form, message identity, the cuts for counting, the recovery
// tool's spelling and its place among the tools, and the scope decision over the
// host's out-of-band fields.
// What may not: token counts, the vault, how a text is made smaller, I/O, a
// clock, or any decision about money.
//
// Invariants:
//   - What Parse accepts is valid JSON in valid UTF-8 without repeated keys at
//     the top level, nested at most MaxDepth levels, at most MaxBytes long.
//   - Doc.Raw is the caller's slice. Nothing here writes to it, and it must not
//     change while the Doc is in use. A Doc is read-only: any number of
//     goroutines may use one.
//   - Apply changes the bytes inside the named string literals and no others.
//   - A message that is odd in itself (a repeated key, a lone surrogate, an
//     unknown shape) is kept and locked; only a broken outer structure refuses
//     the request. Every refusal names a reason, a place and a way out.
//   - Linear time; no recursion deeper than MaxDepth; no panic on any input.
//
// Offsets are bytes from the start of Raw; indexes of messages count from 0.
package request
