// Package corpusscore measures how many tokens a reduction removes from recorded
// tool outputs, family by family, so that a test and a command print the same
// figures.
//
// What lives here: the families, the reading of the files, the weighing. What may
// not: a reduction of its own, thresholds that decide anything.
//
// The weight of a file is its tokens, but no file weighs more than 5 % of its
// family or twice its equal share, whichever is larger; so one giant cannot carry
// or sink a figure. Files are read in the order of their names.
package corpusscore
