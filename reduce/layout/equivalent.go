package layout

import (
	"strings"
	"unicode/utf8"

	"token-terminator/reduce/jsonscan"
	"token-terminator/reduce/kind"
)

const maxDepth = 200 // nesting of JSON that is minified

// Equivalent returns text without what neither a JSON reader nor a terminal shows:
// white space between JSON tokens; colours, cursor movements and the text they
// overwrite; spaces at line ends. Text meant for editing has no equivalent form; of a
// diff only colours go.
// count gives tokens; nil means bytes/4. ok only when the tokens fall.
func Equivalent(text string, k kind.Kind, count func(string) int) (string, bool) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return "", false
	}
	if k == kind.Read || k == kind.Code {
		return "", false
	}
	out, ok := minify(text)
	if !ok {
		if out, ok = terminal(text, k == kind.Diff); !ok {
			return "", false
		}
		if k != kind.Diff {
			out = trimLines(out)
		}
	}
	if len(out) >= len(text) {
		return "", false
	}
	if count != nil && count(out) >= count(text) || count == nil && (len(out)+3)/4 >= (len(text)+3)/4 {
		return "", false
	}
	return out, true
}

// minify drops white space between the tokens of one JSON document, of documents
// that follow one another, or of one document a line. Documents stay apart by one
// newline.
func minify(text string) (string, bool) {
	at := jsonscan.SkipSpace(text, 0)
	if at == len(text) || text[at] != '{' && text[at] != '[' {
		return "", false
	}
	out := make([]byte, 0, len(text))
	var nodes []jsonscan.Node
	for at < len(text) {
		if c := text[at]; c != '{' && c != '[' {
			return "", false
		}
		var end int
		var err error
		if nodes, end, err = jsonscan.Scan(nodes[:0], text, at, maxDepth); err != nil {
			return "", false
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		out = jsonscan.Minify(out, text[at:end])
		at = jsonscan.SkipSpace(text, end)
	}
	return string(out), true
}

// trimLines drops spaces and tabs before newlines and at the end.
func trimLines(text string) string {
	if !strings.Contains(text, " \n") && !strings.Contains(text, "\t\n") && strings.TrimRight(text, " \t") == text {
		return text
	}
	out := make([]byte, 0, len(text))
	for from := 0; from <= len(text); {
		end := strings.IndexByte(text[from:], '\n')
		if end < 0 {
			return string(append(out, strings.TrimRight(text[from:], " \t")...))
		}
		out = append(out, strings.TrimRight(text[from:from+end], " \t")...)
		out = append(out, '\n')
		from += end + 1
	}
	return string(out)
}
