// Package envelope opens a tool result that is one JSON object (or a list of text
// blocks) around the text that matters, so that the text can be shown smaller while
// every other byte of the JSON stays as it was.
//
// What lives here: finding the text fields, splicing new values, and the sibling
// key that carries the marker. What may not: reducing the fields, I/O.
//
// Invariants: bytes outside the replaced string literals are copied; a replaced
// field decodes to exactly the new text; a plain-text hint after the JSON is kept;
// an object with a duplicate key, a field that is no valid Unicode, or a text that
// is no JSON is not an envelope.
package envelope
