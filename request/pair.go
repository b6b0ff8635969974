package request

import (
	"slices"

	"token-terminator/turn"
)

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
	var open, legacy openCalls
	for i := range messages {
		m := &messages[i]
		answers[i] = calling{message: -1}
		switch m.Role {
		case "assistant":
			for c := range m.Calls {
				if m.Calls[c].Legacy {
					legacy.add(m.Calls[c].Name, calling{i, c})
				} else {
					open.add(m.Calls[c].ID, calling{i, c})
				}
			}
		case "tool":
			answers[i] = open.take(m.CallID)
		case "function":
			answers[i] = legacy.take(m.Name)
		}
	}
	return answers
}

// fewCalls is how many open calls are looked through one by one before they are kept by id.
const fewCalls = 16

// openCalls are calls without an answer so far. Most conversations have few at a time.
type openCalls struct {
	few []openCall // in order; empty once there were too many

	last  map[string]int // of many: the place of an id in tops
	tops  []int          // the last open call of an id, -1 none
	calls []openCall
}

type openCall struct {
	id string
	calling
	before int // of many: the open call of this id before it, -1 none
}

func (o *openCalls) add(id string, c calling) {
	if o.last == nil && len(o.few) < fewCalls {
		o.few = append(o.few, openCall{id: id, calling: c})
		return
	}
	if o.last == nil {
		few := o.few
		o.last, o.few = map[string]int{}, nil
		for _, c := range few {
			o.add(c.id, c.calling)
		}
	}
	top, ok := o.last[id]
	if !ok {
		top = len(o.tops)
		o.last[id] = top
		o.tops = append(o.tops, -1)
	}
	o.calls = append(o.calls, openCall{id, c, o.tops[top]})
	o.tops[top] = len(o.calls) - 1
}

// take removes and returns the first open call of the nearest message.
func (o *openCalls) take(id string) calling {
	if o.last == nil {
		return o.takeFew(id)
	}
	top, ok := o.last[id]
	if !ok || o.tops[top] < 0 {
		return calling{message: -1}
	}
	link := &o.tops[top] // leads to the call in hand
	for {
		c := &o.calls[*link]
		if c.before < 0 || o.calls[c.before].message != c.message {
			*link = c.before
			return c.calling
		}
		link = &c.before
	}
}

func (o *openCalls) takeFew(id string) calling {
	found := -1
	for k := len(o.few) - 1; k >= 0 && (found < 0 || o.few[k].message == o.few[found].message); k-- {
		if o.few[k].id == id {
			found = k
		}
	}
	if found < 0 {
		return calling{message: -1}
	}
	c := o.few[found].calling
	o.few = slices.Delete(o.few, found, found+1)
	return c
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
