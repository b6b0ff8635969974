// Package datasets reads recorded agent sessions and turns them into the requests
// that were sent, and bundles a few real sessions and tool outputs.
//
// What lives here: readers for corpus JSON lines, OpenAI-style JSON lines and
// Claude Code transcripts, the turns of a session as the bytes of a request, and
// the bundled data with its attribution. What may not: a download, a change of
// recorded text that is not named in the session's notes, token counting.
//
// Formats:
//
//	corpus       {"id","source","model","messages","tools","meta"} a line
//	openai       {"messages"[,"id","tools","model"]}: one object, one a line, or one
//	             request a line with equal ids, each extending an earlier one; such
//	             requests may be chat.completions, Anthropic Messages or Responses
//	             ("input" in the place of "messages")
//	claude-code  the host's transcript, rebuilt as chat.completions
//
// Invariants:
//   - message bytes stand in a request exactly as in the file (corpus, openai), or
//     with every text literal as in the file (claude-code);
//   - the request of turn n+1 begins with the bytes of the request of turn n up to
//     the end of its last message;
//   - one bad line or file never loses another; each is an *Error that names file,
//     line, field and what to do;
//   - reading is linear, recursion-free and bounded by MaxFileBytes.
package datasets
