package request

// Result is one tool result: a tool message (chat), an output item (Responses) or a
// tool_result block, of which a user message may hold several (Anthropic).
type Result struct {
	CallID  string
	Texts   []Text // its texts among those of the message
	Mixed   bool   // it holds something that is not text
	Answers Caller // the call it answers
}

// Caller is the place of a call.
type Caller struct {
	Message int // -1 for an orphan
	Call    int // index of Calls of that message
}

// Results lists the tool results in message i, in the order they stand. i must be an
// index of Messages.
func (d *Doc) Results(i int) []Result {
	m := &d.Messages[i]
	if d.Dialect == Anthropic {
		out := make([]Result, 0, len(m.results))
		for _, b := range m.results {
			out = append(out, Result{CallID: b.id, Texts: m.Texts[b.from:b.to], Mixed: b.mixed, Answers: Caller{b.caller.message, b.caller.call}})
		}
		return out
	}
	if m.Role != "tool" || m.item == itemOther {
		return nil
	}
	return []Result{{CallID: m.CallID, Texts: m.Texts, Mixed: m.Mixed, Answers: Caller{d.answers[i].message, d.answers[i].call}}}
}

// IsResult says whether message i holds a tool result.
func (d *Doc) IsResult(i int) bool {
	m := &d.Messages[i]
	return len(m.results) > 0 || m.Role == "tool" && m.item != itemOther
}

// CallOf finds the call that message i answers, where it is one tool result by
// itself: the one with its id in the nearest message before it that has an unanswered
// call of that id; ids may be used again later. Within one message the first such
// call is taken, as results come in call order. A legacy function message answers the
// nearest unanswered function_call of its name. ok is false for other messages, for
// orphans and for messages of results in blocks, which Results tells apart.
func (d *Doc) CallOf(i int) (msg, call int, ok bool) {
	if i < 0 || i >= len(d.answers) || d.answers[i].message < 0 {
		return 0, 0, false
	}
	return d.answers[i].message, d.answers[i].call, true
}
