package request

import "token-terminator/turn"

// pairBlocks finds for each tool_result block the tool_use block it answers: the
// first unanswered one of its id in the message before. Messages before from are paired
// already: they are shared with an earlier request and must not be written to.
func pairBlocks(messages []Message, from int) {
	for i := from; i < len(messages); i++ {
		before, m := &messages[i-1], &messages[i]
		if before.Role != "assistant" || len(before.Calls) == 0 || len(m.results) == 0 {
			continue
		}
		open := make(map[string][]int, len(before.Calls))
		for c, call := range before.Calls {
			open[call.ID] = append(open[call.ID], c)
		}
		for n := range m.results {
			r := &m.results[n]
			if calls := open[r.id]; len(calls) > 0 {
				r.caller, open[r.id] = calling{i - 1, calls[0]}, calls[1:]
			}
		}
	}
}

// checkBlocks checks an Anthropic conversation.
func (d *Doc) checkBlocks() error {
	open := 0 // calls of the message before
	for i := range d.Messages {
		m := &d.Messages[i]
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return d.broken(turn.UnknownShape, i, "the role %.40q is unknown; send user or assistant", m.Role)
		case i == 0 && m.Role != "user":
			return d.broken(turn.RoleOrder, i, "an assistant message stands first; send a user message before it")
		case i == 0 && len(m.results) > 0:
			return d.broken(turn.RoleOrder, i, "a result stands first; send it after the assistant message that called")
		case m.Role == "assistant" && len(m.results) > 0, m.Role == "user" && len(m.Calls) > 0:
			return d.broken(turn.PairingBroken, i, "a tool block of the other role; send tool_use as assistant and tool_result as user")
		case open > 0 && m.Role != "user":
			return d.broken(turn.PairingBroken, i-1, "no result for %d of its calls; send every result in the next user message", open)
		}
		for n, r := range m.results {
			if r.caller.message != i-1 {
				return d.broken(turn.PairingBroken, i, "result %d answers no open call of the message before; send each result once, directly after its call", n)
			}
			if r.part != n {
				return d.broken(turn.PairingBroken, i, "result %d stands behind another block; send the results first", n)
			}
		}
		if open > len(m.results) {
			return d.broken(turn.PairingBroken, i-1, "no result for %d of its calls in the next message; send every result there", open-len(m.results))
		}
		open = len(m.Calls)
	}
	if last := len(d.Messages) - 1; open > 0 {
		return d.broken(turn.PairingBroken, last, "no result for %d of its calls at the end of the request; send every result in the next user message", open)
	}
	return nil
}

// pairItems finds for each output item the call it answers: the first one of its
// kind and id that has no output yet.
func pairItems(items []Message) []calling {
	answers := make([]calling, len(items))
	open := [2]map[string][]int{{}, {}} // functions, custom tools
	for i, m := range items {
		answers[i] = calling{message: -1}
		switch m.item {
		case itemCall:
			open[0][m.Calls[0].ID] = append(open[0][m.Calls[0].ID], i)
		case itemCustom:
			open[1][m.Calls[0].ID] = append(open[1][m.Calls[0].ID], i)
		case itemOutput, itemCustomOutput:
			calls := open[0]
			if m.item == itemCustomOutput {
				calls = open[1]
			}
			if list := calls[m.CallID]; len(list) > 0 {
				answers[i].message, calls[m.CallID] = list[0], list[1:]
			}
		}
	}
	return answers
}

// checkItems checks a Responses conversation.
func (d *Doc) checkItems() error {
	started, calls := false, 0
	answered := make([]bool, len(d.Messages))
	for i := range d.Messages {
		m := &d.Messages[i]
		switch m.item {
		case itemMessage:
			if !itemRole(m.Role) {
				return d.broken(turn.UnknownShape, i, "the role %.40q is unknown; send system, developer, user or assistant", m.Role)
			}
			started = started || m.Role == "user" || m.Role == "assistant"
		case itemOutput, itemCustomOutput:
			if !started {
				return d.broken(turn.RoleOrder, i, "an output stands first; send it after the call")
			}
			call := d.answers[i].message
			if call < 0 {
				return d.broken(turn.PairingBroken, i, "the output answers no open call before it; send each output once, after its call")
			}
			answered[call] = true
			calls--
		case itemCall, itemCustom:
			started = true
			calls++
		default:
			if m.Role == "" {
				return d.broken(turn.UnknownShape, i, "the item has neither a type nor a role; send one of them")
			}
		}
	}
	if calls == 0 {
		return nil
	}
	for i := range d.Messages {
		if item := d.Messages[i].item; (item == itemCall || item == itemCustom) && !answered[i] {
			return d.broken(turn.PairingBroken, i, "the call has no output; send one after it")
		}
	}
	return nil
}
