package request

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func itoa(i int) string { return strconv.Itoa(i) }

// splitPointer splits an RFC 6901 pointer into its decoded tokens.
func splitPointer(pointer string) ([]string, bool) {
	if pointer == "" {
		return nil, true
	}
	if pointer[0] != '/' {
		return nil, false
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		for j := 0; j < len(t); j++ {
			if t[j] == '~' && (j+1 == len(t) || t[j+1] != '0' && t[j+1] != '1') {
				return nil, false
			}
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens, true
}

// joinPointer is the inverse of splitPointer.
func joinPointer(tokens ...string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(t, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// pointerIndex reads a list index: digits without a leading zero.
func pointerIndex(token string) (int, bool) {
	if token == "" || len(token) > 9 || token[0] == '0' && token != "0" {
		return 0, false
	}
	n := 0
	for i := range len(token) {
		if token[i] < '0' || token[i] > '9' {
			return 0, false
		}
		n = 10*n + int(token[i]-'0')
	}
	return n, true
}

// At finds the string a pointer from the root names: a text of a message or the
// arguments of a call. It fails with ErrNoString.
func (d *Doc) At(pointer string) (message int, text Text, err error) {
	tokens, ok := splitPointer(pointer)
	if !ok || len(tokens) < 3 || tokens[0] != d.key() {
		return 0, Text{}, fmt.Errorf("find string %.120q: %w", pointer, ErrNoString)
	}
	i, ok := pointerIndex(tokens[1])
	if !ok || i >= len(d.Messages) {
		return 0, Text{}, fmt.Errorf("find string %.120q: no such message: %w", pointer, ErrNoString)
	}
	block := joinPointer(tokens[2:]...)
	if k, ok := d.Messages[i].text(block); ok {
		return i, d.Messages[i].Texts[k], nil
	}
	for _, c := range d.Messages[i].Calls {
		if c.Args.Block == block && block != "" {
			return i, c.Args, nil
		}
	}
	return 0, Text{}, fmt.Errorf("find string %.120q: %w", pointer, ErrNoString)
}

// text finds the index of a text by its block.
func (m *Message) text(block string) (k int, found bool) {
	k, found = slices.BinarySearchFunc(m.Texts, block, func(t Text, block string) int { return CompareBlocks(t.Block, block) })
	return k, found && m.Texts[k].Block == block
}

// CompareBlocks orders the blocks of a message's texts as they stand: /content/2/text
// before /content/10/text, and /content/2/content before both. Only blocks of equal
// length can be compared as strings, and part indexes have no leading zeros.
func CompareBlocks(a, b string) int {
	partA, restA := cutPart(a)
	partB, restB := cutPart(b)
	return cmp.Or(cmp.Compare(len(partA), len(partB)), strings.Compare(partA, partB),
		cmp.Compare(len(restA), len(restB)), strings.Compare(restA, restB))
}

// cutPart cuts a block behind its first index: "/content/2" and "/text".
func cutPart(block string) (part, rest string) {
	slashes := 0
	for i := range len(block) {
		if block[i] == '/' {
			if slashes++; slashes == 3 {
				return block[:i], block[i:]
			}
		}
	}
	return block, ""
}
