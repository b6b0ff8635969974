// Package archtest holds the shape of the tree: which package may import which,
// who may import a third-party module and why, how long a file or a function may
// be, and that the documents name tests, reasons and dependencies that exist.
//
// It has no code of its own; everything is in its tests.
package archtest
