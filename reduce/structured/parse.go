package structured

import (
	"errors"
	"strings"

	"token-terminator/reduce/jsonscan"
	"token-terminator/turn"
)

const (
	maxBytes = 8 << 20 // largest text, bytes
	maxDepth = 200     // deepest nesting
	// junkShare is the largest share of lines of a line-delimited text that may
	// be no JSON (1/junkShare); such lines are always shown.
	junkShare = 5
)

// rawLine is the kind of a line of a stream that is no JSON.
const rawLine jsonscan.Kind = 100

// tree is a parsed text. A stream has a made-up node 0 whose children are the
// documents; lines says that each document stood on one line.
type tree struct {
	text   string
	nodes  []jsonscan.Node
	stream bool
}

func parse(text string) (*tree, turn.Reason) {
	start := jsonscan.SkipSpace(text, 0)
	if start == len(text) {
		return nil, turn.ParseFailed
	}
	t := &tree{text: text, nodes: make([]jsonscan.Node, 0, len(text)/16+8)}
	nodes, end, err := jsonscan.Scan(t.nodes, text, start, maxDepth)
	if err == nil && jsonscan.SkipSpace(text, end) == len(text) {
		t.nodes = nodes
		return t, ""
	}
	if errors.Is(err, jsonscan.ErrDepth) {
		return nil, turn.TooDeep
	}
	if err == nil && t.concatenated(start) {
		return t, ""
	}
	return t.byLine()
}

// begin resets the nodes to the made-up root of a stream.
func (t *tree) begin() {
	t.stream = true
	t.nodes = append(t.nodes[:0], jsonscan.Node{Kind: jsonscan.Array, End: int32(len(t.text))})
}

func (t *tree) finish() { t.nodes[0].Next = int32(len(t.nodes)) }

// concatenated reads containers that follow one another.
func (t *tree) concatenated(at int) bool {
	t.begin()
	for at < len(t.text) {
		if c := t.text[at]; c != '{' && c != '[' {
			return false
		}
		nodes, end, err := jsonscan.Scan(t.nodes, t.text, at, maxDepth)
		if err != nil {
			return false
		}
		t.nodes = nodes
		t.nodes[0].Count++
		at = jsonscan.SkipSpace(t.text, end)
	}
	t.finish()
	return true
}

// byLine reads one container a line; some lines may be plain text.
func (t *tree) byLine() (*tree, turn.Reason) {
	t.begin()
	junk := 0
	for at := 0; at < len(t.text); {
		end := strings.IndexByte(t.text[at:], '\n')
		if end < 0 {
			end = len(t.text)
		} else {
			end += at
		}
		if t.line(at, end) {
			junk++
		}
		at = end + 1
	}
	t.finish()
	if records := int(t.nodes[0].Count) - junk; records < 2 || junk*junkShare > int(t.nodes[0].Count) {
		return nil, turn.ParseFailed
	}
	return t, ""
}

// line adds the line text[at:end]; it says whether the line is no JSON.
func (t *tree) line(at, end int) (junk bool) {
	first := jsonscan.SkipSpace(t.text[:end], at)
	if first == end {
		return false // an empty line is white space between documents
	}
	t.nodes[0].Count++
	before := len(t.nodes)
	if c := t.text[first]; c == '{' || c == '[' {
		nodes, stop, err := jsonscan.Scan(t.nodes, t.text[:end], first, maxDepth)
		if err == nil && jsonscan.SkipSpace(t.text[:end], stop) == end {
			t.nodes = nodes
			return false
		}
	}
	t.nodes = append(t.nodes[:before], jsonscan.Node{
		Kind: rawLine, Start: int32(at), End: int32(end), Next: int32(before + 1),
	})
	return true
}

func (t *tree) value(i int32) string { return t.text[t.nodes[i].Start:t.nodes[i].End] }

// key is the body of the node's key literal, escapes as they stand.
func (t *tree) key(i int32) string {
	n := &t.nodes[i]
	if !n.HasKey() {
		return ""
	}
	return t.text[n.KeyStart+1 : n.KeyEnd-1]
}

// body is the inside of a string literal, escapes as they stand.
func (t *tree) body(i int32) string {
	n := &t.nodes[i]
	return t.text[n.Start+1 : n.End-1]
}

func isContainer(k jsonscan.Kind) bool { return k == jsonscan.Array || k == jsonscan.Object }
