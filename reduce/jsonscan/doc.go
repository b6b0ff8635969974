// Package jsonscan reads JSON as bytes and spans: it says where every value,
// key and container of a text stands and checks RFC 8259 grammar on the way.
//
// What lives here: the scanner, white-space removal, and decoding and encoding of
// one string literal. What may not: values as Go numbers or maps, re-encoding of
// anything that was not asked for, I/O, policies.
//
// Invariants: a number lexeme, a string literal and the order of members are never
// touched, so big integers, duplicate keys and odd escapes survive; nesting deeper
// than the caller's bound is an error, never a deep call stack; time is linear in
// the bytes read. Offsets are bytes; texts are at most MaxBytes long.
package jsonscan
