// Package compile is the plain logic of one turn: the request's bytes and what the
// session remembers go in, edits and the decisions now in force come out.
//
// What lives here: taking remembered decisions, proposing and choosing forms for
// messages never sent before, naming the evidence that must be durable first,
// rendering, and the ladder of candidates before the gate. What may not: goroutines,
// clocks, disk, or a formula that belongs to plan or tokens.
//
// A turn has two halves, because the vault stands between them:
//
//	Begin   request + snapshot -> Draft (evidence to pin, intended decisions)
//	Finish  Draft + proofs     -> Outcome (edits, or the original with a reason)
//
// Invariants: Finish never fails, it falls down the ladder to the original; a
// decision whose artifact has no proof is dropped, and so is every decision that
// leans on it; a message that was sent before keeps its bytes but in a turn that opens
// an epoch, which its Outcome tells; what an epoch decided holds for requests whose
// chain runs through it, and for no others; the same snapshot
// and the same request give the same bytes.
package compile
