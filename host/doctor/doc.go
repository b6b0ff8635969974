// Package doctor looks at a home and says what is wrong with it and what to do.
//
// What lives here: checks that only read. What may not: a repair, a write, a content.
// The lock of a daemon is tried for a moment, shared, and given back.
//
// A finding is ok, warn (it works, but look at it) or fail (something does not work, or
// originals are in danger). Names in findings are those of files in the home's folder,
// never whole paths; other users' words and contents never stand in one.
package doctor
