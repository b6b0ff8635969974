package tokens

import (
	"unicode/utf8"

	"token-terminator/turn"
)

// panelFallPct is by how many percent of its old value each measure of a
// replaced part has to fall under the panel. Tokenizers of one kind disagree by
// less than this on how much shorter one text is than another.
const panelFallPct = 15

// panelSet is the two encodings the panel counts with: o200k_base, cl100k_base.
func panelSet() (counterSet, error) {
	var set counterSet
	for i, name := range []string{O200kBase, CL100kBase} {
		c, err := Named(name)
		if err != nil {
			return set, err
		}
		set[i] = c
	}
	return set, nil
}

// Smaller says whether a whole request became strictly smaller: fewer code
// points and fewer tokens; under the panel, less in every measure. The reason is
// "" then, else the first measure that did not fall.
func (m *Meter) Smaller(before, after Measure) (turn.Reason, bool) {
	if r := unmeasured(before, after); r != "" {
		return r, false
	}
	if after.Runes >= before.Runes {
		return turn.NotSmallerChars, false
	}
	if after.Tokens >= before.Tokens {
		return turn.NotSmallerTokens, false
	}
	if m.panel && (after.Bytes >= before.Bytes || after.CL100k >= before.CL100k) {
		return turn.PanelDisagrees, false
	}
	return "", true
}

// PartSmaller says whether the replaced text of one block became smaller: fewer
// code points and fewer tokens; under the panel each of the four measures has to
// fall by at least 15 percent of its old value.
func (m *Meter) PartSmaller(before, after Measure) (turn.Reason, bool) {
	if r, ok := m.Smaller(before, after); !ok || !m.panel {
		return r, ok
	}
	if fallsEnough(before.Runes, after.Runes) && fallsEnough(before.Bytes, after.Bytes) &&
		fallsEnough(before.O200k, after.O200k) && fallsEnough(before.CL100k, after.CL100k) {
		return "", true
	}
	return turn.PanelDisagrees, false
}

// proofSize is how much of a text is counted at a time to see that it is the larger.
const proofSize = 2 << 10

// TextSmaller is PartSmaller of the two texts' Parts, but counts no more of before
// than it takes: the tokens up to a safe cut are a part of all, so once they are
// enough, all are.
func (m *Meter) TextSmaller(before, after string) bool {
	if len(before) > MaxCount || !utf8.ValidString(before) {
		return false
	}
	shown := m.Part(after)
	text := Measure{Runes: utf8.RuneCountInString(before), Bytes: len(before)}
	buf := m.buffer()
	defer m.release(buf)
	*buf = append(*buf, before...)
	for rest := *buf; len(rest) > 0; {
		end := cutFrom(rest, proofSize)
		for i, c := range m.set {
			if c == nil {
				continue
			}
			n := c.Count(rest[:end])
			if i == 0 {
				text.Tokens += n
			}
			if m.panel && i == 0 {
				text.O200k += n
			} else if m.panel {
				text.CL100k += n
			}
		}
		rest = rest[end:]
		if _, ok := m.PartSmaller(text, shown); ok {
			return true
		}
	}
	return false
}

func fallsEnough(before, after int) bool { return 100*after <= (100-panelFallPct)*before }

func unmeasured(before, after Measure) turn.Reason {
	if before.Unmeasured != "" {
		return before.Unmeasured
	}
	return after.Unmeasured
}
