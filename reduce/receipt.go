package reduce

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"token-terminator/reduce/envelope"
	"token-terminator/reduce/evidence"
	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

// MaxReceiptTokens is the largest receipt, marker included. MaxSynopsis bounds what
// it says, in code points.
const (
	MaxReceiptTokens = 55
	MaxSynopsis      = 160
)

// receiptRoom is what Receipt leaves below MaxReceiptTokens: the vault may lengthen
// the shown id.
const receiptRoom = 2

// toolRunes bounds a tool's name in a receipt.
const toolRunes = 32

// Receipt is the form of an old result that is put away: the tool's name, the kind,
// how many lines or records there are, the exit code when the result states one,
// and how many lines name errors, failures and warnings. No word of the text or of
// the call's arguments goes into it. What does not fit MaxReceiptTokens is left
// out, the least telling first; ok is false when nothing fits. It is linear in the
// text.
func Receipt(b Block, count func(string) int) (p Proposal, ok bool) {
	text := b.Text
	if env, opened := envelope.Open(b.Text); opened {
		text, b.Kind = largest(env), ""
	}
	k := KindOf(Block{Text: text, Call: b.Call, Kind: b.Kind})
	p = Proposal{Form: turn.Receipt, Reason: turn.ReceiptOld, Kind: k}
	p.View.Total, p.View.Unit = sizeOf(text, k)
	id := turn.Sum(b.Text).ID()
	for _, synopsis := range synopses(b, text, p) {
		p.Synopsis = synopsis
		shown, _, _ := p.Render(id, "00000000")
		if utf8.RuneCountInString(synopsis) <= MaxSynopsis && count(shown) <= MaxReceiptTokens-receiptRoom {
			return p, true
		}
	}
	return Proposal{}, false
}

// synopses lists what a receipt may say, fullest first.
func synopses(b Block, text string, p Proposal) []string {
	size := plural(p.View.Total, strings.TrimSuffix(p.View.Unit, "s"))
	tool := plainName(b.Call.Tool)
	name := strings.TrimSpace(tool + " " + string(p.Kind))
	var facts []string
	if code, known := exitCode(b.Text); known {
		facts = append(facts, "exit "+strconv.Itoa(code))
	}
	signals := evidence.Signals(text)
	for _, s := range []struct {
		n    int
		what string
	}{{signals.Errors + signals.Panics, "error"}, {signals.Failures, "failure"}, {signals.Warnings, "warning"}} {
		if s.n > 0 {
			facts = append(facts, plural(s.n, s.what))
		}
	}
	var out []string
	for n := len(facts); n >= 0; n-- {
		out = append(out, name+" put away: "+strings.Join(append([]string{size}, facts[:n]...), ", "))
	}
	return append(out, string(p.Kind)+" put away: "+size, "result put away: "+size, "put away")
}

// sizeOf counts the records of a JSON list, or lines.
func sizeOf(text string, k kind.Kind) (n int, unit string) {
	if k == kind.JSON && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "[") {
		var records []json.RawMessage
		if json.Unmarshal([]byte(text), &records) == nil {
			return len(records), "records"
		}
	}
	return Lines(text), "lines"
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// plainName keeps what a tool's name is made of.
func plainName(tool string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		}
		return -1
	}, tool)
	return name[:min(len(name), toolRunes)]
}

func largest(env envelope.Envelope) string {
	text := ""
	for _, f := range env.Fields() {
		if len(f.Value) > len(text) {
			text = f.Value
		}
	}
	return text
}

// exitKeys are the members of a result that state how a command ended.
var exitKeys = [...]string{"exit_code", "exitCode", "returncode", "return_code", "exit_status"}

// exitCode is the exit code that a result states: as a member of its JSON object,
// or as its first or last line ("Exit code 1", "[exit code: 1]").
func exitCode(text string) (code int, known bool) {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") {
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(trimmed), &members) == nil {
			for _, key := range exitKeys {
				if code, err := strconv.Atoi(string(members[key])); err == nil {
					return code, true
				}
			}
		}
		return 0, false
	}
	first, _, _ := strings.Cut(trimmed, "\n")
	last := trimmed[strings.LastIndexByte(trimmed, '\n')+1:]
	for _, line := range []string{last, first} {
		if code, ok := exitLine(line); ok {
			return code, true
		}
	}
	return 0, false
}

func exitLine(line string) (int, bool) {
	const longest = 64 // bytes of a line that says nothing else
	if len(line) > longest {
		return 0, false
	}
	line = strings.Trim(strings.ToLower(line), "[]() .\r\n")
	for _, start := range []string{"exit code", "exited with code", "process exited with code", "exit status"} {
		if rest, ok := strings.CutPrefix(line, start); ok {
			code, err := strconv.Atoi(strings.Trim(rest, ": "))
			return code, err == nil
		}
	}
	return 0, false
}
