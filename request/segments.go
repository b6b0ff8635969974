package request

import "token-terminator/internal/strictjson"

// Segments is the canonical form of a request cut where no token can cross.
// Head + Messages… + Tail is Canonical(Raw); all parts share one buffer and must
// not be written to.
//
// A cut stands before the first letter of a key that directly follows two ASCII
// symbols: after the {" of each message, and after the }]," or ]," that ends the
// message list. In a text without raw line breaks, and canonical JSON is one, no
// pre-token of the o200k, cl100k, Qwen2 and GPT-2 families reaches over such a
// place (the two symbols are taken by the run of symbols that holds them, which
// ends at the letter), so token counts of the parts add up to that of the whole.
//
// Messages has one element for each message of the Doc. A message whose first key
// in sorted order does not start with an ASCII letter has no cut: its element is
// empty and its bytes end the nearest non-empty part before it (Head when there is
// none). A message's part ends with the },{" of the next one, so it depends on
// its own bytes alone, the last one aside. Tail is empty when nothing but }]} or
// a key without a letter in front follows.
type Segments struct {
	Head     []byte
	Messages [][]byte
	Tail     []byte

	inRaw bool // the parts are parts of the request's own bytes
}

// Segments cuts the canonical form of the request; of a Responses request the
// messages are the items of "input".
func (d *Doc) Segments() (Segments, error) {
	if seg, ok := d.segmentsAfter(); ok {
		return seg, nil
	}
	return cutCanonical(d.Raw, d.key())
}

// cutCanonical cuts the canonical form of raw at the elements of its list key.
func cutCanonical(raw []byte, key string) (Segments, error) {
	w := writer{Scanner: strictjson.New(raw, MaxDepth), track: key}
	text, err := w.whole()
	if err != nil {
		return Segments{}, scanError(raw, err)
	}
	seg := cut(text, w.items)
	seg.inRaw = w.same
	return seg, nil
}

// cut splits canonical text at the safe places of its messages.
func cut(text []byte, messages []Span) Segments {
	seg := Segments{Messages: make([][]byte, len(messages))}
	from, open := 0, -1 // the part in hand: where it starts and whose it is, -1 the head
	end := func(at int) {
		part := text[from:at:at]
		if open < 0 {
			seg.Head = part
		} else {
			seg.Messages[open] = part
		}
		from = at
	}
	for i, m := range messages {
		if safe(text, m.Start+2) {
			end(m.Start + 2)
			open = i
		} else {
			seg.Messages[i] = text[from:from:from]
		}
	}
	if n := len(messages); n > 0 {
		if at := messages[n-1].End + 3; safe(text, at) && text[at-1] == '"' {
			end(at)
			seg.Tail = text[at:len(text):len(text)]
			return seg
		}
	}
	end(len(text))
	return seg
}

// safe says whether two ASCII symbols stand before at and an ASCII letter at it.
func safe(text []byte, at int) bool {
	return at >= 2 && at < len(text) && symbol(text[at-2]) && symbol(text[at-1]) && letter(text[at])
}

func letter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

// symbol says whether c is a printable ASCII character that is neither a letter
// nor a digit nor a space.
func symbol(c byte) bool {
	return c > ' ' && c < 0x7f && !letter(c) && (c < '0' || c > '9')
}
