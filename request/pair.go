package request

import "token-terminator/turn"

// pairUp finds for each result the call it answers.
func (d *Doc) pairUp() {
	switch d.Dialect {
	case Anthropic:
		pairBlocks(d.Messages, max(1, d.reused))
	case Responses:
		d.answers = pairItems(d.Messages)
	default:
		d.answers = pairMessages(d.Messages)
	}
}

// pairMessages finds for each chat message the call it answers.
func pairMessages(messages []Message) []calling {
	answers := make([]calling, len(messages))
	open := map[string][]calling{} // unanswered calls by id, oldest first
	legacy := map[string][]calling{}
	for i, m := range messages {
		answers[i] = calling{message: -1}
		switch m.Role {
		case "assistant":
			for c, call := range m.Calls {
				if call.Legacy {
					legacy[call.Name] = append(legacy[call.Name], calling{i, c})
				} else {
					open[call.ID] = append(open[call.ID], calling{i, c})
				}
			}
		case "tool":
			answers[i] = take(open, m.CallID)
		case "function":
			answers[i] = take(legacy, m.Name)
		}
	}
	return answers
}

// take removes and returns the first open call of the nearest message.
func take(open map[string][]calling, id string) calling {
	calls := open[id]
	if len(calls) == 0 {
		return calling{message: -1}
	}
	k := len(calls) - 1
	for k > 0 && calls[k-1].message == calls[k].message {
		k--
	}
	found := calls[k]
	open[id] = append(calls[:k], calls[k+1:]...)
	return found
}

// Check says whether providers accept the order of the messages and the pairing
// of calls and results. The error is an *Error:
//
//   - UnknownShape: no messages, or a role the dialect does not have;
//   - RoleOrder: the conversation starts with a result; in the Messages API, with
//     anything but a user message;
//   - PairingBroken: see below.
//
// Chat: a result that answers no call of the assistant message it follows (directly,
// or after other results of that message), a second answer to one call, or a call
// without an answer before the next message that is no result.
//
// Anthropic: a result that answers no call of the message before it or answers it
// again, one behind another block, or a call that the next message does not answer.
//
// Responses: an output that answers no call of its kind before it, a second one to one
// call, or a call without an output. What stands between them is free.
//
// A call left open at the very end is PairingBroken too: providers refuse such a
// request, as the model's next words would stand where the result must.
// Several user messages in a row, system messages in the middle and, but for the
// Messages API, an assistant message at the start are accepted, as providers accept
// them.
func (d *Doc) Check() error {
	if len(d.Messages) == 0 {
		return refuse(d.Raw, turn.UnknownShape, d.list.Start, "there are no messages; send at least one")
	}
	switch d.Dialect {
	case Anthropic:
		return d.checkBlocks()
	case Responses:
		return d.checkItems()
	}
	return d.checkMessages()
}

// checkMessages checks a chat.
func (d *Doc) checkMessages() error {
	caller, open := -1, 0
	started := false // a message other than system and developer was seen
	for i := range d.Messages {
		m := &d.Messages[i]
		if !knownRole(m.Role) {
			return d.broken(turn.UnknownShape, i, "the role %.40q is unknown; send system, developer, user, assistant or tool", m.Role)
		}
		if m.Role == "tool" || m.Role == "function" {
			if !started {
				return d.broken(turn.RoleOrder, i, "a %s message stands first; send it after the assistant message that called", m.Role)
			}
			if caller < 0 || d.answers[i].message != caller {
				return d.broken(turn.PairingBroken, i, "the result answers no open call of the assistant message before it; send each result once, directly after its call")
			}
			open--
			continue
		}
		if open > 0 {
			return d.broken(turn.PairingBroken, caller, "no result for %d of its calls before message %d; send every result directly after the call", open, i)
		}
		started = started || m.Role == "user" || m.Role == "assistant"
		caller = -1
		if m.Role == "assistant" && len(m.Calls) > 0 {
			caller, open = i, len(m.Calls)
		}
	}
	if open > 0 {
		return d.broken(turn.PairingBroken, caller, "no result for %d of its calls at the end of the request; send every result directly after the call", open)
	}
	return nil
}

func (d *Doc) broken(reason turn.Reason, i int, format string, args ...any) error {
	err := refuse(d.Raw, reason, d.Messages[i].Span.Start, format, args...)
	err.Detail = "message " + itoa(i) + ": " + err.Detail
	return err
}
