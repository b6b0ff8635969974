// Package kind says what a tool result is: a log, search hits, test-runner
// output, a read of a source file, and so on. The content decides where it is
// unmistakable; the call that made it decides where two kinds look alike.
//
// What lives here: the kinds, their detection, and what a tool call tells about
// its result (the shell command, the path it reads or writes, whether the tool is
// excluded). What may not: any reduction, any I/O.
//
// Invariants: pure and deterministic; Detect looks at a bounded sample of lines,
// so its cost does not grow with the text beyond finding them; bad input of any
// sort (broken JSON, no UTF-8, unbalanced quotes) gives Plain or "", never a panic.
package kind
