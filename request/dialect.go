package request

import "token-terminator/turn"

// evidence is what a scan saw that tells the dialects apart.
type evidence struct {
	messages    bool   // "messages" is there and not null
	oddMessages bool   // "messages" is neither a list nor null
	input       bool   // "input" is there and not null
	inputText   bool   // "input" is a string
	oddInput    bool   // "input" is neither a string nor a list
	stateful    string // the key that refers to history at the provider
	chat        bool   // only chat.completions has this: tool messages, tool_calls, system messages, wrapped tools
	anthropic   bool   // only the Messages API has this: tool_use and tool_result blocks, top-level system, input_schema
	likely      bool   // the Messages API has this, and some chat hosts copy it
	offset      int    // of "messages" or "input" when it is odd
}

// topLevel notes a top-level key; first is the first byte of its value.
func (e *evidence) topLevel(name string, first byte) {
	if first == 'n' {
		return
	}
	switch name {
	case "previous_response_id", "conversation":
		e.stateful = name
	case "system":
		e.anthropic = e.anthropic || first == '"' || first == '['
	case "anthropic_version", "anthropic_beta":
		e.anthropic = true
	case "functions", "function_call":
		e.chat = true
	}
}

// role notes a message's role. The Messages API has user and assistant only, and
// a chat request may have only these two as well.
func (e *evidence) role(role string) {
	switch role {
	case "system", "developer", "tool", "function":
		e.chat = true
	}
}

// part notes the type of a content part. Text parts tell nothing: both dialects
// have them, cache marks included.
func (e *evidence) part(kind string) {
	switch kind {
	case "tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "mcp_tool_result", "web_search_tool_result":
		e.anthropic = true
	case "thinking", "redacted_thinking", "image", "document":
		e.likely = true
	}
}

// judge finds the dialect and names why the request is not edited, "" when it may be.
func (e *evidence) judge(d *Doc) (turn.Reason, string) {
	d.Dialect = Chat
	switch {
	case e.input && !e.messages:
		d.Dialect = Responses
	case (e.anthropic || e.likely) && !e.chat:
		d.Dialect = Anthropic
	}
	switch {
	case e.stateful != "":
		return turn.StatefulRequest, "\"" + e.stateful + "\" refers to history the provider keeps, so the request is sent as it is"
	case e.input && e.messages:
		return turn.UnknownShape, "both \"messages\" and \"input\" are given; send one of them"
	case e.oddInput:
		return turn.UnknownShape, "\"input\" is neither a string nor a list; send one of them"
	case e.inputText:
		return turn.DialectPassed, "\"input\" is one string, so there is no tool result to make smaller"
	case d.Dialect == Responses:
		return "", ""
	case !e.messages:
		return turn.UnknownShape, "there is no \"messages\" list; send a chat.completions request"
	case e.oddMessages:
		return turn.UnknownShape, "\"messages\" is no list; send a list of messages"
	case d.Dialect == Anthropic:
		return "", ""
	case e.anthropic:
		return turn.UnknownShape, "the request mixes chat.completions and Anthropic Messages; send one of them"
	}
	return "", ""
}
