package request

import (
	"cmp"
	"slices"
)

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

// ResultOf finds which of the results in message i a text belongs to. ok is false for
// texts that are no part of a result.
func (d *Doc) ResultOf(i int, block string) (n int, ok bool) {
	if i < 0 || i >= len(d.Messages) {
		return 0, false
	}
	m := &d.Messages[i]
	k, ok := m.text(block)
	if !ok || d.Dialect != Anthropic {
		return 0, ok && d.IsResult(i)
	}
	return m.resultOf(k)
}

// resultOf finds the tool_result block that text k belongs to.
func (m *Message) resultOf(k int) (n int, ok bool) {
	n, _ = slices.BinarySearchFunc(m.results, k, func(b block, k int) int { return cmp.Compare(b.to, k+1) })
	return n, n < len(m.results) && m.results[n].from <= k
}

// Said lists the texts of message i that are no part of a result, in order.
func (d *Doc) Said(i int) []Text {
	m := &d.Messages[i]
	if len(m.results) == 0 {
		if d.IsResult(i) {
			return nil
		}
		return m.Texts
	}
	var out []Text
	for k, text := range m.Texts {
		if _, ok := m.resultOf(k); !ok {
			out = append(out, text)
		}
	}
	return out
}

// Text finds a text of the message by its block.
func (m *Message) Text(block string) (Text, bool) {
	if k, ok := m.text(block); ok {
		return m.Texts[k], true
	}
	return Text{}, false
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
