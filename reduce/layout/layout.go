package layout

import (
	"errors"
	"fmt"
	"strings"

	"token-terminator/reduce/kind"
)

// Errors of Restore.
var (
	ErrNotLayout = errors.New("restore layout: text does not start with a layout line")
	ErrUnknown   = errors.New("restore layout: unknown rule")
)

const (
	opening   = "[Token Terminator layout 1: "
	closing   = "]\n"
	maxLayers = 5       // layouts of layouts
	minText   = 120     // shorter texts have nothing to gain, bytes
	maxText   = 8 << 20 // bytes
)

// rule is one lossless layout. encode returns what the layout line says and the
// body; restore is its inverse. A rule needs not be careful: what does not come
// back equal is dropped.
type rule struct {
	name    string
	step    int
	encode  func(text string) (says, body string, ok bool)
	restore func(says, body string) (string, bool)
	edits   bool // fit for text that is going to be edited
	prose   bool // unfit for markup, and for traces, whose paths are quoted as they stand
	worth   int  // percent of the tokens it must take off, since it costs attention
}

// fits says whether the rule may be laid over a text of kind k.
func (r rule) fits(k kind.Kind) bool {
	switch k {
	case kind.Read, kind.Code, kind.Diff:
		return r.edits
	case kind.Stack, kind.HTML, kind.XML:
		return !r.prose
	}
	return true
}

// rules are laid in this order, so that a later one never has to escape the line
// of an earlier one; of neighbours with the same step the better one is taken.
func rules() []rule {
	return []rule{
		{name: "numbers", step: 1, encode: encodeNumbers, restore: restoreNumbers, edits: true, worth: 1},
		{name: "repeats", step: 2, encode: encodeRepeats, restore: restoreRepeats, worth: 2},
		{name: "prefix", step: 3, encode: encodePrefix, restore: restorePrefix, worth: 3},
		{name: "grep", step: 4, encode: encodeGrep, restore: restoreGroups, worth: 3},
		{name: "directories", step: 4, encode: encodeDirectories, restore: restoreGroups, worth: 3},
		{name: "alias", step: 5, encode: encodeAliases, restore: restoreAliases, prose: true, worth: 6},
	}
}

// Lossless returns the layout of text with the fewest tokens, if one is smaller.
// count gives the tokens of a text; nil means bytes/4. Text meant for editing only
// takes layouts that leave the words of its lines as they are.
func Lossless(text string, k kind.Kind, count func(string) int) (string, bool) {
	out, _, ok := Choose(text, k, count)
	return out, ok
}

// Choose is Lossless, and says which rules were laid over one another. JSON keeps
// its own shape: Equivalent is its layout.
func Choose(text string, k kind.Kind, count func(string) int) (out string, names []string, ok bool) {
	if len(text) < minText || len(text) > maxText || strings.HasPrefix(text, opening) || k == kind.JSON || k == kind.NDJSON {
		return "", nil, false
	}
	if count == nil {
		count = func(s string) int { return (len(s) + 3) / 4 }
	}
	p := &picker{text: text, best: text, least: -1, count: count}
	all := rules()
	for from := 0; from < len(all); {
		end := from + 1
		for end < len(all) && all[end].step == all[from].step {
			end++
		}
		if all[from].fits(k) {
			p.lay(all[from:end])
		}
		from = end
	}
	if len(p.used) == 0 {
		return "", nil, false
	}
	return p.best, p.used, true
}

// picker lays rules over the best text so far.
type picker struct {
	text, best string
	least      int // tokens of best, -1 not counted yet
	count      func(string) int
	used       []string
}

// lay takes the best of some rules, if one is worth its attention.
func (p *picker) lay(choice []rule) {
	next, name, least := "", "", 0
	for _, r := range choice {
		says, body, found := r.encode(p.best)
		if !found {
			continue
		}
		candidate := opening + says + closing + body
		if len(candidate)*100 > len(p.best)*(100-r.worth) {
			continue
		}
		if p.least < 0 {
			p.least = p.count(p.best)
		}
		tokens := p.count(candidate)
		if tokens*100 > p.least*(100-r.worth) || tokens >= p.least || next != "" && tokens >= least {
			continue
		}
		if back, err := Restore(candidate); err == nil && back == p.text {
			least, next, name = tokens, candidate, r.name
		}
	}
	if next != "" {
		p.best, p.least, p.used = next, least, append(p.used, name)
	}
}

// Restore returns the text a lossless layout was made from.
func Restore(out string) (string, error) {
	if !strings.HasPrefix(out, opening) {
		return "", ErrNotLayout
	}
	for range maxLayers {
		says, body, ok := strings.Cut(out[len(opening):], closing)
		if !ok {
			return "", ErrNotLayout
		}
		restored, found := "", false
		for _, r := range rules() {
			if restored, found = r.restore(says, body); found {
				break
			}
		}
		if !found {
			return "", fmt.Errorf("%w: %d bytes of rule text", ErrUnknown, len(says))
		}
		if out = restored; !strings.HasPrefix(out, opening) {
			return out, nil
		}
	}
	return "", fmt.Errorf("%w: more than %d layers", ErrUnknown, maxLayers)
}

// lines cuts text at its newlines; the piece after a last newline is no line.
func lines(text string) []string {
	pieces := strings.Split(text, "\n")
	if pieces[len(pieces)-1] == "" {
		pieces = pieces[:len(pieces)-1]
	}
	return pieces
}

// join is the inverse of lines for a text that ended like body did.
func join(list []string, body string) string {
	out := strings.Join(list, "\n")
	if strings.HasSuffix(body, "\n") {
		out += "\n"
	}
	return out
}
