// Package actors runs turns: who asks whom, how long, and what happens when no answer
// comes. It holds routing, time and supervision; no reduction, no query, no formula.
// Logic comes in through the interfaces of ports.go. Only cmd may import this package,
// and only this package imports the actor library.
//
// Invariants: every command gets exactly one answer, and whatever goes wrong the answer
// is the original request with a reason; nothing is shown smaller before its evidence
// and its forms are durable; no handler waits (the VaultWriter's disk and the Compiler's
// CPU aside); mailboxes have no bound, the door has one; a failed Compiler is not
// restarted, a failed VaultWriter 3 times in 30 s, then all turns pass through; logs
// carry ids, counts, reasons and type names, never content. "turn" is the turn's deadline.
//
//	message        sender            receiver         answer          deadline  when it does not come
//	ReduceTurn     caller            Sessions→Session TurnReduced     turn      original, deadline
//	TurnReduced    Session           caller           -               -         caller answers itself at turn + 100 ms
//	AbandonTurn    caller            Sessions→Session -               -         the turn runs to its end, unheard
//	CompileTurn    Session           Compiler         TurnCompiled    turn      original, deadline; Compiler stopped
//	TurnCompiled   Compiler          Session          -               -         Compiler gone: original, internal_error
//	PinEvidence    Compiler, Session VaultWriter      EvidencePinned  turn      original, deadline; a late pin stays
//	EvidencePinned VaultWriter       Compiler, Session -              -         writer gone: StorageClosed
//	AcceptForms    Compiler          VaultWriter      FormsAccepted   turn      original, deadline; one cache miss
//	FormsAccepted  VaultWriter       Compiler         -               -         writer gone: StorageClosed
//	LoadForms      Session           VaultWriter      FormsLoaded     turn      waiting turns: original, deadline
//	FormsLoaded    VaultWriter       Session          -               -         writer gone: StorageClosed
//	CloseSession   caller            Sessions→Session SessionClosed   caller's  caller gets its context's error
//	SessionClosed  Session, Sessions caller           -               -         as above
//	RecordTurn     caller's goroutine Recorder        -               -         a row is missing, no decision changes
//	ExpireTurn     Session's timer   Session          -               -         caller answers itself at turn + 100 ms
//	IdleSession    Session's timer   Session          -               -         the actor stays in memory
//	RetireSession  Session           Sessions         -               -         the actor stays in memory
//	FlushPins      VaultWriter       VaultWriter      -               -         stopping flushes too
//	StorageClosed  Sessions          Session          -               -         turns end at their deadline
//	DrainSessions  Stop              Sessions→Session -               Stop's    sessions are stopped, turns get the original
//
// Still to come, each an actor with its own pair of messages: Scorer, Trainer.
package actors
