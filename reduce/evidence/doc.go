// Package evidence shows line-oriented text (logs, search hits, test-runner and
// build output, stack traces, repetitive plain text) with whole lines left out.
//
// The law it keeps: lines that name an error, exception, failure, cause, warning,
// panic, traceback, assertion or a non-zero exit, lines of a rare shape, and lines
// with a rare or outlying value stay, with neighbours and in their place. Only
// lines whose like is shown may go, whole, and one bracketed note per gap counts
// them. Nothing is paraphrased and no line is cut.
//
// What lives here: shapes and slots of lines, severity words, the rules per kind,
// the rendering and its self-check. What may not: JSON documents (package
// structured), I/O, token tables, ids and markers.
//
// Invariants: a view is smaller than its source or refused with a reason; every
// line protected by a rule stands literally in the view, in order; shown lines plus
// the counts of the notes give the number of source lines; the same input gives the
// same bytes; time and memory grow linearly with the text.
package evidence
