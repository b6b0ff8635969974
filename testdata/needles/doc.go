// Package needles makes texts with one hidden fact each and checks whether a
// reduction leaves it visible. A fixed seed makes every run equal.
//
// What lives here: eight real logs (SOURCES.md says whose), the generator of cases,
// the check. What may not: a reduction, a threshold.
//
// A case is good when its needle, a whole line or value, stands literally in what
// the reduction shows; a text that stays as it is counts as good and is counted
// apart too, because nothing was saved on it.
package needles
