package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"token-terminator/internal/amount"
	"token-terminator/reduce"
	"token-terminator/request"
	"token-terminator/turn"
)

// declare adds the recovery tool to a turn's request, as a host does for our arm. A
// request that has a tool of that name keeps its own, and one whose history the
// provider keeps goes through as it was recorded.
func (run *sessionRun) declare(i int, raw []byte) []byte {
	if i == 0 {
		doc, err := request.Parse(raw)
		reason := request.ReasonOf(err)
		run.foreign = err != nil && (reason == turn.DialectPassed || reason == turn.StatefulRequest)
		run.declared = err == nil && slices.ContainsFunc(doc.Tools, func(t request.Tool) bool { return t.Name == reduce.RecoveryName })
	}
	if run.foreign || run.declared {
		return raw
	}
	// The session knows its dialect better than a first request that shows nothing of it.
	tool, err := request.ToolIn(run.session.Dialect, []byte(reduce.RecoveryTool))
	if err != nil {
		return raw
	}
	in, err := request.WithTool(raw, tool)
	if err != nil {
		return raw
	}
	return in
}

// unanswered counts the messages behind the last recorded answer: requests without an
// answer are no turns.
func (run *sessionRun) unanswered() int {
	n := 0
	for i := len(run.session.Messages) - 1; i >= 0; i-- {
		if role := run.session.Role(i); role == "" || role == "assistant" {
			break
		}
		n++
	}
	return n
}

// remarks says what a reader must know of the figures besides the figures.
func (r *replay) remarks(runs []*sessionRun) []string {
	var notes []string
	added, sessions, tail, tails, foreign := 0, 0, 0, 0, 0
	for _, run := range runs {
		if run.added > 0 {
			added, sessions = added+run.added, sessions+1
		}
		if n := run.unanswered(); n > 0 {
			tail, tails = tail+n, tails+1
		}
		if run.foreign {
			foreign++
		}
	}
	if sessions > 0 {
		notes = append(notes, fmt.Sprintf("not the host's whole prompt in %s: %s stand for it in the bill, not in the tokens (--prefix)", amount.Of(sessions, "session"), amount.Of(added, "token")))
	}
	if tails > 0 {
		notes = append(notes, fmt.Sprintf("%s at the end of %s: no recorded answer, so in no turn", amount.Of(tail, "message"), amount.Of(tails, "session")))
	}
	if foreign > 0 {
		notes = append(notes, fmt.Sprintf("passed unchanged, since the provider keeps the history or the input is one string: %s", amount.Of(foreign, "session")))
	}
	return append(notes, "our requests declare the recovery tool (about 110 tokens); enlarged turns are counted against the request with it, tokens and bill against the request without it")
}

// outputTokens measures recorded answers in their canonical form, as everything else
// of the bill is measured.
func (run *sessionRun) outputTokens(answers []json.RawMessage) int {
	n := 0
	for _, answer := range answers {
		text := []byte(answer)
		if canonical, err := request.Canonical(text); err == nil {
			text = canonical
		}
		n += run.meter.JSON(text).Tokens
	}
	return n
}
