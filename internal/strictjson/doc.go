// Package strictjson scans JSON text without building values: it finds where
// values, keys and strings stand, and refuses everything RFC 8259 refuses.
//
// What lives here: one forward scanner with a depth bound, the string literal
// rules (escapes, surrogates, UTF-8), unquoting and quoting, positions of faults.
// What may not: knowledge of any request or result format, numbers as values,
// reflection, or a dependency on another package of this module.
//
// Invariants: linear time; memory bounded by the depth bound and by the number
// of keys of the object in hand; no recursion deeper than the bound; no panic on
// any input. Text the scanner accepts is accepted by encoding/json.
//
// Duplicate keys and lone surrogates are well-formed JSON, so they are not
// errors here: the scanner notes where the first one stands and the caller
// decides. Offsets are bytes from the start of the scanned text.
package strictjson
