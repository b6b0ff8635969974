package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"token-terminator/turn"
)

// ErrDecisions says that stored decisions do not decode or break a bound.
var ErrDecisions = errors.New("decisions are damaged")

// Bounds of what is stored beside an artifact.
const (
	MaxLabel        = 256     // bytes of a session, call id, tool or kind
	MaxArgsVerbatim = 4 << 10 // bytes of arguments kept as they are
	ArgsPreview     = 512     // bytes of longer ones that are kept beside their hash
	labelHead       = 200
	labelHash       = 24 // hex digits that keep clipped labels apart
)

// EncodeDecisions writes the decisions of one node as a JSON array. A decision that
// would not come back equal (text that is not UTF-8, a bound broken) is an error.
func EncodeDecisions(ds []turn.Decision) ([]byte, error) {
	for _, d := range ds {
		if err := check(d); err != nil {
			return nil, err
		}
	}
	if ds == nil {
		ds = []turn.Decision{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(ds); err != nil {
		return nil, fmt.Errorf("encode decisions: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// DecodeDecisions reads what EncodeDecisions wrote. nil means no decisions.
func DecodeDecisions(data []byte) ([]turn.Decision, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrDecisions)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	var ds []turn.Decision
	if err := dec.Decode(&ds); err != nil {
		return nil, fmt.Errorf("%w: not a JSON array of decisions", ErrDecisions)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: text after the array", ErrDecisions)
	}
	for _, d := range ds {
		if err := check(d); err != nil {
			return nil, err
		}
	}
	if len(ds) == 0 {
		return nil, nil
	}
	return ds, nil
}

// check holds the bounds that make a decision safe to render.
func check(d turn.Decision) error {
	for _, s := range []string{d.Block, string(d.Form), string(d.Reason), d.Tool, d.Kind, string(d.Artifact), d.Text, d.Renderer} {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%w: text is not UTF-8", ErrDecisions)
		}
	}
	switch {
	case d.Form == "":
		return fmt.Errorf("%w: no form", ErrDecisions)
	case len(d.Bases) > turn.MaxBases:
		return fmt.Errorf("%w: %d bases", ErrDecisions, len(d.Bases))
	case d.ShownLen < 0 || d.ShownLen > 2+turn.LongHex || d.ShownAt > len(d.Text):
		return fmt.Errorf("%w: shown id outside the text", ErrDecisions)
	}
	if d.ShownAt < 0 || d.ShownLen == 0 {
		return nil
	}
	if !strings.HasPrefix(d.ShownID(), "a_") {
		return fmt.Errorf("%w: no id where one is shown", ErrDecisions)
	}
	if _, err := turn.ParseIDPrefix(d.ShownID()); err != nil {
		return fmt.Errorf("%w: no id where one is shown", ErrDecisions)
	}
	return nil
}

// Label bounds a name that a host or a model gave: at most MaxLabel bytes of valid
// UTF-8. A longer or broken one keeps its head and gets a hash of the whole, so that
// different names stay different and the same one maps to the same label.
func Label(s string) string {
	if len(s) <= MaxLabel && utf8.ValidString(s) {
		return s
	}
	return Clip(strings.ToValidUTF8(s, "?"), labelHead) + "~" + turn.Sum(s).String()[:labelHash]
}

// Clip cuts s to at most n bytes at a code point's border.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Args bounds a call's arguments: up to MaxArgsVerbatim bytes as they are; longer or
// broken ones as a preview, and then long is true.
func Args(args string) (kept string, long bool) {
	if len(args) <= MaxArgsVerbatim && utf8.ValidString(args) {
		return args, false
	}
	return Clip(strings.ToValidUTF8(Clip(args, ArgsPreview), "?"), ArgsPreview), true
}

// Shortest is the shortest prefix of id, at least turn.MinShownHex digits, that no
// other id starts with. Only the ids sorted next to it need to be given.
func Shortest(id string, others ...string) string {
	n := 2 + turn.MinShownHex
	for _, o := range others {
		if o != "" && o != id {
			n = max(n, commonPrefix(id, o)+1)
		}
	}
	return id[:min(n, len(id))]
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
