// Package layout shows the same facts in fewer tokens.
//
// Lossless layouts give back the old bytes from the new text alone: a first line in
// brackets names the rule. Equivalent layouts keep the same JSON values, order and
// lexemes, or the text a terminal would end up showing.
//
// What lives here: the rules, their encoders and their decoder. What may not:
// anything that hides text, anything that needs the recovery tool, I/O.
//
// Invariants: Restore(Lossless(t)) == t for every t, checked before a layout is
// returned; a layout is only returned when it counts fewer tokens; a text that
// already starts like a layout of ours gets none; an unknown control sequence means
// no equivalent form.
package layout
